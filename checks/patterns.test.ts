import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { analyse } from 'scslre'
import { expect, test } from 'vitest'

/**
 * Promise: no pattern in the product can take time in proportion to the square of a text's length, or worse.
 *
 * How: `scslre` looks for the three ways in which a pattern backtracks: two quantifiers match the same characters (`\s*\s`), one
 * matches a character in several ways (`(a|a)*`), or a pattern without a fixed start begins with one (`\s*$`). `oxc-parser` reads the
 * patterns from the source, also those that are composed of constants.
 *
 * Remedies: put `(?<!\s)` before `\s+$`, so that it starts only at the first of several spaces; let neighboring quantifiers match
 * different characters; or read the text from its end in steps, as `engine/src/named-charges.ts` does.
 */

const folders = ['engine', 'contract', 'geography', 'server', 'cli', 'client', 'dashboard'] as const

/** Files with patterns that are not composed of constants of the file, with the reason why the patterns are safe. */
const allowed: Readonly<Record<string, string>> = {
  'contract/src/shape.ts': 'a pattern of our own schemas, tried on an empty text only',
  'server/src/http/problem-answers.ts':
    'made from the paths of our own endpoints, with [^/]+ between slashes',
}

interface Pattern {
  readonly where: string
  readonly source: string
  readonly flags: string
}

/** The patterns of a source file, and the places of those whose text is not in the file. */
function patternsOf(file: string, text: string): { patterns: Pattern[]; unknown: string[] } {
  const patterns: Pattern[] = []
  const unknown: string[] = []
  const { program } = parseSync(file, text)
  const constants = new Map<string, unknown>()
  type Node = Parameters<
    NonNullable<ConstructorParameters<typeof Visitor>[0]['NewExpression']>
  >[0]['arguments'][0]
  const textOf = (node: Node | undefined): string | null => {
    if (node === undefined) return ''
    if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
    if (node.type === 'Identifier') {
      const value = constants.get(node.name)
      return typeof value === 'string' ? value : null
    }
    if (node.type === 'TaggedTemplateExpression') {
      const { quasis, expressions } = node.quasi
      return expressions.length === 0 ? (quasis[0]?.value.raw ?? null) : null
    }
    if (node.type !== 'TemplateLiteral') return null
    const parts = node.expressions.map(textOf)
    if (parts.includes(null)) return null
    return node.quasis.map(({ value }, at) => `${value.cooked ?? ''}${parts[at] ?? ''}`).join('')
  }
  const where = (start: number) => `${file}:${text.slice(0, start).split('\n').length}`
  const made = (node: { readonly start: number; readonly arguments: readonly Node[] }) => {
    const [source, flags] = [textOf(node.arguments[0]), textOf(node.arguments[1])]
    if (source === null || flags === null) unknown.push(where(node.start))
    else patterns.push({ where: where(node.start), source, flags })
  }
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) constants.set(id.name, textOf(init))
    },
    Literal(node) {
      if (!('regex' in node)) return
      patterns.push({ where: where(node.start), source: node.regex.pattern, flags: node.regex.flags })
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') made(node)
    },
    CallExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') made(node)
    },
  }).visit(program)
  return { patterns, unknown }
}

/** The ways in which a pattern backtracks; empty if it does not. */
function faultsOf({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string[] {
  const { reports } = analyse(new RegExp(source, flags))
  return [...new Set(reports.map(({ type, exponential }) => `${type}${exponential ? ' (exponential)' : ''}`))]
}

test('no pattern of the product backtracks', () => {
  const faults: string[] = []
  let count = 0
  for (const folder of folders) {
    for (const file of globSync(`${folder}/src/**/*.{ts,tsx}`).filter((name) => !name.includes('.test.'))) {
      const { patterns, unknown } = patternsOf(file, readFileSync(file, 'utf8'))
      count += patterns.length
      if (!(file in allowed)) faults.push(...unknown.map((where) => `${where} is not a constant pattern`))
      for (const { where, source, flags } of patterns) {
        const found = faultsOf({ source, flags })
        if (found.length > 0) faults.push(`${where} /${source}/${flags}: ${found.join(', ')}`)
      }
    }
  }
  expect(faults).toEqual([])
  // Many patterns were found, so the visitor works.
  expect(count).toBeGreaterThan(250)
})

test.each([
  [
    'charges by name',
    String.raw`const p = /^\s*(\S.*?)\s*(?:[:=]|\s)\s*\$?\s*(\d{1,7}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,2}))?\s*$/`,
  ],
  ['the zone at the end of a day', String.raw`const p = /\s*(Z|UTC|[+-]\d{2}:\d{2})$/i`],
  ['zeros', String.raw`const p = /^(USD\s*|US\$\s*|\$\s*)?0*(0|\.0|0\.)0*$/i`],
  ['words in a loop', String.raw`const p = /^(\w+\s?)*$/`],
  ['a constant in a template', `const many = \`\\\\s*\`\nconst p = new RegExp(\`\${many}$\`)`],
])('a pattern that backtracks is found: %s', (_what, text) => {
  const { patterns } = patternsOf('planted.ts', text)
  expect(patterns).toHaveLength(1)
  expect(patterns.flatMap(faultsOf)).not.toEqual([])
})

test('a pattern made from a value is refused', () => {
  expect(patternsOf('planted.ts', 'const p = (name: string) => new RegExp(name)').unknown).toEqual([
    'planted.ts:1',
  ])
})
