import { knownEquipment } from '#engine/equipment.ts'
import { modeOfWord } from '#engine/load-mode.ts'
import type { Steps } from '#engine/steps.ts'
import { type DayMention, daysIn, type SentDay } from './day-words.ts'
import { equipmentIn, hazmatIn, modesIn, temperaturesIn, type ValueMention, weightsIn } from './load-words.ts'
import { cityAlone, type PlaceMention, placesIn } from './place-words.ts'
import { type Route, routesOf } from './routes.ts'

export interface TableCell {
  readonly at: number
  readonly text: string
}

type Column =
  | 'origin'
  | 'origin_state'
  | 'origin_zip'
  | 'destination'
  | 'destination_state'
  | 'destination_zip'
  | 'pickup'
  | 'delivery'
  | 'equipment'
  | 'mode'
  | 'weight'
  | 'weight_kg'
  | 'temperature'
  | 'commodity'
  | 'hazmat'
  | 'stop'
  | 'target'
  | 'lane'
  | 'pickup_or_origin'
  | 'delivery_or_destination'
  | 'state'
  | 'zip'
  | 'city'

const names: Readonly<Record<Column, string>> = {
  origin:
    'origin from shipper shipfrom origincity ocity orig originlocation origincitystate pickuplocation pickupcity pulocation pucity fromcity shipfromcity o originaddress pickupaddress shippercity shipperlocation loadingpoint origen départ depart origincityst startcity start originpoint pickuppoint',
  origin_state:
    'originstate ostate originst ost pickupstate pustate fromstate shipperstate shipfromstate origst origstate',
  origin_zip:
    'originzip ozip originzipcode pickupzip puzip fromzip shipperzip originpostalcode origpostal origzip shipfromzip',
  destination:
    'destination dest to consignee receiver shipto destinationcity destcity dcity destinationlocation deliverylocation deliverycity delivercity dropcity dellocation delcity tocity shiptocity d destinationaddress deliveryaddress consigneecity consigneelocation droplocation destino destcitystate destinationcitystate destinationcityst endcity end finaldestination deliverypoint',
  destination_state:
    'destinationstate deststate dstate destst dst deliverystate delstate tostate consigneestate shiptostate destinationst',
  destination_zip:
    'destinationzip destzip dzip destinationzipcode deliveryzip delzip tozip consigneezip destinationpostalcode destpostal shiptozip',
  pickup:
    'pickupdate pudate shipdate date loaddate ready readydate pickdate availabledate available puday pickupday shippingdate loadingdate startdate ship earliestpickup pickupdt pudt datepickup reqshipdate',
  delivery:
    'deliverydate deldate due duedate arrivaldate dropdate eta rad mabd deliverby deliveryday enddate requesteddelivery latestdelivery deliverydt deldt needby arrive datedelivery',
  equipment:
    'equipment equip eq eqp trailer trailertype type truck trucktype equipmenttype equiptype eqtype trailerreq equipo',
  mode: 'mode service servicetype',
  weight: 'weight wt lbs weightlbs grossweight pounds wgt totalweight weightlb estweight wtlbs',
  weight_kg: 'weightkg kg kgs grossweightkg',
  temperature: 'temp temperature setpoint reefertemp tempf temperaturef temprange tempreq',
  commodity: 'commodity product description freight cargo item goods commoditydescription productdescription',
  hazmat: 'hazmat haz hazardous',
  stop: 'stops stop stop1 stop2 stop3 via additionalstops intermediatestops extrastops stopoffs stopoff intermediatestop',
  target: 'target targetrate budget targetprice customertarget targetusd maxrate',
  lane: 'lane route lanes lanedescription od origindestination',
  pickup_or_origin: 'pickup pu pick pickups shipping load',
  delivery_or_destination: 'delivery del drop deliver dropoff unload',
  state: 'state st province prov',
  zip: 'zip zipcode postal postalcode',
  city: 'city citystate location',
}
const columnOfName = new Map(
  Object.entries(names).flatMap(([column, list]) =>
    list.split(' ').map((name): [string, Column] => [name, column as Column]),
  ),
)
const folded = (name: string) => name.toLowerCase().replaceAll(/\([^)]{0,60}\)|[^\p{L}\d]/gu, '')
const columnOf = (name: string): Column | null =>
  columnOfName.get(folded(name)) ?? (/\(kg\)/i.test(name) && folded(name) === 'weight' ? 'weight_kg' : null)

