import { type CountedLane, QuoteCountChanges } from '#server/database/quote-counts.ts'

type Counted = Readonly<Record<string, string | number>>

/** The counts that the service would have kept of a brokerage's seeded lanes, as rows of its tables. */
export function countsOf(
  lanes: readonly object[],
  equipmentCode: string,
): { quote_months: Counted[]; quote_miles: Counted[] } {
  const changes = new QuoteCountChanges()
  // The tenant of a row is filled in where it is inserted; a lane that says no equipment is given this.
  const whole = lanes.map((lane) => ({ equipment_code: equipmentCode, ...lane }) as CountedLane)
  changes.count(0, whole, 1)
  const { months, miles } = changes.changed() ?? { months: [], miles: [] }
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
