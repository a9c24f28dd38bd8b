import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { shippedFiles, textOf } from './repository.ts'

/**
 * Promise: the pages that a rep or a manager reads use one word for each thing, and no word of statistics or of the HTTP interface.
 *
 * How: `oxc-parser` reads the texts of the pages: those between tags, and strings. A string of one lowercase word is a key or the name of a
 * field of the interface, except where it is shown: in an attribute, or as the value of `header`, `label` or `title`.
 */

/** Words that no page shows, with what to write instead. Paths such as `/quotes/$lane_ref` and `/floors/margin` are not words. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w/])floors?\b/i, 'minimum, or minimum rate'],
  [/\bRPM\b/, '$/mi, or rate per mile'],
  [/(?<![\w$/{])lane_ref\b/i, 'quote number'],
  [/\bscopes?\b/i, 'permission, or what it may do'],
  [/\brate bands?\b/i, 'range of rates'],
  [/\bBrier\b/i, 'squared error'],
  [/\bharmonic\b/i, 'consistency'],
  [/\bintegral\b/i, 'strength'],
  [/\bderivative\b/i, 'trend'],
]

/** What programmers read: the Developers page and the code that it shows. There, fields have their names. */
const forProgrammers = /^dashboard\/src\/(integration|code-samples)\//

const pages = shippedFiles().filter((path) => path.startsWith('dashboard/') && !forProgrammers.test(path))

/** The texts of a page that can be shown, each with its line. */
function textsOf(path: string, code: string): { line: number; text: string }[] {
  const found: { start: number; text: string }[] = []
  const notShown = new Set<number>()
  const shown = new Set<number>()
  const { program } = parseSync(path, code)
  new Visitor({
    ImportDeclaration: ({ source }) => void notShown.add(source.start),
    JSXAttribute: ({ value }) => void (value !== null && shown.add(value.start)),
    Property({ key, value }) {
      notShown.add(key.start)
      if (key.type === 'Identifier' && /^(header|label|title)$/.test(key.name)) shown.add(value.start)
    },
    JSXText: ({ start, value }) => void found.push({ start, text: value }),
    TemplateElement: ({ start, value }) => void found.push({ start, text: value.cooked ?? '' }),
    Literal({ start, value }) {
      if (typeof value !== 'string' || notShown.has(start)) return
      if (shown.has(start) || !/^[a-z_-]+$/.test(value)) found.push({ start, text: value })
    },
  }).visit(program)
  return found.map(({ start, text }) => ({ line: code.slice(0, start).split('\n').length, text }))
}

function faultsOf(path: string, code: string): string[] {
  return textsOf(path, code).flatMap(({ line, text }) =>
    replacements.flatMap(([word, instead]) => {
      const found = word.exec(text)
      return found === null ? [] : [`${path}:${line}: instead of "${found[0]}", write ${instead}`]
    }),
  )
}

test('the pages show none of these words', () => {
  expect(pages.length).toBeGreaterThan(200)
  expect(pages.flatMap((path) => faultsOf(path, textOf(path)))).toEqual([])
})

test.each([
  ['<Text>below your floor</Text>', 'minimum'],
  ["const column = { key: 'rpm', header: 'RPM' }", 'rate per mile'],
  ["const column = { header: 'lane_ref' }", 'quote number'],
  ['<CopyButton what="lane_ref" />', 'quote number'],
  [`const words = \`Copy lane_ref \${ref}\``, 'quote number'],
  ["const words = 'Scopes'", 'permission'],
])('a forbidden word is found: %s', (code, instead) => {
  expect(faultsOf('planted.tsx', code)).toEqual([expect.stringContaining(instead)])
})

test.each([
  ["call('get-quote', { params: { lane_ref: ref } })"],
  ["import { SCOPES } from '#engine/scopes.ts'"],
  ['<Link to="/quotes/$lane_ref" />'],
  ["pagePaths.quote.replace('{lane_ref}', ref)"],
  [`error.fieldError(\`/floors/\${field}\`)`],
  ["type Limits = Pick<Pricing, 'floor' | 'ceiling'>"],
])('a name in the code is no word of a page: %s', (code) => {
  expect(faultsOf('planted.tsx', code)).toEqual([])
})