/** A lane of a table: its route and the cells of its other fields. */
export interface TableLane {
  readonly at: number
  readonly end: number
  readonly route: Route
  readonly days: readonly (DayMention & { readonly role: 'pickup' | 'delivery' })[]
  readonly equipment: readonly ValueMention<string>[]
  readonly modes: readonly ValueMention<string>[]
  readonly weights: readonly ValueMention<number>[]
  readonly temperatures: readonly ValueMention<string>[]
  readonly commodities: readonly ValueMention<string>[]
  readonly hazmat: readonly ValueMention<boolean>[]
  readonly targets: readonly ValueMention<number>[]
}

/** The cells of a line: separated by tabs, by bars, or by two or more spaces. */
function cellsOf(line: string, at: number, separator: RegExp): TableCell[] {
  const cells: TableCell[] = []
  let from = 0
  const push = (to: number) => {
    const raw = line.slice(from, to)
    const text = raw.trim().replace(/^"(.*)"$/, '$1')
    cells.push({ at: at + from + Math.max(0, raw.indexOf(text)), text })
  }
  // A comma within quotation marks is a part of the cell.
  const bare = line.replaceAll(/"[^"]{0,200}"/g, (quoted) => 'x'.repeat(quoted.length))
  for (const one of bare.matchAll(separator)) {
    push(one.index)
    from = one.index + one[0].length
  }
  push(line.length)
  return cells
}

const separators = [/\t/g, /\|/g, / {2,}/g, /[,;]/g]

function isHeader(cells: readonly TableCell[]): boolean {
  const columns = cells.map(({ text }) => columnOf(text))
  const known = columns.filter((column) => column !== null)
  const has = (...of: Column[]) => of.some((column) => columns.includes(column))
  const cities = columns.filter((column) => column === 'city' || column === 'zip').length
  const hasEnds =
    has('lane') ||
    cities >= 2 ||
    (has('origin', 'origin_zip', 'pickup_or_origin') &&
      has('destination', 'destination_zip', 'delivery_or_destination'))
  return hasEnds && known.length >= 2 && known.length * 2 >= cells.filter(({ text }) => text !== '').length
}

/** The meaning of each column: a "Pickup" of places is the origin, one of days is the pickup. */
function* columnsOf(
  header: readonly TableCell[],
  rows: readonly (readonly TableCell[])[],
): Steps<(Column | null)[]> {
  let end: 'origin' | 'destination' | null = null
  const named = header.map(({ text }) => columnOf(text))
  const columns: (Column | null)[] = []
  for (const [nth, column] of named.entries()) {
    let meant: Column | null = column
    if (column === 'pickup_or_origin')
      meant = !named.includes('origin') && (yield* arePlaces(rows, nth)) ? 'origin' : 'pickup'
    if (column === 'delivery_or_destination')
      meant = !named.includes('destination') && (yield* arePlaces(rows, nth)) ? 'destination' : 'delivery'
    if (column === 'city') meant = end === null ? 'origin' : 'destination'
    if (column === 'state') meant = end === null ? null : `${end}_state`
    if (column === 'zip') meant = end === null ? 'origin_zip' : `${end}_zip`
    if (meant === 'origin' || meant === 'origin_zip') end = 'origin'
    if (meant === 'destination' || meant === 'destination_zip') end = 'destination'
    columns.push(meant)
  }
  return columns
}

/** Whether most cells of a column are no days. */
function* arePlaces(rows: readonly (readonly TableCell[])[], column: number): Steps<boolean> {
  let [cells, places] = [0, 0]
  for (const row of rows) {
    const text = row[column]?.text ?? ''
    if (text === '') continue
    cells++
    if (daysIn(text, anyDay).length === 0) places++
    yield
  }
  return places * 2 >= cells
}
const anyDay: SentDay = { day: '2026-01-01', senderDay: null, isDayFirst: false }

