import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Candidate, choose } from './choose.ts'
import { compiledMutants } from './compiled.ts'
import { copyProgram } from './copy.ts'
import { equivalents } from './equivalent.ts'
import { mutantsOf, mutated } from './mutations.ts'
import { type Reach, reachOf, sourcesIn } from './reached.ts'
import { criticalSubjects, roomOf, type Subject, subjectOf } from './rooms.ts'
import { startTests, type TestRunner } from './test-runner.ts'

/**
 * Changes the product in seeded places of a copy, one at a time, and runs the tests that reach the place, the nearest first,
 * until one fails. A mutant that no test notices survives: the behavior of its line is not tested.
 */

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

const mutantsUsage = `npm run prove -- mutants [options]

  --seed N          which mutants (1)
  --count N         how many (200)
  --rooms A,B       only in these rooms, such as engine,server/access
  --tests A,B       only with test files whose paths begin so
  --again           run those that survived once more, for example with new tests
  --workers N       test files at a time (2)
  --folder DIR      where the copy, the record of what tests reach, and the results are kept

A run that was stopped continues where it stopped. The copy is in a temporary folder; the sources never change.`

type Verdict =
  | { readonly verdict: 'killed'; readonly by: string; readonly seconds: number }
  | { readonly verdict: 'survived'; readonly tests: number; readonly seconds: number }
  | { readonly verdict: 'equivalent' | 'gone'; readonly why: string }

interface Chosen extends Candidate {
  /** The code before and after the place, to find it again after changes elsewhere in the file. */
  readonly before: string
  readonly after: string
  result?: Verdict
}

interface State {
  readonly seed: number
  readonly mutants: Chosen[]
}

/** Limits on the tests of one mutant. A mutant that passes the first limits survives, until a further run tries more tests. */
const limitsAtFirst = { testFiles: 16, seconds: 100 }
const limitsAgain = { testFiles: 80, seconds: 600 }
/** Tests that take longer than `startSeconds` and this multiple of their usual time are in an endless loop. */
const usualTimesMax = 5
const startSeconds = 90

/** Runs the mutants, and returns whether the score is reached. */
export async function runMutants(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '200' },
      rooms: { type: 'string' },
      tests: { type: 'string' },
      help: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      workers: { type: 'string', default: '2' },
      folder: { type: 'string', default: join(tmpdir(), 'lanewise-mutants') },
    },
  })
  const [seed, count, workers] = [values.seed, values.count, values.workers].map((text) => {
    if (!/^\d{1,9}$/.test(text)) throw new Error(`${text} must be a whole number.\n\n${mutantsUsage}`)
    return Number(text)
  }) as [number, number, number]
  const print = (line: string) => process.stdout.write(`${line}\n`)
  if (values.help) {
    print(mutantsUsage)
    return true
  }
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  process.once('SIGTERM', () => stop.abort())

  const work = resolve(values.folder)
  const folder = join(work, 'copy')
  copyProgram(root, folder)
  const tests = await startTests(folder, workers)
  try {
    const asked = values.tests?.split(',')
    const files = tests.files.filter((file) => asked?.some((start) => file.startsWith(start)) ?? true)
    const reach = await reachOf(folder, work, tests, files, print, stop.signal)
    if (reach.failing.length > 0) print(`without these, which fail in the copy: ${reach.failing.join(' ')}`)
    const path = join(
      work,
      `mutants-${[seed, values.rooms?.replaceAll('/', '+') ?? 'all', count].join('-')}.json`,
    )
    const state = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as State)
      : { seed, mutants: chosenIn(folder, reach, values.rooms?.split(','), count, seed, print) }
    for (const mutant of state.mutants) Object.assign(mutant, subjectNow(mutant, folder))
    const save = () => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, `${JSON.stringify(state, null, 1)}\n`)
    }
    save()
    await runAll(state, { folder, reach, tests, again: values.again, save, print, signal: stop.signal })
    save()
    print(report(state))
    return !stop.signal.aborted && isGoodEnough(state)
  } finally {
    await tests.close()
  }
}

function chosenIn(
  folder: string,
  reach: Reach,
  rooms: readonly string[] | undefined,
  count: number,
  seed: number,
  print: (line: string) => void,
): Chosen[] {
  const candidates = sourcesIn(folder).flatMap((file): Candidate[] => {
    const room = roomOf(file)
    if (rooms?.includes(room) === false) return []
    const source = readFileSync(join(folder, file), 'utf8')
    const lines = source.split('\n')
    return mutantsOf(file, source)
      .map((mutant) => ({ ...mutant, room, subject: subjectOf(mutant, lines[mutant.line - 1] ?? '') }))
      .filter((mutant) => equivalentOf(mutant, lines) === undefined && reach.testsOf(file, mutant).length > 0)
  })
  // Twice as many, because every third mutant does not compile.
  const compiled = compiledMutants(root, folder, choose(candidates, 2 * count, seed), print)
  return choose(compiled, count, seed).map((mutant) => {
    const source = readFileSync(join(folder, mutant.file), 'utf8')
    const before = source.slice(Math.max(0, mutant.start - 80), mutant.start)
    return { ...mutant, before, after: source.slice(mutant.end, mutant.end + 80) }
  })
}

