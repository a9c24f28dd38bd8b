import { bestChoice, NO_CHOICE } from '#engine/estimate/counter-offer.ts'
import type { Answer } from '../api/index.ts'
import { readCurve } from '../shared-ui/index.ts'

type Advice = Answer<'counter-advice'>

/** A choice with what it earns. Dollars; null where it is not known. */
export interface Choice {
  readonly rate: number
  readonly chance: number | null
  readonly interval80: { readonly low: number; readonly high: number } | null
  readonly margin: number | null
  readonly marginPct: number | null
  readonly worth: number | null
}

/** A way to answer a counter-offer. */
export type ChoiceName = NonNullable<Advice['best']>

export interface Choices {
  readonly accept: Choice
  /** Null without a rate between the two. */
  readonly counter: Choice | null
  /** The choice that earns most on average; null if one of them is not known. */
  readonly best: ChoiceName | null
}

function choiceAt(rate: number, chance: Pick<Choice, 'chance' | 'interval80'>, cost: number | null): Choice {
  const margin = cost === null ? null : Math.round((rate - cost) * 100) / 100
  return {
    rate,
    ...chance,
    margin,
    marginPct: margin === null ? null : (margin / rate) * 100,
    worth: margin === null || chance.chance === null ? null : chance.chance * margin,
  }
}

const agreed = { chance: 1, interval80: null }
const unknown = { chance: null, interval80: null }

/**
 * The choices after a counter-offer, with chances interpolated from the curve of the advice, so that typing a rate needs no request.
 * `best` is that of the service, at the typed rate.
 *
 * @param rate the rate to counter with; null while it is not between the two
 */
export function choicesAt(
  { curve, cost, counter_rate, accept, counter: sent }: Advice,
  rate: number | null,
): Choices {
  const amount = cost?.amount ?? null
  const reading = rate === null ? null : readCurve(curve, rate)
  const named = choiceAt(counter_rate, agreed, amount)
  const counter =
    rate === null
      ? null
      : choiceAt(
          rate,
          reading === null ? unknown : { chance: reading.probability, interval80: reading.interval80 },
          amount,
        )
  const isBlocked = (choice: Advice['counter'], at: number | undefined) =>
    choice !== null && choice.rate === at && choice.outside_rules.some(({ code }) => code === 'blocked')
  const best = bestChoice(
    isBlocked(accept, counter_rate) ? NO_CHOICE : named.worth,
    counter === null || isBlocked(sent, rate ?? undefined) ? NO_CHOICE : counter.worth,
  )
  return { accept: named, counter, best }
}
