import {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  importFieldNames,
  importFields,
} from './import-fields.ts'

/** What is wrong with a header or a map, and what would be right. `column` is null when it is about no one column. */
export interface ColumnProblem {
  readonly code: 'map' | 'header'
  readonly column: string | null
  readonly detail: string
}

export interface Columns {
  /** Our field -> where its column is in a row, from 0. */
  readonly positions: Readonly<Partial<Record<ImportFieldName, number>>>
  /** Our field -> the column's name in the file. */
  readonly names: Readonly<Partial<Record<ImportFieldName, string>>>
  /** Columns of the file that no field is read from. */
  readonly ignored: readonly string[]
  /** How many columns the header has: a row with more is not a row of this file. */
  readonly width: number
}

export type ReadColumns = { readonly columns: Columns } | { readonly problems: readonly ColumnProblem[] }

/**
 * Reads the header of a file, with `map` (`field=column` pairs separated by commas) going before the known names.
 * A pair without a column, `outcome=`, leaves that field unread. All problems are told at once.
 *
 * @example readColumns(['Ship From', 'Ship To', 'Equip', 'Sell Rate', 'Quote Date'])
 *   // { columns: { names: { origin: 'Ship From', destination: 'Ship To', equipment: 'Equip', ... }, ... } }
 */
export function readColumns(header: readonly string[], map = ''): ReadColumns {
  const headers = header.map((name) => name.trim())
  const problems: ColumnProblem[] = []
  const positions: Partial<Record<ImportFieldName, number>> = {}
  const mapped = readMap(map, headers, problems)
  for (const [field, position] of mapped) if (position !== null) positions[field] = position
  const taken = new Set(mapped.values())

  for (const field of importFieldNames) {
    if (mapped.has(field)) continue
    const found = headers.flatMap((name, position) =>
      fieldOfHeader.get(foldedHeader(name)) === field && !taken.has(position) ? [position] : [],
    )
    // Our own name for a field is no guess: it wins over the other names.
    const own = found.filter((position) => foldedHeader(headers[position] ?? '') === foldedHeader(field))
    const candidates = own.length > 0 ? own : found
    if (candidates.length > 1) problems.push(twoColumns(field, candidates, headers))
    else if (candidates[0] !== undefined) positions[field] = candidates[0]
  }
  settlePlace(positions, 'origin', 'origin_city', 'origin_state')
  settlePlace(positions, 'destination', 'destination_city', 'destination_state')
  if (problems.length === 0) problems.push(...missingFields(positions, headers))
  if (problems.length > 0) return { problems }

  const used = new Set(Object.values(positions))
  return {
    columns: {
      positions,
      names: Object.fromEntries(
        Object.entries(positions).map(([field, position]) => [field, headers[position] ?? '']),
      ),
      ignored: headers.filter((name, position) => !used.has(position) && name !== ''),
      width: headers.length,
    },
  }
}

/** A city beside a state is more exact than one column for both; "Origin" beside "Origin State" is a city. */
function settlePlace(
  positions: Partial<Record<ImportFieldName, number>>,
  both: 'origin' | 'destination',
  city: 'origin_city' | 'destination_city',
  state: 'origin_state' | 'destination_state',
): void {
  if (positions[both] === undefined || positions[state] === undefined) return
  if (positions[city] === undefined) positions[city] = positions[both]
  delete positions[both]
}

function twoColumns(
  field: ImportFieldName,
  candidates: readonly number[],
  headers: readonly string[],
): ColumnProblem {
  const names = candidates.map((position) => headers[position] ?? '')
  const same = new Set(names).size === 1
  return {
    code: 'header',
    column: names[1] ?? null,
    detail: same
      ? `The column "${names[0]}" appears ${names.length} times; rename all but one.`
      : `The columns ${listed(names)} could each be ${field} (${importFields[field].description}); say which with the map ${field}=${names[0]}.`,
  }
}

/** The fields without which a row is not a quote, each with the columns that might be it. */
function missingFields(
  positions: Partial<Record<ImportFieldName, number>>,
  headers: readonly string[],
): ColumnProblem[] {
  const has = (field: ImportFieldName) => positions[field] !== undefined
  const needs: [ok: boolean, fields: ImportFieldName[], what: string][] = []
  const quotes = has('origin') || has('destination') || has('origin_city') || has('destination_city')
  if (has('lane_ref') && !quotes) {
    needs.push([
      bookingFields.some(has),
      [...bookingFields],
      'A file of lane_ref needs what was booked or how it ended',
    ])
  } else {
    needs.push(
      [has('origin') || has('origin_city'), ['origin', 'origin_city'], 'the place of pickup'],
      [has('origin') || !has('origin_city') || has('origin_state'), ['origin_state'], 'the state of pickup'],
      [
        has('destination') || has('destination_city'),
        ['destination', 'destination_city'],
        'the place of delivery',
      ],
      [
        has('destination') || !has('destination_city') || has('destination_state'),
        ['destination_state'],
        'the state of delivery',
      ],
      [has('equipment'), ['equipment'], 'the equipment'],
      [has('quoted_rate') || has('customer_rate'), ['quoted_rate', 'customer_rate'], 'the rate'],
      [dateFields.some(has), [...dateFields], 'the date'],
    )
  }
  const used = new Set(Object.values(positions))
  const missed = needs.filter(([ok]) => !ok)
  if (missed.length === 0) return []
  const free = headers
    .filter((_, position) => !used.has(position))
    .map((name) => ({ name, closest: closestField(name) }))
  return missed.map(([, fields, what]) => missing(fields, what, free))
}

