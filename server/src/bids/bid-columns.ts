import { createHash } from 'node:crypto'
import { type BidField, bidFields, type VolumePeriod, volumePeriods } from '#contract/bid-fields.ts'
import { fieldOfHeader, foldedHeader, knownNames, otherUnitOf } from '../csv/index.ts'

/** The fields that a bid shares with files of past quotes, whose column names it knows. */
const sharedFields: ReadonlySet<string> = new Set(
  bidFields.filter((field) => /^(origin|dest|equipment|miles)/.test(field)),
)

const names: Readonly<Partial<Record<BidField, readonly string[]>>> = {
  lane_id: [
    'Lane ID',
    'Lane',
    'Lane Number',
    'Lane #',
    'Lane No',
    'Lane Ref',
    'ID',
    'Bid Lane ID',
    'Line',
    'Line Number',
    'Line #',
    'Route ID',
    'Item',
    'Lot',
  ],
  origin: ['Origin City, State', 'Origin City/State', 'Ship Point', 'Shipping Point'],
  destination: ['Destination City, State', 'Dest City/State', 'Ship To Location', 'Consignee Location'],
  equipment: [
    'Equipment',
    'Equipment Type',
    'Equip',
    'Trailer Type',
    'Trailer',
    'Mode/Equipment',
    'Equipment Required',
  ],
  volume: [
    'Volume',
    'Loads',
    'Shipments',
    'Load Count',
    'Number Of Loads',
    '# Of Loads',
    'Loads Per Year',
    'Annual Volume',
    'Annual Loads',
    'Annual Shipments',
    'Yearly Volume',
    'Yearly Loads',
    'Est Annual Volume',
    'Estimated Annual Volume',
    'Estimated Annual Loads',
    'Projected Annual Volume',
    'Loads/Year',
    'Volume Per Year',
    'Loads Per Week',
    'Weekly Volume',
    'Weekly Loads',
    'Avg Weekly Volume',
    'Average Weekly Volume',
    'Loads/Week',
    'Volume Per Week',
    'Avg Loads Per Week',
    'Monthly Volume',
    'Monthly Loads',
    'Loads Per Month',
    'Loads/Month',
    'Total Loads',
    'Total Volume',
    'Est Volume',
    'Estimated Volume',
    'Estimated Loads',
    'Projected Volume',
  ],
  miles: [
    'Miles',
    'Mileage',
    'Distance',
    'Lane Miles',
    'Practical Miles',
    'PC Miler Miles',
    'Distance (Miles)',
  ],
  target: ['Target', 'Target Rate', 'Target Price', 'Benchmark', 'Benchmark Rate', 'Guide Rate'],
  rank: [
    'Rank',
    'Your Rank',
    'Bid Rank',
    'Current Rank',
    'Rank Feedback',
    'Previous Rank',
    'Round 1 Rank',
    'Round 2 Rank',
    'Position',
  ],
  rate: [
    'Rate',
    'Bid Rate',
    'Your Rate',
    'Carrier Rate',
    'Flat Rate',
    'Rate Per Load',
    'Linehaul',
    'Linehaul Rate',
    'Line Haul Rate',
    'Bid',
    'Bid Amount',
    'Proposed Rate',
    'Quote',
    'Your Bid',
    'Price',
    'Rate (USD)',
    'Flat Rate (USD)',
    'All In Rate',
    'Base Rate',
  ],
}

const fieldOfName: ReadonlyMap<string, BidField> = new Map(
  (Object.keys(names) as BidField[]).flatMap((field) =>
    [field, ...(names[field] ?? [])].map((name): [string, BidField] => [foldedHeader(name), field]),
  ),
)

/** The field of a bid that a header names; null if it is none. @example bidFieldOf('Lane #') // 'lane_id' */
export function bidFieldOf(header: string): BidField | null {
  const folded = foldedHeader(header)
  const own = fieldOfName.get(folded)
  if (own !== undefined) return own
  const shared = fieldOfHeader.get(folded)
  return shared !== undefined && sharedFields.has(shared) ? (shared as BidField) : null
}

/** The number of names that a bid knows among the cells of a line, to find the header. */
export function knownBidNames(cells: readonly string[]): number {
  const own = new Set(cells.flatMap((cell) => bidFieldOf(cell) ?? []))
  return Math.max(own.size, knownNames(cells))
}

