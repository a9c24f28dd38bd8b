import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesOf, root, textOf } from './repository.ts'

const pages = filesOf('*.md', 'docs/**/*.md', '{client,cli}/*.md')
const scripts = Object.keys(
  (JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts,
)

const proofs = new Set(
  filesOf('proofs/*.ts').flatMap((path) =>
    [...textOf(path).matchAll(/^ {2}name: '([a-z-]+)',\n {2}claim/gm)].map((match) => match[1] ?? ''),
  ),
)

/** Paths in backticks that start with a folder or file of the project: `engine/src/money.ts`, `.ci/run`. */
const ownPath =
  /`((?:(?:contract|engine|geography|server|client|cli|recipes|evaluation|checks|dashboard|proofs|bench|docs|deploy|scripts|\.ci)\/[\w./-]+|(?:[\w-]+\.)+(?:md|tsx?|json|mjs|css|html)))`/g
/** Not checked: placeholders for names, and files that the service creates at run time. */
const exempt = /NNNN|^(passwords|lock-holder|manifest)\.json$/

function namedPaths(text: string): string[] {
  return [...text.matchAll(ownPath)].flatMap((match) => match[1] ?? []).filter((path) => !exempt.test(path))
}

function links(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => match[1] ?? [])
}

/** The names by which links reach the sections of a page: its headings as GitHub names them, and its own anchors. */
function anchorsOf(path: string): Set<string> {
  const text = textOf(path).replaceAll(/^```[\s\S]*?^```/gm, '')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)])
}

/** Whether a path exists. A bare name such as `operations.ts` may be in any folder of the project. */
function fileExists(path: string): boolean {
  if (existsSync(join(root, path))) return true
  return (
    !path.includes('/') &&
    filesOf(
      `{contract,engine,geography,server,client,cli,recipes,evaluation,checks,dashboard,proofs,bench,deploy,scripts}/**/${path}`,
    ).length > 0
  )
}

/** Nobody reads more. A page that needs more words gets them from another page. */
const wordsMax = 45_000

test(`README and docs have at most ${wordsMax} words`, () => {
  const words = filesOf('README.md', 'docs/**/*.md').map((path) => textOf(path).trim().split(/\s+/).length)
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(wordsMax)
})

describe.each(pages)('%s', (page) => {
  const text = textOf(page)

  test('names only files that exist', () => {
    expect(namedPaths(text).filter((path) => !fileExists(path))).toEqual([])
  })

  test('has no broken local links', () => {
    const local = links(text).filter((link) => !/^https?:/.test(link))
    expect(local.filter((link) => !existsSync(join(root, dirname(page), link.replace(/#.*$/, ''))))).toEqual(
      [],
    )
  })

  test('links only to sections that exist', () => {
    const toSections = links(text).filter((link) => /^[^:]*\.md#|^#/.test(link))
    const isThere = (link: string) => {
      const [file = '', section = ''] = link.split('#')
      return anchorsOf(file === '' ? page : join(dirname(page), file)).has(section)
    }
    expect(toSections.filter((link) => !isThere(link))).toEqual([])
  })

  test('names only proofs that exist', () => {
    const named = [...text.matchAll(/npm run prove -- [^`\n]*--only ([\w,-]+)/g)]
    expect(named.flatMap((match) => match[1]?.split(',') ?? []).filter((name) => !proofs.has(name))).toEqual(
      [],
    )
  })

  test('names only npm scripts that exist', () => {
    const named = [...text.matchAll(/`npm (?:run )?([a-z:-]+)/g)].flatMap((match) => match[1] ?? [])
    expect(
      named.filter((name) => !scripts.includes(name) && !['ci', 'pack', 'install'].includes(name)),
    ).toEqual([])
  })
})

test('ARCHITECTURE has fewer than 170 lines', () => {
  expect(textOf('ARCHITECTURE.md').split('\n').length).toBeLessThan(170)
})

test('ARCHITECTURE names every folder with code', () => {
  const folders = [
    ...new Set(
      filesOf('{contract,engine,geography,server,client,cli,evaluation,dashboard}/*/**/*.{ts,tsx}').map(
        (path) => path.split('/').slice(0, 2).join('/'),
      ),
    ),
  ]
  const architecture = textOf('ARCHITECTURE.md')
  expect(
    folders.filter((folder) => !architecture.includes(`\`${folder}`) && folder !== 'engine/testing'),
  ).toEqual([])
})

test('README shows how to start and how to test', () => {
  expect(textOf('README.md')).toMatch(/^npm start/m)
  expect(textOf('README.md')).toMatch(/^npm test/m)
})

/** A reference in a comment to a page and titles of its sections: `docs/model.md, "Par" and "Scores"`. */
const reference = /(docs\/[\w/-]+\.md)((?:(?:, | and )"[^"]+")*)/g

test('comments of the engine refer to pages and sections that exist', () => {
  const comments = filesOf('engine/src/**/*.ts').flatMap(
    (path) => textOf(path).match(/\/\*\*[\s\S]*?\*\//g) ?? [],
  )
  const named = comments.flatMap((comment) =>
    [...comment.replaceAll(/\s*\n\s*\* ?/g, ' ').matchAll(reference)].flatMap(
      ([, page = '', sections = '']) =>
        [...sections.matchAll(/"([^"]+)"/g), ['', '']].map(([, title = '']) => ({ page, title })),
    ),
  )
  expect(named.filter(({ title }) => title !== '').length).toBeGreaterThan(40)
  const isThere = ({ page, title }: (typeof named)[number]) =>
    existsSync(join(root, page)) &&
    (title === '' ||
      textOf(page)
        .match(/^#+ .*$/gm)
        ?.some((line) => line.endsWith(` ${title}`)))
  expect(named.filter((one) => !isThere(one))).toEqual([])
})

describe('decisions', () => {
  const decisions = filesOf('docs/decisions/[0-9]*.md')

  test('are 40 at most', () => {
    expect(decisions.length).toBeLessThanOrEqual(40)
  })

  test('have unique numbers', () => {
    const numbers = decisions.map((path) => path.replace(/^.*\/(\d{4})-[a-z0-9-]+\.md$/, '$1'))
    expect(numbers.filter((number) => !/^\d{4}$/.test(number))).toEqual([])
    expect(new Set(numbers).size).toBe(decisions.length)
  })

  test.each(decisions)(
    '%s has its number, the decision, the reason and the costs, in 200 to 300 words',
    (path) => {
      const text = textOf(path)
      const lines = text.split('\n')
      expect(lines[0]).toMatch(new RegExp(`^# ${Number(path.match(/\d{4}/)?.[0])}\\. `))
      expect(lines[2]).toMatch(/^\*\*Decided[:.]\*\* /)
      expect(text).toMatch(/^\*\*Why/m)
      expect(text).toMatch(/^\*\*Costs\.\*\* /m)
      const words = text.split(/\s+/).length
      expect(words).toBeGreaterThanOrEqual(200)
      expect(words).toBeLessThanOrEqual(300)
    },
  )

  test('the list has the title of each', () => {
    const list = textOf('docs/decisions/README.md')
    const lineOf = (path: string) => {
      const [, number, title] = textOf(path).match(/^# (\d+)\. (.*)/) ?? []
      return `- [${number}](${path.replace('docs/decisions/', '')}) ${title}`
    }
    expect(decisions.map(lineOf).filter((line) => !list.includes(`${line}\n`))).toEqual([])
  })
})
