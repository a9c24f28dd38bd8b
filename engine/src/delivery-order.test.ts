import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Booking, bookingFields, ofEachBookingField } from './booking-fields.ts'
import { assertMove, factsOf, isSame, noFacts, outcomeFrom, savedFacts, undecided } from './quote-outcome.ts'
import { applyPushedQuote, type PushedQuoteField, type QuoteStamps } from './quote-update.ts'
import { applyShipmentUpdate, type BookedQuote, currentBooking, isBooked } from './shipment-update.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  test(name, () => check(250))
  test(`${name}: many`, { tags: 'long' }, () => check(2_000))
}

// Promise: the state of a quote does not depend on the order in which messages about it arrive. Only of one second of one sender do
// two different messages of one kind, and a cancellation and a booking that replaces an earlier one, count in the order of their arrival.

const start = 1_000_000
/** Messages arrive after all of them were signed. */
const arrival = (start + 1_000) * 1_000

interface Quote extends BookedQuote {
  readonly quoteStamps: QuoteStamps
  readonly quoted: Readonly<Record<string, unknown>>
}
const noBooking: Booking = ofEachBookingField(bookingFields, () => null)
const pendingQuote: Quote = {
  booking: noBooking,
  stamps: {},
  outcome: undecided,
  facts: noFacts,
  quoteStamps: {},
  quoted: {},
}

type Message =
  | {
      readonly kind: 'update'
      readonly fields: Partial<Booking>
      readonly cancels: boolean
      readonly at: number
    }
  | { readonly kind: 'quote'; readonly values: Readonly<Record<string, unknown>>; readonly at: number }

/** A quote as it is read again from the database: its facts go through their saved form. */
function readAgain(quote: Quote): Quote {
  const kept = quote.facts === noFacts ? null : JSON.parse(JSON.stringify(savedFacts(quote.facts)))
  const { booking, outcome, quoteStamps } = quote
  const facts = factsOf({
    shown: outcome,
    kept,
    isBooked: currentBooking(booking, {}, outcome).isBooked,
    cancelledAt: booking.cancelledAt,
    stamps: quoteStamps.outcome ?? [],
  })
  return { ...quote, facts }
}

function after(stored: Quote, message: Message): Quote {
  const quote = readAgain(stored)
  if (message.kind === 'update') {
    const cancellation = message.cancels ? { cancellation: { reason: String(message.at % 7) } } : {}
    const update = { fields: message.fields, ...cancellation, sender: 1, signedAtSeconds: message.at }
    return { ...quote, ...applyShipmentUpdate(quote, update, arrival).lane }
  }
  const { outcome, reason = null, decidedAt = null } = message.values as Record<string, never>
  const carried = Object.keys(message.values).filter((name) => name !== 'reason' && name !== 'decidedAt')
  const applied = applyPushedQuote(
    {
      stamps: quote.quoteStamps,
      outcome: quote.outcome,
      facts: quote.facts,
      booking: currentBooking(quote.booking, quote.stamps, quote.outcome),
    },
    {
      carried: carried as PushedQuoteField[],
      outcome: outcome === undefined ? null : { outcome, reason, decidedAt },
      validUntil: null,
      content: JSON.stringify(message.values),
      sender: 1,
      signedAtSeconds: message.at,
    },
    arrival,
  )
  const written = Object.entries(message.values).filter(([name]) =>
    applied.written.has(name as PushedQuoteField),
  )
  return {
    ...quote,
    quoteStamps: applied.stamps,
    quoted: { ...quote.quoted, ...Object.fromEntries(written) },
    ...(applied.outcome ?? {}),
  }
}

/** The parts of a quote that a caller sees. */
function seen({ booking, outcome, quoted }: Quote) {
  return { ...booking, ...outcome, quoted: Object.fromEntries(Object.entries(quoted).sort()) }
}

function* ordersOf<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) yield items
  for (const [index, item] of items.entries()) {
    for (const rest of ordersOf(items.toSpliced(index, 1))) yield [item, ...rest]
  }
}

const endOf = (messages: readonly Message[]) => seen(messages.reduce(after, pendingQuote))

/** Seconds: few, so that messages of the same second occur. */
const second = fc.integer({ min: start, max: start + 5 })
const time = fc.option(fc.constantFrom(...[-40, -30, 3].map((days) => (start + days) * 1_000)), {
  nil: undefined,
})
const amount = fc.constantFrom(undefined, 200_000, 210_000)
const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
const booking = fc
  .record({
    at: second,
    customerRateCents: amount,
    truckCostCents: amount,
    customerName: fc.constantFrom(undefined, 'A', 'B'),
    bookedAt: time,
  })
  .map(({ at, ...fields }): Message => ({ kind: 'update', fields: given(fields), cancels: false, at }))
