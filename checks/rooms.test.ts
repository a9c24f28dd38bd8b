import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, shippedFiles, sourceFiles, textOf, withoutComments } from './repository.ts'

const server = 'server/src/'

/**
 * The rooms of the server, from the lowest to the highest: which rooms each one imports, and what else (folders end in
 * a slash, `node:` is any module of Node). The last row is the files beside the rooms: main.ts, start.ts, serving.ts.
 */
const rooms: Readonly<Record<string, { rooms: readonly string[]; outside: readonly string[] }>> = {
  runtime: {
    rooms: [],
    outside: ['engine/src/', 'node:'],
  },
  csv: {
    rooms: [],
    outside: ['papaparse'],
  },
  signing: {
    rooms: [],
    outside: ['contract/src/', 'node:'],
  },
  security: {
    rooms: ['runtime'],
    outside: ['@node-rs/argon2', 'contract/src/', 'fast-jwt', 'node:'],
  },
  configuration: {
    rooms: ['security'],
    outside: ['contract/src/', 'node:'],
  },
  'database/schema': {
    rooms: [],
    outside: ['engine/src/', 'kysely', 'node:', 'pg'],
  },
  'database/session': {
    rooms: ['database/schema'],
    outside: ['kysely', 'node:', 'pg'],
  },
  'database/queries': {
    rooms: ['database/schema', 'database/session'],
    outside: ['contract/src/', 'engine/src/', 'kysely', 'node:', 'pg'],
  },
  'embedded-postgres': {
    rooms: ['database/session'],
    outside: ['node:', 'pg'],
  },
  lanes: {
    rooms: ['csv', 'database/schema', 'database/session', 'database/queries'],
    outside: ['contract/src/', 'engine/src/', 'geography/src/'],
  },
  cache: {
    rooms: ['runtime', 'database/session'],
    outside: [],
  },
  access: {
    rooms: ['runtime', 'security', 'database/schema', 'database/session', 'database/queries', 'cache'],
    outside: ['contract/src/', 'fastify', 'node:'],
  },
  limits: {
    rooms: ['runtime', 'security', 'database/session', 'database/queries', 'cache'],
    outside: ['@redis/client', 'contract/src/', 'node:'],
  },
  audit: {
    rooms: ['runtime', 'csv', 'database/schema', 'database/session', 'database/queries'],
    outside: ['contract/src/'],
  },
  book: {
    rooms: ['runtime', 'database/session', 'database/queries', 'lanes', 'cache'],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  backtests: {
    rooms: ['runtime', 'database/schema', 'database/session', 'database/queries'],
    outside: ['contract/src/', 'engine/src/', 'node:'],
  },
  imports: {
    rooms: ['runtime', 'csv', 'database/schema', 'database/session', 'database/queries', 'lanes', 'audit'],
    outside: ['contract/src/', 'engine/src/', 'geography/src/', 'node:', 'papaparse'],
  },
  events: {
    rooms: [
      'runtime',
      'security',
      'configuration',
      'database/session',
      'database/queries',
      'lanes',
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
      'lanes',
      'cache',
      'access',
      'limits',
      'audit',
      'book',
      'backtests',
      'imports',
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
      'watching',
      'endpoints',
      'agents',
    ],
    outside: [
      '@fastify/cookie',
      '@fastify/static',
      '@fastify/swagger',
      '@fastify/swagger-ui',
      '@modelcontextprotocol/server',
      'contract/src/',
      'fastify',
      'node:',
      'typebox',
    ],
  },
  sample: {
    rooms: [
      'security',
      'database/schema',
      'database/session',
      'database/queries',
      'lanes',
      'access',
      'audit',
    ],
    outside: ['engine/src/', 'node:'],
  },
  operations: {
    rooms: [
      'csv',
      'security',
      'configuration',
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
    outside: [
      '@modelcontextprotocol/server',
      '@redis/client',
      'cli-progress',
      'contract/src/',
      'engine/src/',
      'node:',
      'pg',
    ],
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
      'lanes',
      'cache',
      'access',
      'limits',
      'audit',
      'book',
      'backtests',
      'imports',
      'events',
      'watching',
      'endpoints',
      'http',
      'sample',
    ],
    outside: ['node:', 'pg', 'pino'],
  },
}

/** What the code of a room must not touch. Only start.ts, the commands and http/problem-answers.ts read the clock. */
const mustNotTouch: Readonly<Record<string, RegExp>> = {
  security: /\bprocess\b/,
  signing: /\bprocess\b/,
  csv: /\bprocess\b/,
  lanes: /\bprocess\b|\bMath\.random\b/,
  endpoints: /\bprocess\b|\bMath\.random\b/,
}

const roomOf = (path: string) => `${dirname(path)}/`.slice(server.length).replace(/\/$/, '')
const filesOfRoom = (room: string) =>
  shippedFiles().filter((path) => path.startsWith(server) && roomOf(path) === room)

describe.each(Object.keys(rooms))('the room server/src/%s', (room) => {
  const row = rooms[room] ?? { rooms: [], outside: [] }

  test('imports the rooms and packages of its row, and uses every entry of the row', () => {
    const imported = filesOfRoom(room).flatMap(importsOf)
    const usedRooms = new Set(imported.filter((path) => path.startsWith(server)).map(roomOf))
    usedRooms.delete(room)
    expect([...usedRooms].toSorted()).toEqual(row.rooms.toSorted())
    const others = imported.filter((path) => !path.startsWith(server))
    const covers = (entry: string, path: string) =>
      /[/:]$/.test(entry) ? path.startsWith(entry) : path === entry
    expect(others.filter((path) => !row.outside.some((entry) => covers(entry, path)))).toEqual([])
    expect(row.outside.filter((entry) => !others.some((path) => covers(entry, path)))).toEqual([])
  })

  const forbidden = mustNotTouch[room]
  if (forbidden !== undefined) {
    test(`does not touch ${forbidden.source}`, () => {
      const touching = filesOfRoom(room).filter((path) => forbidden.test(withoutComments(textOf(path))))
      expect(touching).toEqual([])
    })
  }

  if (room === '') return
  test('begins with an index.ts that says what the room is for', () => {
    expect(textOf(`${server}${room}/index.ts`)).toMatch(/^\/\*\*\n \* [A-Z]/)
  })
})

test('every folder of the server is a room of the table', () => {
  const folders = new Set(
    shippedFiles()
      .filter((path) => path.startsWith(server))
      .map(roomOf),
  )
  expect([...folders].toSorted()).toEqual(Object.keys(rooms).toSorted())
})

test('a room imports only rooms above its row, so rooms have no cycles', () => {
  const order = Object.keys(rooms)
  const backwards = order.flatMap((room, at) =>
    (rooms[room]?.rooms ?? [])
      .filter((other) => order.indexOf(other) >= at)
      .map((other) => `${room} imports ${other}`),
  )
  expect(backwards).toEqual([])
})

test('other code enters a room through its index.ts, tests of the room itself excepted', () => {
  const around = sourceFiles().flatMap((path) =>
    importsOf(path)
      .filter((imported) => imported.startsWith(server) && roomOf(imported) !== '')
      .filter((imported) => !path.startsWith(server) || roomOf(imported) !== roomOf(path))
      .filter((imported) => !imported.endsWith('/index.ts'))
      .map((imported) => `${path} imports ${imported}`),
  )
  expect(around).toEqual([])
})

test('the reader of imports sees them: an endpoint imports the engine, its contract and the queries', () => {
  expect(importsOf('server/src/endpoints/markup.ts')).toEqual(
    expect.arrayContaining([
      'engine/src/markup.ts',
      'contract/src/markup.ts',
      'server/src/database/queries/index.ts',
    ]),
  )
})

const dashboard = 'dashboard/src/'

/**
 * The folders of the dashboard, from the lowest to the highest, with the folders that each one imports. A folder from
 * `audit` on is a page, and no page imports another page. The last row is the files beside the folders.
 */
const dashboardFolders: Readonly<Record<string, readonly string[]>> = {
  'code-samples': [],
  api: [],
  'shared-ui': ['code-samples', 'api'],
  'lane-history': ['api', 'shared-ui'],
  shell: ['api', 'shared-ui'],
  audit: ['api', 'shared-ui'],
  'first-steps': ['code-samples', 'api', 'shared-ui', 'shell'],
  imports: ['api', 'shared-ui', 'lane-history'],
  integration: ['code-samples', 'api', 'shared-ui'],
  lane: ['api', 'shared-ui'],
  performance: ['api', 'shared-ui'],
  'quote-desk': ['api', 'shared-ui'],
  quotes: ['api', 'shared-ui', 'lane-history'],
  settings: ['api', 'shared-ui'],
  shipments: ['api', 'shared-ui', 'lane-history'],
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
    'performance',
    'quote-desk',
    'quotes',
    'settings',
    'shipments',
    'sign-in',
    'team',
  ],
}

