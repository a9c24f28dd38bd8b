import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { turns } from './concurrency-limit.ts'

/** Starts pieces of work that end when told to, and says which of them have begun. */
function workshop(atOnceMax: number) {
  const inTurn = turns<string>(atOnceMax)
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  return {
    begun,
    start: (key: string, name: string) =>
      inTurn(key, () => {
        begun.push(name)
        return new Promise<void>((resolve, reject) => {
          ends.set(name, (error) => (error === undefined ? resolve() : reject(error)))
        })
      }),
    end: async (name: string, error?: Error) => {
      ends.get(name)?.(error)
      await setImmediate()
    },
  }
}

test('no more than allowed run at once, and the others follow in the order they came', async () => {
  const { begun, start, end } = workshop(2)
  const all = ['one', 'two', 'three', 'four'].map((name) => start('key', name))
  expect(begun).toEqual(['one', 'two'])
  await end('two')
  expect(begun).toEqual(['one', 'two', 'three'])
  // A newcomer finds the place taken by who waited.
  all.push(start('key', 'five'))
  await end('one')
  expect(begun).toEqual(['one', 'two', 'three', 'four'])
  for (const name of ['three', 'four', 'five']) await end(name)
  await Promise.all(all)
  expect(begun).toHaveLength(5)
})

test('a newcomer in the instant in which a place falls free does not make one too many', async () => {
  const { begun, start, end } = workshop(1)
  const first = start('key', 'one')
  const second = start('key', 'two')
  const third = first.then(() => start('key', 'three'))
  await end('one')
  expect(begun).toEqual(['one', 'two'])
  await end('two')
  await end('three')
  await Promise.all([second, third])
})

test('work that fails gives its place on', async () => {
  const { begun, start, end } = workshop(1)
  const first = expect(start('key', 'one')).rejects.toThrow('broken')
  const second = start('key', 'two')
  await end('one', new Error('broken'))
  await first
  expect(begun).toEqual(['one', 'two'])
  await end('two')
  await second
})

test('one key does not wait for another', async () => {
  const { begun, start, end } = workshop(1)
  const all = [start('key', 'one'), start('other', 'two')]
  expect(begun).toEqual(['one', 'two'])
  await end('one')
  await end('two')
  await Promise.all(all)
})
