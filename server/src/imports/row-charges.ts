import {
  type BookingValue,
  bookingTable,
  ofEachBookingField,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import { formatDollars } from '#engine/money.ts'
import { readCharges, sumOfCharges } from '#engine/named-charges.ts'
import type { QuoteValue, quotedTermsFields } from '#engine/quote-fields.ts'
import {
  type AmountOnBasis,
  type Currency,
  chargesFit,
  fuelUnitFault,
  type RateBasis,
} from '#engine/rate-basis.ts'
import {
  type Cell,
  readBasis,
  readCharge,
  readCost,
  readCurrency,
  readMoney,
  readNamedCharges,
  readText,
} from '../csv/index.ts'
import type { Columns } from './columns.ts'
import { checkCurrencies, currencyOfAmount, ofColumn } from './row-currencies.ts'
import type { RowReader } from './row-reader.ts'

/** Reads the booking fields of a row, each by its unit. */
export function readBookingCells(row: RowReader, now: number): BookingCells {
  const cells = ofEachBookingField(sentBookingFields, (field) => {
    const { sent, unit } = bookingTable[field]
    switch (unit) {
      case 'cents':
        return row.read<number | null>(sent, amountReaders[field] ?? readCharge)
      case 'text':
        return row.readCached(sent, readText)
      case 'time':
        return row.past(sent, now)
      case 'basis':
        return row.readCached(sent, readBasis)
      case 'currency':
        return row.readCached(sent, readCurrency)
      case 'charges':
        return row.readCached(sent, readNamedCharges)
    }
  })
  return cells as BookingCells
}

type BookingCells = { readonly [F in SentBookingField]: BookingValue<F> | null }

/** A truck cost of zero means unknown; a rate of zero is an error. The other amounts are charges, which can be zero. */
const amountReaders: Readonly<
  Partial<Record<SentBookingField, (text: string) => Cell<number> | Cell<number | null>>>
> = { customerRateCents: readMoney, truckCostCents: readCost }

/** Adds the error of a fuel charge in another unit, or of charges that are not less than the amount that contains them. */
function checkCharges(
  row: RowReader,
  of: 'quoted' | 'customer' | 'truck',
  amount: AmountOnBasis | null,
): void {
  if (amount === null) return
  const unitFault = fuelUnitFault(amount.fuelCents, amount.basis === 'linehaul' ? amount.cents : null)
  if (unitFault !== null) row.wrong(`${of}_fuel`, unitFault)
  if (unitFault !== null || chargesFit(amount, 'all_in')) return
  const field = amount.fuelCents === null ? (`${of}_accessorials` as const) : (`${of}_fuel` as const)
  const charges = (amount.fuelCents ?? 0) + (amount.accessorialCents ?? 0)
  row.wrong(
    field,
    `and the accessorials must be less than the all-in amount of ${formatDollars(amount.cents)} that contains them; they are ${formatDollars(charges)}. If they are paid besides it, import the file with basis=linehaul`,
  )
}

/** A booking with the currency that its row states for all amounts. */
type RowBooking = BookingCells & { readonly rowCurrency: Currency | null }

/** The accessorial charges: the amount, else the sum of the charges by name. Adds an error if they differ. */
function accessorialsOf(
  row: RowReader,
  of: 'quoted' | 'customer' | 'truck',
  total: number | null,
  charges: string | null,
): number | null {
  if (charges === null) return total
  const sum = sumOfCharges(readCharges(charges) ?? [])
  if (total !== null && total !== sum) {
    row.wrong(
      `${of}_accessorials`,
      `must be the sum of the charges by name, which is ${formatDollars(sum)}, or empty`,
    )
  }
  return sum
}

/**
 * The booking with what the file states for amounts whose row does not state it: the basis, the currency of the row, and the
 * accessorial charges that follow from charges by name.
 */
export function withAssumedBases(read: BookingCells, row: RowReader, columns: Columns): RowBooking {
  const { bases, names, fileCurrency: file } = columns
  const { customerRateCents: ar, truckCostCents: ap } = read
  const ofRow = row.readCached('quoted_currency', readCurrency)
  const currencyOf = (of: 'customer' | 'truck', own: Currency | null) => {
    const amount = of === 'customer' ? 'customer_rate' : 'truck_cost'
    const isOther = own === null && row.currencyOf(amount) !== null && isOfQuoteOnly(row, names)
    const shared = isOther ? null : ofColumn(names, 'quoted_currency', ofRow)
    return currencyOfAmount(row, amount, { column: ofColumn(names, `${of}_currency`, own) ?? shared, file })
  }
  const cells = {
    ...read,
    customerCurrency: ar === null ? read.customerCurrency : currencyOf('customer', read.customerCurrency),
    truckCurrency: ap === null ? read.truckCurrency : currencyOf('truck', read.truckCurrency),
    customerAccessorialsCents: accessorialsOf(
      row,
      'customer',
      read.customerAccessorialsCents,
      read.customerCharges,
    ),
    truckAccessorialsCents: accessorialsOf(row, 'truck', read.truckAccessorialsCents, read.truckCharges),
    rowCurrency: ofRow,
  }
  const quotedOrRow = row.currencyOf('quoted_rate')?.currency ?? ofRow ?? file?.currency ?? null
  checkCurrencies(row, ['customer_fuel', 'customer_accessorials', 'customer_charges'], {
    name: ar === null ? 'the quoted rate' : 'the customer rate',
    currency: ar === null && cells.customerCurrency === null ? quotedOrRow : cells.customerCurrency,
  })
  checkCurrencies(row, ['truck_fuel', 'truck_accessorials', 'truck_charges'], {
    name: 'the truck cost',
    currency: cells.truckCurrency,
  })
  const customerBasis =
    cells.customerBasis ??
    (ar === null ? null : (basisOfRates(row, names, bases) ?? bases.customer_rate?.basis ?? null))
  const truckBasis = cells.truckBasis ?? (ap === null ? null : (bases.truck_cost?.basis ?? null))
  checkCharges(
    row,
    'customer',
    ar === null
      ? null
      : {
          cents: ar,
          basis: customerBasis,
          fuelCents: cells.customerFuelCents,
          accessorialCents: cells.customerAccessorialsCents,
        },
  )
  checkCharges(
    row,
    'truck',
    ap === null
      ? null
      : {
          cents: ap,
          basis: truckBasis,
          fuelCents: cells.truckFuelCents,
          accessorialCents: cells.truckAccessorialsCents,
        },
  )
  return { ...cells, customerBasis, truckBasis }
}

/** Whether the column of currencies is that of the quoted rate only: its name mentions the quote, and the row has a quoted rate. */
function isOfQuoteOnly(row: RowReader, names: Columns['names']): boolean {
  return /quote/i.test(names.quoted_currency ?? '') && row.text('quoted_rate') !== null
}

/**
 * The basis of the customer rate, from the column of `quoted_basis`. That column counts in each row without a quoted rate. In other
 * rows, it counts only if its name does not mention the quote, and the name of the customer rate's column states no basis. Null
 * without a basis; `readQuotedCharges` adds the error of an unknown word.
 */
function basisOfRates(row: RowReader, names: Columns['names'], bases: Columns['bases']): RateBasis | null {
  const isOnlyRate = row.text('quoted_rate') === null
  const isOfQuote = /quote/i.test(names.quoted_basis ?? '') || bases.customer_rate?.from === 'name'
  const word = isOnlyRate || !isOfQuote ? row.text('quoted_basis') : null
  const basis = word === null ? null : row.known(readBasis, word)
  return basis !== null && 'value' in basis ? basis.value : null
}

/** Reads the cells of the quoted rate's terms, each alone. */
export function readTermsCells(row: RowReader): QuotedTermsRead {
  return {
    quotedBasis: row.readCached('quoted_basis', readBasis),
    quotedFuelCents: row.read('quoted_fuel', readCharge),
    quotedAccessorialsCents: row.read('quoted_accessorials', readCharge),
    quotedCharges: row.readCached('quoted_charges', readNamedCharges),
    quotedCurrency: row.readCached('quoted_currency', readCurrency),
  }
}

/** The basis, charges and currency of a row's quoted rate. */
export type QuotedTermsRead = {
  readonly [F in (typeof quotedTermsFields)[number]]: QuoteValue<F> | null
}

const quotedChargeFields = ['quoted_fuel', 'quoted_accessorials', 'quoted_charges'] as const
const noCharges = { customerFuelCents: null, customerAccessorialsCents: null, customerCharges: null }

/**
 * Reads the terms of a row's quoted rate. In a row without one, the customer rate counts, with its basis, and with its charges unless
 * the row has charges of the quote. In a row with both rates, the charges of the customer rate count for both, unless the file has a
 * column for the quote's charges, whose empty cell means unknown.
 */
export function readQuotedCharges(
  row: RowReader,
  quotedRate: number | null,
  end: RowBooking,
  { bases, names, fileCurrency: file }: Columns,
): QuotedTermsRead {
  const said = row.readCached('quoted_basis', readBasis)
  const named = row.readCached('quoted_charges', readNamedCharges)
  const total = accessorialsOf(row, 'quoted', row.read('quoted_accessorials', readCharge), named)
  const ofRow = ofColumn(names, 'quoted_currency', end.rowCurrency)
  const quotedCurrency =
    quotedRate === null
      ? (end.customerCurrency ?? end.rowCurrency)
      : currencyOfAmount(row, 'quoted_rate', { column: ofRow, file })
  checkCurrencies(
    row,
    ['quoted_fuel', 'quoted_accessorials', 'quoted_charges', 'estimated_cost', 'market_rate'],
    { name: 'the quoted rate', currency: quotedCurrency },
  )
  // Charges in another currency than the quoted rate cannot be charges of that rate.
  const isAlone = end.customerRateCents === null && end.rowCurrency === null
  const ofCharges = end.customerCurrency ?? (isAlone ? quotedCurrency : null)
  const sameCurrency = (quotedCurrency ?? 'USD') === (ofCharges ?? 'USD')
  const hasOwn = quotedRate !== null && quotedChargeFields.some((field) => row.has(field))
  const ofCustomer = sameCurrency && !hasOwn ? end : noCharges
  const charges = {
    quotedBasis: said ?? (quotedRate === null ? end.customerBasis : (bases.quoted_rate?.basis ?? null)),
    quotedFuelCents: row.read('quoted_fuel', readCharge) ?? ofCustomer.customerFuelCents,
    quotedAccessorialsCents: total ?? ofCustomer.customerAccessorialsCents,
    quotedCharges: total === null ? ofCustomer.customerCharges : named,
    quotedCurrency,
  }
  checkCharges(
    row,
    'quoted',
    quotedRate === null
      ? null
      : {
          cents: quotedRate,
          basis: charges.quotedBasis,
          fuelCents: charges.quotedFuelCents,
          accessorialCents: charges.quotedAccessorialsCents,
        },
  )
  return charges
}
