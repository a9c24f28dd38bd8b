import {
  type Candidate,
  headerTerms,
  type MarketFileField,
  type MarketMeaning,
  marketMeaning,
  matchFields,
} from '../csv/index.ts'

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

interface NamedColumn extends MarketMeaning, Candidate<MarketFileField> {
  readonly name: string
}

const amounts: ReadonlySet<MarketFileField> = new Set(['low', 'mid', 'high', 'range', 'fuel', 'sample'])

/**
 * Chooses one column for each field. Of several columns of rates: spot rates, or contract rates for `sell`; the shortest time
 * frame; US dollars before another currency; dollars per load before dollars per mile; a stated basis before none; then the first. If no column has the equipment
 * and no rate is for all equipment, each column with an equipment in its name gives a rate.
 */
export function chooseColumns(header: readonly string[], kind: string | undefined): ChosenColumns {
  const known = header.flatMap((cell, at): NamedColumn[] => {
    const meaning = marketMeaning(cell)
    const name = cell.trim()
    return meaning === null ? [] : [{ ...meaning, name, at, rank: rankOf(meaning, name) }]
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
function belongsToNoEquipment({ field }: NamedColumn, equipment: string | null): boolean {
  return equipment !== null && amounts.has(field)
}

/** Whether a column is read only if the file has no clearer one: a rate of no stated basis, or the number of a week or month. */
function isVague(field: MarketFileField, name: string): boolean {
  if (field === 'mid') return basisNamed(name) === null
  return field === 'as_of' && /^(week|month)$/i.test(name)
}

/** Of several columns for a field, the one with the lowest rank is read. */
function rankOf({ market, unit, field, currency }: MarketMeaning, name: string): number {
  return (
    (currency === null || currency === 'USD' ? 0 : 8) +
    (market === null ? 4 : 0) +
    (unit === 'per mile' ? 2 : 0) +
    (isVague(field, name) ? 1 : 0)
  )
}

function columnsOf(candidates: readonly NamedColumn[], equipment: string | null): RateColumns {
  const mid = matchFields(candidates, 'first').of.get('mid')
  const basis = basisNamed(mid?.name ?? '')
  const isOfOtherBasis = ({ name, field }: NamedColumn) =>
    ['low', 'high', 'range'].includes(field) && ![null, basis].includes(basisNamed(name))
  // With a currency in the name of the rate only, the other columns are in the same one.
  const isOfOtherCurrency = ({ field, currency }: NamedColumn) =>
    amounts.has(field) && currency !== null && currency !== (mid?.currency ?? 'USD')
  const { of } = matchFields(
    candidates.filter((one) => one === mid || !(isOfOtherBasis(one) || isOfOtherCurrency(one))),
    'first',
  )
  const otherBasis = candidates.filter(isOfOtherBasis)
  const otherCurrency = candidates.filter((one) => one.field !== 'mid' && isOfOtherCurrency(one))
  return {
    equipment,
    otherBasis: otherBasis.map(({ name }) => name),
    otherCurrency: otherCurrency.map(({ name }) => name),
    currency: mid?.currency ?? null,
    at: new Map([...of].map(([field, { at }]) => [field, at])),
    units: new Map([...of].flatMap(([field, { unit }]) => (unit === null ? [] : [[field, unit] as const]))),
    basis,
  }
}

/** The basis that the name of a column states; null if it states none. */
function basisNamed(name: string): 'linehaul' | 'all_in' | null {
  const { basis } = headerTerms(name)
  return basis === 'all_in' && !/all[\s_-]*in/i.test(name) ? null : basis
}