/** The time that the volumes of a column are of, if its name says it. @example periodOf('Loads/Week') // 'week' */
export function periodOf(header: string): VolumePeriod | null {
  const name = header.toLowerCase()
  if (/annual|year|\/ ?yr|p\.?a\.?$/.test(name)) return 'year'
  if (/month/.test(name)) return 'month'
  return /week|\/ ?wk/.test(name) ? 'week' : null
}

/** The header's identity, by which chosen columns are remembered: case and spaces do not count. */
export function headerDigest(header: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(header.map(foldedHeader)))
    .digest('hex')
}

export interface BidColumnMatch {
  /** The column of each field, from 0. */
  readonly positions: Readonly<Partial<Record<BidField, number>>>
  /** Null if the volumes have no column, or nobody said what time they are of. */
  readonly volumePer: VolumePeriod | null
  /** What is missing or wrong, each as a sentence with the remedy. Empty if the file can be read. */
  readonly problems: readonly string[]
}

interface Chosen {
  readonly positions?: Readonly<Partial<Record<BidField, number | null>>>
  readonly volumePer?: VolumePeriod | null
}

const isPeriod = (word: string): word is VolumePeriod => (volumePeriods as readonly string[]).includes(word)

/**
 * The columns of a bid: those that were chosen, else those with a known name.
 *
 * @param map pairs of a field and the number of its column from 1, separated by commas; 0 leaves a field unread
 * @param remembered the columns of an earlier file with this header
 * @example matchBidColumns(['Lane', 'From', 'To', 'Loads/Week'], {}).positions // { lane_id: 0, origin: 1, destination: 2, volume: 3 }
 */
export function matchBidColumns(
  header: readonly string[],
  {
    map,
    volumePer,
    remembered,
  }: { map?: string | undefined; volumePer?: string | undefined; remembered?: Chosen | null },
): BidColumnMatch {
  const problems: string[] = []
  const positions: Partial<Record<BidField, number>> = {}
  for (const [at, cell] of header.entries()) {
    const field = bidFieldOf(cell)
    if (field === null || positions[field] !== undefined) continue
    if (isAmount(field) && otherUnitOf(cell) !== null) continue
    positions[field] = at
  }
  if (remembered) {
    for (const field of bidFields) delete positions[field]
    Object.assign(positions, remembered.positions)
  }
  for (const [field, at] of chosenColumns(map, header.length, problems)) {
    if (at === null) delete positions[field]
    else positions[field] = at
  }
  // A place in one column needs no city, and the reverse.
  for (const end of ['origin', 'destination'] as const) {
    if (
      positions[end] !== undefined ||
      positions[`${end}_city`] !== undefined ||
      positions[`${end}_zip`] !== undefined
    )
      continue
    problems.push(
      `The file must have a column with the ${end}: choose ${end}, or ${end}_city and ${end}_state, or ${end}_zip.`,
    )
  }
  for (const field of ['target', 'rate'] as const) {
    const name = header[positions[field] ?? -1]
    if (name !== undefined && otherUnitOf(name) !== null) {
      problems.push(
        `${field} must be a column of dollars per load; "${name.trim()}" has another unit. Choose another column, or none.`,
      )
    }
  }
  const volumeName = header[positions.volume ?? -1]
  const said = volumePer !== undefined && isPeriod(volumePer) ? volumePer : null
  const period =
    volumeName === undefined ? null : (said ?? periodOf(volumeName) ?? remembered?.volumePer ?? null)
  if (volumeName !== undefined && period === null) {
    problems.push(
      `volume_per must say what time the volumes of "${volumeName.trim()}" are of: ${volumePeriods.join(', ')}.`,
    )
  }
  return { positions, volumePer: period, problems }
}

const isAmount = (field: BidField) => field === 'target' || field === 'rate'

function chosenColumns(
  map: string | undefined,
  width: number,
  problems: string[],
): Map<BidField, number | null> {
  const chosen = new Map<BidField, number | null>()
  for (const pair of (map ?? '').split(',')) {
    if (pair.trim() === '') continue
    const [name = '', column = ''] = pair.split('=').map((part) => part.trim())
    const field = bidFields.find((known) => known === name)
    const number = /^\d{1,4}$/.test(column) ? Number(column) : Number.NaN
    if (field === undefined) {
      problems.push(
        `map must name fields of a bid; ${JSON.stringify(name)} is none. The fields are ${bidFields.join(', ')}.`,
      )
    } else if (!(number <= width)) {
      problems.push(
        `map must give ${field} the number of a column from 1 to ${width}, or 0 for none; it is ${JSON.stringify(column)}.`,
      )
    } else chosen.set(field, number === 0 ? null : number - 1)
  }
  return chosen
}
