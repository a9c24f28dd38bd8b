import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { filesOf, textOf } from './repository.ts'

/**
 * Promise: the outcome of a test depends neither on the speed of the machine nor on chance.
 *
 * How: this test reads the code of all tests and their helpers with `oxc-parser`. It finds, whatever their purpose:
 *
 * - a timeout of its own for a test or hook: that of `vitest.config.ts` ends only tests that hang;
 * - a wait that ends in less than a minute (`timeout`, `AbortSignal.timeout`, and `vi.waitFor` and `vi.waitUntil` without a `timeout`);
 * - a loop that repeats a request after a 503, and so hides that the service is unavailable;
 * - an upper bound for passed time, unless the test has the tag `measure`;
 * - one look at a page, which may not be ready yet, instead of Playwright's `expect(locator)`, which waits;
 * - random numbers without a seed.
 */

type Kind = 'own timeout' | 'short bound' | 'loop on 503' | 'upper bound of time' | 'one look' | 'chance'

/** The exceptions, by file: the kind, and the reason. */
const allowed: Readonly<Record<string, readonly [Kind, string]>> = {
  'client/src/limiter.test.ts': ['upper bound of time', 'the clock is simulated'],
  'dashboard/tests/pages-in-trouble.test.ts': ['short bound', 'a button that may vanish is tried again'],
  'dashboard/tests/quotes.test.ts': ['short bound', 'a button that may vanish is tried again'],
  'proofs/clock-jumps.ts': ['loop on 503', 'readiness must fail after each jump of the clock'],
  'proofs/cut-database.ts': [
    'short bound',
    'the proof cuts the database, and measures how soon answers come',
  ],
  'proofs/insight-readers.ts': ['short bound', 'a caller of a proof of npm run prove, which runs alone'],
  'proofs/prove-main.ts': ['chance', 'prints the seed that it draws'],
  'proofs/signed-writers.ts': ['short bound', 'a caller of services that are killed'],
  'server/src/http/drain-connections.test.ts': ['loop on 503', 'a service that stops answers 503'],
  'server/src/http/slow-bodies.test.ts': ['upper bound of time', 'the end of a wait for a body'],
  'server/src/main.test.ts': ['loop on 503', 'asks until the port of a service that stops is closed'],
  'server/testing/running-service.ts': ['chance', 'a port that is free'],
}

type Node = Parameters<NonNullable<ConstructorParameters<typeof Visitor>[0]['CallExpression']>>[0]['callee']

const shortestMs = 60_000
const hooks = new Set(['test', 'it', 'describe', 'beforeAll', 'afterAll', 'beforeEach', 'afterEach'])

/** Reads the momentary state of a locator or a page. */
const isOneLook =
  /^await .*\.(count|inputValue|isVisible|isHidden|isEnabled|isDisabled|isChecked)\(\)$|\.url\(\)/s

/** The name of the variable at the beginning of `test.each(rows)('title')`. */
function rootOf(node: Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression') return rootOf(node.object as Node)
  if (node.type === 'CallExpression') return rootOf(node.callee)
  return node.type === 'TaggedTemplateExpression' ? rootOf(node.tag) : ''
}

