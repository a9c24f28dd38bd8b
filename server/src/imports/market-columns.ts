import type { marketFileFields } from '#contract/market-rates.ts'
import { knownEquipment } from '#engine/equipment.ts'
import { foldedHeader, headerTerms } from '../csv/index.ts'

export type MarketFileField = (typeof marketFileFields)[number]

/** The column names of amounts in rate exports. `meaningOf` first removes the words for unit, time frame and spot. */
const amountNames: Readonly<Partial<Record<MarketFileField, readonly string[]>>> = {
  low: [
    'Low',
    'Low Rate',
    'Week Low',
    'Rate Low',
    'Low Linehaul Rate',
    'Low Linehaul',
    'Low Buy Rate',
    'Low Estimate',
    'Min',
    'Minimum',
    '25th Percentile',
    'P25',
  ],
  mid: [
    'Mid',
    'Midpoint',
    'Rate',
    'Avg',
    'Average',
    'Avg Rate',
    'Average Rate',
    'Rate Avg',
    'Median',
    'Median Rate',
    'Market Rate',
    'Linehaul',
    'Linehaul Rate',
    'Avg Linehaul Rate',
    'Average Linehaul Rate',
    'Avg Linehaul',
    'Total Rate',
    'Flat Rate',
    'Buy Rate',
    'Carrier Rate',
    'Target Rate',
    'Target Buy Rate',
    'Target Buy',
    'Predicted Rate',
    'Booked Rate',
    'Booked Rate Estimate',
    'All In',
    'All In Rate',
    'Avg All In Rate',
    'Average All In Rate',
  ],
  high: [
    'High',
    'High Rate',
    'Week High',
    'Rate High',
    'High Linehaul Rate',
    'High Linehaul',
    'High Buy Rate',
    'High Estimate',
    'Max',
    'Maximum',
    '75th Percentile',
    'P75',
  ],
  range: ['Range', 'Rate Range', 'Linehaul Range', 'Low High', 'Low To High', 'Market Range'],
  fuel: ['Fuel', 'Fuel Surcharge', 'Avg Fuel Surcharge', 'Average Fuel Surcharge', 'Fuel Rate', 'FSC'],
  sample: [
    'Sample',
    'Sample Size',
    'Reports',
    'Number Of Reports',
    '# Of Reports',
    'Loads',
    'Load Count',
    'Count',
  ],
}

const otherNames: Readonly<Partial<Record<MarketFileField, readonly string[]>>> = {
  scope: ['Scope', 'Area Type', 'Geography', 'Geography Type'],
  origin: ['Origin', 'Origin City', 'Orig City', 'Origin Name', 'Pickup City', 'From'],
  origin_state: ['Origin State', 'Orig State', 'Origin St', 'Pickup State'],
  origin_market: ['Origin Market', 'Orig Market', 'Origin KMA', 'Origin Market Area'],
  origin_zip: [
    'Origin Zip',
    'Orig Zip',
    'Origin Zip3',
    'Orig Zip3',
    'Origin 3 Digit Zip',
    'Origin Postal Code',
    'Orig Postal Code',
  ],
  destination: ['Destination', 'Destination City', 'Dest City', 'Destination Name', 'Delivery City', 'To'],
  destination_state: ['Destination State', 'Dest State', 'Destination St', 'Delivery State'],
  destination_market: [
    'Destination Market',
    'Dest Market',
    'Destination KMA',
    'Dest KMA',
    'Destination Market Area',
  ],
  destination_zip: [
    'Destination Zip',
    'Dest Zip',
    'Destination Zip3',
    'Dest Zip3',
    'Destination 3 Digit Zip',
    'Destination Postal Code',
    'Dest Postal Code',
  ],
  equipment: [
    'Equipment',
    'Equipment Type',
    'Truck Type',
    'Transport Type',
    'Trailer',
    'Trailer Type',
    'Equip',
  ],
  basis: ['Basis', 'Rate Basis'],
  kind: ['Kind', 'Rate Kind', 'Side', 'Buy Sell'],
  currency: ['Currency', 'Currency Code'],
  miles: [
    'Miles',
    'Mileage',
    'Distance',
    'Distance Miles',
    'Practical Miles',
    'PC Miler Miles',
    'PC-Miler Practical Mileage',
    'PC Miler Mileage',
    'Trip Miles',
    'Lane Miles',
  ],
  source: ['Source', 'Provider'],
  as_of: [
    'As Of',
    'Date',
    'Rate Date',
    'Report Date',
    'Published',
    'Week Ending',
    'Week Of',
    'Week',
    'Month',
  ],
  valid_until: ['Valid Until', 'Expires', 'Expiration Date', 'Valid To'],
}

