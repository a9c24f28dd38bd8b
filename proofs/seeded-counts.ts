import { type CountedLane, QuoteCountChanges } from '#server/database/quote-counts.ts'

type Counted = Readonly<Record<string, string | number>>

/** What lanes that say nothing of their equipment or places are counted under. */
type Unsaid = Pick<CountedLane, 'equipment_code' | 'origin_key' | 'destination_key'>

const changesOf = (lanes: readonly object[], unsaid: Unsaid) => {
  const changes = new QuoteCountChanges()
  // The tenant of a row is filled in where it is inserted.
  const whole = lanes.map((lane) => ({ ...unsaid, ...lane }) as CountedLane)
  changes.count(0, whole, 1)
  return changes.changed() ?? { months: [], miles: [], lanes: [] }
}

/** The counts that the service would have kept of a brokerage's seeded lanes, as rows of its tables. */
export function countsOf(
  lanes: readonly object[],
  unsaid: Unsaid,
): { quote_months: Counted[]; quote_miles: Counted[] } {
  const { months, miles } = changesOf(lanes, unsaid)
  return {
    quote_months: months.map(({ equipment_code, month, ...counts }) => {
      const whole = (list: 'won' | 'lost' | 'pending' | 'priced' | 'rate_sum_cents') => {
        const days = new Map(counts[list])
        return `{${Array.from({ length: 31 }, (_, day) => days.get(day + 1) ?? 0)}}`
      }
      return {
        equipment_code,
        month,
        won: whole('won'),
        lost: whole('lost'),
        pending: whole('pending'),
        priced: whole('priced'),
        rate_sum_cents: whole('rate_sum_cents'),
      }
    }),
    quote_miles: miles.map(({ tenant_id: _, ...row }) => row),
  }
}

/** As countsOf, the rows of lanes that are kept counted: all there are. */
export function laneCountsOf(
  lanes: readonly object[],
  unsaid: Unsaid,
): { counted_lanes: Counted[]; lane_days: Counted[]; lane_rates: Counted[] } {
  const quotes = changesOf(lanes, unsaid).lanes.flatMap((changed) => changed.quotes)
  const places = new Map<string, Counted>()
  const days = new Map<string, Record<string, string | number>>()
  const rates = new Map<string, Record<string, string | number>>()
  const added = (known: Record<string, string | number>, more: Readonly<Record<string, number>>) => {
    for (const [name, value] of Object.entries(more)) known[name] = Number(known[name] ?? 0) + value
    return known
  }
  for (const [origin_key, destination_key, equipment_code, day, rate_cents, won, lost, pending] of quotes) {
    const place = { origin_key, destination_key }
    const lane = { ...place, equipment_code }
    const all = won + lost + pending
    places.set(JSON.stringify(place), place)
    const ofDay = JSON.stringify({ ...lane, day })
    const priced = rate_cents > 0 ? all : 0
    days.set(
      ofDay,
      added(days.get(ofDay) ?? { ...lane, day }, {
        won,
        lost,
        pending,
        priced,
        rate_sum_cents: rate_cents * all,
      }),
    )
    const ofRate = JSON.stringify({ ...lane, rate_cents })
    rates.set(ofRate, added(rates.get(ofRate) ?? { ...lane, rate_cents }, { won, lost, pending }))
  }
  return {
    counted_lanes: [...places.values()],
    lane_days: [...days.values()],
    lane_rates: [...rates.values()],
  }
}
