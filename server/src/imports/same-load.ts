import { bareName } from '#engine/customer-name.ts'
import type { QuoteRow } from '../database/schema/index.ts'
import { customerNotGiven, type ImportedQuote } from './rows.ts'

/** What tells two loads with the same id apart: their customers, and their days in epoch milliseconds. */
interface LoadFacts {
  /** The bare forms of their names. Empty if no customer is known. */
  readonly customers: readonly string[]
  /** Days of the same kind are compared with each other. Null if not known. */
  readonly quoted: number | null
  readonly pickup: number | null
  readonly booked: number | null
}

const dayMs = 86_400_000

/** The most days between two dates of one load: a correction, a rescheduled pickup, or another time zone. */
const sameLoadDaysMax = 3

/**
 * Whether a row is of another load than the quote that has its id: no day is the same. The id may be that of a contract, which has many
 * loads. For another customer, any days count; for the same one, or if none is known, only that it was quoted or booked on another day:
 * a pickup is rescheduled.
 */
export function isOtherLoad(quote: QuoteRow, row: ImportedQuote): boolean {
  const [known, said] = [factsOfQuote(quote), factsOfRow(row)]
  const isOtherCustomer =
    known.customers.length > 0 &&
    said.customers.length > 0 &&
    !said.customers.some((name) => known.customers.includes(name))
  // The id that another system pushed is that of a load, and its quote may be dated by the push.
  if (!isOtherCustomer && quote.external_id != null) return false
  return isOtherDay(known, said, isOtherCustomer)
}

const kindsOfDay = ['quoted', 'pickup', 'booked'] as const
const daysOf = (facts: LoadFacts) => kindsOfDay.flatMap((kind) => facts[kind] ?? [])
const areNear = (one: number, other: number) => Math.abs(one - other) <= sameLoadDaysMax * dayMs

function isOtherDay(known: LoadFacts, said: LoadFacts, isOtherCustomer: boolean): boolean {
  const both = kindsOfDay.filter((kind) => known[kind] !== null && said[kind] !== null)
  if (both.some((kind) => areNear(known[kind] ?? 0, said[kind] ?? 0))) return false
  if (!isOtherCustomer) return both.some((kind) => kind !== 'pickup')
  if (both.length > 0) return true
  const days = daysOf(said)
  return days.length > 0 && !days.some((one) => daysOf(known).some((other) => areNear(one, other)))
}

function factsOfQuote(quote: QuoteRow): LoadFacts {
  return {
    customers: [quote.customer_name, quote.quoted_customer_name].flatMap(customerOf),
    quoted: dayOf(quote.created_at),
    pickup: dayOf(quote.pickup_date),
    booked: dayOf(quote.booked_at),
  }
}

function factsOfRow({ customerName, reported: { quote, booking } }: ImportedQuote): LoadFacts {
  return {
    customers: customerOf(customerName),
    quoted: dayOf(quote.quotedAt ?? null),
    pickup: dayOf(quote.pickupDate ?? null),
    booked: dayOf(booking.bookedAt ?? null),
  }
}

const customerOf = (name: string | null) =>
  name === null || name === '' || name === customerNotGiven ? [] : [bareName(name)]

/** The beginning of a day in UTC. Text is YYYY-MM-DD. */
function dayOf(time: Date | number | string | null): number | null {
  return time === null ? null : Math.floor(new Date(time).getTime() / dayMs) * dayMs
}

/** A load for a sentence. @example loadWords('Acme Foods', Date.UTC(2026, 2, 1)) // '"Acme Foods", 2026-03-01' */
function loadWords(customer: string, day: number | null): string {
  return `"${customer}"${day === null ? '' : `, ${new Date(day).toISOString().slice(0, 10)}`}`
}

/**
 * Completes "<column> <id> is of ...": both loads, and what a person can do. `where` is the quote with the id, or the line of the file that
 * makes it.
 */
export function otherLoadWords(
  quote: QuoteRow,
  row: ImportedQuote,
  column: string,
  where = `the quote ${quote.lane_ref}`,
): string {
  const said = factsOfRow(row)
  const known = loadWords(quote.customer_name ?? quote.quoted_customer_name ?? '', factsOfQuote(quote).quoted)
  const other = loadWords(row.customerName, daysOf(said)[0] ?? null)
  return `is the ${column} of ${where} (${known}), and this row has another day (${other}). Give this load a ${column} of its own. If it is the same load, import the file with the map same_ids=update; if the column has no ids of loads, with reference=`
}
