import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Booking,
  bookingFields,
  bookingTable,
  cancellationFields,
  ofEachBookingField,
  sentBookingFields,
} from './booking-fields.ts'
import { stampsAfterRollback } from './field-stamps.ts'
import {
  factsOf,
  noFacts,
  outcomeFrom,
  type QuoteOutcome,
  undecided,
  withBooking,
  withDecision,
  withImportedBooking,
  withRollback,
  withStatement,
} from './quote-outcome.ts'
import { applyShipmentUpdate, type BookedQuote, isBooked, type ShipmentUpdate } from './shipment-update.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  test(name, () => check(200))
  test(`${name}: many`, { tags: 'long' }, () => check(2_000))
}

const lostByAPerson: QuoteOutcome = {
  outcome: 'lost',
  reason: 'price',
  source: 'dashboard',
  decidedAt: 1_000,
}

describe.each(['tms', 'import'] as const)('a booking from %s', (source) => {
  const won = { outcome: 'won', reason: null, source, decidedAt: 5_000 }
  const held = { isBooked: true, isSigned: source === 'tms', bookedAt: null }
  const booked = (facts: typeof noFacts) =>
    source === 'tms' ? withBooking(facts, 5) : withImportedBooking(facts, 5_000)

  test.each([
    ['an open lane', noFacts],
    ['a lane that a person marked lost before', withDecision(noFacts, lostByAPerson, 1, false)],
    ['a lane that a file marked lost', withStatement(noFacts, { ...lostByAPerson, source: 'import' })],
  ] as const)('wins %s', (_name, facts) => {
    expect(outcomeFrom(booked(facts), held)).toEqual(won)
    expect(outcomeFrom(booked(facts), { ...held, isBooked: false })).toEqual(
      outcomeFrom(facts, { ...held, isBooked: false }),
    )
  })

  test('does not change the time of a win that a person recorded before the booking', () => {
    const before = { ...lostByAPerson, outcome: 'won', reason: null } as const
    expect(outcomeFrom(booked(withDecision(noFacts, before, 1, false)), held).decidedAt).toBe(1_000)
  })
})

const noBooking: Booking = ofEachBookingField(bookingFields, () => null)
const quoted: BookedQuote = { booking: noBooking, stamps: {}, outcome: undecided, facts: noFacts }

/** Few values per unit, so that equal values occur. Covers every field that an update can carry. */
const valuesOf = {
  cents: fc.integer({ min: 0, max: 5 }),
  text: fc.constantFrom('A', 'B'),
  time: fc.integer({ min: 1, max: 3 }),
  basis: fc.constantFrom('linehaul', 'all_in'),
  currency: fc.constantFrom('USD', 'CAD'),
  charges: fc.constantFrom('detention 75.00', 'lumper 20.00'),
} as const
const fieldsSent = fc.record(
  ofEachBookingField(sentBookingFields, (field) => valuesOf[bookingTable[field].unit] as fc.Arbitrary<never>),
  { requiredKeys: [] },
) as fc.Arbitrary<ShipmentUpdate['fields']>
const booking = fieldsSent.map((fields) => ({ fields }))
const cancellation = fc
  .option(fc.constantFrom('No truck', 'Shipper pulled the load'))
  .map((reason) => ({ fields: {}, cancellation: { reason } }))
/** The updates of one sender, one for each second of its clock. */
const updates = fc.array(
  fc.oneof({ arbitrary: booking, weight: 3 }, { arbitrary: cancellation, weight: 1 }),
  {
    minLength: 1,
    maxLength: 8,
  },
)

const start = 1_000_000

interface Arrival {
  readonly update: ShipmentUpdate
  /** Time of the database's clock, in seconds. */
  readonly at: number
}

function quoteAfter(arrivals: readonly Arrival[], quote = quoted): BookedQuote {
  return arrivals.reduce((held, { update, at }) => applyShipmentUpdate(held, update, at * 1000).lane, quote)
}

/** The values of a quote; instead of the time of a cancellation, whether there is one. */
function values({ booking: { cancelledAt, ...held }, outcome }: BookedQuote) {
  return { ...held, isCancelled: cancelledAt !== null, outcome: outcome.outcome }
}

