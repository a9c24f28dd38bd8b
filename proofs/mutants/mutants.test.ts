import { describe, expect, test } from 'vitest'
import { choose } from './choose.ts'
import { type Mutant, mutantsOf, mutated } from './mutations.ts'
import { blocksOf, innermost, marked } from './reach.ts'
import { subjectOf } from './rooms.ts'

/** Promise: the mutation run plants faults that a test could notice, the same ones for a seed, and knows which tests run them. */

const changes = (source: string, kind?: Mutant['kind']) =>
  mutantsOf('some.ts', source)
    .filter((one) => kind === undefined || one.kind === kind)
    .map((one) => mutated(source, one))

describe('the mutants of a file', () => {
  test.each([
    ['a < b', ['a <= b', 'a >= b']],
    ['a === b', ['a !== b']],
    ['a * b', ['a / b']],
    ["a + ' miles'", []],
    ['a ?? b', ['a']],
    ['a?.b', ['a.b']],
    ['rows.filter(f).every(g)', ['rows.every(g)', 'rows.filter(f).some(g)']],
    ['f(7, 60)', ['f(8, 60)', 'f(7, 600)']],
    ["say({ role: 'admin' })", ["say({ role: 'member' })"]],
    ["say({ outcome: 'won' })", ["say({ outcome: 'lost' })"]],
    ["say({ description: 'at most ' + 3 })", []],
  ])('%s', (source, expected) => {
    expect(changes(`x = ${source}`)).toEqual(expect.arrayContaining(expected.map((one) => `x = ${one}`)))
    if (expected.length === 0) expect(changes(`x = ${source}`)).toEqual([])
  })

  test('removes calls, but not those that write a log or only free something', () => {
    expect(changes('await save(row)', 'removed call')).toEqual(['{}'])
    expect(changes('log.warn(row)\nclearTimeout(timer)\nsuper(row)', 'removed call')).toEqual([])
  })

  test('changes conditions and comparisons in SQL, with the values that are put in', () => {
    const [tenant, now] = ['$'.concat('{tenant}'), '$'.concat('{now}')]
    const source = `q = sql\`select 1 from quotes where quotes.tenant_id = ${tenant} and at < ${now} and kind = 'spot'\``
    expect(changes(source)).toEqual([
      source.replace(`quotes.tenant_id = ${tenant}`, 'true'),
      source.replace(`and at < ${now} `, ' '),
      source.replace('at <', 'at <='),
      source.replace('at <', 'at >='),
      source.replace(" and kind = 'spot'", ' '),
    ])
  })

  test('removes tenant filters of the query builder', () => {
    expect(
      changes("q.where('quotes.tenant_id', '=', tenant).where('at', '<', now)", 'tenant filter'),
    ).toEqual(["q.where('at', '<', now)"])
  })

  test('is not in types, imports, errors or words for people', () => {
    expect(
      changes(`import { a } from 'won'
type T = 1 | 'lost'
throw new Error(String(1 < 2))`),
    ).toEqual([])
  })
})

test('code runs as before when its blocks are marked, and reports those that run, without what follows an early return', () => {
  const source =
    'const f = (n) => n > 1 ? n * 2 : (n === 1 && g(n))\nfunction g(n) { if (n) return 7\n return 8 }\nreturn f(at)'
  const blocks = blocksOf('some.ts', `async () => {${source}}`)
  expect(blocks).toHaveLength(8)
  const program = marked('some.ts', `async () => {${source}}`, 100)
  const reached: number[] = []
  Object.assign(globalThis, { lanewiseReach: (block: number) => reached.push(block) })
  const run = (at: number) => new Function('at', `return (${program})()`)(at) as Promise<unknown>
  return Promise.all([
    expect(run(4)).resolves.toBe(8),
    expect(run(1)).resolves.toBe(7),
    expect(run(0)).resolves.toBe(false),
  ]).then(() => {
    expect([...new Set(reached)].sort()).toEqual([100, 101, 102, 103, 104, 105, 106])
    Reflect.deleteProperty(globalThis, 'lanewiseReach')
  })
})

test('a place is in the innermost block around it', () => {
  const source = 'x = 1; function f() { if (a) { b() } }'
  const blocks = blocksOf('some.ts', source)
  const at = (text: string) => ({ start: source.indexOf(text), end: source.indexOf(text) + text.length })
  expect([at('x'), at('a'), at('b()')].map((place) => innermost(blocks, place))).toEqual([-1, 0, 1])
})

describe('the choice', () => {
  const candidates = Array.from({ length: 900 }, (_, line) => ({
    file: `file-${line % 9}.ts`,
    line,
    start: line,
    end: line + 1,
    original: '<',
    replacement: '<=',
    kind: line % 50 === 0 ? ('equality' as const) : ('comparison' as const),
    room: `room-${line % 3}`,
    subject:
      (['roles', 'tenants', 'money', 'outcomes', 'other', 'other'] as const)[line % 6] ?? ('other' as const),
  }))

  test('is the same for the same seed, and another for another', () => {
    expect(choose(candidates, 40, 1)).toEqual(choose(candidates, 40, 1))
    expect(choose(candidates, 40, 1)).not.toEqual(choose(candidates, 40, 2))
  })

  test('gives half of the mutants to roles, tenants, money and outcomes', () => {
    const count = Map.groupBy(choose(candidates, 40, 3), ({ subject }) => subject)
    expect(Object.fromEntries([...count].map(([subject, some]) => [subject, some.length]))).toEqual({
      roles: 5,
      tenants: 5,
      money: 5,
      outcomes: 5,
      other: 20,
    })
  })

  test('prefers no kind because it is frequent', () => {
    const chosen = choose(candidates, 40, 4)
    expect(chosen.filter(({ kind }) => kind === 'equality').length).toBeGreaterThan(6)
  })
})

test.each([
  ['contract/src/quote.ts', 'role', "role: 'admin'", 'roles'],
  ['server/src/database/queries/people/people.ts', 'tenant filter', 'where tenant_id =', 'tenants'],
  ['engine/src/markup.ts', 'arithmetic', 'const rateCents = costCents + marginCents', 'money'],
  ['engine/src/quote-outcome.ts', 'condition', 'if (a > b)', 'outcomes'],
  ['engine/src/markup.ts', 'arithmetic', 'const miles = a + b', 'other'],
] as const)('%s with %s is a matter of its subject', (file, kind, line, subject) => {
  const mutant = { file, kind, line: 1, start: 0, end: 1, original: '+', replacement: '-' }
  expect(subjectOf(mutant, line)).toBe(subject)
})
