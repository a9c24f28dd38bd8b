/** A pending quote, as far as its place in a person's day depends on it. */
export interface DayQuote {
  readonly rateCents: number
  /** The expected margin; null if no cost is expected. */
  readonly marginCents: number | null
  /** Until its validity ends; null without an end. */
  readonly hoursLeft: number | null
}

/** A quote without an end has as much time as one that ends in a month. */
const hoursWithoutEnd = 720
/** Within the last hour, all quotes are equally urgent. */
const hoursMin = 1

/**
 * The share of the rate that is margin, over the quotes that have one; 1 if none has. Quotes without an expected cost are compared by it,
 * so that they are neither first nor last only because their cost is unknown.
 */
function marginShare(quotes: readonly DayQuote[]): number {
  const known = quotes.filter(({ marginCents, rateCents }) => (marginCents ?? 0) > 0 && rateCents > 0)
  const rates = known.reduce((sum, { rateCents }) => sum + rateCents, 0)
  const margins = known.reduce((sum, { marginCents }) => sum + (marginCents ?? 0), 0)
  return rates === 0 ? 1 : margins / rates
}

/**
 * The quotes in the order of a person's day: by the dollars at stake per hour that is left. Of two with the same margin, the one that
 * ends first is first; of two that end together, the one with more margin. A quote at a loss is last.
 *
 * @example inDayOrder([{ rateCents: 200000, marginCents: 20000, hoursLeft: 20 }, { rateCents: 200000, marginCents: 20000, hoursLeft: 2 }])[0].hoursLeft // 2
 */
export function inDayOrder<Quote extends DayQuote>(quotes: readonly Quote[]): Quote[] {
  const share = marginShare(quotes)
  const perHour = ({ rateCents, marginCents, hoursLeft }: Quote) => {
    const stake = marginCents ?? rateCents * share
    const hours = Math.max(hoursLeft ?? hoursWithoutEnd, hoursMin)
    // A loss is not more urgent because it ends soon.
    return stake > 0 ? stake / hours : stake
  }
  return quotes.toSorted((one, other) => perHour(other) - perHour(one))
}