/** A place from its cells. Null if they are empty. */
function placeOfCells(city: string, state: string, zip: string, at: number): PlaceMention | null {
  if (city === '' && zip === '') return null
  const postal = /^\d{4}$/.test(zip) ? `0${zip}` : zip
  const written = [city === '' ? '' : state === '' ? city : `${city}, ${state}`, postal]
    .filter((part) => part !== '')
    .join(' ')
  const end = at + (city === '' ? zip.length : city.length)
  const base = { at, end, text: city === '' ? zip : city, isFirm: true }
  const found = placesIn(written)
  const [only] = found
  const isWhole =
    only !== undefined &&
    found.length === 1 &&
    written
      .slice(only.end)
      .replace(/[\s,.()]+/g, '')
      .replace(/^(?:usa|us)$/i, '') === ''
  if (isWhole && (only.isFirm || only.text.length >= written.trim().length))
    return { ...base, place: only.place, ask: only.ask }
  if (found.length > 1)
    return {
      ...base,
      place: null,
      ask: {
        detail: `"${written}" names several places`,
        options: found.flatMap(({ place }) => place ?? []),
      },
    }
  const alone = cityAlone(written.trim(), at)
  if (alone !== null) return { ...base, place: alone.place, ask: alone.ask }
  if (isWhole) return { ...base, place: only.place, ask: only.ask }
  return {
    ...base,
    place: null,
    ask: { detail: `"${written}" is not a known place`, options: only?.place == null ? [] : [only.place] },
  }
}

const asked = <T>(cell: TableCell, detail: string, options: readonly string[] = []): ValueMention<T> => ({
  at: cell.at,
  end: cell.at + cell.text.length,
  text: cell.text,
  value: null,
  ask: { detail, options },
})
const isEmpty = (text: string) => /^(?:|-|–|—|n\/?a|none|tbd|\?)$/i.test(text)

/** The one value of a cell; a question if it has none or several. */
function onlyOf<T>(cell: TableCell, found: readonly ValueMention<T>[], what: string): ValueMention<T>[] {
  if (isEmpty(cell.text)) return []
  const shifted = found.map((one) => ({ ...one, at: one.at + cell.at, end: one.end + cell.at }))
  return shifted.length > 0 ? shifted : [asked(cell, `"${cell.text}" is not ${what} that is known`)]
}

function equipmentOf(cell: TableCell): Pick<TableLane, 'equipment' | 'modes'> {
  if (isEmpty(cell.text)) return { equipment: [], modes: [] }
  const code = knownEquipment(cell.text)
  const whole = { at: cell.at, end: cell.at + cell.text.length, text: cell.text, ask: null }
  if (code !== null) return { equipment: [{ ...whole, value: code }], modes: [] }
  const found = equipmentIn(cell.text)
  const modes = modesIn(cell.text).map((one) => ({ ...one, at: one.at + cell.at, end: one.end + cell.at }))
  if (found.length === 0 && modes.length > 0) return { equipment: [], modes }
  if (found.length === 0 && modeOfWord(cell.text) !== null) return { equipment: [], modes: [] }
  return { equipment: onlyOf(cell, found, 'an equipment'), modes }
}

function numberOf(cell: TableCell, factor: number): ValueMention<number>[] {
  if (isEmpty(cell.text)) return []
  const plain = /^(\d{1,3}(?:,\d{3})+|\d{3,6})(?:\.\d+)?$/.exec(cell.text)
  if (plain === null) return onlyOf(cell, weightsIn(cell.text), 'a weight')
  return [
    {
      at: cell.at,
      end: cell.at + cell.text.length,
      text: cell.text,
      value: Math.round(Number(plain[1]?.replaceAll(',', '')) * factor),
      ask: null,
    },
  ]
}

function temperatureOf(cell: TableCell): ValueMention<string>[] {
  if (isEmpty(cell.text) || /^(?:dry|ambient|no)$/i.test(cell.text)) return []
  const prefix = 'temp: '
  const found = temperaturesIn(prefix + cell.text).map((one) => ({
    ...one,
    at: cell.at,
    end: cell.at + cell.text.length,
    text: cell.text,
  }))
  return found.length > 0 ? found : [asked(cell, `"${cell.text}" is not a temperature that is known`)]
}

function dayOf(cell: TableCell, role: 'pickup' | 'delivery', sent: SentDay): TableLane['days'] {
  if (isEmpty(cell.text)) return []
  const found = daysIn(cell.text, sent)
  if (found.length === 0) {
    const ask = { detail: `"${cell.text}" is not a day that is known`, options: [] }
    return [
      {
        at: cell.at,
        end: cell.at + cell.text.length,
        text: cell.text,
        day: null,
        time: null,
        ask,
        weekday: null,
        isPast: false,
        role,
      },
    ]
  }
  return found.map((one) => ({ ...one, at: one.at + cell.at, end: one.end + cell.at, role }))
}

