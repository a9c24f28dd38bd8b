import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { knownMembers, shape } from './shape.ts'

const schema = Type.Object({
  lanes: Type.Array(
    Type.Object({ origin: Type.String(), charges: Type.Array(Type.Number(), { maxItems: 2 }) }),
    {
      maxItems: 3,
      'x-expected': 'a list of 1 to 3 lanes',
    },
  ),
})

/** A list whose items cannot be looked at. */
function unreadable(length: number): unknown[] {
  const list: unknown[] = new Array(length).fill(0)
  Object.defineProperty(list, 0, {
    get: () => {
      throw new Error('an item was read')
    },
  })
  return list
}

test('a list above its maximum is refused without a look at its items, and is not copied', () => {
  const sent = { lanes: unreadable(1_000_000) }
  const known = knownMembers(schema, sent, [])
  expect((known as typeof sent).lanes).toBe(sent.lanes)
  expect(shape(schema, 'body').errors(known)).toEqual([
    {
      pointer: '/lanes',
      code: 'invalid',
      detail: 'lanes must be a list of 1 to 3 lanes; it is a list of 1000000.',
    },
  ])
})

test('so is a list in a list, and a list in the place of a text', () => {
  const charges = { lanes: [{ origin: 'Reno, NV', charges: unreadable(3) }] }
  expect(shape(schema, 'body').errors(knownMembers(schema, charges, []))).toMatchObject([
    { pointer: '/lanes/0/charges', detail: 'lanes[0].charges must be a list; it is a list of 3.' },
  ])
  const origin = { lanes: [{ origin: unreadable(9), charges: [] }] }
  expect(shape(schema, 'body').errors(knownMembers(schema, origin, []))).toMatchObject([
    { pointer: '/lanes/0/origin', detail: 'lanes[0].origin must be text; it is a list of 9.' },
  ])
})

test('a list at its maximum is accepted', () => {
  const lane = { origin: 'Reno, NV', charges: [1, 2] }
  expect(shape(schema, 'body').errors({ lanes: [lane, lane, lane] })).toEqual([])
})
