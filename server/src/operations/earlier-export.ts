import type { StoredRule } from '../database/schema/index.ts'

/** The tables that an export from before the baseline has under other names, by these names. */
export const renamedTables: Readonly<Record<string, string>> = {
  lanes: 'quotes',
  lane_changes: 'quote_changes',
}

/** The lowest rate of a brokerage, before there were pricing rules, as the members of the minimum of a rule. 0 was no floor. */
const floors = {
  floor_margin_pct: 'pct',
  floor_margin_cents: 'cents',
  floor_rate_per_mile_cents: 'rateCentsPerMile',
} as const

/** The columns that are converted, by the table here, and the column that they become. */
const converted: Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>> = {
  tenants: { from: Object.keys(floors), to: 'pricing_rules' },
}

/** Returns the columns of a table here that an export with these columns fills; null if it has columns that have no place here. */
export function filledColumns(
  table: string,
  here: readonly string[],
  exported: readonly string[],
): string[] | null {
  const { from = [], to } = converted[table] ?? {}
  const isConverted = from.some((column) => exported.includes(column))
  const kept = exported.filter((column) => !from.includes(column))
  const inOrder = here.filter((column) => kept.includes(column))
  if (inOrder.join() !== kept.join()) return null
  return here.filter((column) => kept.includes(column) || (isConverted && column === to))
}

/** Returns a line of an export as a line of the table here. `madeAt` is the time of the export. */
export function presentLine(table: string, line: string, madeAt: string): string {
  if (table !== 'tenants') return line
  const row: Record<string, unknown> = JSON.parse(line)
  if (!('floor_margin_pct' in row)) return line
  const minimum: Record<string, number> = {}
  for (const [column, member] of Object.entries(floors)) {
    if (Number(row[column]) > 0) minimum[member] = Number(row[column])
    delete row[column]
  }
  const rule: StoredRule = {
    ruleId: 1,
    conditions: {},
    terms: { minimum },
    isOn: true,
    changedAt: madeAt,
    changedBy: null,
  }
  return JSON.stringify({ ...row, pricing_rules: Object.keys(minimum).length === 0 ? [] : [rule] })
}
