import { describe, expect, test } from 'vitest'
import { folderOf, importsOf, shippedFiles, sourceFiles, textOf, withoutComments } from './repository.ts'

const server = 'server/src/'

/**
 * The rooms (folders) of the server, from the lowest to the highest. `rooms` are the rooms that each one imports, and
 * `outside` its other imports (a name that ends in a slash is a folder, `node:` is any module of Node). The last row is
 * for the files next to the rooms: main.ts, start.ts, serving.ts.
 */
const rooms: Readonly<Record<string, { rooms: readonly string[]; outside: readonly string[] }>> = {
  runtime: {
    rooms: [],
    outside: ['engine/src/', 'node:'],
  },
  csv: {
    rooms: [],
    outside: ['contract/src/', 'engine/src/', 'papaparse'],
  },
  tables: {
    rooms: ['runtime', 'csv'],
    outside: ['contract/src/', 'engine/src/', 'iconv-lite', 'node:', 'numfmt', 'papaparse', 'saxes', 'yauzl'],
  },
  signing: {
    rooms: [],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  security: {
    rooms: ['runtime'],
    outside: ['@node-rs/argon2', 'contract/src/', 'fast-jwt', 'node:'],
  },
  'database/hosts': {
    rooms: [],
    outside: ['pg'],
  },
  configuration: {
    rooms: ['security', 'database/hosts'],
    outside: ['contract/src/', 'geography/src/edit-distance.ts', 'node:'],
  },
  'database/schema': {
    rooms: ['database/hosts'],
    outside: ['engine/src/', 'kysely', 'node:', 'pg'],
  },
  'database/session': {
    rooms: ['runtime', 'database/hosts', 'database/schema'],
    outside: ['kysely', 'node:', 'pg'],
  },
  'database/queries': {
    rooms: ['database/hosts', 'database/schema', 'database/session'],
    outside: ['contract/src/', 'engine/src/', 'kysely', 'node:', 'pg'],
  },
  'embedded-postgres': {
    rooms: ['database/session'],
    outside: ['node:', 'pg'],
  },
  quotes: {
    rooms: ['csv', 'database/schema', 'database/session', 'database/queries'],
    outside: ['contract/src/', 'engine/src/', 'geography/src/'],
  },
  cache: {
    rooms: ['runtime', 'database/session'],
    outside: [],
  },
  access: {
    rooms: ['runtime', 'security', 'database/schema', 'database/session', 'database/queries', 'cache'],
    outside: ['contract/src/', 'cookie', 'fastify', 'node:'],
  },
  limits: {
    rooms: ['runtime', 'security', 'database/session', 'database/queries', 'cache'],
    outside: ['contract/src/', 'node:'],
  },
  audit: {
    rooms: ['runtime', 'csv', 'database/schema', 'database/session', 'database/queries'],
    outside: ['contract/src/'],
  },
  sample: {
    rooms: [
      'security',
      'database/schema',
      'database/session',
      'database/queries',
      'quotes',
      'access',
      'audit',
    ],
    outside: ['contract/src/token-scopes.ts', 'engine/src/', 'node:'],
  },
  book: {
    rooms: ['runtime', 'database/schema', 'database/session', 'database/queries', 'quotes', 'cache'],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  backtests: {
    rooms: ['runtime', 'database/schema', 'database/session', 'database/queries', 'quotes'],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  entering: {
    rooms: ['database/schema', 'database/session', 'database/queries', 'quotes', 'book'],
    outside: ['contract/src/', 'engine/src/', 'node:', 'typebox'],
  },
  imports: {
    rooms: [
      'runtime',
      'csv',
      'tables',
      'database/schema',
      'database/session',
      'database/queries',
      'quotes',
      'audit',
      'entering',
    ],
    outside: ['contract/src/', 'engine/src/', 'geography/src/', 'node:', 'papaparse'],
  },
  expiry: {
    rooms: ['runtime', 'database/session', 'database/queries', 'quotes'],
    outside: ['contract/src/limits.ts'],
  },
  events: {
    rooms: [
      'runtime',
      'security',
      'configuration',
      'database/session',
      'database/queries',
      'quotes',
      'access',
      'audit',
    ],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  watching: {
    rooms: [
      'runtime',
      'security',
      'configuration',
      'database/session',
      'database/queries',
      'cache',
      'limits',
      'audit',
      'book',
      'backtests',
      'imports',
      'events',
    ],
    outside: [
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      'contract/src/',
      'fastify',
      'node:',
      'pino',
      'prom-client',
    ],
  },
  endpoints: {
    rooms: [
      'runtime',
      'csv',
      'signing',
      'security',
      'configuration',
      'database/schema',
      'database/session',
      'database/queries',
      'quotes',
      'cache',
      'access',
      'limits',
      'audit',
      'book',
      'backtests',
      'imports',
      'entering',
      'watching',
    ],
    outside: ['contract/src/', 'engine/src/', 'geography/src/', 'node:', 'typebox'],
  },
  agents: {
    rooms: ['runtime'],
    outside: ['@modelcontextprotocol/server', 'contract/src/'],
  },
  http: {
    rooms: [
      'runtime',
      'signing',
      'security',
      'database/session',
      'access',
      'limits',
      'audit',
      'watching',
      'endpoints',
      'agents',
    ],
    outside: [
      '@fastify/static',
      '@fastify/swagger',
      '@fastify/swagger-ui',
      '@modelcontextprotocol/server',
      'contract/src/',
      'engine/src/',
      'fastify',
      'node:',
      'typebox',
    ],
  },
  operations: {
    rooms: [
      'runtime',
      'csv',
      'security',
      'configuration',
      'database/hosts',
      'database/schema',
      'database/session',
      'database/queries',
      'embedded-postgres',
      'access',
      'audit',
      'backtests',
      'imports',
      'agents',
    ],
    outside: ['@modelcontextprotocol/server', 'cli-progress', 'contract/src/', 'engine/src/', 'node:', 'pg'],
  },
  '': {
    rooms: [
      'runtime',
      'security',
      'configuration',
      'database/schema',
      'database/session',
      'database/queries',
      'embedded-postgres',
      'quotes',
      'cache',
      'access',
      'limits',
      'audit',
      'sample',
      'book',
      'backtests',
      'imports',
      'events',
      'expiry',
      'watching',
      'endpoints',
      'http',
    ],
    outside: ['node:', 'pg', 'pino'],
  },
}

/** What the code of a room must not use. Only start.ts, the commands and http/problem-answers.ts read the clock. */
const mustNotTouch: Readonly<Record<string, RegExp>> = {
  security: /\bprocess\b/,
  signing: /\bprocess\b/,
  csv: /\bprocess\b/,
  quotes: /\bprocess\b|\bMath\.random\b/,
  endpoints: /\bprocess\b|\bMath\.random\b/,
}

const dashboard = 'dashboard/src/'

/**
 * The folders of the dashboard, from the lowest to the highest, with the folders that each one imports. Folders from
 * `audit` on are pages, and no page imports another page. The last row is for the files next to the folders.
 */
const dashboardFolders: Readonly<Record<string, readonly string[]>> = {
  'code-samples': [],
  api: [],
  'shared-ui': ['code-samples', 'api'],
  'quote-history': ['api', 'shared-ui'],
  requote: ['api', 'shared-ui'],
  approvals: ['api', 'shared-ui'],
  shell: ['api', 'shared-ui', 'approvals'],
  steps: ['code-samples', 'api', 'shared-ui'],
  audit: ['api', 'shared-ui'],
  'first-steps': ['shared-ui', 'shell', 'steps'],
  imports: ['api', 'shared-ui', 'quote-history'],
  integration: ['code-samples', 'api', 'shared-ui', 'steps'],
  lane: ['api', 'shared-ui'],
  customers: ['api', 'shared-ui'],
  market: ['api', 'shared-ui'],
  rules: ['api', 'shared-ui', 'approvals'],
  performance: ['api', 'shared-ui'],
  'quote-desk': ['api', 'shared-ui', 'requote', 'approvals'],
  quotes: ['api', 'shared-ui', 'quote-history', 'requote'],
  settings: ['api', 'shared-ui'],
  shipments: ['api', 'shared-ui', 'quote-history'],
  'sign-in': ['api', 'shared-ui'],
  team: ['api', 'shared-ui'],
  '': [
    'api',
    'shared-ui',
    'shell',
    'audit',
    'first-steps',
    'imports',
    'integration',
    'lane',
    'customers',
    'market',
    'rules',
    'performance',
    'quote-desk',
    'quotes',
    'settings',
    'shipments',
    'sign-in',
    'team',
  ],
}

/** The folders of the engine, from the lowest to the highest. All may import the files beside the folders. */
const engineFolders = [
  'statistics',
  'quotes',
  'book',
  'estimate',
  'rules',
  'appraisal',
  'backtest',
  'quote-statistics',
]

test('a folder of the engine imports only folders before it in the list', () => {
  const engine = 'engine/src/'
  const found = new Set(filesOf(engine).map((path) => folderOf(engine, path)))
  expect([...found].toSorted()).toEqual(['', ...engineFolders].toSorted())
  const backwards = filesOf(engine).flatMap((path) => {
    const at = engineFolders.indexOf(folderOf(engine, path))
    return importsOf(path)
      .filter((imported) => engineFolders.indexOf(folderOf(engine, imported)) > (at < 0 ? 0 : at))
      .map((imported) => `${path} imports ${imported}`)
  })
  expect(backwards).toEqual([])
})

/** The two trees with a table of folders. Both have the same tests. */
const trees = [
  {
    root: server,
    table: Object.fromEntries(Object.entries(rooms).map(([room, row]) => [room, row.rooms])),
    firstLines: /^\/\*\*\n \* [A-Z]/,
  },
  { root: dashboard, table: dashboardFolders, firstLines: /^\/\*\* [A-Z]/ },
]

const filesOf = (root: string) => shippedFiles().filter((path) => path.startsWith(root))
const filesIn = (root: string, folder: string) =>
  filesOf(root).filter((path) => folderOf(root, path) === folder)

describe.each(trees)('the folders of $root', ({ root, table, firstLines }) => {
  const order = Object.keys(table)

  test.each(order)('%s imports exactly the folders of its row', (folder) => {
    const imported = filesIn(root, folder)
      .flatMap(importsOf)
      .filter((path) => path.startsWith(root))
      .map((path) => folderOf(root, path))
    const others = new Set(imported.filter((other) => other !== folder))
    expect([...others].toSorted()).toEqual(table[folder]?.toSorted())
  })

  test.each(order.filter((folder) => folder !== ''))(
    '%s begins with an index.ts that describes it',
    (folder) => {
      expect(textOf(`${root}${folder}/index.ts`)).toMatch(firstLines)
    },
  )

  test('are all in the table', () => {
    const folders = new Set(filesOf(root).map((path) => folderOf(root, path)))
    expect([...folders].toSorted()).toEqual(order.toSorted())
  })

  test('import only folders above their row, so there are no cycles', () => {
    const backwards = order.flatMap((folder, at) =>
      (table[folder] ?? [])
        .filter((other) => order.indexOf(other) >= at)
        .map((other) => `${folder} imports ${other}`),
    )
    expect(backwards).toEqual([])
  })

  test('are entered by other code through their index.ts', () => {
    const around = sourceFiles().flatMap((path) =>
      importsOf(path)
        .filter((imported) => imported.startsWith(root) && folderOf(root, imported) !== '')
        .filter((imported) => !path.startsWith(root) || folderOf(root, imported) !== folderOf(root, path))
        .filter((imported) => !imported.endsWith('/index.ts'))
        .filter((imported) => !(path === smallProcess.path && imported === smallProcess.imports))
        .map((imported) => `${path} imports ${imported}`),
    )
    expect(around).toEqual([])
  })
})

/** The one import of a room around its index.ts: this file runs in a process of its own, whose memory is limited. */
const smallProcess = {
  path: 'server/src/tables/workbook-main.ts',
  imports: 'server/src/csv/vocabularies.ts',
}

test('a page of the dashboard imports no other page', () => {
  const order = Object.keys(dashboardFolders)
  const pages = order.slice(order.indexOf('audit'), -1)
  const refused = pages.flatMap((page) =>
    (dashboardFolders[page] ?? [])
      .filter((other) => pages.includes(other))
      .map((other) => `${page} imports ${other}`),
  )
  expect(refused).toEqual([])
})

describe.each(Object.entries(rooms))('the room server/src/%s', (room, { outside }) => {
  test('imports only what its row allows outside the server, and uses every entry of the row', () => {
    const others = filesIn(server, room)
      .flatMap(importsOf)
      .filter((path) => !path.startsWith(server))
    const covers = (entry: string, path: string) =>
      /[/:]$/.test(entry) ? path.startsWith(entry) : path === entry
    expect(others.filter((path) => !outside.some((entry) => covers(entry, path)))).toEqual([])
    expect(outside.filter((entry) => !others.some((path) => covers(entry, path)))).toEqual([])
  })

  const forbidden = mustNotTouch[room]
  if (forbidden === undefined) return
  test(`does not touch ${forbidden.source}`, () => {
    const touching = filesIn(server, room).filter((path) => forbidden.test(withoutComments(textOf(path))))
    expect(touching).toEqual([])
  })
})

test('every connection to the database of a URL finds the primary: clients of the driver are made in two rooms only', () => {
  const makers = filesOf(server).filter((path) => /new pg\.Client\(/.test(withoutComments(textOf(path))))
  expect(new Set(makers.map((path) => folderOf(server, path)))).toEqual(
    new Set(['database/hosts', 'embedded-postgres']),
  )
})

test('importsOf() sees imports: an endpoint imports the engine, its contract and the queries', () => {
  expect(importsOf('server/src/endpoints/pricing/markup.ts')).toEqual(
    expect.arrayContaining([
      'engine/src/markup.ts',
      'contract/src/markup.ts',
      'server/src/database/queries/index.ts',
    ]),
  )
})
