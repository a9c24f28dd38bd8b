import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientVersion } from '#client/lanewise.ts'
import { filesOf, shippedFiles, sourceFiles, textOf, withoutComments } from './repository.ts'

const unfinished = /\b(TODO|FIXME|XXX)\b/
const strayAny = /(:|<|\|) *any\b(?!['"`])|\bas any\b(?! from)/
/** A non-null assertion (`!`) after anything but an index. */
const strayAssertion = /[\w)]!(?!=)/
const only = /\b(test|it|describe)(\.\w+)*\.only\b|\bfdescribe\b|\bfit\(/
/** An absolute path that exists only on one machine. */
const machinePath = /(^|[\s'"`(=])\/(home|Users|root|work)\/[A-Za-z]/

const thisFile = 'checks/tidy.test.ts'
const sources = sourceFiles()
const texts = filesOf(
  '{contract,engine,geography,server,client,cli,recipes,evaluation,checks,dashboard,proofs,bench,deploy,docs,scripts,.ci}/**/*.{ts,tsx,mjs,md,sql,json,yml,svg,css,html,yaml,service,py,sh,java}',
  '.ci/run',
  '*.{ts,md,json}',
).filter((path) => path !== 'package-lock.json')

const linesThatFit = (paths: readonly string[], pattern: RegExp, read = textOf) =>
  paths
    .filter((path) => path !== thisFile)
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    )

describe('source files', () => {
  test('exist', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(texts.length).toBeGreaterThan(sources.length)
  })

  test('limit a thread by its processor time, not by the time of day', () => {
    const withThreads = shippedFiles().filter((path) => textOf(path).includes('new Worker('))
    expect(withThreads.length).toBeGreaterThan(1)
    // The thread beside the reading of a workbook is itself what limits the time of its process.
    const limited = (path: string) => /\blimitProcessorTime\(thread,|workbook-watch\.ts/.test(textOf(path))
    expect(withThreads.filter((path) => !limited(path) || /\bsetTimeout\b/.test(textOf(path)))).toEqual([])
  })

  test('contain no TODO', () => {
    expect(linesThatFit(texts, unfinished)).toEqual([])
  })

  test('do not use `any`, except for response bodies in test helpers', () => {
    const found = linesThatFit(sources, strayAny, (path) => withoutComments(textOf(path)))
    const answers = /^server\/testing\/[a-z-]+\.ts:\d+: readonly body: any$/
    expect(found.filter((line) => !answers.test(line))).toEqual([])
  })

  test('assert that a value exists only behind an index, and only in the engine', () => {
    const engine = shippedFiles().filter((path) => path.startsWith('engine/'))
    expect(linesThatFit(engine, strayAssertion, (path) => withoutComments(textOf(path)))).toEqual([])
  })

  test('are not in folders with generic names', () => {
    const generic = new Set([
      'utils',
      'util',
      'helpers',
      'common',
      'types',
      'lib',
      'services',
      'misc',
      'shared',
    ])
    const folders = new Set(sources.flatMap((path) => dirname(path).split('/')))
    expect([...folders].filter((folder) => generic.has(folder))).toEqual([])
  })

  test('have names in kebab-case', () => {
    const named = /^[a-z0-9]+(-[a-z0-9]+)*((\.long)?\.test|\.(config|d))?\.(tsx?|mjs)$/
    expect(sources.filter((path) => !named.test(basename(path)))).toEqual([])
  })

  test('contain no path of a particular machine', () => {
    expect(linesThatFit(texts, machinePath)).toEqual([])
  })

  test('contain no `only`, which would skip other tests', () => {
    expect(linesThatFit(sources, only)).toEqual([])
  })

  test('of the service do not write to the console, because its logs are structured', () => {
    // The programs of the OpenAPI document are text that the service never runs.
    const served = sources.filter(
      (path) => /^(contract|engine|geography|server)\//.test(path) && path !== 'contract/src/code-samples.ts',
    )
    expect(linesThatFit(served, /\bconsole\.\w+\(/, (path) => withoutComments(textOf(path)))).toEqual([])
  })
})

test('the client and the command line have the version of the service', () => {
  expect(clientVersion).toBe((JSON.parse(textOf('package.json')) as { version: string }).version)
})
