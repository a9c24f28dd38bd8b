import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { concurrencyLimit, QueueFull } from './concurrency-limit.ts'

/** Starts jobs under a concurrency limit. Each job runs until the test finishes it. */
function jobRunner(runningMax: number, waitingMax?: number) {
  const limited = concurrencyLimit<string>(runningMax, waitingMax)
  const started: string[] = []
  const finishers = new Map<string, (error?: Error) => void>()
  return {
    started,
    start: (key: string, job: string) =>
      limited(key, () => {
        started.push(job)
        return new Promise<void>((resolve, reject) => {
          finishers.set(job, (error) => (error === undefined ? resolve() : reject(error)))
        })
      }),
    finish: async (job: string, error?: Error) => {
      finishers.get(job)?.(error)
      await setImmediate()
    },
  }
}

test('at most the allowed number of jobs run at once, and waiting jobs start in the order they arrived', async () => {
  const { started, start, finish } = jobRunner(2)
  const jobs = ['one', 'two', 'three', 'four'].map((job) => start('key', job))
  expect(started).toEqual(['one', 'two'])
  await finish('two')
  expect(started).toEqual(['one', 'two', 'three'])
  jobs.push(start('key', 'five'))
  await finish('one')
  expect(started).toEqual(['one', 'two', 'three', 'four'])
  for (const job of ['three', 'four', 'five']) await finish(job)
  await Promise.all(jobs)
  expect(started).toHaveLength(5)
})

test('a job that arrives at the moment a slot becomes free does not exceed the limit', async () => {
  const { started, start, finish } = jobRunner(1)
  const first = start('key', 'one')
  const second = start('key', 'two')
  const third = first.then(() => start('key', 'three'))
  await finish('one')
  expect(started).toEqual(['one', 'two'])
  await finish('two')
  await finish('three')
  await Promise.all([second, third])
})

test('a job that fails frees its slot', async () => {
  const { started, start, finish } = jobRunner(1)
  const first = expect(start('key', 'one')).rejects.toThrow('broken')
  const second = start('key', 'two')
  await finish('one', new Error('broken'))
  await first
  expect(started).toEqual(['one', 'two'])
  await finish('two')
  await second
})

test('each key has its own limit', async () => {
  const { started, start, finish } = jobRunner(1)
  const jobs = [start('key', 'one'), start('other', 'two')]
  expect(started).toEqual(['one', 'two'])
  await finish('one')
  await finish('two')
  await Promise.all(jobs)
})

test('a job is rejected when the queue of its key is full', async () => {
  const { started, start, finish } = jobRunner(1, 1)
  const jobs = [start('key', 'one'), start('key', 'two')]
  await expect(start('key', 'three')).rejects.toThrow(QueueFull)
  await finish('one')
  await finish('two')
  await Promise.all(jobs)
  expect(started).toEqual(['one', 'two'])
})
