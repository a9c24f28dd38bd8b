import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Asking, batchCalls, type TenantCall, type Told } from './batch-calls.ts'
import { DatabaseUnavailable } from './database-failures.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import { tenantId } from './tenant.ts'

/** Messages that end when the test says so. */
function messages(answer: (call: TenantCall) => Told<string>, over: Partial<Asking<string>> = {}) {
  const sent: { calls: readonly number[]; end: (error?: unknown) => void }[] = []
  const byThemselves: number[] = []
  const unknown: number[] = []
  const ask = batchCalls<string>({
    together: (calls) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Told<string>[]>()
      sent.push({
        calls: calls.map(({ tenant }) => tenant),
        end: (error) => (error === undefined ? resolve(calls.map(answer)) : reject(error)),
      })
      return promise
    },
    alone: async ({ tenant }) => {
      byThemselves.push(tenant)
      return `alone ${tenant}`
    },
    unknown: ({ tenant }) => unknown.push(tenant),
    writes: true,
    ...over,
  })
  return {
    ask: (tenant: number) => ask({ tenant: tenantId(tenant), values: [] }),
    sent,
    byThemselves,
    unknown,
  }
}

const told = ({ tenant }: TenantCall) => ({ value: `of ${tenant}` })
const moment = () => delay(5)

describe('calls of several tenants', () => {
  test('go together in the order of their numbers when they come at once', async () => {
    const { ask, sent } = messages(told)
    const answers = Promise.all([ask(3), ask(1), ask(2)])
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[1, 2, 3]])
    sent[0]?.end()
    expect(await answers).toEqual(['of 3', 'of 1', 'of 2'])
  })

  test('gather for the next message while three are on their way', async () => {
    const { ask, sent } = messages(told)
    const answers: Promise<string>[] = []
    for (const tenant of [1, 2, 3]) {
      answers.push(ask(tenant))
      await moment()
    }
    for (const tenant of [6, 5, 4]) answers.push(ask(tenant))
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[1], [2], [3]])
    sent[0]?.end()
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[1], [2], [3], [4, 5, 6]])
    for (const { end } of sent) end()
    expect(await Promise.all(answers)).toEqual(['of 1', 'of 2', 'of 3', 'of 6', 'of 5', 'of 4'])
  })

  test('of one tenant go one after the other, and hold up nobody else', async () => {
    const { ask, sent } = messages(told)
    const answers = [ask(7), ask(7), ask(8)]
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[7, 8]])
    answers.push(ask(9))
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[7, 8], [9]])
    sent[0]?.end()
    await moment()
    expect(sent.map(({ calls }) => calls)).toEqual([[7, 8], [9], [7]])
    for (const { end } of sent) end()
    await Promise.all(answers)
  })

  test('leave some for the other messages, and are at most thirty-two in one', async () => {
    const few = messages(told)
    const ofFew = Array.from({ length: 14 }, (_, at) => few.ask(at + 1))
    await moment()
    expect(few.sent.map(({ calls }) => calls.length)).toEqual([6, 6, 2])
    for (const { end } of few.sent) end()
    await Promise.all(ofFew)
    const { ask, sent } = messages(told)
    const answers = Array.from({ length: 200 }, (_, at) => ask(at + 1))
    for (let nth = 0; sent.length > nth || nth === 0; nth++) {
      await moment()
      sent[nth]?.end()
      await moment()
    }
    expect(await Promise.all(answers)).toHaveLength(200)
    expect(Math.max(...sent.map(({ calls }) => calls.length))).toBe(32)
  })
})

describe('a call that fails', () => {
  test('is left undone and asked by itself', async () => {
    const { ask, sent, byThemselves } = messages((call) => (call.tenant === 2 ? null : told(call)))
    const answers = Promise.all([ask(1), ask(2)])
    await moment()
    sent[0]?.end()
    expect(await answers).toEqual(['of 1', 'alone 2'])
    expect(byThemselves).toEqual([2])
  })

  test('takes nobody with it when it makes the whole message fail', async () => {
    const { ask, sent } = messages(told)
    const answers = Promise.all([ask(1), ask(2)])
    await moment()
    sent[0]?.end(new Error('invalid input syntax for type json'))
    expect(await answers).toEqual(['alone 1', 'alone 2'])
  })

  test('fails with all the others when it is the database that fails, and the next message goes', async () => {
    const { ask, sent, byThemselves } = messages(told)
    const answers = Promise.allSettled([ask(1), ask(2)])
    await moment()
    const lost = new DatabaseUnavailable('gone', true)
    sent[0]?.end(lost)
    expect((await answers).map((one) => one.status === 'rejected' && one.reason)).toEqual([lost, lost])
    expect(byThemselves).toEqual([])
    const next = ask(1)
    await moment()
    sent[1]?.end()
    expect(await next).toBe('of 1')
  })
})

describe('patience', () => {
  const impatient = (work: () => Promise<string>) =>
    withDeadline(new RequestDeadline(20), work).catch((error: unknown) => error as DatabaseUnavailable)

  test('that ends in the line: the call was not made, and never is', async () => {
    const { ask, sent, unknown } = messages(told)
    const first = ask(1)
    await moment()
    const late = await impatient(() => ask(1))
    expect(late).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    expect(unknown).toEqual([])
    sent[0]?.end()
    await first
    await moment()
    expect(sent).toHaveLength(1)
  })

  test('that ends while the call is on its way: nobody knows', async () => {
    const { ask, sent, unknown } = messages(told)
    const late = await impatient(() => ask(1))
    expect(late).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
    expect(unknown).toEqual([1])
    sent[0]?.end()
  })

  test('is each caller’s own: one who waits long does so beside one who does not', async () => {
    const { ask, sent } = messages(told)
    const long = ask(1)
    const short = await impatient(() => ask(2))
    expect(short).toBeInstanceOf(DatabaseUnavailable)
    sent[0]?.end()
    expect(await long).toBe('of 1')
  })
})
