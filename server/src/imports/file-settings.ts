import type { DateOrder } from '#contract/date-orders.ts'
import { mapPairs, settingIn } from '#contract/import-map.ts'
import { quoted, shortened } from '../csv/index.ts'
import {
  isSingleByteEncoding,
  refused,
  type SingleByteEncoding,
  singleByteEncodings,
} from '../tables/index.ts'
import { leavesOutHidden, type MapSettings, readSetting } from './map-settings.ts'

/** How a person chose that the cells of a file are read. */
export interface CellSettings {
  /** The sheet of a workbook; without it, the first one with a header. */
  readonly sheet?: string | undefined
  /** The encoding of text that is not UTF-8 or UTF-16. */
  readonly encoding?: SingleByteEncoding | undefined
  readonly leavesOutHidden?: boolean
}

/** The query of a request with a file. */
export interface FileQuery {
  readonly sheet?: string | undefined
  readonly map?: string | undefined
}

/**
 * The settings that a map chooses for a file whose columns are known by their names only.
 *
 * @param names the settings that the reader of the file has
 * @throws ImportFileError with each pair that is no such setting, or has another value
 * @example fileSettings({ map: 'dates=day_first' }, ['dates', 'encoding', 'hidden']).dates // 'day_first'
 */
export function fileSettings(
  { sheet, map = '' }: FileQuery,
  names: readonly string[],
): CellSettings & { readonly dates: DateOrder | null } {
  const settings: MapSettings = {}
  const wrong: string[] = []
  for (const pair of mapPairs(map)) {
    const name = typeof pair === 'string' ? pair : pair.name
    if (typeof pair === 'string' || !names.includes(name)) {
      wrong.push(
        `The map says ${quoted(name)}; it must have only ${names.map((one) => `${one}=`).join(', ')}.`,
      )
      continue
    }
    const fault = readSetting(name, pair.value, settings)
    if (fault !== null) wrong.push(fault)
  }
  if (wrong.length > 0) {
    throw refused('map', wrong.slice(0, problemsMax))
  }
  return { ...cellSettings({ sheet, map }), dates: settings.dates ?? null }
}

const problemsMax = 20

/**
 * What a map states about the cells of a file, before its header is read.
 *
 * @throws ImportFileError if the map names an encoding that is not read
 */
export function cellSettings({ sheet, map }: FileQuery): CellSettings {
  return { sheet, encoding: chosenEncoding(map), leavesOutHidden: leavesOutHidden(map) }
}

function chosenEncoding(map = ''): SingleByteEncoding | undefined {
  const name = settingIn(map, 'encoding')?.toLowerCase()
  if (name === undefined || isSingleByteEncoding(name)) return name
  const detail = `The map says encoding=${shortened(name)}; it must be encoding=${singleByteEncodings.join(' or ')}. UTF-8 and UTF-16 need no choice.`
  throw refused('map', detail)
}
