import { median } from '#engine/statistics/median.ts'
import { headerDigest, matchBidColumns, openBidFile, readBidLanes, storedBidColumns } from '../bids/index.ts'
import { csvHead, csvLines } from '../csv/index.ts'
import type { bids } from '../database/queries/index.ts'
import type { SampleBrokerage, SampleLane } from './sample-brokerage.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const contractMonths = 12
const lanesMax = 40
/** The shipper also ships with others. */
const loadsPerQuote = 4
/** What a shipper hopes to pay, relative to the usual rate. */
const targetShare = 0.96
const fileName = 'lanes.csv'

/** The lanes of the last year of the customer with the most quotes, the busiest first. */
function busiestLanes({ lanes }: SampleBrokerage, now: number): readonly (readonly SampleLane[])[] {
  const ofYear = lanes.filter(({ quotedAt }) => quotedAt > now - 365 * dayMs)
  const byCustomer = [...Map.groupBy(ofYear, ({ customerName }) => customerName).values()]
  const [most = []] = byCustomer.sort((one, other) => other.length - one.length)
  const byLane = Map.groupBy(most, (lane) => `${lane.origin}>${lane.destination}>${lane.equipment}`)
  return [...byLane.values()].sort((one, other) => other.length - one.length).slice(0, lanesMax)
}

const header = ['Lane ID', 'Origin', 'Destination', 'Equipment', 'Annual Loads', 'Target Rate', 'Your Rate']

function targetOf(quotes: readonly SampleLane[]): number {
  const usual = median(quotes.map(({ quotedRateCents }) => quotedRateCents)) ?? 0
  return Math.round((targetShare * usual) / 500) * 5
}

/**
 * A bid of the sample brokerage's largest customer: its lanes with yearly loads and target rates, as its file has them. The service prices
 * the lanes after the start.
 */
export async function sampleBid(
  sample: SampleBrokerage,
  now: number,
): Promise<{ readonly bid: Omit<bids.NewBid, 'created_by'>; readonly lanes: readonly bids.NewBidLane[] }> {
  const busiest = busiestLanes(sample, now)
  const lines = busiest.map((quotes, index) => {
    const { origin, destination, equipment } = quotes[0] as SampleLane
    const id = `L-${`${index + 1}`.padStart(3, '0')}`
    const loads = loadsPerQuote * quotes.length
    return [id, origin, destination, equipment, loads, targetOf(quotes), null]
  })
  const file = Buffer.from(csvHead(header) + csvLines(lines))
  const { bytes, table } = await openBidFile([file], undefined)
  const columns = matchBidColumns(table.header, {})
  const { lanes, skipped } = await readBidLanes(table, columns, contractMonths)
  const customer = busiest[0]?.[0]?.customerName ?? ''
  return {
    bid: {
      name: `${new Date(now).getUTCFullYear() + 1} truckload lanes`,
      customer_name: customer,
      due_at: new Date(Math.floor(now / dayMs + 9) * dayMs + 21 * hourMs),
      contract_months: contractMonths,
      file_name: fileName,
      file: bytes,
      sheet: null,
      columns: storedBidColumns(columns),
      header_digest: headerDigest(table.header),
      previous_bid_id: null,
      lines_skipped: skipped,
      createdAt: new Date(now),
    },
    lanes: lanes.map((lane) => ({
      ...lane,
      rate_cents: null,
      previous_lane: null,
      previous_rate_cents: null,
    })),
  }
}