/** Where the time of a quote may come from, best first. */
export const dateFields = ['quoted_at', 'booked_at', 'decided_at', 'pickup_date'] as const

/** What a row with a lane_ref can say of its lane. */
const bookingFields = [
  'customer_rate',
  'truck_cost',
  'outcome',
  'carrier_name',
  'carrier_mc',
  'booked_at',
  'customer_name',
] as const

function missing(
  fields: readonly ImportFieldName[],
  what: string,
  free: readonly { readonly name: string; readonly closest: ImportFieldName | null }[],
): ColumnProblem {
  const [field = 'origin'] = fields
  const close =
    free.find(
      ({ name }) => ambiguousHeaders.get(foldedHeader(name))?.some((one) => fields.includes(one)) ?? false,
    ) ?? free.find(({ closest }) => closest !== null && fields.includes(closest))
  const start = what.startsWith('A ') ? `${what}:` : `No column holds ${what}:`
  const wanted = `${start} it must be named ${fields.join(' or ')}, or a known other name such as ${listed(
    importFields[field].aliases.slice(0, 3),
  )}.`
  const which = fields.find((one) => close?.closest === one) ?? field
  return {
    code: 'header',
    column: close?.name ?? field,
    detail:
      close === undefined
        ? `${wanted} Or say which column it is with the map ${field}=COLUMN.`
        : `${wanted} If the column "${close.name}" is it, say so with the map ${which}=${close.name}.`,
  }
}

/** The field whose name or other name differs from a header by at most two letters. */
function closestField(header: string): ImportFieldName | null {
  const name = foldedHeader(header)
  if (name.length < 4) return null
  for (const [alias, field] of fieldOfHeader) {
    const lettersMax = alias.length >= 8 ? 2 : 1
    // A name that is longer or shorter by more is not compared letter by letter.
    if (alias.length < 4 || Math.abs(alias.length - name.length) > lettersMax) continue
    if (editDistance(name, alias) <= lettersMax) return field
  }
  return null
}

/** Letters to add, take out or change (Levenshtein). @example editDistance('orgin', 'origin') // 1 */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** Reads `field=column` pairs. A column that holds a comma stands in double quotes. */
function readMap(
  map: string,
  headers: readonly string[],
  problems: ColumnProblem[],
): Map<ImportFieldName, number | null> {
  const mapped = new Map<ImportFieldName, number | null>()
  const wrong = (column: string | null, detail: string) => problems.push({ code: 'map', column, detail })
  for (const pair of map.match(/(?:"[^"]*"|[^,"])+/g) ?? []) {
    const at = pair.indexOf('=')
    const fieldText = (at < 0 ? pair : pair.slice(0, at)).replaceAll('"', '').trim()
    const column =
      at < 0
        ? ''
        : pair
            .slice(at + 1)
            .replaceAll('"', '')
            .trim()
    if (pair.trim() === '') continue
    if (at < 0) {
      wrong(null, `The map "${pair.trim()}" must be a pair such as quoted_rate=Sell Rate.`)
      continue
    }
    const field = importFieldNames.find((name) => name === fieldText.toLowerCase())
    if (field === undefined) {
      const meant = fieldOfHeader.get(foldedHeader(fieldText)) ?? closestField(fieldText)
      const hint = meant === null ? '' : ` Did you mean ${meant}=${column}?`
      wrong(
        column,
        `The map names the field "${fieldText}", which does not exist.${hint} The fields are ${importFieldNames.join(', ')}.`,
      )
      continue
    }
    if (mapped.has(field)) {
      wrong(column, `The map names ${field} twice; name it once.`)
      continue
    }
    if (column === '') {
      mapped.set(field, null)
      continue
    }
    const positions = positionsOf(column, headers)
    if (positions.length === 1 && positions[0] !== undefined) mapped.set(field, positions[0])
    else if (positions.length > 1) {
      wrong(
        column,
        `The map reads ${field} from "${column}", which appears ${positions.length} times; rename all but one.`,
      )
    } else {
      wrong(
        column,
        `The map reads ${field} from "${column}", which is no column of the file. Its columns are ${listed(headers)}.`,
      )
    }
  }
  return mapped
}

/** Columns of exactly this name, else of the same name folded. */
function positionsOf(column: string, headers: readonly string[]): number[] {
  const where = (same: (name: string) => boolean) =>
    headers.flatMap((name, position) => (same(name) ? [position] : []))
  const exact = where((name) => name === column)
  return exact.length > 0
    ? exact
    : where((name) => name !== '' && foldedHeader(name) === foldedHeader(column))
}

const listedMax = 40

function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax).map((name) => `"${name}"`)
  const more = names.length > listedMax ? [`${names.length - listedMax} more`] : []
  const all = [...shown, ...more]
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
