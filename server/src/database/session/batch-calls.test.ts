import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type BatchAnswer, batchCalls, type TenantCall } from './batch-calls.ts'
import { DatabaseUnavailable } from './database-failures.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import { tenantId } from './tenant.ts'

const answerOf = ({ tenant }: TenantCall): BatchAnswer<string> => ({ value: `answer ${tenant}` })
/** Long enough for calls that can be sent to be sent. */
const untilSent = () => delay(5)

/** A sender that records its batches. The test answers or fails each batch. */
function fakeDatabase(answer: (call: TenantCall) => BatchAnswer<string> = answerOf) {
  const batches: {
    readonly tenants: readonly number[]
    readonly answer: () => void
    readonly fail: (error: unknown) => void
  }[] = []
  const sentAlone: number[] = []
  const outcomeUnknown: number[] = []
  const call = batchCalls<string>({
    sendBatch: (calls) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly BatchAnswer<string>[]>()
      const tenants = calls.map(({ tenant }) => tenant)
      batches.push({ tenants, answer: () => resolve(calls.map(answer)), fail: reject })
      return promise
    },
    sendAlone: async ({ tenant }) => {
      sentAlone.push(tenant)
      return `answer ${tenant}, sent alone`
    },
    onOutcomeUnknown: ({ tenant }) => outcomeUnknown.push(tenant),
    writes: true,
  })
  return {
    callFor: (tenant: number) => call({ tenant: tenantId(tenant), values: [] }),
    /** The tenants of each batch that was sent. */
    sent: () => batches.map(({ tenants }) => tenants),
    answerBatch: (nth: number) => batches[nth]?.answer(),
    failBatch: (nth: number, error: unknown) => batches[nth]?.fail(error),
    answerAll: () => {
      for (const batch of batches) batch.answer()
    },
    sentAlone,
    outcomeUnknown,
  }
}

describe('batches', () => {
  test('calls of several tenants that arrive together go into one batch, in tenant order', async () => {
    const { callFor, sent, answerBatch } = fakeDatabase()
    const answers = Promise.all([callFor(3), callFor(1), callFor(2)])
    await untilSent()
    expect(sent()).toEqual([[1, 2, 3]])
    answerBatch(0)
    expect(await answers).toEqual(['answer 3', 'answer 1', 'answer 2'])
  })

  test('while three batches are in flight, calls wait and go together into the next one', async () => {
    const { callFor, sent, answerBatch, answerAll } = fakeDatabase()
    const answers: Promise<string>[] = []
    for (const tenant of [1, 2, 3]) {
      answers.push(callFor(tenant))
      await untilSent()
    }
    for (const tenant of [6, 5, 4]) answers.push(callFor(tenant))
    await untilSent()
    expect(sent()).toEqual([[1], [2], [3]])

    answerBatch(0)
    await untilSent()
    expect(sent()).toEqual([[1], [2], [3], [4, 5, 6]])

    answerAll()
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 6, 5, 4].map((tenant) => `answer ${tenant}`))
  })

  test('a tenant has one call in flight; its next call does not delay other tenants', async () => {
    const { callFor, sent, answerBatch, answerAll } = fakeDatabase()
    const answers = [callFor(7), callFor(7), callFor(8)]
    await untilSent()
    expect(sent()).toEqual([[7, 8]])

    answers.push(callFor(9))
    await untilSent()
    expect(sent()).toEqual([[7, 8], [9]])

    answerBatch(0)
    await untilSent()
    expect(sent()).toEqual([[7, 8], [9], [7]])
    answerAll()
    await Promise.all(answers)
  })

  test('a batch has six calls if that is enough', async () => {
    const { callFor, sent, answerAll } = fakeDatabase()
    const answers = Array.from({ length: 14 }, (_, at) => callFor(at + 1))
    await untilSent()
    expect(sent().map((tenants) => tenants.length)).toEqual([6, 6, 2])
    answerAll()
    await Promise.all(answers)
  })

  test('a batch has at most 32 calls, however many wait', async () => {
    const { callFor, sent, answerBatch } = fakeDatabase()
    const answers = Array.from({ length: 200 }, (_, at) => callFor(at + 1))
    await untilSent()
    for (let nth = 0; nth < sent().length; nth++) {
      answerBatch(nth)
      await untilSent()
    }
    expect(await Promise.all(answers)).toHaveLength(200)
    expect(Math.max(...sent().map((tenants) => tenants.length))).toBe(32)
  })
})

describe('failures', () => {
  test('a call that the batch skipped is sent again alone', async () => {
    const skipTwo = (call: TenantCall) => (call.tenant === 2 ? null : answerOf(call))
    const { callFor, answerBatch, sentAlone } = fakeDatabase(skipTwo)
    const answers = Promise.all([callFor(1), callFor(2)])
    await untilSent()
    answerBatch(0)
    expect(await answers).toEqual(['answer 1', 'answer 2, sent alone'])
    expect(sentAlone).toEqual([2])
  })

  test('if one call makes the whole batch fail, every call is sent again alone', async () => {
    const { callFor, failBatch } = fakeDatabase()
    const answers = Promise.all([callFor(1), callFor(2)])
    await untilSent()
    failBatch(0, new Error('invalid input syntax for type json'))
    expect(await answers).toEqual(['answer 1, sent alone', 'answer 2, sent alone'])
  })

  test('if the database fails, every call of the batch fails and is not sent again', async () => {
    const { callFor, failBatch, sentAlone } = fakeDatabase()
    const answers = Promise.allSettled([callFor(1), callFor(2)])
    await untilSent()
    const reason = new DatabaseUnavailable('connection lost', true)
    failBatch(0, reason)
    expect(await answers).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    expect(sentAlone).toEqual([])
  })

  test('a failed batch does not stop the next one', async () => {
    const { callFor, failBatch, answerBatch } = fakeDatabase()
    const failing = callFor(1).catch(() => 'failed')
    await untilSent()
    failBatch(0, new DatabaseUnavailable('connection lost'))
    expect(await failing).toBe('failed')

    const next = callFor(1)
    await untilSent()
    answerBatch(1)
    expect(await next).toBe('answer 1')
  })
})

describe('deadlines', () => {
  const errorWithin20Ms = (work: () => Promise<string>) =>
    withDeadline(new RequestDeadline(20), work).catch((error: unknown) => error as DatabaseUnavailable)

  test('a call that times out in the queue is never sent', async () => {
    const { callFor, sent, answerBatch, outcomeUnknown } = fakeDatabase()
    const first = callFor(1)
    await untilSent()
    const timedOut = await errorWithin20Ms(() => callFor(1))
    expect(timedOut).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    expect(outcomeUnknown).toEqual([])

    answerBatch(0)
    await first
    await untilSent()
    expect(sent()).toEqual([[1]])
  })

  test('a call that times out in flight has an unknown outcome', async () => {
    const { callFor, outcomeUnknown } = fakeDatabase()
    const timedOut = await errorWithin20Ms(() => callFor(1))
    expect(timedOut).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
    expect(outcomeUnknown).toEqual([1])
  })

  test('a call that times out does not affect the other calls of its batch', async () => {
    const { callFor, sent, answerBatch } = fakeDatabase()
    const withoutDeadline = callFor(1)
    const timedOut = await errorWithin20Ms(() => callFor(2))
    expect(timedOut).toBeInstanceOf(DatabaseUnavailable)
    expect(sent()).toEqual([[1, 2]])
    answerBatch(0)
    expect(await withoutDeadline).toBe('answer 1')
  })
})
