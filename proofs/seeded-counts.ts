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
  const { months, miles } = changes.asJson() ?? { months: '[]', miles: '[]' }
  const rows = (json: string) =>
    (JSON.parse(json) as Record<string, string | number | number[]>[]).map(({ tenant_id: _, ...row }) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? `{${value}}` : value]),
      ),
    )
  return { quote_months: rows(months), quote_miles: rows(miles) }
}
