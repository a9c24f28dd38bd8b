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

test('a text far above its maximum is refused with its length in characters', () => {
  const named = Type.Object({
    name: Type.String({ maxLength: 9_999, 'x-expected': 'text' }),
    secret: Type.Optional(Type.String({ maxLength: 10, writeOnly: true })),
  })
  const errors = (name: string) => shape(named, 'body').errors({ name })
  expect(errors('😀'.repeat(9_999))).toEqual([])
  expect(errors('😀'.repeat(10_001))).toMatchObject([
    { pointer: '/name', detail: 'name must be text; it is text of 10001 characters.' },
  ])
  expect(errors(`a${'\ud83d'.repeat(10_000)}`)).toMatchObject([
    { detail: 'name must be text; it is text of 10001 characters.' },
  ])
  const [secret] = shape(named, 'body').errors({ name: 'x', secret: 's'.repeat(20_000) })
  expect(secret?.detail).toBe('secret must be text.')
})