/** The expected state after the updates of one sender in signed order, computed without timestamps. */
function inSignedOrder(signed: readonly Pick<ShipmentUpdate, 'fields' | 'cancellation'>[]) {
  let held: Record<string, unknown> = { ...noBooking, isCancelled: false }
  for (const { fields, cancellation } of signed) {
    if (cancellation !== undefined) {
      const kept = bookingFields.filter((field) => bookingTable[field].cancellation === 'keeps')
      held = {
        ...noBooking,
        ...Object.fromEntries(kept.map((field) => [field, held[field]])),
        cancelReason: cancellation.reason,
        isCancelled: true,
      }
    }
    Object.assign(held, fields)
    if (isBooked(held as Partial<Booking>)) Object.assign(held, { isCancelled: false, cancelReason: null })
  }
  const { cancelledAt: _time, ...rest } = held
  return { ...rest, outcome: isBooked(held as Partial<Booking>) ? 'won' : 'pending' }
}

describe('the updates of one sender', () => {
  property(
    'in any order, with repeats and any clock skew, give the same state as in signed order',
    (numRuns) => {
      fc.assert(
        fc.property(
          updates.chain((signed) =>
            fc.record({
              signed: fc.constant(signed),
              skew: fc.integer({ min: -300, max: 300 }),
              order: fc.array(fc.nat({ max: signed.length - 1 }), { maxLength: 6 }).chain((repeats) =>
                fc.shuffledSubarray([...signed.keys(), ...repeats], {
                  minLength: signed.length + repeats.length,
                }),
              ),
              waits: fc.infiniteStream(fc.integer({ min: 0, max: 200 })),
            }),
          ),
          ({ signed, skew, order, waits }) => {
            let at = start + signed.length
            const arrivals = order.map((index): Arrival => {
              at += waits.next().value
              const update = { ...signed[index], fields: signed[index]?.fields ?? {}, sender: 1 }
              return { update: { ...update, signedAtSeconds: start + skew + index }, at }
            })
            expect(values(quoteAfter(arrivals))).toEqual(inSignedOrder(signed))
          },
        ),
        { numRuns },
      )
    },
  )

  test('change nothing when the newest update is sent again', () => {
    fc.assert(
      fc.property(updates, fc.integer({ min: 0, max: 100 }), (signed, later) => {
        const arrivals = signed.map((update, index) => ({
          update: { ...update, sender: 1, signedAtSeconds: start + index },
          at: start + index,
        }))
        const quote = quoteAfter(arrivals)
        const last = arrivals.at(-1) as Arrival
        const again = { ...last.update, signedAtSeconds: last.update.signedAtSeconds + later }
        const first = applyShipmentUpdate(quoteAfter(arrivals.slice(0, -1)), last.update, last.at * 1000)
        const repeated = applyShipmentUpdate(quote, again, (last.at + later) * 1000)
        expect(repeated.lane.booking).toEqual(quote.booking)
        expect(repeated.lane.outcome).toEqual(quote.outcome)
        expect([repeated.updated, repeated.rule]).toEqual([first.updated, null])
      }),
    )
  })
})

describe('the updates of several senders', () => {
  const skewed = fc.record({
    signed: fc.array(fc.record({ update: booking, sender: fc.nat({ max: 2 }), late: fc.nat({ max: 50 }) }), {
      minLength: 1,
      maxLength: 8,
    }),
    skews: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -300, max: 300 }))),
  })
  /** Updates signed one per second and delivered late, in order of arrival. */
  const arrivalsOf = ({ signed, skews }: typeof skewed extends fc.Arbitrary<infer T> ? T : never) =>
    signed
      .map(({ update, sender, late }, index) => ({
        update: { ...update, sender, signedAtSeconds: start + index + (skews[sender] ?? 0) },
        at: start + index + late,
      }))
      .sort((a, b) => a.at - b.at)

  property('never replace a newer value of a sender by an older one', (numRuns) => {
    fc.assert(
      fc.property(skewed, (history) => {
        const arrivals = arrivalsOf(history)
        const { stamps } = quoteAfter(arrivals)
        for (const field of bookingFields) {
          const [held] = stamps[field] ?? []
          const own = arrivals.filter(
            ({ update }) =>
              update.sender === held?.sender && update.fields[field as 'carrierName'] !== undefined,
          )
          for (const { update } of own) {
            expect(update.signedAtSeconds).toBeLessThanOrEqual(held?.signed ?? 0)
          }
        }
      }),
      { numRuns },
    )
  })

  test('do not block a sender with a correct clock: an update it signs after all others arrived is applied', () => {
    fc.assert(
      fc.property(skewed, booking, (history, { fields }) => {
        const arrivals = arrivalsOf(history)
        const at = start + 60
        const update = { fields, sender: 9, signedAtSeconds: at }
        const { lane: quote, applied } = applyShipmentUpdate(quoteAfter(arrivals), update, at * 1000)
        expect(applied).toHaveLength(Object.keys(fields).length)
        expect(quote.booking).toMatchObject(fields)
      }),
    )
  })

  test('with two fast clocks follow their signed times', () => {
    const from = (sender: number, signedAtSeconds: number) => ({
      update: { fields: { carrierName: String(sender) }, sender, signedAtSeconds },
      at: start,
    })
    const held = (arrivals: readonly Arrival[]) => quoteAfter(arrivals).booking.carrierName
    expect(held([from(1, start + 21), from(2, start + 20)])).toBe('1')
    expect(held([from(2, start + 20), from(1, start + 21)])).toBe('1')
    const tie = [from(1, start + 20), from(2, start + 20)]
    expect([held(tie), held(tie.toReversed())]).toEqual(['2', '1'])
  })

  test('with clocks that are not fast give the same state as in signed order', () => {
    fc.assert(
      fc.property(skewed, (history) => {
        const skews: [number, number, number] = [0, 0, 0]
        const signed = history.signed.map(({ update }) => update)
        expect(values(quoteAfter(arrivalsOf({ ...history, skews })))).toEqual(inSignedOrder(signed))
      }),
    )
  })
})

