import { setImmediate as othersTurn } from 'node:timers/promises'
import type { BidField, VolumePeriod } from '#contract/bid-fields.ts'
import { bidLanesMax } from '#contract/limits.ts'
import { type Cell, foldedHeader, quoted, readCost, readEquipment, readText } from '../csv/index.ts'
import type { bidAwards } from '../database/queries/index.ts'
import type { BidLaneRow } from '../database/schema/index.ts'
import { ImportFileError, type TableFile, type TableRow, tablePieces } from '../tables/index.ts'
import { bidFieldOf, knownBidNames, periodOf } from './bid-columns.ts'
import { cellsOf, isAnyEquipment, readSentPlace, readVolume, timesOf } from './bid-file.ts'

/** Which lane a line of an award names, as far as it says. */
export interface NamedLane {
  readonly laneId: string | null
  readonly origin: string | null
  readonly destination: string | null
  /** Undefined: not said. Null: any. */
  readonly equipmentCode: string | null | undefined
}

/** What a line of a shipper's file says about a lane. */
export interface AwardLine extends NamedLane {
  /** The line of the file. */
  readonly line: number
  readonly state: 'awarded' | 'lost'
  /** The rate of the award; null for that of the lane. */
  readonly cents: number | null
  /** The loads over the contract; null for those of the lane. */
  readonly loads: number | null
  /** The share of the lane's loads, from 0 to 1; null if it is not said. */
  readonly share: number | null
}

type AwardField = 'award' | 'share' | 'awarded_rate' | 'awarded_loads'

const names: Readonly<Record<AwardField, readonly string[]>> = {
  award: [
    'Award',
    'Awarded',
    'Award Status',
    'Award Decision',
    'Award Result',
    'Status',
    'Decision',
    'Result',
    'Outcome',
    'Won Lost',
    'Win Loss',
  ],
  share: [
    'Award Share',
    'Share',
    'Allocation',
    'Award Allocation',
    'Award Percent',
    'Award Percentage',
    'Percent Awarded',
  ],
  awarded_rate: [
    'Awarded Rate',
    'Award Rate',
    'Final Rate',
    'Contract Rate',
    'Accepted Rate',
    'Award Amount',
    'Awarded Price',
  ],
  awarded_loads: [
    'Awarded Loads',
    'Award Loads',
    'Awarded Volume',
    'Award Volume',
    'Awarded Shipments',
    'Annual Awarded Volume',
    'Awarded Annual Volume',
    'Awarded Weekly Volume',
    'Awarded Loads Per Week',
  ],
}
const fieldOfName: ReadonlyMap<string, AwardField> = new Map(
  (Object.keys(names) as AwardField[]).flatMap((field) =>
    names[field].map((name): [string, AwardField] => [foldedHeader(name), field]),
  ),
)

/** @example awardFieldOf('Award %') // 'share' */
function awardFieldOf(header: string): AwardField | null {
  const field = fieldOfName.get(foldedHeader(header)) ?? null
  return field === 'award' && header.includes('%') ? 'share' : field
}

/** The number of names that an award file knows among the cells of a line, to find the header. */
export function knownAwardNames(cells: readonly string[]): number {
  return knownBidNames(cells) + cells.filter((cell) => awardFieldOf(cell) !== null).length
}

const words: Readonly<Record<string, 'awarded' | 'lost'>> = {
  ...Object.fromEntries(
    [
      'awarded',
      'award',
      'yes',
      'y',
      'x',
      'won',
      'win',
      'winner',
      'accepted',
      'primary',
      'true',
      '1',
      '✓',
    ].map((word) => [word, 'awarded'] as const),
  ),
  ...Object.fromEntries(
    ['lost', 'loss', 'no', 'n', 'not awarded', 'declined', 'rejected', 'unawarded', 'none', 'false', '0'].map(
      (word) => [word, 'lost'] as const,
    ),
  ),
}

