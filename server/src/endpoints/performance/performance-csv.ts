import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import type { exportPerformance, getPerformance } from '#contract/performance.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import { csvHead, csvLinesInSteps } from '../../csv/index.ts'
import { basisCells, basisHeaders } from './compared-basis.ts'

type Grouping = QueryOf<typeof exportPerformance>['by']
type Row = AnswerOf<typeof getPerformance>['rows'][number]
type Column<Of = Row> = readonly [header: string, cell: (row: Of) => string | number | null]
type Figures = Omit<Row, 'key' | 'label' | 'lane'>

const money = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))
const named = (header: string): readonly Column[] => [[header, (row) => row.label]]

const nameColumns: Readonly<Record<Grouping, readonly Column[]>> = {
  lane: [
    ['Origin', (row) => row.lane?.origin ?? null],
    ['Destination', (row) => row.lane?.destination ?? null],
    ['Equipment', (row) => row.lane?.equipment ?? null],
  ],
  customer: named('Customer'),
  rep: named('Rep'),
  carrier: named('Carrier'),
  equipment: named('Equipment'),
  month: [['Month', (row) => row.key]],
}

/** The columns of figures, in the words of the performance page. */
export const figureColumns: readonly Column<Figures>[] = [
  ['Quotes', (row) => row.quotes],
  ['Won', (row) => row.won],
  ['Lost', (row) => row.lost],
  ['Pending', (row) => row.pending],
  ['Win rate %', (row) => row.win_rate_pct],
  ['Shipments', (row) => row.shipments],
  ['Customer rate (AR)', (row) => money(row.customer_rate)],
  ['Truck cost (AP)', (row) => money(row.truck_cost)],
  ['Margin', (row) => money(row.margin)],
  ['Margin %', (row) => row.margin_pct],
  ['Compared shipments', (row) => row.comparable_shipments],
  ['Quoted margin', (row) => money(row.quoted_margin)],
  ['Landed vs quoted', (row) => money(row.landed_vs_quoted)],
  ['Lost to cost', (row) => money(row.lost_to_cost)],
  ['Lost to rate', (row) => money(row.lost_to_rate)],
  ['Gained', (row) => money(row.gained)],
  ['Quotes with expected cost', (row) => row.quotes_with_cost],
  ['Quoted too low (estimate)', (row) => row.quoted_too_low],
  ['Quoted too low and won (estimate)', (row) => row.quoted_too_low_won],
  ['Quoted too low and won, amount (estimate)', (row) => money(row.quoted_too_low_amount)],
]

const columnsOf = (by: Grouping) => [...nameColumns[by], ...figureColumns]

/** The UTF-8 byte order mark and the header line. */
export function performanceCsvHead(by: Grouping): string {
  return csvHead([...columnsOf(by).map(([header]) => header), ...basisHeaders])
}

/** One line per row: dollars with two decimals, empty cells for unknown values. */
export function performanceCsvLines(by: Grouping, rows: readonly Row[], basis: RateBasis): Steps<string> {
  const columns = columnsOf(by)
  return csvLinesInSteps(rows, (row) => [...columns.map(([, cell]) => cell(row)), ...basisCells(basis)])
}