describe('replays', () => {
  property('of updates by senders with correct clocks change no value and no outcome', (numRuns) => {
    const history = fc.array(
      fc.record({ update: fc.oneof(booking, cancellation), sender: fc.nat({ max: 2 }) }),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(
        history.chain((signed) => fc.tuple(fc.constant(signed), fc.shuffledSubarray([...signed.keys()]))),
        ([signed, repeated]) => {
          const arrivals = signed.map(
            ({ update, sender }, index): Arrival => ({
              update: { ...update, sender, signedAtSeconds: start + index },
              at: start + index,
            }),
          )
          const quote = quoteAfter(arrivals)
          const again = repeated.map((index) => ({ ...(arrivals[index] as Arrival), at: start + 100 }))
          const replayed = quoteAfter(again, quote)
          expect(replayed).toEqual(quote)
        },
      ),
      { numRuns },
    )
  })
})

describe('a booking after a cancellation', () => {
  property('has only its own values and those that the cancellation did not clear', (numRuns) => {
    fc.assert(
      fc.property(
        updates,
        cancellation,
        fieldsSent,
        fc.integer({ min: 0, max: 5 }),
        (signed, cancelled, fields, rate) => {
          const later = { fields: { ...fields, customerRateCents: rate } }
          const all = [...signed, cancelled, later]
          const arrivals = all.map((update, index) => ({
            update: { ...update, sender: 1, signedAtSeconds: start + index },
            at: start + index,
          }))
          const before = quoteAfter(arrivals.slice(0, -2)).booking
          const { booking: held, outcome } = quoteAfter(arrivals)
          for (const field of sentBookingFields) {
            const kept = bookingTable[field].cancellation === 'keeps' ? before[field] : null
            expect([field, held[field]]).toEqual([field, later.fields[field] ?? kept])
          }
          expect(cancellationFields.map((field) => held[field])).toEqual(cancellationFields.map(() => null))
          expect([outcome.outcome, outcome.source]).toEqual(['won', 'tms'])
        },
      ),
      { numRuns },
    )
  })
})

