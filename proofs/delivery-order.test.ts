import { beforeAll, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { seededRandom } from '#server/sample/index.ts'
import {
  call,
  type Integration,
  makeIntegration,
  pushSigned,
  quoteToPush,
  requireStatus,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/**
 * Promise: in whatever order the messages about a load arrive, all members of its quote end the same.
 *
 * How: one load for each order of a set of messages. In each round the next message of every load is pushed, in one call for each
 * kind and signed time, as a TMS would. The answers of `GET /api/lanes/{lane_ref}` are compared without the names and times that each
 * load has of its own. `engine/src/delivery-order.test.ts` does the same with the decisions alone, for many more messages.
 *
 * No set has two different messages of one kind signed in the same second, or a cancellation and a booking of one second after an
 * earlier booking: only for them does the order of arrival decide.
 *
 * Faults: the order of arrival decides between kinds; a booking forgets the outcome that was pushed before it; a win is dated on arrival.
 */

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
})

type PersonalAction = 'void' | 'requote'

/** A message. `at` is its signed time, in seconds after the first. A person voids a quote without a signature. */
interface Message {
  readonly kind: 'quotes' | 'outcomes' | 'updates' | 'void'
  readonly at: number
  readonly body: object
}
const outcome = (at: number, body: object): Message => ({ kind: 'outcomes', at, body })
const update = (at: number, body: object): Message => ({ kind: 'updates', at, body })
const requote = (at: number, body: object): Message => ({ kind: 'quotes', at, body })

const kinds = {
  won: (at: number) => outcome(at, { outcome: 'won' }),
  'won at a stated time': (at: number) =>
    outcome(at, { outcome: 'won', decided_at: `2026-02-0${1 + (at % 9)}` }),
  lost: (at: number) => outcome(at, { outcome: 'lost', outcome_reason: 'price' }),
  expired: (at: number) => outcome(at, { outcome: 'expired' }),
  pending: (at: number) => outcome(at, { outcome: 'pending' }),
  booking: (at: number) =>
    update(at, { customer_rate: 2_000 + at, truck_cost: 1_500, carrier_name: 'Blue Mesa' }),
  'booking with its time': (at: number) =>
    update(at, { customer_rate: 2_100, customer_name: `Billed ${at}`, booked_at: '2026-02-03T10:00:00Z' }),
  cancellation: (at: number) => update(at, { cancelled: true, cancel_reason: `Reason ${at}` }),
  'corrected rate': (at: number) => requote(at, { quoted_rate: 2_500 + at, customer_name: `Quoted ${at}` }),
} as const
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

/** Returns the group of a kind. A set has one message per group and second, because nothing decides between two. */
const groupOf = (kind: Kind): string => kind.replace(/ (at a stated|with its) time$/, '')

/** Makes random messages whose signed times are within few seconds. */
function messagesOf(length: number, uniform: () => number, seconds: number): Message[] {
  const messages = new Map<string, Message>()
  while (messages.size < length) {
    const kind = names[Math.floor(uniform() * names.length)] as Kind
    const at = Math.floor(uniform() * seconds)
    messages.set(`${groupOf(kind)} ${at}`, kinds[kind](at))
  }
  const has = (kind: Kind, at: number) => messages.has(`${kind} ${at}`)
  const all = Array.from({ length: seconds }, (_, at) => at)
  const replaces = (at: number) =>
    has('booking', at) &&
    has('cancellation', at) &&
    all.some((before) => before < at && has('booking', before))
  return all.some(replaces) ? messagesOf(length, uniform, seconds) : [...messages.values()]
}

const endpoints = { quotes: pushQuotes, outcomes: pushOutcomes, updates: pushShipmentUpdates } as const
let loads = 0

/** Pushes items of one kind and time. */
async function pushAll(kind: keyof typeof endpoints, at: number, items: readonly object[]): Promise<void> {
  for (let start = 0; start < items.length; start += 500) {
    const some = items.slice(start, start + 500)
    const answer = await pushSigned(app, ours, endpoints[kind], { [kind]: some }, at)
    const { results } = requireStatus(`a push of ${kind}`, answer, 200)
    expect(results.filter(({ status }: { status: number }) => status !== 200)).toEqual([])
  }
}

async function quoteOf(id: string | undefined) {
  const path = `/api/integrations/quotes?external_id=${id}`
  return requireStatus('a load', await call(app, 'GET', path, { token: ours.token }), 200)
}

const voiding: Message = { kind: 'void', at: 0, body: {} }

async function act(action: PersonalAction, ids: readonly (string | undefined)[]): Promise<void> {
  const bodies = { void: { reason: 'Typo' }, requote: { quoted_rate: 2_600 } }
  for (const id of ids) {
    const { lane_ref } = (await quoteOf(id)).quotes[0].lane
    const path = `/api/lanes/${lane_ref}/${action}`
    const answer = await call(app, 'POST', path, { token: ours.tenant.owner, body: bodies[action] })
    requireStatus(action, answer, action === 'void' ? 200 : 201)
  }
}

