import { readDollars } from '../shared-ui/index.ts'
import type { BidLane } from './bid-words.ts'

/** What a pasted list of awards says. */
export interface ReadAwards {
  readonly cells: readonly {
    readonly lane: number
    readonly version: number
    readonly state: 'awarded' | 'lost'
    readonly rate?: number
    readonly loads?: number
  }[]
  /** Lines that name no lane of the bid, or that cannot be read, with the reason. */
  readonly problems: readonly string[]
}

/**
 * Reads awards that a person pasted: one lane per line, by the shipper's ID or the number of the lane, and after it the rate and the
 * loads, if the shipper says them. Cells of a spreadsheet are separated by tabs; semicolons and commas separate, too.
 *
 * @param othersAreLost lanes that are not in the list were lost
 * @example readAwards('H-1\t2,140\t104', lanes, false).cells // [{ lane: 1, version: 0, state: 'awarded', rate: 2140, loads: 104 }]
 */
export function readAwards(
  text: string,
  lanes: readonly Pick<BidLane, 'lane' | 'lane_id' | 'version' | 'rate'>[],
  othersAreLost: boolean,
): ReadAwards {
  const byName = new Map<string, (typeof lanes)[number]>()
  for (const lane of lanes) byName.set(String(lane.lane), lane)
  for (const lane of lanes) if (lane.lane_id !== null) byName.set(lane.lane_id.trim().toLowerCase(), lane)
  const cells = new Map<number, ReadAwards['cells'][number]>()
  const problems: string[] = []
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [name = '', rateText = '', loadsText = ''] = cellsOf(line)
    const lane = byName.get(name.toLowerCase())
    const rate = rateText === '' ? undefined : (readDollars(rateText) ?? null)
    const loads = loadsText === '' ? undefined : Number(loadsText.replaceAll(',', ''))
    if (lane === undefined) problems.push(`The bid has no lane “${name}”.`)
    else if (cells.has(lane.lane)) problems.push(`Lane “${name}” is in the list twice.`)
    else if (rate === null) problems.push(`“${rateText}” of lane “${name}” is no rate in dollars.`)
    else if (loads !== undefined && !(Number.isInteger(loads) && loads >= 0))
      problems.push(`“${loadsText}” of lane “${name}” is no number of loads.`)
    else
      cells.set(lane.lane, {
        lane: lane.lane,
        version: lane.version,
        state: 'awarded',
        ...(rate === undefined ? {} : { rate }),
        ...(loads === undefined ? {} : { loads }),
      })
  }
  const lost = othersAreLost
    ? lanes.flatMap(({ lane, version }) =>
        cells.has(lane) ? [] : [{ lane, version, state: 'lost' as const }],
      )
    : []
  return { cells: [...cells.values(), ...lost], problems }
}

/** Only tabs separate if there is one: amounts of spreadsheets have commas. */
function cellsOf(line: string): string[] {
  const separator = line.includes('\t') ? '\t' : line.includes(';') ? ';' : ','
  return line.split(separator).map((cell) => cell.trim())
}
