import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesOf, sourceFiles, textOf, withoutComments } from './repository.ts'

const unfinished = /\b(TODO|FIXME|XXX)\b/
const strayAny = /(:|<|\|) *any\b(?!['"`])|\bas any\b(?! from)/
const only = /\b(test|it|describe)(\.\w+)*\.only\b|\bfdescribe\b|\bfit\(/
/** A folder of one machine, which is on no other. */
const machinePath = /(^|[\s'"`(=])\/(home|Users|root|work)\/[A-Za-z]/
const linesMax = 500
/** Tests are lists of promises, read one at a time. */
const testLinesMax = 1_000

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

describe('tidy', () => {
  test('there is something to look at', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(texts.length).toBeGreaterThan(sources.length)
  })

  test('nothing is left for later', () => {
    expect(linesThatFit(texts, unfinished)).toEqual([])
  })

  test('nothing is of any type, but what a test gets back from a call', () => {
    const found = linesThatFit(sources, strayAny, (path) => withoutComments(textOf(path)))
    const answers = /^server\/testing\/[a-z-]+\.ts:\d+: readonly body: any$/
    expect(found.filter((line) => !answers.test(line))).toEqual([])
  })

  test('no folder is named by its shape instead of by its thing', () => {
    const shapes = new Set([
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
    expect([...folders].filter((folder) => shapes.has(folder))).toEqual([])
  })

  test('files are named in kebab-case', () => {
    const named = /^[a-z0-9]+(-[a-z0-9]+)*((\.long)?\.test|\.(config|d))?\.(tsx?|mjs)$/
    expect(sources.filter((path) => !named.test(basename(path)))).toEqual([])
  })

  test(`no file is longer than ${linesMax} lines, and no file of tests than ${testLinesMax}`, () => {
    const long = sources
      .map((path) => ({ path, lines: textOf(path).split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > (path.endsWith('.test.ts') ? testLinesMax : linesMax))
    expect(long).toEqual([])
  })

  test('nothing names a folder of one machine', () => {
    expect(linesThatFit(texts, machinePath)).toEqual([])
  })

  test('no test keeps the others from running', () => {
    expect(linesThatFit(sources, only)).toEqual([])
  })

  test('the service writes nothing to the console: its logs are structured', () => {
    const served = sources.filter((path) => /^(contract|engine|geography|server)\//.test(path))
    expect(linesThatFit(served, /\bconsole\.\w+\(/, (path) => withoutComments(textOf(path)))).toEqual([])
  })
})
