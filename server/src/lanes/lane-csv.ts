import type { Lane } from '#contract/lane.ts'
import { bookingTable, type CsvBookingField, csvBookingFields } from '#engine/booking-fields.ts'
import { csvHead, csvLines } from '../csv/index.ts'

const money = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))

type Column = readonly [header: string, cell: (lane: Lane) => string | number | null]

/** The column of a booking field: amounts with two decimals. */
function booked(field: CsvBookingField): Column {
  const { csv, shown, unit } = bookingTable[field]
  return [csv, (lane) => (unit === 'cents' ? money(lane[shown] as number | null) : lane[shown])]
}
/** These stand beside what they belong to; the other fields of the booking follow the margin. */
const besideTheQuote: ReadonlySet<CsvBookingField> = new Set([
  'customerName',
  'customerRateCents',
  'truckCostCents',
])

/**
 * The columns of an exported lane, in the words of the field. The import reads them back: "Quote ID" is the row's own
 * reference there, not a lane_ref, so that the file is a list of quotes for any brokerage.
 */
const columns: readonly Column[] = [
  ['Quote ID', (lane) => lane.lane_ref],
  ['Customer reference', (lane) => lane.reference],
  ['Quoted at', (lane) => lane.created_at],
  ['Quoted by', (lane) => lane.quoted_by?.name ?? null],
  booked('customerName'),
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
  booked('customerRateCents'),
  booked('truckCostCents'),
  ['Truck cost from', (lane) => lane.truck_cost_source],
  ['Margin', (lane) => money(lane.margin)],
  ['Margin %', (lane) => lane.margin_pct],
  ...csvBookingFields.filter((field) => !besideTheQuote.has(field)).map(booked),
  ['Updated at', (lane) => lane.updated_at],
]

/** The mark of UTF-8 and the line of column names. */
export const laneCsvHead = csvHead(columns.map(([header]) => header))

/** A line a lane: dollars with two decimals, times in ISO 8601, nothing where nothing is known. */
export function laneCsvLines(lanes: readonly Lane[]): string {
  return csvLines(lanes.map((lane) => columns.map(([, cell]) => cell(lane))))
}
