import Papa from 'papaparse'
import type { Lane } from '#contract/lane.ts'

const money = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))

/**
 * The columns of an exported lane, in the words of the field. The import reads them back: "Quote ID" is the row's own
 * reference there, not a lane_ref, so that the file is a list of quotes for any brokerage.
 */
const columns: readonly (readonly [header: string, cell: (lane: Lane) => string | number | null])[] = [
  ['Quote ID', (lane) => lane.lane_ref],
  ['Customer reference', (lane) => lane.reference],
  ['Quoted at', (lane) => lane.created_at],
  ['Quoted by', (lane) => lane.quoted_by?.name ?? null],
  ['Customer', (lane) => lane.customer_name],
  ['Customer on quote', (lane) => lane.quoted_customer_name],
  ['Origin', (lane) => lane.origin],
  ['Destination', (lane) => lane.destination],
  ['Equipment', (lane) => lane.equipment],
  ['Miles', (lane) => lane.miles],
  ['Pickup date', (lane) => lane.pickup_date],
  ['Quoted rate', (lane) => money(lane.quoted_rate)],
  ['Estimated cost', (lane) => money(lane.estimated_cost)],
  ['Cost from AP history', (lane) => money(lane.expected_cost?.amount ?? null)],
  ['Market rate', (lane) => money(lane.market_rate)],
  ['Outcome', (lane) => lane.outcome],
  ['Outcome reason', (lane) => lane.outcome_reason],
  ['Outcome from', (lane) => lane.outcome_source],
  ['Decided at', (lane) => lane.decided_at],
  ['Customer rate', (lane) => money(lane.customer_rate)],
  ['Truck cost', (lane) => money(lane.truck_cost)],
  ['Truck cost from', (lane) => lane.truck_cost_source],
  ['Margin', (lane) => money(lane.margin)],
  ['Margin %', (lane) => lane.margin_pct],
  ['Carrier', (lane) => lane.carrier_name],
  ['Carrier MC', (lane) => lane.carrier_notes],
  ['Booked at', (lane) => lane.booked_at],
  ['Updated at', (lane) => lane.updated_at],
]

/**
 * What a spreadsheet would run as a formula: also with the wide signs of East Asian keyboards, and behind what it leaves
 * out at the beginning of a cell. A negative amount is a number and stays one.
 */
const formula = /^(?!-\d+(\.\d+)?$)[\p{Z}\p{Cc}\p{Cf}]*[=+\-@\t\r\n＝＋－＠]/u

const form = { header: false, newline: '\r\n', escapeFormulae: formula } as const

/** The mark by which Excel knows UTF-8, and the line of column names. */
export const laneCsvHead = `\uFEFF${Papa.unparse([columns.map(([header]) => header)], form)}\r\n`

/** A line a lane: dollars with two decimals, times in ISO 8601, nothing where nothing is known. */
export function laneCsvLines(lanes: readonly Lane[]): string {
  if (lanes.length === 0) return ''
  const rows = lanes.map((lane) => columns.map(([, cell]) => cell(lane)))
  return `${Papa.unparse(rows, form)}\r\n`
}
