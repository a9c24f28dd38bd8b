import type { marketFileFields } from '#contract/market-rates.ts'
import { knownEquipment } from '#engine/equipment.ts'
import { dateTerms } from './date-terms.ts'
import { headerTerms } from './header-terms.ts'
import { foldedHeader, type ImportFieldName, importFields } from './import-fields.ts'

export type MarketFileField = (typeof marketFileFields)[number]

/** The column names of amounts in rate exports. `marketMeaning` first removes the words for unit, time frame and spot. */
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

/** The names of fields that files of quotes have, too. */
const shared = (...fields: readonly ImportFieldName[]) =>
  fields.flatMap((field) => [field, ...importFields[field].aliases])

const otherNames: Readonly<Partial<Record<MarketFileField, readonly string[]>>> = {
  scope: ['Scope', 'Area Type', 'Geography', 'Geography Type'],
  origin: [...shared('origin', 'origin_city'), 'Origin Name'],
  origin_state: shared('origin_state'),
  origin_market: ['Origin Market', 'Orig Market', 'Origin KMA', 'Origin Market Area'],
  origin_zip: [...shared('origin_zip'), 'Origin Zip3', 'Orig Zip3', 'Origin 3 Digit Zip', 'Orig Postal Code'],
  destination: [...shared('destination', 'destination_city'), 'Destination Name'],
  destination_state: shared('destination_state'),
  destination_market: [
    'Destination Market',
    'Dest Market',
    'Destination KMA',
    'Dest KMA',
    'Destination Market Area',
  ],
  destination_zip: [
    ...shared('destination_zip'),
    'Destination Zip3',
    'Dest Zip3',
    'Destination 3 Digit Zip',
    'Dest Postal Code',
  ],
  equipment: [...shared('equipment'), 'Transport Type'],
  basis: ['Basis', 'Rate Basis'],
  kind: ['Kind', 'Rate Kind', 'Side', 'Buy Sell'],
  currency: shared('quoted_currency'),
  miles: [
    ...shared('miles'),
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
export interface MarketMeaning {
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
 * @example marketMeaning('Spot Avg Linehaul Rate').market // 'spot'
 * @example marketMeaning('Reefer 7-Day Avg ($/mi)') // { field: 'mid', unit: 'per mile', market: null, days: 7, equipment: 'R' }
 */
export function marketMeaning(header: string): MarketMeaning | null {
  if (header.length > nameLengthMax) return null
  const terms = headerTerms(header)
  const unit = terms.unit === 'per mile' ? ('per mile' as const) : null
  // A column of percentages has changes or proportions, not rates.
  if (terms.unit !== unit) return null
  const currency = terms.currencies.length === 0 ? null : terms.currencies.join(' and ')
  const plain = { unit: null, market: null, days: null, currency: null, equipment: null }
  const other = otherOfName.get(foldedHeader(header))
  if (other !== undefined) return { ...plain, field: other }
  const dated = otherOfName.get(foldedHeader(dateTerms(header).name))
  if (dated === 'as_of' || dated === 'valid_until') return { ...plain, field: dated }
  const words = terms.name.toLowerCase().replaceAll(/[_-]+/g, ' ')
  const bare = words.replaceAll(perMile, ' ')
  const load = unit === null && bare.search(perLoad) >= 0
  const [, days] = timeFrame.exec(bare) ?? []
  const [market = null] = spotOrContract.exec(bare) ?? []
  const said = {
    unit: unit ?? (load ? ('per load' as const) : null),
    market: market as MarketMeaning['market'],
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
