import { createHash } from 'node:crypto'
import { filesOf, textOf } from './repository.ts'

const folder = 'server/src/database/schema/migrations'

/**
 * The migrations that databases have run, with their digests as `sha256sum` prints them. Each release adds a heading with its version
 * and its new migrations (scripts/release.mjs).
 */
export const releasedFile = 'server/src/database/schema/released-migrations.txt'

/** The heading of the migrations that databases have run although no release has them. */
const beforeReleases = '# before 1.0.0'

export interface Released {
  /** The digests by name. */
  readonly digests: ReadonlyMap<string, string>
  readonly versions: readonly string[]
}

/** Returns the text of each migration in the folder, by name. */
export function migrationTexts(): ReadonlyMap<string, string> {
  return new Map(filesOf(`${folder}/*.sql`).map((path) => [path.slice(folder.length + 1), textOf(path)]))
}

export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

export function readReleased(text: string): Released {
  const lines = text.trimEnd().split('\n')
  return {
    digests: new Map(
      lines
        .filter((line) => !line.startsWith('#'))
        .map((line): [string, string] => {
          const [digest = '', name = ''] = line.split('  ')
          return [name, digest]
        }),
    ),
    versions: lines
      .filter((line) => line.startsWith('# ') && line !== beforeReleases)
      .map((line) => line.slice(2)),
  }
}

/** Returns a line for each migration that was changed or removed since databases ran it. */
function changesOf({ digests }: Released, here: ReadonlyMap<string, string>): string[] {
  return [...digests].flatMap(([name, digest]) => {
    const text = here.get(name)
    if (text !== undefined && digestOf(text) === digest) return []
    const what = text === undefined ? 'was removed' : 'was changed'
    return [`${name} ${what}. Databases have run it: restore it, and write a new migration.`]
  })
}

/** The tables that grow with each quote, booking or call: ten million rows at some brokerages. */
export const longTables = [
  'audit_log',
  'event_deliveries',
  'events',
  'integration_calls',
  'market_rates',
  'quote_changes',
  'quote_requests',
  'quote_versions',
  'quotes',
  'shipment_updates',
]
const long = `(${longTables.join('|')})\\b`

/** What an instance of the version before cannot run beside, and why. */
const unsafe: readonly (readonly [RegExp, string])[] = [
  [/\bdrop\s+(table|view|sequence|schema|type|function)\b/, 'the version before may still use it'],
  [/\bdrop\s+column\b/, 'the version before may still use it'],
  [/\brename\s+(column\b|constraint\b|to\b|\w+\s+to\b)/, 'the version before knows the old name'],
  [/\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/, 'it rewrites the table under a lock'],
  [/\bset\s+not\s+null\b/, 'the version before may insert null'],
  [
    /\badd\s+column\s+(?:(?!\bdefault\b|\bgenerated\b|,\s*add\b|;)[\s\S])*?\bnot\s+null\b(?:(?!\bdefault\b|\bgenerated\b)[^,;])*(?=[,;]|$)/,
    'the version before does not set it: give it a default',
  ],
  [
    /\badd\s+(constraint\s+\w+\s+)?(check|foreign\s+key)\b(?:(?!\bnot\s+valid\b)[^;])*(?=;|$)/,
    'it reads the table under a lock, and the version before may break it: add it as not valid',
  ],
  [
    new RegExp(`\\bcreate\\s+(unique\\s+)?index\\s(?!\\s*concurrently\\b)[^;]*?\\son\\s+(only\\s+)?${long}`),
    'nobody writes to the table while it reads it: make it a migration of its own, create index concurrently',
  ],
  [
    new RegExp(`(^|;|\\b(begin|then|else|loop)\\b|\\()\\s*(update|delete\\s+from)\\s+(only\\s+)?${long}`),
    'requests wait for its rows until it ends: let the service write them in batches',
  ],
  [
    /\badd\s+(constraint\s+\w+\s+)?(unique|primary\s+key|exclude)\b(?!\s+using\s+index\b)/,
    'it builds an index under a lock: build it first, then add the constraint using it',
  ],
  [
    /\badd\s+column\b[^,;]*\bdefault\s+(?!now\b)\w+\s*\(|\badd\s+column\b[^;]*\)\s*stored\b/,
    'it rewrites the table under a lock',
  ],
  [/\brevoke\b(?!\s+all\s+on\s+function)/, 'the version before may still need the right'],
  [
    /\bexecute\s+(?!on\b)[^;]*/,
    "nobody can read here what it runs: execute one text in single quotes, or format('...') with %I and %L only",
  ],
]

/** A text that a block executes as SQL: the whole text, or that of `format`. */
const executed = /\bexecute\s+(?:format\s*\(\s*)?'((?:[^']|'')*)'(?=\s*[;,)]|\s+(?:into|using)\b)/gi

/** Returns what is executed as a statement. It stays as it is if it has places for other SQL than names and values. */
function statementOf(whole: string, text: string): string {
  const statement = text
    .replaceAll("''", "'")
    .replaceAll(/%(?:\d+\$)?I/g, 'name')
    .replaceAll(/%(?:\d+\$)?L/g, "''")
  return statement.includes('%') ? whole : `; ${statement} ;`
}

/** Returns SQL in lower case without comments, other texts than executed ones, and the bodies of functions, which run later. */
function statementsOf(sql: string): string {
  return sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/(\bas\s+)\$(\w*)\$[\s\S]*?\$\2\$/gi, '$1')
    .replaceAll(executed, statementOf)
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
}

/** The first line of a migration that removes what the named version stopped using. */
const contract = /^-- Contract of (\d+\.\d+\.\d+):/

/** Returns a line for each statement of a new migration that is not safe while the version before serves. */
function unsafeIn(name: string, sql: string, versions: readonly string[]): string[] {
  const expanded = contract.exec(sql)?.[1]
  if (expanded !== undefined && versions.includes(expanded)) return []
  const statements = statementsOf(sql)
  const faults = unsafe.flatMap(([form, why]) => {
    const found = form.exec(statements)?.[0].replaceAll(/\s+/g, ' ')
    return found === undefined ? [] : [`${name}: "${found}" is not safe: ${why}.`]
  })
  if (expanded !== undefined) faults.push(`${name} names ${expanded}, and that is not a released version.`)
  return faults
}

/**
 * Returns what is wrong with the migrations. From the first release on, a new migration must be safe while instances of the version before
 * still serve: it expands. What only they use is removed one version later, by a migration that begins with `-- Contract of 1.0.0:`, the
 * version that stopped using it.
 */
export function migrationFaults(released: Released, here: ReadonlyMap<string, string>): string[] {
  const added =
    released.versions.length === 0 ? [] : [...here].filter(([name]) => !released.digests.has(name))
  const last = [...released.digests.keys()].toSorted().at(-1) ?? ''
  return [
    ...changesOf(released, here),
    ...added
      .filter(([name]) => name < last)
      .map(([name]) => `${name} sorts before ${last}, which databases have run: give it a higher number.`),
    ...added.flatMap(([name, sql]) => unsafeIn(name, sql, released.versions)),
  ]
}
