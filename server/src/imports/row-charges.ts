import {
  type BookingValue,
  bookingTable,
  ofEachBookingField,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import { formatDollars } from '#engine/money.ts'
import { type AmountOnBasis, chargesFit } from '#engine/rate-basis.ts'
import { type Cell, readBasis, readCharge, readCost, readMoney, readText } from '../csv/index.ts'
import type { Columns } from './columns.ts'
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
    }
  })
  return cells as BookingCells
}

type BookingCells = { readonly [F in SentBookingField]: BookingValue<F> | null }

/** A truck cost of zero means unknown; a rate of zero is an error. The other amounts are charges, which can be zero. */
const amountReaders: Readonly<
  Partial<Record<SentBookingField, (text: string) => Cell<number> | Cell<number | null>>>
> = { customerRateCents: readMoney, truckCostCents: readCost }

/** Adds the error of charges that are not less than the amount that contains them. */
function checkCharges(
  row: RowReader,
  of: 'quoted' | 'customer' | 'truck',
  amount: AmountOnBasis | null,
): void {
  if (amount === null || chargesFit(amount, 'all_in')) return
  const field = amount.fuelCents === null ? (`${of}_accessorials` as const) : (`${of}_fuel` as const)
  const charges = (amount.fuelCents ?? 0) + (amount.accessorialCents ?? 0)
  row.wrong(
    field,
    `and the accessorials must be less than the all-in amount of ${formatDollars(amount.cents)} that contains them; they are ${formatDollars(charges)}. If they are paid besides it, import the file with basis=linehaul`,
  )
}

/** The booking with the basis that the file says for amounts whose row does not say it. */
export function withAssumedBases(cells: BookingCells, row: RowReader, bases: Columns['bases']): BookingCells {
  const { customerRateCents: ar, truckCostCents: ap } = cells
  const customerBasis = cells.customerBasis ?? (ar === null ? null : (bases.customer_rate?.basis ?? null))
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

/** What the quoted rate of a row includes. A rate that is the customer rate has its basis, and its charges unless it has its own. */
export function readQuotedCharges(
  row: RowReader,
  quotedRate: number | null,
  end: BookingCells,
  bases: Columns['bases'],
) {
  const said = row.readCached('quoted_basis', readBasis)
  const charges = {
    quotedBasis: said ?? (quotedRate === null ? end.customerBasis : (bases.quoted_rate?.basis ?? null)),
    quotedFuel: row.read('quoted_fuel', readCharge) ?? end.customerFuelCents,
    quotedAccessorials: row.read('quoted_accessorials', readCharge) ?? end.customerAccessorialsCents,
  }
  checkCharges(
    row,
    'quoted',
    quotedRate === null
      ? null
      : {
          cents: quotedRate,
          basis: charges.quotedBasis,
          fuelCents: charges.quotedFuel,
          accessorialCents: charges.quotedAccessorials,
        },
  )
  return charges
}
