/** How did a city pair do, month by month, and what are the outcomes of its newest quotes? Counts and sums of the quotes in the book. */

import type { BookLane, QuoteBook } from '../book/quote-book.ts'
import type { Outcome } from '../history.ts'
import { FACTS, LOST, OUTCOMES, WON } from '../quotes/quote-columns.ts'
import { QUOTES_PER_STEP, type Steps } from '../steps.ts'
import { LocalMonths, monthName } from './months.ts'
import type { IsSelected } from './quote-selection.ts'

/** Totals of the quotes on a city pair in one month with one type of equipment: counts, and sums in cents. */
export interface EquipmentMonth {
  readonly equipmentCode: string
  /** `2026-03`, in the time zone of the brokerage. */
  readonly month: string
  readonly quotes: number
  readonly won: number
  readonly lost: number
  readonly pending: number
  readonly rateCents: number
  /** Quotes with a rate above zero: averages are of these. */
  readonly rates: number
  readonly marginCents: number
  /** Quotes whose AR and AP are both known, and the sum of their AR. */
  readonly margins: number
  readonly marginBaseCents: number
}

/** A quote of a lane, as a dot on a chart. Amounts in cents. */
export interface LanePoint {
  readonly quoteId: number
  readonly rateCents: number
  /** Whether the rate is the booked AR. */
  readonly booked: boolean
  readonly outcome: Outcome
  readonly quotedAt: number
  /** AR minus AP, if both are booked. */
  readonly marginCents: number | null
}

export interface LaneRecord {
  /** Oldest first, then by equipment. */
  readonly months: readonly EquipmentMonth[]
  /** The newest quotes, newest first. */
  readonly points: readonly LanePoint[]
}

const LANDED = FACTS.customerRate | FACTS.truckCost

/**
 * The months of a city pair, and its newest quotes. `lanes` are its lanes.
 *
 * @param selection `equipmentCode` selects the points; null for all equipment
 */
export function* recordOfLanes(
  { columns }: Pick<QuoteBook, 'columns'>,
  lanes: readonly BookLane[],
  {
    isSelected,
    timeZone,
    equipmentCode,
    pointsMax,
  }: {
    readonly isSelected: IsSelected
    readonly timeZone: string
    readonly equipmentCode: string | null
    readonly pointsMax: number
  },
): Steps<LaneRecord> {
  const calendar = new LocalMonths(timeZone)
  const months = new Map<string, { -readonly [Name in keyof EquipmentMonth]: EquipmentMonth[Name] }>()
  const shown: number[] = []
  let seen = 0
  for (const { number, places } of lanes) {
    for (const row of columns.rowsOf(number)) {
      if (++seen % QUOTES_PER_STEP === 0) yield
      if (!isSelected(columns, row)) continue
      if (equipmentCode === null || places.equipmentCode === equipmentCode) shown.push(row)
      const name = monthName(calendar.of(columns.quotedAt[row]!))
      const key = `${name} ${places.equipmentCode}`
      const sums = months.get(key) ?? { ...empty, month: name, equipmentCode: places.equipmentCode }
      months.set(key, sums)
      const [facts, rate] = [columns.facts[row]!, columns.rateCents[row]!]
      const outcome = columns.outcomeOf(row)
      sums.quotes++
      if (outcome === WON) sums.won++
      else if (outcome === LOST) sums.lost++
      else sums.pending++
      sums.rateCents += rate
      if (rate > 0) sums.rates++
      if ((facts & LANDED) !== LANDED) continue
      sums.margins++
      sums.marginBaseCents += rate
      sums.marginCents += rate - columns.costCents[row]!
    }
  }
  return {
    months: [...months].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sums]) => sums),
    points: shown
      .toSorted((one, other) => columns.compare(other, one))
      .slice(0, pointsMax)
      .map((row): LanePoint => {
        const [facts, rateCents] = [columns.facts[row]!, columns.rateCents[row]!]
        return {
          quoteId: columns.quoteId[row]!,
          rateCents,
          booked: (facts & FACTS.customerRate) !== 0,
          outcome: OUTCOMES[columns.outcomeOf(row)] ?? 'pending',
          quotedAt: columns.quotedAt[row]!,
          marginCents: (facts & LANDED) === LANDED ? rateCents - columns.costCents[row]! : null,
        }
      }),
  }
}

const empty = {
  quotes: 0,
  won: 0,
  lost: 0,
  pending: 0,
  rateCents: 0,
  rates: 0,
  marginCents: 0,
  margins: 0,
  marginBaseCents: 0,
}