/** Reads a percentage. @example readShare('60 %') // { value: 0.6 } */
function readShare(text: string): Cell<number> {
  const [, number, sign] = /^(\d{1,3}(?:\.\d{1,4})?) ?(%)?$/.exec(text) ?? []
  const value =
    number === undefined ? Number.NaN : Number(number) / (sign === '%' || Number(number) > 1 ? 100 : 1)
  return value >= 0 && value <= 1 ? { value } : { wrong: 'a percentage from 0 to 100, such as 60 %' }
}

/** Reads what became of a lane: a word, or the share of its loads. */
function readState(text: string): Cell<'awarded' | 'lost' | number> {
  const known = words[text.toLowerCase()]
  if (known !== undefined) return { value: known }
  const share = text.endsWith('%') ? readShare(text) : null
  return share !== null && 'value' in share
    ? share
    : { wrong: 'a word such as awarded or lost, or a percentage' }
}

type Columns = Readonly<Partial<Record<BidField | AwardField, number>>>

function columnsOf(header: readonly string[]): Columns {
  const columns: Partial<Record<BidField | AwardField, number>> = {}
  for (const [at, cell] of header.entries()) {
    const field = awardFieldOf(cell) ?? bidFieldOf(cell)
    if (field !== null) columns[field] ??= at
  }
  return columns
}

const problemsListedMax = 50

/** @throws ImportFileError */
function refuse(problems: readonly { readonly row: number | null; readonly detail: string }[]): never {
  throw new ImportFileError(
    problems
      .slice(0, problemsListedMax)
      .map(({ row, detail }) => ({ code: 'file', row, column: null, detail })),
  )
}

/**
 * Reads the awards of a shipper's file. A line without a word about its lane says nothing; in a file without such a column, each line is
 * an award.
 *
 * @param volumePer what the volumes of the bid's own file are of, for a column that does not say it
 * @throws ImportFileError with every wrong cell, or if the lanes cannot be told apart
 */
export async function readAwardFile(
  table: TableFile,
  { months, volumePer }: { readonly months: number; readonly volumePer: VolumePeriod | null },
): Promise<AwardLine[]> {
  const { header } = table
  const columns = columnsOf(header)
  const hasPlaces = (end: 'origin' | 'destination') =>
    columns[end] !== undefined || columns[`${end}_city`] !== undefined || columns[`${end}_zip`] !== undefined
  if (columns.lane_id === undefined && !(hasPlaces('origin') && hasPlaces('destination'))) {
    refuse([
      {
        row: null,
        detail:
          'The file must have a column with the lane ID, or columns with the origin and the destination.',
      },
    ])
  }
  const loadsColumn = columns.awarded_loads
  const period = loadsColumn === undefined ? null : (periodOf(header[loadsColumn] ?? '') ?? volumePer)
  const problems: { row: number; detail: string }[] = []
  const lines: AwardLine[] = []
  for await (const { rows } of tablePieces(table)) {
    for (const row of rows) {
      const line = lineOf(row, header, columns, timesOf(period, months), problems)
      if (line !== null) lines.push(line)
      if (lines.length > bidLanesMax) {
        refuse([
          { row: null, detail: `The file must have at most ${bidLanesMax.toLocaleString('en-US')} lanes.` },
        ])
      }
    }
    await othersTurn()
  }
  if (problems.length > 0) refuse(problems)
  if (lines.length === 0) refuse([{ row: null, detail: 'The file says of no lane what became of it.' }])
  return lines
}