const cancellation = second.map((at): Message => ({ kind: 'update', fields: {}, cancels: true, at }))
const report = fc
  .record({
    at: second,
    outcome: fc.constantFrom('won', 'lost', 'expired', 'pending'),
    reason: fc.constantFrom(undefined, 'price'),
    decidedAt: time,
  })
  .map(
    ({ at, outcome, reason, decidedAt }): Message => ({
      kind: 'quote',
      at,
      values: given({
        outcome,
        reason: outcome === 'lost' ? reason : undefined,
        decidedAt: outcome === 'won' || outcome === 'lost' ? decidedAt : undefined,
      }),
    }),
  )
const correction = fc
  .record({ at: second, quotedRate: amount, customer: fc.constantFrom(undefined, 'A', 'B') })
  .map(({ at, ...values }): Message => ({ kind: 'quote', at, values: given(values) }))
/** Messages of which no two have the same kind and the same second, and no booking of a cancellation's second follows an earlier one. */
const messagesOf = (length: { minLength: number; maxLength: number }) =>
  fc
    .uniqueArray(fc.oneof(booking, cancellation, report, report, correction), {
      ...length,
      selector: kindAndSecond,
    })
    .filter((messages) => !messages.some((message) => mayReplace(message, messages)))

function mayReplace(message: Message, messages: readonly Message[]): boolean {
  const isBooking = (one: Message) => one.kind === 'update' && isBooked(one.fields)
  return (
    isBooking(message) &&
    messages.some((one) => one.kind === 'update' && one.cancels && one.at === message.at) &&
    messages.some((one) => isBooking(one) && one.at < message.at)
  )
}

function kindAndSecond(message: Message): string {
  const kind = message.kind === 'update' ? message.cancels : String(message.values.outcome)
  return `${message.kind} ${kind} ${message.at}`
}

describe('the end state of a quote does not depend on the order of delivery', () => {
  property('for up to four messages of every kind, in all orders', (numRuns) => {
    fc.assert(
      fc.property(messagesOf({ minLength: 2, maxLength: 4 }), (messages) => {
        const expected = endOf(messages)
        for (const order of ordersOf(messages)) expect(endOf(order)).toEqual(expected)
      }),
      { numRuns },
    )
  })

  property('for up to ten messages with repeats, in random orders', (numRuns) => {
    const delivered = messagesOf({ minLength: 4, maxLength: 10 }).chain((messages) =>
      fc.tuple(
        fc.constant(messages),
        fc.shuffledSubarray([...messages, ...messages], { minLength: 2 * messages.length }),
      ),
    )
    fc.assert(
      fc.property(delivered, ([messages, order]) => {
        expect(endOf(order)).toEqual(endOf(messages))
      }),
      { numRuns },
    )
  })
})

describe('of one second, a booking that arrives after the cancellation of another one stands', () => {
  const booked = (customerRateCents: number, at = start): Message => ({
    kind: 'update',
    fields: { customerRateCents, carrierName: `For ${customerRateCents}` },
    cancels: false,
    at,
  })
  const cancelled: Message = { kind: 'update', fields: {}, cancels: true, at: start }
  const [one, other, third] = [200_000, 210_000, 220_000].map((rate) => booked(rate))
  const rateOf = (messages: readonly (Message | undefined)[]) =>
    endOf(messages.filter((message) => message !== undefined)).customerRateCents

  test.each([
    ['of the same second', one],
    ['of an earlier second', booked(200_000, start - 9)],
  ])('the other one is %s', (_when, before) => {
    const replaced = [before, cancelled, other]
    const end = endOf(replaced.filter((message) => message !== undefined))
    expect(end).toMatchObject({
      ...{ customerRateCents: 210_000, carrierName: 'For 210000', cancelledAt: null, cancelReason: null },
      ...{ outcome: 'won', source: 'tms' },
    })
    // Repetitions change nothing, in any order.
    for (const again of ordersOf(replaced)) expect(rateOf([...replaced, ...again])).toBe(210_000)
    // The booking that was cancelled stays so, however often it is repeated.
    expect(rateOf([before, cancelled, before, cancelled, before])).toBeNull()
    expect(rateOf([before, other, cancelled])).toBeNull()
    // It can be cancelled and replaced once more.
    const again: Message = { kind: 'update', fields: { carrierName: null }, cancels: true, at: start }
    expect(rateOf([...replaced, again, before, other, cancelled])).toBeNull()
    expect(rateOf([...replaced, again, third, before, other, cancelled, again])).toBe(220_000)
  })

  test('a cancellation that overtakes the booking that it follows still cancels it, and no other one', () => {
    for (const order of ordersOf([one, cancelled])) expect(rateOf([...order, ...order])).toBeNull()
    expect(rateOf([cancelled, one, one, other])).toBe(210_000)
    expect(rateOf([cancelled, one, other, one, cancelled])).toBe(210_000)
  })

  test('it was won in that second, and not when the earlier booking was signed', () => {
    const decided = (...messages: readonly Message[]) => endOf(messages).decidedAt
    expect(decided(booked(200_000, start - 9), cancelled, booked(210_000))).toBe(start * 1_000)
  })
})

