import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Block, blocksOf, importsIn, innermost, marked } from './reach.ts'
import { isLeftOut } from './rooms.ts'
import type { TestRunner } from './test-runner.ts'

/** What one test file reached, as it is saved. */
interface Record {
  readonly hash: string
  readonly passed: boolean
  readonly ms: number
  /** By source file: the numbers of the blocks that ran, and `of`, the number of its blocks then. */
  readonly blocks: { readonly [file: string]: { readonly of: number; readonly ran: readonly number[] } }
}

export interface Reach {
  /** The test files that run a place of a source file. For a place outside of all blocks: those that load the file. */
  testsOf(file: string, place: Block): string[]
  /** How long a test file took, in milliseconds. */
  msOf(test: string): number
  readonly failing: readonly string[]
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** The source files with mutants. */
export const sourcesIn = (folder: string): string[] =>
  globSync('{engine,contract,geography,client,cli,dashboard,server}/src/**/*.ts', { cwd: folder })
    .filter((file) => !isLeftOut(file))
    .sort()

/** The number of test files in one run of Vitest. After an interruption, the records of earlier runs remain. */
const batch = 24

/** Runs the test files without a current record, on marked sources. Returns what all test files reach. */
export async function reachOf(
  folder: string,
  work: string,
  tests: TestRunner,
  files: readonly string[],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<Reach> {
  const path = join(work, 'reach.json')
  const records: { [test: string]: Record } = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const text = (file: string) => readFileSync(join(folder, file), 'utf8')
  const stale = files.filter((test) => records[test]?.hash !== hashOf(text(test)))
  const originals = new Map(sourcesIn(folder).map((file) => [file, text(file)]))
  const blocks = new Map([...originals].map(([file, source]) => [file, blocksOf(file, source)]))
  if (stale.length > 0) {
    const parts: Part[] = []
    let first = 0
    for (const [file, source] of originals) {
      writeFileSync(join(folder, file), marked(file, source, first))
      tests.changed(file)
      const of = blocks.get(file)?.length ?? 0
      parts.push({ file, first, of })
      first += of
    }
    process.env.LANEWISE_REACH_CHILD = join(folder, 'proofs/mutants/reach-child.ts')
    process.env.LANEWISE_REACH = join(work, 'reach')
    try {
      for (let at = 0; at < stale.length && !signal.aborted; at += batch) {
        const some = stale.slice(at, at + batch)
        for (const test of some)
          rmSync(join(work, 'reach', test.replaceAll('/', '+')), { recursive: true, force: true })
        mkdirSync(join(work, 'reach'), { recursive: true })
        const { failedFiles } = await tests.run(some, { seconds: 900, untilFirstFailure: false, signal })
        for (const test of some) {
          const recorded = recordedIn(join(work, 'reach', test.replaceAll('/', '+')))
          if (recorded === null) continue
          records[test] = {
            hash: hashOf(text(test)),
            passed: !failedFiles.includes(test),
            ms: recorded.ms,
            blocks: byFile(recorded.reached, parts),
          }
        }
        writeFileSync(path, JSON.stringify(records))
        print(`recorded what ${Math.min(at + batch, stale.length)} of ${stale.length} test files reach`)
      }
    } finally {
      delete process.env.LANEWISE_REACH
      delete process.env.LANEWISE_REACH_CHILD
      for (const [file, source] of originals) {
        writeFileSync(join(folder, file), source)
        tests.changed(file)
      }
    }
  }
  const loaded = loaders(folder)
  const known = files.filter((test) => records[test]?.passed === true)
  return {
    testsOf(file, place) {
      const number = innermost(blocks.get(file) ?? [], place)
      if (number < 0) return known.filter((test) => loaded(test).has(file))
      return known.filter((test) => {
        const recorded = records[test]?.blocks[file]
        // If the source file now has more or fewer blocks, their numbers may have changed.
        const isSame = recorded?.of === blocks.get(file)?.length
        return recorded !== undefined && (!isSame || recorded.ran.includes(number))
      })
    },
    msOf: (test) => records[test]?.ms ?? 0,
    failing: files.filter((test) => records[test]?.passed !== true),
  }
}

function recordedIn(folder: string): { ms: number; reached: number[] } | null {
  const parts = globSync('*.json', { cwd: folder }).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { ms: number; reached: number[] },
  )
  if (parts.length === 0) return null
  const reached = new Set(parts.flatMap((part) => part.reached))
  return {
    ms: Math.max(...parts.map(({ ms }) => ms)),
    reached: [...reached].sort((one, other) => one - other),
  }
}

/** The blocks of a file in the marked sources: `of` blocks, numbered from `first` on. */
interface Part {
  readonly file: string
  readonly first: number
  readonly of: number
}

/** Groups numbers of blocks, which must ascend, by file. */
function byFile(reached: readonly number[], parts: readonly Part[]): Record['blocks'] {
  const found: { [file: string]: { of: number; ran: number[] } } = {}
  let at = 0
  for (const number of reached) {
    while (at + 1 < parts.length && (parts[at + 1]?.first ?? 0) <= number) at += 1
    const { file, first, of } = parts[at] ?? { file: '', first: 0, of: 0 }
    found[file] ??= { of, ran: [] }
    found[file].ran.push(number - first)
  }
  return found
}

/** Returns a function that returns the files that a test file loads, directly or through others. */
function loaders(folder: string): (test: string) => ReadonlySet<string> {
  const direct = new Map<string, string[]>()
  const folders: { readonly [name: string]: string } = {
    '#testing/': 'server/testing/',
    '#server/': 'server/src/',
    '#client/': 'client/src/',
    '#contract/': 'contract/src/',
    '#engine/': 'engine/src/',
    '#geography/': 'geography/src/',
  }
  const importsOf = (file: string): string[] => {
    const known = direct.get(file)
    if (known !== undefined) return known
    const path = join(folder, file)
    const found = (existsSync(path) ? importsIn(file, readFileSync(path, 'utf8')) : []).flatMap((name) => {
      if (name.startsWith('.')) return [join(dirname(file), name)]
      const [start = ''] = /^#\w+\//.exec(name) ?? []
      return folders[start] === undefined ? [] : [`${folders[start]}${name.slice(start.length)}`]
    })
    direct.set(file, found)
    return found
  }
  const all = new Map<string, ReadonlySet<string>>()
  return (test) => {
    const known = all.get(test)
    if (known !== undefined) return known
    const found = new Set<string>()
    const queue = [test]
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      for (const next of importsOf(file)) {
        if (found.has(next) || !/\.tsx?$/.test(next)) continue
        found.add(next)
        queue.push(next)
      }
    }
    all.set(test, found)
    return found
  }
}
