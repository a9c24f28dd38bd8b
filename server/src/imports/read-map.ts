import { mapPairs, withoutQuotes } from '#contract/import-map.ts'
import type { Steps } from '#engine/steps.ts'
import {
  fieldOfHeader,
  foldedHeader,
  type HeaderNames,
  headerNames,
  type ImportFieldName,
  importFieldNames,
  quoted,
  shortened,
} from '../csv/index.ts'
import { type ColumnProblem, closestField, listed } from './column-problems.ts'
import { constantFault } from './map-constants.ts'
import { isSetting, type MapSettings, readSetting } from './map-settings.ts'
import { readMeaning } from './word-meanings.ts'

/** The names of a header, and the columns with exactly a name, and with the same folded name. */
export interface Names extends HeaderNames {
  readonly exact: ReadonlyMap<string, readonly number[]>
  readonly similar: ReadonlyMap<string, readonly number[]>
}

export function* namesOf(header: readonly string[]): Steps<Names> {
  const names = yield* headerNames(header)
  const positions = (of: readonly string[]) => Map.groupBy(of.keys(), (at) => of[at] ?? '')
  return { ...names, exact: positions(names.headers), similar: positions(names.plain) }
}

/** A map has some fifty fields. After this many wrong pairs, the others are not read. */
const pairProblemsMax = 500

export interface ReadMap {
  /** The position of each named field's column; null if it has none. */
  readonly mapped: ReadonlyMap<ImportFieldName, number | null>
  readonly constants: ReadonlyMap<ImportFieldName, string>
}

/**
 * Reads `field=column` pairs. `#3` without quotes is the third column, for headers with missing or repeated names. `field==value`
 * states a value for all rows.
 */
export function readMap(
  map: string,
  names: Names,
  problems: ColumnProblem[],
  settings: MapSettings,
): ReadMap {
  const { headers } = names
  const mapped = new Map<ImportFieldName, number | null>()
  const constants = new Map<ImportFieldName, string>()
  const wrong = (column: string | null, detail: string) =>
    problems.push({ code: 'map', column: column === null ? null : shortened(column), detail })
  const said = new Set<string>()
  /** A list that explains several problems is shown only with the first. */
  const once = (list: string) => {
    if (said.has(list)) return ''
    said.add(list)
    return ` ${list}`
  }
  for (const pair of mapPairs(map)) {
    if (problems.length > pairProblemsMax) break
    if (typeof pair === 'string') {
      wrong(null, `The map ${quoted(pair)} must be a pair such as quoted_rate=Sell Rate.`)
      continue
    }
    const { left, name: fieldText, value: column, written } = pair
    settings.words ??= {}
    const word = readMeaning(left, column, settings.words)
    if (word !== undefined) {
      if (word !== null) wrong(null, word)
      continue
    }
    if (isSetting(fieldText)) {
      const fault = readSetting(fieldText, column, settings)
      if (fault !== null) wrong(null, fault)
      continue
    }
    const field = importFieldNames.find((name) => name === fieldText.toLowerCase())
    if (field === undefined) {
      const meant = fieldOfHeader.get(foldedHeader(fieldText)) ?? closestField(foldedHeader(fieldText))
      const hint = meant === null ? '' : ` Did you mean ${meant}=${shortened(column)}?`
      wrong(
        column,
        `The map names the field ${quoted(fieldText)}, which does not exist.${hint}${once(`The fields are ${importFieldNames.join(', ')}.`)}`,
      )
      continue
    }
    if (mapped.has(field)) {
      wrong(column, `The map names ${field} twice; name it once.`)
      continue
    }
    const constant = written.startsWith('=') ? withoutQuotes(written.slice(1).trim()) : null
    if (column === '' || constant !== null) {
      mapped.set(field, null)
      const fault = constant === null ? null : constantFault(field, constant)
      if (fault !== null) wrong(field, fault)
      else if (constant !== null) constants.set(field, constant)
      continue
    }
    const numbered = /^#([1-9]\d{0,3})$/.exec(written)
    if (numbered !== null) {
      const position = Number(numbered[1]) - 1
      if (position < headers.length) mapped.set(field, position)
      else wrong(null, `The map reads ${field} from column ${written}; the file has ${headers.length}.`)
      continue
    }
    const positions = names.exact.get(column) ?? similarTo(column, names)
    if (positions.length === 1 && positions[0] !== undefined) mapped.set(field, positions[0])
    else if (positions.length > 1) {
      wrong(
        column,
        `The map reads ${field} from ${quoted(column)}, which appears ${positions.length} times; rename all but one, or choose one with ${field}=#${(positions[0] ?? 0) + 1}.`,
      )
    } else {
      wrong(
        column,
        `The map reads ${field} from ${quoted(column)}, which is no column of the file.${once(`Its columns are ${listed(headers)}.`)}`,
      )
    }
  }
  return { mapped, constants }
}

/** The columns with the same folded name. */
function similarTo(column: string, { headers, similar }: Names): readonly number[] {
  return (similar.get(foldedHeader(column)) ?? []).filter((position) => headers[position] !== '')
}