/** Returns the finds in a file, with kind and line. */
function foundIn(file: string, text: string): { kind: Kind; line: number }[] {
  const found: { kind: Kind; line: number }[] = []
  const add = (kind: Kind, start: number) => {
    found.push({ kind, line: text.slice(0, start).split('\n').length })
  }
  const textAt = ({ start, end }: { start: number; end: number }) => text.slice(start, end)
  /** The parts of the file whose tests have the tag `measure`. */
  const measured: { start: number; end: number }[] = []
  if (text.includes('@module-tag measure')) measured.push({ start: 0, end: text.length })
  const bounds: number[] = []
  const loop = (node: { start: number; end: number }) => {
    if (/\b503\b/.test(textAt(node))) add('loop on 503', node.start)
  }
  new Visitor({
    CallExpression(node) {
      const { callee } = node
      const last = node.arguments.at(-1)
      const isHook = hooks.has(rootOf(callee))
      if (isHook && node.arguments.length > 1 && last?.type === 'Literal' && typeof last.value === 'number')
        add('own timeout', last.start)
      if (isHook && node.arguments.some((one) => /^\{\s*tags: 'measure'/.test(textAt(one))))
        measured.push(node)
      const name = textAt(callee)
      if (name === 'Math.random' || name === 'randomInt') add('chance', node.start)
      const [looked] = node.arguments
      if (name === 'expect' && looked !== undefined && isOneLook.test(textAt(looked)))
        add('one look', node.start)
      const ms = last?.type === 'Literal' ? last.value : null
      if (name === 'AbortSignal.timeout' && typeof ms === 'number' && ms < shortestMs)
        add('short bound', node.start)
      // Without a timeout, they wait for a second.
      if (
        /^vi\.wait(For|Until)$/.test(name) &&
        !node.arguments.slice(1).some((one) => textAt(one).includes('timeout'))
      )
        add('short bound', node.start)
      // `toBeLessThan(0)` is no bound: passed time is never below 0.
      if (ms !== 0 && /^expect\(.*(performance\.now\(\)|Date\.now\(\)|Ms\)).*\.toBeLessThan/s.test(name))
        bounds.push(node.start)
    },
    Property({ key, value }) {
      if (key.type !== 'Identifier' || key.name !== 'timeout' || value.type !== 'Literal') return
      if (typeof value.value === 'number' && value.value < shortestMs) add('short bound', value.start)
    },
    WhileStatement: loop,
    DoWhileStatement: loop,
    ForStatement: loop,
  }).visit(parseSync(file, text).program)
  for (const at of bounds) {
    if (!measured.some(({ start, end }) => start <= at && at < end)) add('upper bound of time', at)
  }
  return found
}

const files = filesOf(
  '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard,proofs,bench}/**/*.test.ts',
  'proofs/**/*.ts',
  '{server,client,cli,dashboard,checks}/testing/**/*.ts',
)
const all = [...new Set(files)].map((file) => ({ file, found: foundIn(file, textOf(file)) }))

test('no test depends on how fast the machine is or on chance, or repeats a refused call', () => {
  const places = all.flatMap(({ file, found }) =>
    found
      .filter(({ kind }) => allowed[file]?.[0] !== kind)
      .map(({ kind, line }) => `${kind}: ${file}:${line}`),
  )
  expect(places).toEqual([])
})

test('all exceptions still exist', () => {
  const exist = Object.entries(allowed).filter(([file, [kind]]) =>
    all.some((one) => one.file === file && one.found.some((place) => place.kind === kind)),
  )
  expect(exist).toEqual(Object.entries(allowed))
})

describe('is found:', () => {
  test.each<[Kind, string]>([
    ['own timeout', "test('a', async () => {}, 20_000)"],
    ['own timeout', 'beforeAll(async () => {}, 200_000)'],
    ['own timeout', "test.each([1])('a', async () => {}, 20_000)"],
    ['short bound', 'await expect.poll(look, { timeout: 5_000 }).toBe(1)'],
    ['short bound', "fetch('/', { signal: AbortSignal.timeout(1_000) })"],
    ['short bound', 'await vi.waitUntil(() => isReady)'],
    ['short bound', 'await vi.waitFor(look, { interval: 5 })'],
    ['loop on 503', 'while (answer.status === 503) answer = await ask()'],
    ['loop on 503', 'for (;;) { const { status } = await ask(); if (status !== 503) break }'],
    ['upper bound of time', 'expect(performance.now() - began).toBeLessThan(500)'],
    ['upper bound of time', 'expect(answer.openMs).toBeLessThan(500)'],
    ['one look', "expect(await page.getByRole('row').count()).toBe(2)"],
    ['one look', "expect(new URL(page.url()).pathname).toBe('/')"],
    ['chance', 'const seed = Math.random()'],
    ['chance', 'const port = randomInt(20_000, 30_000)'],
  ])('%s: %s', (kind, text) => {
    expect(foundIn('a.test.ts', text)).toEqual([{ kind, line: 1 }])
  })

  test('and not a measure, a long bound, or a loop over statuses', () => {
    const text = `
      test('a', { tags: 'measure' }, () => expect(performance.now() - began).toBeLessThan(500))
      await expect.poll(look, { timeout: 60_000 }).toBe(1)
      await vi.waitFor(look, { timeout: 60_000 })
      for (const status of [200, 503]) expect(await ask()).toBe(status)`
    expect(foundIn('a.test.ts', text)).toEqual([])
  })
})