const dashboardFolderOf = (path: string) => `${dirname(path)}/`.slice(dashboard.length).replace(/\/$/, '')
const dashboardFiles = shippedFiles().filter((path) => path.startsWith(dashboard))

describe.each(Object.keys(dashboardFolders))('the folder dashboard/src/%s', (folder) => {
  test('imports exactly the folders of its row', () => {
    const imported = dashboardFiles
      .filter((path) => dashboardFolderOf(path) === folder)
      .flatMap(importsOf)
      .filter((path) => path.startsWith(dashboard))
      .map(dashboardFolderOf)
    const others = new Set(imported.filter((other) => other !== folder))
    expect([...others].toSorted()).toEqual(dashboardFolders[folder]?.toSorted())
  })

  if (folder === '') return
  test('begins with an index.ts that describes the folder', () => {
    expect(textOf(`${dashboard}${folder}/index.ts`)).toMatch(/^\/\*\* [A-Z]/)
  })
})

test('every folder of the dashboard is in the table', () => {
  const folders = new Set(dashboardFiles.map(dashboardFolderOf))
  expect([...folders].toSorted()).toEqual(Object.keys(dashboardFolders).toSorted())
})

test('a folder of the dashboard imports only folders above its row, and a page imports no other page', () => {
  const order = Object.keys(dashboardFolders)
  const pages = order.slice(order.indexOf('audit'), -1)
  const refused = order.flatMap((folder, at) =>
    (dashboardFolders[folder] ?? [])
      .filter((other) => order.indexOf(other) >= at || (pages.includes(folder) && pages.includes(other)))
      .map((other) => `${folder} imports ${other}`),
  )
  expect(refused).toEqual([])
})

test('other code enters a folder of the dashboard through its index.ts', () => {
  const around = sourceFiles().flatMap((path) =>
    importsOf(path)
      .filter((imported) => imported.startsWith(dashboard) && dashboardFolderOf(imported) !== '')
      .filter(
        (imported) => !path.startsWith(dashboard) || dashboardFolderOf(imported) !== dashboardFolderOf(path),
      )
      .filter((imported) => !imported.endsWith('/index.ts'))
      .map((imported) => `${path} imports ${imported}`),
  )
  expect(around).toEqual([])
})