describe('of two messages of one kind and second, the later first arrival counts', () => {
  const rates = [200_000, 210_000, 220_000]
  test.each(['update', 'quote'] as const)('%s, however often the earlier ones are repeated', (kind) => {
    const messages = rates.map(
      (rate): Message =>
        kind === 'update'
          ? { kind, fields: { customerRateCents: rate }, cancels: false, at: start }
          : { kind, values: { quotedRate: rate }, at: start },
    )
    for (const order of ordersOf(messages)) {
      const last = order.at(-1)
      for (const repeated of ordersOf(messages)) {
        expect(endOf([...order, ...repeated])).toEqual(endOf(last === undefined ? [] : [...order, last]))
      }
      const { customerRateCents, quoted } = endOf(order)
      const end =
        kind === 'update'
          ? last?.kind === 'update' && last.fields.customerRateCents
          : last?.kind === 'quote' && last.values.quotedRate
      expect(kind === 'update' ? customerRateCents : quoted.quotedRate).toBe(end)
    }
  })
})

describe('the win of a booking', () => {
  const booked = (fields: Partial<Booking>, at = start): Message => ({
    kind: 'update',
    fields: { customerRateCents: 200_000, ...fields },
    cancels: false,
    at,
  })
  const decidedAt = (messages: readonly Message[]) => endOf(messages).decidedAt

  test('is decided when it was booked, else when it was signed, and not when it arrived', () => {
    expect(decidedAt([booked({ bookedAt: 5_000 })])).toBe(5_000)
    expect(decidedAt([booked({})])).toBe(start * 1_000)
    expect(decidedAt([booked({}), booked({ customerRateCents: 210_000 }, start + 9)])).toBe(start * 1_000)
  })

  test('is corrected by a report that states when the customer decided', () => {
    const won: Message = { kind: 'quote', values: { outcome: 'won', decidedAt: 7_000 }, at: start + 1 }
    expect(decidedAt([booked({ bookedAt: 5_000 }), won])).toBe(7_000)
    expect(decidedAt([won, booked({ bookedAt: 5_000 })])).toBe(7_000)
  })

  test('is decided at the first booking since the last cancellation', () => {
    const cancelled: Message = { kind: 'update', fields: {}, cancels: true, at: start + 2 }
    expect(decidedAt([booked({}), cancelled, booked({}, start + 3), booked({}, start + 4)])).toBe(
      (start + 3) * 1_000,
    )
  })

  test('has the same time when the same booking is sent every day for a year', () => {
    const daily = Array.from({ length: 365 }, (_, day) => booked({}, start - 900 + day))
    const end = daily.reduce(after, pendingQuote)
    expect(end.outcome.decidedAt).toBe((start - 900) * 1_000)
    expect(end.facts.bookings.length).toBeLessThan(20)
  })

  test('that was pushed remains when the booking is cancelled, in all orders', () => {
    const won: Message = { kind: 'quote', values: { outcome: 'won' }, at: start }
    const cancelled: Message = { kind: 'update', fields: {}, cancels: true, at: start + 2 }
    for (const order of ordersOf([won, booked({}, start + 1), cancelled])) {
      expect(endOf(order)).toMatchObject({ outcome: 'won', source: 'tms', decidedAt: start * 1_000 })
    }
  })
})

describe('a rule moves a quote only between the outcomes of its row', () => {
  property('for up to ten messages in any order', (numRuns) => {
    fc.assert(
      fc.property(messagesOf({ minLength: 2, maxLength: 10 }), (messages) => {
        let quote = pendingQuote
        for (const message of messages) {
          const read = readAgain(quote)
          if (message.kind === 'update') {
            const cancellation = message.cancels ? { cancellation: { reason: null } } : {}
            const update = { fields: message.fields, ...cancellation, sender: 1, signedAtSeconds: message.at }
            const { lane: next, rule } = applyShipmentUpdate(read, update, arrival)
            if (rule !== null) assertMove(rule, quote.outcome.outcome, next.outcome.outcome)
          }
          quote = after(quote, message)
        }
      }),
      { numRuns },
    )
  })

  test('and another move is an error that names it', () => {
    const expiry = () => assertMove('validity_ended', 'won', 'expired')
    expect(expiry).toThrow('validity_ended does not move a quote from won to expired.')
    expect(() => assertMove('another_offer_counts', 'pending', 'lost')).toThrow('pending to lost')
    expect(() => assertMove('booking_is_a_win', 'lost', 'won')).not.toThrow()
  })
})

test('an outcome follows from the facts alone', () => {
  const held = { isBooked: false, isSigned: false, bookedAt: null }
  expect(isSame(outcomeFrom(noFacts, held), undecided)).toBe(true)
})