type Names = Readonly<Partial<Record<MarketFileField, readonly string[]>>>
const byName = (names: Names): ReadonlyMap<string, MarketFileField> =>
  new Map(
    (Object.keys(names) as MarketFileField[]).flatMap((field) =>
      [field, ...(names[field] ?? [])].map((name): [string, MarketFileField] => [foldedHeader(name), field]),
    ),
  )
const amountOfName = byName(amountNames)
const otherOfName = byName(otherNames)

/** What the name of a column states about its values. */
interface Meaning {
  readonly field: MarketFileField
  readonly unit: 'per mile' | 'per load' | null
  readonly market: 'spot' | 'contract' | null
  /** The days of the average; null if the name has none. */
  readonly days: number | null
  /** The currency of the amounts; null if the name states none. Two currencies, or one that is not stored, are refused. */
  readonly currency: string | null
  /** The equipment of a column of rates, in a file with one column for each equipment. */
  readonly equipment: string | null
}

const perMile = /\(?\$? ?(per|\/) ?(loaded )?mi(les?)?\b\)?|\brpm\b/g
const perLoad = /\(?\$? ?(per|\/) ?(trip|load)\b\)?|\btrip\b/g
const timeFrame = /\(?\b(\d{1,3}) ?(days?|d)\b\)?/
const spotOrContract = /\b(spot|contract)\b/
const providerWords = /\b(dat|rateview|truckstop|greenscreens|sonar|trac)\b/g

/** A longer cell is a sentence, not the name of a column. */
const nameLengthMax = 100

/**
 * Reads the name of a column; null if it is not known. Amounts in other units than dollars per load or per mile are not read.
 *
 * @example meaningOf('Spot Avg Linehaul Rate').market // 'spot'
 * @example meaningOf('Reefer 7-Day Avg ($/mi)') // { field: 'mid', unit: 'per mile', market: null, days: 7, equipment: 'R' }
 */