function lineOf(
  { line, cells, malformed }: TableRow,
  header: readonly string[],
  columns: Columns,
  times: number,
  problems: { row: number; detail: string }[],
): AwardLine | null {
  if (malformed) return null
  const { text, read, placeParts } = cellsOf<AwardField>(cells, header, columns, (detail) =>
    problems.push({ row: line, detail }),
  )
  const place = (end: 'origin' | 'destination') => {
    const [whole, parts] = [text(end), placeParts(end)]
    return whole === null && Object.values(parts).every((part) => part === null)
      ? null
      : readSentPlace(whole ?? parts)
  }
  const laneId = read('lane_id', readText)
  const [origin, destination] = [place('origin'), place('destination')]
  const originColumn = (['origin', 'origin_city', 'origin_zip'] as const).find(
    (field) => columns[field] !== undefined,
  )
  if (laneId === null && (originColumn === undefined || text(originColumn) === null)) return null
  const said = read('award', readState)
  const share = read('share', readShare) ?? (typeof said === 'number' ? said : null)
  const hasState = columns.award !== undefined || columns.share !== undefined
  if (hasState && said === null && share === null) return null
  const state = typeof said === 'string' ? said : share === 0 ? 'lost' : 'awarded'
  const equipment = text('equipment')
  const loads = read('awarded_loads', readVolume)
  return {
    line,
    laneId,
    origin,
    destination,
    equipmentCode:
      equipment === null
        ? undefined
        : isAnyEquipment(equipment)
          ? null
          : (read('equipment', readEquipment) ?? undefined),
    state,
    cents: read(columns.awarded_rate === undefined ? 'rate' : 'awarded_rate', readCost),
    loads: loads === null ? null : Math.round(loads * times),
    share,
  }
}

/** Finds the lanes of a bid by the shipper's ID, else by places and equipment. */
export function laneNamed(rows: readonly BidLaneRow[]) {
  const byId = Map.groupBy(
    rows.filter((row) => row.lane_key !== null),
    (row) => row.lane_key?.toLowerCase() ?? '',
  )
  const byPlaces = Map.groupBy(rows, ({ origin, destination }) => `${origin}|${destination}`)
  /** The lane, or why there is not one. */
  return ({ laneId, origin, destination, equipmentCode }: NamedLane): BidLaneRow | string => {
    if (laneId !== null) {
      const [only, second] = byId.get(laneId.toLowerCase()) ?? []
      if (only === undefined) return `The bid has no lane ${quoted(laneId)}.`
      return second === undefined ? only : `The bid has several lanes ${quoted(laneId)}.`
    }
    if (origin === null || destination === null) {
      return 'The line must name a lane by its ID, or by an origin and a destination that are known.'
    }
    const here = byPlaces.get(`${origin}|${destination}`) ?? []
    const fitting =
      equipmentCode === undefined ? here : here.filter((row) => row.equipment_code === equipmentCode)
    const [only, second] = fitting
    if (only === undefined)
      return `The bid has no lane from ${origin} to ${destination}${equipmentCode == null ? '' : ` with ${equipmentCode}`}.`
    return second === undefined
      ? only
      : `The bid has several lanes from ${origin} to ${destination}: name the lane by its ID.`
  }
}

/** An award of a line for a lane: what the line does not say is that of the lane. */
export function awardOf(
  row: BidLaneRow,
  {
    state,
    cents,
    loads,
    share = null,
  }: Pick<AwardLine, 'state' | 'cents' | 'loads'> & { readonly share?: number | null },
): bidAwards.LaneAward {
  if (state === 'lost') return { lane: row.lane_number, award: state, cents: null, loads: null }
  const ofShare = share === null || row.loads === null ? row.loads : Math.round(row.loads * share)
  return { lane: row.lane_number, award: state, cents: cents ?? row.rate_cents, loads: loads ?? ofShare }
}

/**
 * The awards of a file, for the lanes of a bid.
 *
 * @throws ImportFileError if a line names no lane of the bid, or a lane that an earlier line named
 */
export function awardsOfFile(
  rows: readonly BidLaneRow[],
  lines: readonly AwardLine[],
): bidAwards.LaneAward[] {
  const find = laneNamed(rows)
  const first = new Map<number, number>()
  const problems: { row: number; detail: string }[] = []
  const awards: bidAwards.LaneAward[] = []
  for (const line of lines) {
    const row = find(line)
    if (typeof row === 'string') problems.push({ row: line.line, detail: row })
    else if (first.has(row.lane_number)) {
      problems.push({ row: line.line, detail: `Line ${first.get(row.lane_number)} is about the same lane.` })
    } else {
      first.set(row.lane_number, line.line)
      awards.push(awardOf(row, line))
    }
  }
  if (problems.length > 0) refuse(problems)
  return awards
}