function targetOf(cell: TableCell): ValueMention<number>[] {
  const amount = /^\$? ?(\d{1,3}(?:,\d{3})+|\d{3,5})(?:\.(\d{1,2}))?(?: ?USD)?$/i.exec(cell.text)
  if (amount === null) return []
  const cents =
    Number((amount[1] ?? '').replaceAll(',', '')) * 100 + Number((amount[2] ?? '0').padEnd(2, '0'))
  return [{ at: cell.at, end: cell.at + cell.text.length, text: cell.text, value: cents, ask: null }]
}

/** The route of a row: from its places, or from the one cell that names a lane. */
function routeOfRow(row: readonly TableCell[], columns: readonly (Column | null)[]): Route | null {
  const cell = (column: Column) => row[columns.indexOf(column)]
  const lane = cell('lane')
  if (lane !== undefined && !columns.includes('origin')) {
    const { routes } = routesOf(lane.text, placesIn(lane.text))
    const [only] = routes
    if (only === undefined || routes.length > 1) return null
    const places = only.places.map(({ mention, role }) => ({
      role,
      mention: { ...mention, at: mention.at + lane.at, end: mention.end + lane.at },
    }))
    return { ...only, places }
  }
  const end = (name: 'origin' | 'destination') => {
    const [city, state, zip] = [cell(name), cell(`${name}_state`), cell(`${name}_zip`)]
    return placeOfCells(
      city?.text ?? '',
      state?.text ?? '',
      zip?.text ?? '',
      (city?.text ? city.at : zip?.at) ?? 0,
    )
  }
  const [origin, destination] = [end('origin'), end('destination')]
  if (origin === null && destination === null) return null
  const stops = row.flatMap((one, nth) => {
    if (columns[nth] !== 'stop' || isEmpty(one.text) || /^\d{1,2}$/.test(one.text)) return []
    return one.text.split(/;|\/| & |\band\b/).flatMap((part) => {
      const written = part.trim()
      return placeOfCells(written, '', '', one.at + one.text.indexOf(written)) ?? []
    })
  })
  return {
    places: [
      ...(origin === null ? [] : [{ mention: origin, role: 'pick' as const }]),
      ...stops.map((mention) => ({ mention, role: 'stop' as const })),
      ...(destination === null ? [] : [{ mention: destination, role: 'drop' as const }]),
    ],
    problems: [],
    isLabelled: true,
    isTentative: false,
    firstOfList: null,
  }
}

function laneOfRow(
  row: readonly TableCell[],
  columns: readonly (Column | null)[],
  sent: SentDay,
): TableLane | null {
  const route = routeOfRow(row, columns)
  const first = row[0]
  const last = row.at(-1)
  if (route === null || first === undefined || last === undefined) return null
  const each = <T>(column: Column, read: (cell: TableCell) => readonly T[]): T[] =>
    row.flatMap((cell, nth) => (columns[nth] === column ? read(cell) : []))
  const trailers = [
    ...each('equipment', (cell) => [equipmentOf(cell)]),
    ...each('mode', (cell) => [equipmentOf(cell)]),
  ]
  return {
    at: first.at,
    end: last.at + last.text.length,
    route,
    days: [
      ...each('pickup', (cell) => dayOf(cell, 'pickup', sent)),
      ...each('delivery', (cell) => dayOf(cell, 'delivery', sent)),
    ],
    equipment: trailers.flatMap(({ equipment }) => equipment),
    modes: trailers.flatMap(({ modes }) => modes),
    weights: [
      ...each('weight', (cell) => numberOf(cell, 1)),
      ...each('weight_kg', (cell) => numberOf(cell, 2.204_622_62)),
    ],
    temperatures: each('temperature', temperatureOf),
    commodities: each('commodity', (cell) =>
      isEmpty(cell.text)
        ? []
        : [
            {
              at: cell.at,
              end: cell.at + cell.text.length,
              text: cell.text,
              value: cell.text.slice(0, 100),
              ask: null,
            },
          ],
    ),
    hazmat: each('hazmat', (cell) =>
      /^(?:y|yes|x|true)$/i.test(cell.text)
        ? [{ at: cell.at, end: cell.at + cell.text.length, text: cell.text, value: true, ask: null }]
        : /^(?:n|no|false)$/i.test(cell.text)
          ? [{ at: cell.at, end: cell.at + cell.text.length, text: cell.text, value: false, ask: null }]
          : onlyOf(cell, hazmatIn(cell.text), 'an answer'),
    ),
    targets: each('target', targetOf),
  }
}