/** Delivers each order of messages to a load of its own, and returns the results that differ, each with an order that leads to it. */
async function endsOf(
  orders: readonly (readonly Message[])[],
  action: PersonalAction | null = null,
): Promise<Map<string, string>> {
  const first = Math.floor(app.now / 1000) - 100
  const ids = orders.map(() => `LOAD-${++loads}`)
  await pushAll(
    'quotes',
    first - 10,
    ids.map((id) => quoteToPush(id, { quoted_at: '2026-02-01T00:00:00Z' })),
  )
  if (action !== null) await act(action, ids)
  const rounds = Math.max(...orders.map(({ length }) => length))
  for (let round = 0; round < rounds; round++) {
    const sent = orders.flatMap((order, nth) => {
      const message = order[round]
      return message === undefined ? [] : [{ message, item: { external_id: ids[nth], ...message.body } }]
    })
    const together = Map.groupBy(sent, ({ message: { kind, at } }) => `${kind} ${at}`)
    for (const some of together.values()) {
      const [{ message } = { message: undefined }] = some
      if (message === undefined) continue
      if (message.kind === 'void') {
        await act(
          'void',
          some.map(({ item }) => item.external_id),
        )
        continue
      }
      await pushAll(
        message.kind,
        first + message.at,
        some.map(({ item }) => item),
      )
    }
  }
  const ends = new Map<string, string>()
  for (const [nth, id] of ids.entries()) {
    const body = await quoteOf(id)
    const { lane_ref, lane_id, request_id, external_id, updated_at, voided_at, superseded_by, ...quote } =
      body.quotes[0].lane
    const end = { ...quote, isVoid: voided_at !== null, isSuperseded: superseded_by !== null }
    ends.set(JSON.stringify(end), JSON.stringify(orders[nth]))
  }
  return ends
}

const signedTimes = [
  ['of different seconds', (nth: number) => nth],
  ['of the same second', () => 0],
] as const

describe('every order of the messages ends the same', () => {
  test.each([
    ['won', 'booking', 'cancellation'],
    ['booking', 'won', 'cancellation'],
    ['won', 'booking', 'cancellation', 'booking with its time'],
  ] as Kind[][])('%s, %s, %s, %s', (...set) => endsTheSame(set))

  test.each([
    ['booking', 'cancellation', 'won'],
    ['lost', 'won', 'booking', 'cancellation'],
    ['won at a stated time', 'booking with its time', 'lost', 'won'],
    ['booking', 'cancellation', 'cancellation', 'expired'],
    ['pending', 'won', 'corrected rate', 'corrected rate'],
  ] as Kind[][])('%s, %s, %s, %s', { tags: 'long' }, (...set) => endsTheSame(set))

  async function endsTheSame(set: readonly Kind[]): Promise<void> {
    const isSameKind = new Set(set.map((kind) => groupOf(kind))).size < set.length
    for (const [how, at] of signedTimes) {
      if (how === 'of the same second' && isSameKind) continue
      const messages = set.filter(Boolean).map((kind, nth) => kinds[kind](at(nth)))
      const ends = await endsOf(ordersOf(messages))
      expect([how, ...ends.values()]).toHaveLength(2)
    }
  }

  test.each([
    ['void', ['booking', 'cancellation', 'won', 'corrected rate']],
    ['void', ['cancellation', 'booking', 'lost', 'booking with its time']],
    ['requote', ['won', 'booking', 'cancellation', 'expired']],
  ] as [PersonalAction, Kind[]][])('after a person did a %s: %s', { tags: 'long' }, async (action, set) => {
    const messages = set.map((kind, nth) => kinds[kind](nth))
    const ends = await endsOf(ordersOf(messages), action)
    expect([...ends.values()]).toHaveLength(1)
    expect([...ends.keys()].filter((end) => action === 'void' && !end.includes('"isVoid":false'))).toEqual([])
  })

  test('a void among messages without a booking, at any place', async () => {
    const messages = (['won', 'pending', 'corrected rate'] as const).map((kind, nth) => kinds[kind](nth))
    const orders = ordersOf(messages)
    const places = [0, 1, 2, 3].flatMap((place) => orders.map((order) => order.toSpliced(place, 0, voiding)))
    const ends = await endsOf(places)
    expect([...ends.values()]).toHaveLength(1)
    expect([...ends.keys()][0]).toContain('"void_reason":"Typo"')
  })

  test('for random sets of three and four messages, and random orders of eight', {
    tags: 'long',
  }, async () => {
    const { uniform } = seededRandom(7)
    const shuffled = <T>(items: readonly T[]) =>
      items
        .map((item) => [uniform(), item] as const)
        .sort(([one], [other]) => one - other)
        .map(([, item]) => item)
    const sets = process.env.EVERY_VALUE === undefined ? 4 : 60
    for (let nth = 0; nth < sets; nth++) {
      const some = messagesOf(3 + (nth % 2), uniform, 4)
      const many = messagesOf(8, uniform, 5)
      expect([...(await endsOf(ordersOf(some))).values()]).toHaveLength(1)
      const orders = Array.from({ length: 20 }, () => shuffled(many))
      expect([...(await endsOf(orders)).values()]).toHaveLength(1)
    }
  })
})
