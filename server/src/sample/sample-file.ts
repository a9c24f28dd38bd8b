import { setImmediate } from 'node:timers/promises'
import { csvHead, csvLines } from '../csv/index.ts'
import { type SampleLane, sampleBrokerage, sampleSeed } from './sample-brokerage.ts'

const money = (cents: number | null | undefined) =>
  cents === null || cents === undefined ? null : (cents / 100).toFixed(2)
const moment = (at: number | null | undefined) =>
  at === null || at === undefined ? null : new Date(at).toISOString()

/** The columns, named like the fields of an import. */
const columns: readonly (readonly [field: string, cell: (lane: SampleLane) => string | number | null])[] = [
  [
    'reference',
    ({ requestNumber, laneNumber, quoteNumber }) => `SAMPLE-${requestNumber}-${laneNumber}-${quoteNumber}`,
  ],
  ['quoted_at', ({ quotedAt }) => moment(quotedAt)],
  // The name marks each quote as sample data, on every page and in every export.
  ['customer_name', ({ customerName }) => `${customerName} (sample)`],
  ['origin', ({ origin }) => origin],
  ['destination', ({ destination }) => destination],
  ['equipment', ({ equipment }) => equipment],
  ['miles', ({ miles }) => miles],
  ['pickup_date', ({ pickupDate }) => pickupDate],
  ['quoted_rate', ({ quotedRateCents }) => money(quotedRateCents)],
  ['estimated_cost', ({ estimatedCostCents }) => money(estimatedCostCents)],
  ['market_rate', ({ marketRateCents }) => money(marketRateCents)],
  ['outcome', ({ outcome }) => outcome],
  ['outcome_reason', ({ outcomeReason }) => outcomeReason],
  ['decided_at', ({ decidedAt }) => moment(decidedAt)],
  ['customer_rate', ({ booking }) => money(booking?.customerRateCents)],
  ['truck_cost', ({ booking }) => money(booking?.truckCostCents)],
  ['carrier_name', ({ booking }) => booking?.carrierName ?? null],
  ['carrier_mc', ({ booking }) => booking?.carrierMc ?? null],
  ['booked_at', ({ booking }) => moment(booking?.bookedAt)],
]

const lanesPerPiece = 1_000

/**
 * The quotes of the sample brokerage as a CSV file for the import, in pieces, with pauses for requests: two years that end
 * at `now`, in epoch milliseconds.
 */
export async function sampleFile(now: number): Promise<Uint8Array[]> {
  const { lanes } = sampleBrokerage({ seed: sampleSeed, now })
  const pieces = [csvHead(columns.map(([field]) => field))]
  for (let from = 0; from < lanes.length; from += lanesPerPiece) {
    await setImmediate()
    const some = lanes.slice(from, from + lanesPerPiece)
    pieces.push(csvLines(some.map((lane) => columns.map(([, cell]) => cell(lane)))))
  }
  return pieces.map((piece) => Buffer.from(piece))
}