const equivalentOf = ({ file, line, replacement }: Candidate, lines: readonly string[]) =>
  equivalents.find(
    (one) => one.file === file && one.replacement === replacement && one.line === lines[line - 1]?.trim(),
  )

/** Returns the subject of a mutant by today's rules, which may have changed since the mutant was chosen. */
function subjectNow(mutant: Chosen, folder: string): Pick<Chosen, 'subject'> {
  const source = readFileSync(join(folder, mutant.file), 'utf8')
  const { line } = placed(mutant, source) ?? mutant
  return { subject: subjectOf(mutant, source.split('\n')[line - 1] ?? '') }
}

/** Finds the place of a mutant again, or null if its code has changed. */
function placed(mutant: Chosen, source: string): Chosen | null {
  const at = source.indexOf(mutant.before + mutant.original + mutant.after)
  if (at < 0) return null
  const start = at + mutant.before.length
  const line = source.slice(0, start).split('\n').length
  return { ...mutant, start, end: start + mutant.original.length, line }
}

interface Run {
  readonly folder: string
  readonly reach: Reach
  readonly tests: TestRunner
  readonly again: boolean
  readonly save: () => void
  readonly print: (line: string) => void
  readonly signal: AbortSignal
}

async function runAll(state: State, run: Run): Promise<void> {
  let number = 0
  for (const mutant of state.mutants) {
    number += 1
    const { result } = mutant
    if (result !== undefined && !(run.again && result.verdict === 'survived')) continue
    if (run.signal.aborted) return
    const source = readFileSync(join(run.folder, mutant.file), 'utf8')
    const now = placed(mutant, source)
    if (now === null) {
      mutant.result = { verdict: 'gone', why: 'its code has changed since it was chosen' }
      run.print(`${number} of ${state.mutants.length} gone: ${mutant.file}:${mutant.line}`)
      continue
    }
    const equivalent = equivalentOf(now, source.split('\n'))
    const verdict: Verdict | null =
      equivalent === undefined
        ? await verdictOn(now, source, run)
        : { verdict: 'equivalent', why: equivalent.reason }
    // A run that was stopped says nothing about this mutant.
    if (verdict === null) return
    mutant.result = verdict
    run.save()
    run.print(`${number} of ${state.mutants.length} ${words(now)}: ${shown(verdict)}`)
  }
}

async function verdictOn(mutant: Chosen, source: string, run: Run): Promise<Verdict | null> {
  const { folder, reach, tests, signal } = run
  const path = join(folder, mutant.file)
  const max = run.again ? limitsAgain : limitsAtFirst
  const files = nearestFirst(mutant, reach, folder).slice(0, max.testFiles)
  const plant = (text: string) => {
    writeFileSync(path, text)
    tests.changed(mutant.file)
  }
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 100) / 10
  let tried = 0
  plant(mutated(source, mutant))
  try {
    // First the two nearest test files, which mostly suffice, then more at a time, because each start takes seconds.
    for (let size = 2; tried < files.length && seconds() < max.seconds; size = Math.min(16, size * 2)) {
      const some = files.slice(tried, tried + size)
      tried += some.length
      const usualMs = some.reduce((sum, test) => sum + reach.msOf(test), 0)
      const limits = {
        seconds: startSeconds + (usualTimesMax * usualMs) / 1000,
        untilFirstFailure: true,
        signal,
      }
      const { failed, timedOut } = await tests.run(some, limits)
      if (signal.aborted) return null
      if (timedOut) return { verdict: 'killed', by: 'the time limit', seconds: seconds() }
      if (failed === null) continue
      if (mayBeLoad.test(failed.error)) {
        // On a busy machine a test may be too slow: the same file must pass without the mutant, and fail again with it.
        plant(source)
        const without = await tests.run([failed.file], limits)
        plant(mutated(source, mutant))
        const repeated = await tests.run([failed.file], limits)
        if (signal.aborted) return null
        if (without.failed !== null || (repeated.failed === null && !repeated.timedOut)) continue
      }
      return { verdict: 'killed', by: `${failed.file}: ${failed.test}: ${failed.error}`, seconds: seconds() }
    }
    return { verdict: 'survived', tests: tried, seconds: seconds() }
  } finally {
    plant(source)
  }
}