describe('the outcome of a quote', () => {
  const byPerson = fc.record({
    outcome: fc.constantFrom('won', 'lost', 'pending'),
    reason: fc.constantFrom(null, 'price'),
    source: fc.constant('dashboard'),
    decidedAt: fc.integer({ min: 1, max: 1_000 }),
  })
  const steps = fc.array(
    fc.oneof(
      booking.map((update) => ({ kind: 'update' as const, update })),
      cancellation.map((update) => ({ kind: 'update' as const, update })),
      byPerson.map((outcome) => ({ kind: 'person' as const, outcome: outcome as QuoteOutcome })),
    ),
    { minLength: 1, maxLength: 12 },
  )

  property(
    'is a win while booked, else the outcome before the booking, unless a person set the outcome after the booking',
    (numRuns) => {
      fc.assert(
        fc.property(steps, (taken) => {
          let quote = quoted
          /** The outcome before the booking, and the outcome that a person set since the booking. */
          let unbooked: QuoteOutcome = undecided
          let standing: QuoteOutcome | null = null
          for (const [index, step] of taken.entries()) {
            if (step.kind === 'person') {
              const facts = withDecision(quote.facts, step.outcome, start + index, isBooked(quote.booking))
              quote = { ...quote, outcome: step.outcome, facts }
              if (isBooked(quote.booking)) standing = step.outcome
              else unbooked = step.outcome
            } else {
              const update = { ...step.update, sender: 1, signedAtSeconds: start + index }
              quote = applyShipmentUpdate(quote, update, (start + index) * 1000).lane
              if (!isBooked(quote.booking)) {
                unbooked = standing ?? unbooked
                standing = null
              }
            }
            if (standing !== null || !isBooked(quote.booking))
              expect(quote.outcome).toEqual(standing ?? unbooked)
            else expect([quote.outcome.outcome, quote.outcome.source]).toEqual(['won', 'tms'])
          }
        }),
        { numRuns },
      )
    },
  )
})

test('a cancellation that is rolled back and sent again restores the outcome from before the booking', () => {
  const before = fc.constantFrom(undecided, lostByAPerson, { ...lostByAPerson, source: 'import' as const })
  fc.assert(
    fc.property(before, fieldsSent, fc.integer({ min: 0, max: 5 }), (outcome, fields, rate) => {
      const from = (signedAtSeconds: number) => ({ fields: {}, sender: 1, signedAtSeconds })
      const facts = factsOf({ shown: outcome, kept: null, isBooked: false, cancelledAt: null, stamps: [] })
      const booked = applyShipmentUpdate(
        { ...quoted, outcome, facts },
        { ...from(start), fields: { ...fields, customerRateCents: rate } },
        start * 1000,
      ).lane
      const cancel = (quote: BookedQuote, at: number) =>
        applyShipmentUpdate(quote, { ...from(at), cancellation: { reason: null } }, at * 1000).lane
      const cancelled = cancel(booked, start + 1)
      // The rollback restores the values in the history.
      const rolledBack = { ...booked, facts: withRollback(cancelled.facts, booked.outcome, true, start + 2) }
      expect([cancelled.outcome, cancel(rolledBack, start + 9).outcome]).toEqual([outcome, outcome])
    }),
  )
})

describe('a rollback', () => {
  const ahead = fc.integer({ min: 0, max: 300 })

  property(
    'is newer than every update signed before it and older than every update signed after it',
    (numRuns) => {
      fc.assert(
        fc.property(
          ahead,
          fc.integer({ min: 0, max: 100 }),
          fc.integer({ min: 1, max: 100 }),
          fc.integer({ min: 0, max: 100 }),
          (skew, before, since, late) => {
            const first = { fields: { customerRateCents: 1 }, sender: 1, signedAtSeconds: start + skew }
            const rolledBackAt = start + before + since
            const booked = quoteAfter([{ update: first, at: start }])
            const quote: BookedQuote = {
              ...quoted,
              stamps: {
                customerRateCents: stampsAfterRollback(booked.stamps.customerRateCents ?? [], rolledBackAt),
              },
            }
            const push = (trueTime: number) =>
              applyShipmentUpdate(
                quote,
                { fields: { customerRateCents: 2 }, sender: 1, signedAtSeconds: trueTime + skew },
                (rolledBackAt + late) * 1000,
              ).applied
            expect(push(start + before)).toEqual([])
            expect(push(rolledBackAt + late)).toEqual(['customerRateCents'])
          },
        ),
        { numRuns },
      )
    },
  )
})

describe('a rollback of several fields', () => {
  property(
    'wins over updates signed before it and loses to updates signed after it, for each sender',
    (numRuns) => {
      const history = fc.record({
        signed: fc.array(fc.record({ fields: fieldsSent, sender: fc.nat({ max: 2 }) }), {
          minLength: 1,
          maxLength: 8,
        }),
        // Seconds by which each sender's clock is ahead.
        skews: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: 300 }))),
        wait: fc.integer({ min: 1, max: 50 }),
      })
      fc.assert(
        fc.property(history, ({ signed, skews, wait }) => {
          const at = (index: number, sender: number) => start + index + (skews[sender] ?? 0)
          const booked = quoteAfter(
            signed.map(({ fields, sender }, index) => ({
              update: { fields, sender, signedAtSeconds: at(index, sender) },
              at: start + index,
            })),
          )
          const rolledBack = signed.length + wait
          const stamps = ofEachBookingField(sentBookingFields, (field) =>
            stampsAfterRollback(booked.stamps[field] ?? [], start + rolledBack),
          )
          const quote: BookedQuote = { ...quoted, stamps }
          for (const { fields, sender } of signed) {
            const sent = (second: number) =>
              applyShipmentUpdate(
                quote,
                { fields, sender, signedAtSeconds: at(second, sender) },
                (start + rolledBack + 1) * 1000,
              ).applied
            expect(sent(rolledBack - 1)).toEqual([])
            expect(sent(rolledBack + 1)).toHaveLength(Object.keys(fields).length)
          }
        }),
        { numRuns },
      )
    },
  )
})