export function meaningOf(header: string): Meaning | null {
  if (header.length > nameLengthMax) return null
  const terms = headerTerms(header)
  const unit = terms.unit === 'per mile' ? ('per mile' as const) : null
  // A column of percentages has changes or proportions, not rates.
  if (terms.unit !== unit) return null
  const currency = terms.currencies.length === 0 ? null : terms.currencies.join(' and ')
  const plain = { unit: null, market: null, days: null, currency: null, equipment: null }
  const other = otherOfName.get(foldedHeader(header))
  if (other !== undefined) return { ...plain, field: other }
  const words = terms.name.toLowerCase().replaceAll(/[_-]+/g, ' ')
  const bare = words.replaceAll(perMile, ' ')
  const load = unit === null && bare.search(perLoad) >= 0
  const [, days] = timeFrame.exec(bare) ?? []
  const [market = null] = spotOrContract.exec(bare) ?? []
  const said = {
    unit: unit ?? (load ? ('per load' as const) : null),
    market: market as Meaning['market'],
    days: days === undefined ? null : Number(days),
    currency,
  }
  const rest = [perLoad, timeFrame, spotOrContract, providerWords].reduce<string>(
    (text, form) => text.replace(form, ' '),
    bare,
  )
  const saysNothing = said.unit === null && said.market === null && said.days === null
  const field = amountField(rest, !saysNothing)
  if (field !== null) return { ...said, field, equipment: null }
  const tokens = rest.split(/[^a-z0-9']+/).filter((token) => token !== '')
  for (let count = Math.min(2, tokens.length); count > 0; count--) {
    for (const [named, others] of [
      [tokens.slice(0, count), tokens.slice(count)],
      [tokens.slice(-count), tokens.slice(0, -count)],
    ] as const) {
      const equipment = knownEquipment(named.join(' '))
      const of = equipment === null ? null : amountField(others.join(' '), true)
      if (of !== null) return { ...said, field: of, equipment }
    }
  }
  return null
}

function amountField(text: string, emptyIsRate: boolean): MarketFileField | null {
  const folded = foldedHeader(text)
  return folded === '' ? (emptyIsRate ? 'mid' : null) : (amountOfName.get(folded) ?? null)
}

/** The columns with the rates of one equipment, or of all equipment. */
export interface RateColumns {
  /** The equipment in the names of the columns. Null if another column states it for each row, or the whole file has one. */
  readonly equipment: string | null
  readonly at: ReadonlyMap<MarketFileField, number>
  /** The units in the names of the columns. */
  readonly units: ReadonlyMap<MarketFileField, 'per mile' | 'per load'>
  /** The basis in the name of the column of rates; null if the name has none. */
  readonly basis: 'linehaul' | 'all_in' | null
  /** The currency in the name of the column of rates; null if the name has none. */
  readonly currency: string | null
  /** Columns of low, high or range amounts, by name, that are not read because their basis is not that of the rate. */
  readonly otherBasis: readonly string[]
  /** Columns of amounts, by name, that are not read because their currency is not that of the rate. */
  readonly otherCurrency: readonly string[]
}

export interface ChosenColumns {
  readonly rates: readonly RateColumns[]
  readonly columns: readonly { readonly name: string; readonly field: MarketFileField | null }[]
  /** Notes about the choice, for the person who uploads the file. */
  readonly notes: readonly string[]
  /** The file has a rate, but only in columns of contract rates. */
  readonly isContractOnly: boolean
}

interface Candidate extends Meaning {
  readonly name: string
  readonly index: number
}

const amounts: ReadonlySet<MarketFileField> = new Set(['low', 'mid', 'high', 'range', 'fuel', 'sample'])

/**
 * Chooses one column for each field. Of several columns of rates: spot rates, or contract rates for `sell`; the shortest time
 * frame; US dollars before another currency; dollars per load before dollars per mile; a stated basis before none; then the first. If no column has the equipment
 * and no rate is for all equipment, each column with an equipment in its name gives a rate.
 */
export function chooseColumns(header: readonly string[], kind: string | undefined): ChosenColumns {
  const known = header.flatMap((cell, index): Candidate[] => {
    const meaning = meaningOf(cell)
    return meaning === null ? [] : [{ ...meaning, name: cell.trim(), index }]
  })
  const rates = known.filter(({ field }) => field === 'mid')
  const wanted = kind === 'sell' && rates.some(({ market }) => market === 'contract') ? 'contract' : 'spot'
  const ofMarket = known.filter(({ market }) => market === null || market === wanted)
  const notes: string[] = []
  if (
    rates.some(({ market }) => market === 'contract') &&
    rates.some(({ market }) => market !== 'contract')
  ) {
    notes.push(
      wanted === 'contract'
        ? 'The contract rates are read, and the spot rates are not: the kind is "what customers pay".'
        : 'The spot rates are read, and the contract rates are not: load the file again as "what customers pay" to save those.',
    )
  }
  const framed = ofMarket.filter(({ field, days }) => field === 'mid' && days !== null)
  const unframed = ofMarket.some(({ field, days }) => field === 'mid' && days === null)
  const frame = unframed || framed.length === 0 ? null : Math.min(...framed.map(({ days }) => days ?? 0))
  if (frame !== null && framed.some(({ days }) => days !== frame)) {
    notes.push(`Of the time frames, the ${frame} days are read, and the longer ones are not.`)
  }
  const usable = ofMarket.filter(({ field, days }) => !amounts.has(field) || days === null || days === frame)
  const isWide =
    !usable.some(({ field }) => field === 'equipment') &&
    !usable.some(({ field, equipment }) => field === 'mid' && equipment === null)
  const equipments = isWide
    ? [...new Set(usable.flatMap(({ field, equipment }) => (field === 'mid' ? (equipment ?? []) : [])))]
    : []
  const chosen = (equipments.length === 0 ? [null] : equipments).map((equipment) =>
    columnsOf(
      usable.filter(
        (one) =>
          one.equipment === equipment || (one.equipment === null && !belongsToNoEquipment(one, equipment)),
      ),
      equipment,
    ),
  )
  const otherBasis = chosen.flatMap((one) => one.otherBasis)
  if (otherBasis.length > 0) {
    notes.push(`Not read, because the rate is on the other basis: ${otherBasis.join(', ')}.`)
  }
  const otherCurrency = chosen.flatMap((one) => one.otherCurrency)
  if (otherCurrency.length > 0) {
    notes.push(`Not read, because the rate is in another currency: ${otherCurrency.join(', ')}.`)
  }
  const fieldAt = new Map(
    chosen.flatMap(({ at }) => [...at].map(([field, index]) => [index, field] as const)),
  )
  return {
    rates: chosen,
    columns: header.map((cell, index) => ({ name: cell.trim(), field: fieldAt.get(index) ?? null })),
    notes,
    isContractOnly:
      rates.length > 0 && rates.every(({ market }) => market === 'contract') && wanted === 'spot',
  }
}

/** Whether a column of amounts without an equipment in its name is unused because the file has a column for each equipment. */
function belongsToNoEquipment({ field }: Candidate, equipment: string | null): boolean {
  return equipment !== null && amounts.has(field)
}

/** Whether a column is read only if the file has no clearer one: a rate of no stated basis, or the number of a week or month. */
function isVague(field: MarketFileField, name: string): boolean {
  if (field === 'mid') return basisNamed(name) === null
  return field === 'as_of' && /^(week|month)$/i.test(name)
}

function columnsOf(candidates: readonly Candidate[], equipment: string | null): RateColumns {
  const rank = ({ market, unit, field, name, index, currency }: Candidate) =>
    (currency === null || currency === 'USD' ? 0 : 8_000) +
    (market === null ? 4_000 : 0) +
    (unit === 'per mile' ? 2_000 : 0) +
    (isVague(field, name) ? 1_000 : 0) +
    index / 1_000
  const ranked = [...candidates].sort((one, other) => rank(one) - rank(other))
  const first = new Map<MarketFileField, Candidate>()
  const otherBasis: string[] = []
  const otherCurrency: string[] = []
  const mid = ranked.find(({ field }) => field === 'mid')
  const basis = basisNamed(mid?.name ?? '')
  const isOfMid = ({ currency }: Candidate) => (currency ?? 'USD') === (mid?.currency ?? 'USD')
  for (const one of ranked) {
    if (first.has(one.field)) continue
    const named = basisNamed(one.name)
    const isOther = named !== null && named !== basis && ['low', 'high', 'range'].includes(one.field)
    if (isOther) otherBasis.push(one.name)
    else if (amounts.has(one.field) && !isOfMid(one)) {
      // With a currency in the name of the rate only, the other columns are in the same one.
      if (one.currency === null) first.set(one.field, one)
      else otherCurrency.push(one.name)
    } else first.set(one.field, one)
  }
  return {
    equipment,
    otherBasis,
    otherCurrency,
    currency: mid?.currency ?? null,
    at: new Map([...first].map(([field, { index }]) => [field, index])),
    units: new Map(
      [...first].flatMap(([field, { unit }]) => (unit === null ? [] : [[field, unit] as const])),
    ),
    basis,
  }
}

/** The basis that the name of a column states; null if it states none. */
function basisNamed(name: string): 'linehaul' | 'all_in' | null {
  const { basis } = headerTerms(name)
  return basis === 'all_in' && !/all[\s_-]*in/i.test(name) ? null : basis
}