const mayBeLoad = /timed? ?out|too slow|\b503\b|ECONN|deadline|hook/i

/** Returns the first letters of the words in a name or a line: `voided_at` and `void-quote` have one in common. */
const rootsOf = (text: string) =>
  (text.match(/[a-z]{4,}|[A-Z][a-z]{3,}/g) ?? []).map((word) => word.slice(0, 4).toLowerCase())

/** The test files that cover a whole subject. */
const walks: Readonly<Partial<Record<Subject, readonly string[]>>> = {
  tenants: ['proofs/distributable.test.ts', 'proofs/route-walk.test.ts'],
  roles: ['proofs/route-walk.test.ts'],
}

/** Returns the test files that reach a mutant, the nearest first. */
function nearestFirst(mutant: Chosen, reach: Reach, folder: string): string[] {
  const stem = basename(mutant.file).replace(/\.\w+$/, '')
  const source = readFileSync(join(folder, mutant.file), 'utf8')
  const line = source.split('\n')[mutant.line - 1] ?? ''
  const own = new Set(rootsOf(stem))
  const said = new Set(rootsOf(line))
  const nearness = (test: string) => {
    const name = basename(test, '.test.ts')
    const roots = rootsOf(name)
    const common =
      roots.filter((root) => own.has(root)).length + roots.filter((root) => said.has(root)).length / 2
    const imports = readFileSync(join(folder, test), 'utf8').includes(`/${stem}.ts'`) ? 3 : 0
    return (
      (name === stem ? 8 : 0) +
      (walks[mutant.subject]?.includes(test) === true ? 10 : 0) +
      (dirname(test) === dirname(mutant.file) ? 2 : 0) +
      (test.split('/')[0] === mutant.file.split('/')[0] ? 1 : 0) +
      imports +
      common -
      // Quick files run before slow ones.
      Math.min(5, reach.msOf(test) / 6_000)
    )
  }
  const near = new Map(reach.testsOf(mutant.file, mutant).map((test) => [test, nearness(test)]))
  return [...near.keys()].sort((one, other) => (near.get(other) ?? 0) - (near.get(one) ?? 0))
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 60)
const words = ({ file, line, kind, subject, original, replacement }: Candidate) =>
  `${file}:${line} ${subject === 'other' ? '' : `[${subject}] `}${kind}: ${oneLine(original)} -> ${oneLine(replacement)}`

function shown(verdict: Verdict): string {
  if (verdict.verdict === 'killed') return `killed in ${verdict.seconds} s by ${verdict.by}`
  if (verdict.verdict === 'survived') return `SURVIVED ${verdict.tests} test files in ${verdict.seconds} s`
  return `${verdict.verdict}: ${verdict.why}`
}

interface Score {
  readonly name: string
  readonly killed: number
  readonly survived: number
}

function scoreOf(name: string, mutants: readonly Chosen[]): Score {
  const count = (verdict: Verdict['verdict']) =>
    mutants.filter((one) => one.result?.verdict === verdict).length
  return { name, killed: count('killed'), survived: count('survived') }
}

/** The share of the mutants that tests must kill. In the critical subjects, none may survive. */
const shareWanted = 0.85

function isGoodEnough({ mutants }: State): boolean {
  const { killed, survived } = scoreOf('all', mutants)
  const critical = mutants.filter(
    ({ subject, result }) => subject !== 'other' && result?.verdict === 'survived',
  )
  return killed / (killed + survived) >= shareWanted && critical.length === 0
}

/** Returns the scores by room and by subject, as tables for docs/reliability.md, and the survivors. */
function report({ seed, mutants }: State): string {
  const row = ({ name, killed, survived }: Score) => {
    const all = killed + survived
    return `| ${name} | ${all} | ${killed} | ${survived} | ${all === 0 ? '' : `${Math.round((100 * killed) / all)} %`} |`
  }
  const scores = (key: (mutant: Chosen) => string) =>
    [...Map.groupBy(mutants, key)]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, some]) => row(scoreOf(name, some)))
  const head = (what: string) => [
    '',
    `| ${what} | mutants | killed | survived | score |`,
    '| --- | --- | --- | --- | --- |',
  ]
  const survivors = mutants.filter(({ result }) => result?.verdict === 'survived')
  return [
    `seed ${seed}`,
    ...head('room'),
    ...scores(({ room }) => room),
    row(scoreOf('all', mutants)),
    ...head('subject'),
    ...scores(({ subject }) => subject),
    '',
    ...survivors.map((one) => `survived: ${words(one)}`),
    ...criticalSubjects
      .filter((subject) => survivors.some((one) => one.subject === subject))
      .map((subject) => `FAULT: a mutant of ${subject} survived`),
  ].join('\n')
}