test('an update without effect reports no change, and an older update only records its stamp', () => {
  const signed = (sender: number, signedAtSeconds: number) => ({
    fields: { carrierName: String(sender) },
    sender,
    signedAtSeconds,
  })
  const quote = quoteAfter([{ update: signed(1, start), at: start }])
  expect(applyShipmentUpdate(quote, signed(1, start - 1), start * 1000).changed).toBe(false)
  const lost = applyShipmentUpdate(quote, signed(2, start - 1), start * 1000)
  expect([lost.applied, lost.changed]).toEqual([[], true])
  expect(lost.lane.stamps.carrierName).toMatchObject([
    { sender: 1, signed: start, effective: start },
    { sender: 2, signed: start - 1, effective: start - 1 },
  ])
})

describe('after a clock that was ahead is set right', () => {
  const ahead = 7_200
  const from = (sender: number, second: number, rate: number): Arrival => ({
    update: { fields: { customerRateCents: rate }, sender, signedAtSeconds: start + second },
    at: start + second,
  })
  const cancelledBy = (sender: number, second: number): Arrival => ({
    update: { fields: {}, cancellation: { reason: null }, sender, signedAtSeconds: start + second },
    at: start + second,
  })
  /** Signed, and mostly received, by clocks that are ahead. */
  const wrong = [from(1, ahead, 5_000)]
  const beforeAndWrong = [from(2, -10, 1_000), from(1, ahead, 5_000)]
  const cases: readonly (readonly [name: string, arrivals: readonly Arrival[], rate: number | null])[] = [
    ['the same sender', [...wrong, from(1, 60, 2_000)], 2_000],
    ['another sender', [...wrong, from(2, 60, 2_000)], 2_000],
    ['a sender whose clock is a little ahead', [...wrong, { ...from(2, 340, 2_000), at: start + 60 }], 2_000],
    ['two right updates in signed order', [...wrong, from(1, 60, 2_000), from(1, 70, 3_000)], 3_000],
    [
      'two right updates, the older one late',
      [...wrong, from(1, 70, 3_000), { ...from(1, 60, 2_000), at: start + 80 }],
      3_000,
    ],
    ['a right update that is older than one before', [...beforeAndWrong, from(3, -20, 4_000)], 5_000],
    ['a right update after one before', [...beforeAndWrong, from(3, 60, 4_000)], 4_000],
    ['a cancellation', [...wrong, cancelledBy(1, 60)], null],
    ['a booking after a cancellation that was ahead', [cancelledBy(1, ahead), from(1, 60, 2_000)], 2_000],
    [
      'only the clock of the service was ahead',
      [{ ...from(1, ahead, 5_000), at: start }, from(1, 60, 2_000)],
      2_000,
    ],
    ['the wrong time is within the window', [from(1, 290, 5_000), from(1, 10, 2_000)], 5_000],
    ['the clock reached the wrong time', [...wrong, from(1, ahead - 10, 2_000)], 5_000],
    [
      'a second message from the clock that is ahead',
      [...wrong, { ...from(1, ahead - 5, 6_000), at: start + 10 }],
      5_000,
    ],
  ]

  test.each(cases)('%s', (_name, arrivals, rate) => {
    const before = quoteAfter(arrivals.slice(0, -1))
    const { update, at } = arrivals.at(-1) as Arrival
    const { lane: quote, updated } = applyShipmentUpdate(before, update, at * 1000)
    const isApplied = rate === (update.fields.customerRateCents ?? null)
    expect([quote.booking.customerRateCents, updated]).toEqual([rate, isApplied])
    expect(quote.outcome.outcome).toBe(rate === null ? 'pending' : 'won')
    expect(quote.booking.cancelledAt).toBe(rate === null ? at * 1000 : null)
  })
})