interface Line {
  readonly at: number
  readonly text: string
}

/** The most fields of a lane in such a table. */
const turnedRowsMax = 30

/** A table of three or more columns whose first one has the names: each further column is a lane. */
function turnedTable(lines: readonly Line[], from: number): { rows: TableCell[][]; count: number } | null {
  const own = lines.slice(from, from + turnedRowsMax)
  const end = own.findIndex(({ text }) => !text.includes('\t'))
  const block = end < 0 ? own : own.slice(0, end)
  const labels = block.map(({ text }) => columnOf(text.slice(0, text.indexOf('\t'))))
  const hasEnds =
    labels.some((one) => one === 'origin' || one === 'pickup_or_origin') &&
    labels.some((one) => one === 'destination' || one === 'delivery_or_destination')
  if (!hasEnds) return null
  const rows = block.map(({ text, at }) => cellsOf(text, at, /\t/g))
  const width = Math.max(0, ...rows.map((row) => row.length))
  if (width < 3) return null
  const turned = Array.from({ length: width }, (_, column) =>
    rows.map((row) => row[column] ?? { at: row[0]?.at ?? 0, text: '' }),
  )
  return { rows: turned, count: rows.length }
}

/** The lanes of the tables in a text, and the text with these tables replaced by spaces. */
export function* tableLanes(text: string, sent: SentDay): Steps<{ lanes: TableLane[]; rest: string }> {
  const lanes: TableLane[] = []
  const lines: Line[] = []
  let lineAt = 0
  for (const line of text.split('\n')) {
    lines.push({ at: lineAt, text: line })
    lineAt += line.length + 1
  }
  let rest = text
  const erase = (first: Line | undefined, last: Line | undefined) => {
    if (first === undefined || last === undefined) return
    const to = last.at + last.text.length
    rest = rest.slice(0, first.at) + rest.slice(first.at, to).replaceAll(/[^\n]/g, ' ') + rest.slice(to)
  }
  function* add(header: readonly TableCell[], rows: readonly (readonly TableCell[])[]): Steps<void> {
    const columns = yield* columnsOf(header, rows)
    for (const row of rows) {
      yield
      if (/^(?:grand )?totals?\b/i.test(row.find((cell) => cell.text !== '')?.text ?? '')) continue
      const lane = laneOfRow(row, columns, sent)
      if (lane !== null) lanes.push(lane)
    }
  }
  for (let nth = 0; nth < lines.length; nth++) {
    yield
    const line = lines[nth]
    if (line === undefined || line.text.trim() === '' || line.text.length > 5_000) continue
    const separator = separators.find((one) => isHeader(cellsOf(line.text, line.at, one)))
    if (separator === undefined) {
      const turned = turnedTable(lines, nth)
      if (turned === null) continue
      const [header = [], ...rows] = turned.rows
      yield* add(header, rows)
      erase(line, lines[nth + turned.count - 1])
      nth += turned.count - 1
      continue
    }
    const header = cellsOf(line.text, line.at, separator)
    const rows: TableCell[][] = []
    let end = nth
    for (let next = nth + 1; next < lines.length; next++) {
      const one = lines[next]
      if (one === undefined || one.text.trim() === '') break
      if (/^[\s|:+=-]+$/.test(one.text)) {
        end = next
        continue
      }
      const cells = cellsOf(one.text, one.at, separator)
      if (cells.length < 2 || (cells.length > header.length + 1 && separator !== separators[0])) break
      // Aligned columns without a cell cannot be told apart, nor can commas in cells.
      const isLoose = separator === separators[2] || separator === separators[3]
      if (isLoose && cells.length !== header.length) break
      rows.push(cells)
      end = next
    }
    if (rows.length === 0) continue
    yield* add(header, rows)
    erase(line, lines[end])
    nth = end
  }
  return { lanes, rest }
}
