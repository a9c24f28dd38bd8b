import type pg from 'pg'

/** What COPY reads in its text form. */
export type CopyValue = string | number | boolean | Date | Buffer | null

/** The part of the driver's connection that COPY needs; its types leave it out. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Rows as COPY reads them. */
export function copyText(rows: readonly (readonly CopyValue[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(cellText).join('\t')}\n`).join(''))
}

/**
 * Writes rows by COPY ... FROM STDIN, the fastest way into a table, over a connection of `pg`. All of `text` is sent in one
 * go. A table with forced row-level security takes no COPY; see `withWallsAside`.
 *
 * @throws pg.DatabaseError
 */
export function copyIn(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  text: Buffer,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let failed = false
  const copying = {
    submit: (connection: CopyConnection) =>
      connection.query(`copy ${table} (${columns.join(', ')}) from stdin`),
    handleCopyInResponse(connection: CopyConnection) {
      connection.sendCopyFromChunk(text)
      connection.endCopyFrom()
    },
    handleCommandComplete() {},
    handleError(error: Error) {
      failed = true
      reject(error)
    },
    handleReadyForQuery() {
      if (!failed) resolve()
    },
  }
  client.query(copying as unknown as pg.Submittable)
  return promise
}

function cellText(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'string')
    return /[\\\t\n\r]/.test(value) ? value.replaceAll(/[\\\t\n\r]/g, escapeOf) : value
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`
  return String(value)
}

function escapeOf(character: string): string {
  return { '\t': '\\t', '\n': '\\n', '\r': '\\r' }[character] ?? '\\\\'
}

/**
 * One transaction of the owner in which the named tables take rows of any tenant. The walls stand aside in this
 * transaction alone and are back before it commits: nobody else ever sees them open, and others wait meanwhile.
 */
export async function withWallsAside<Result>(
  owner: pg.Client,
  tables: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const turned = (how: 'no force' | 'force') =>
    tables.map((table) => `alter table ${table} ${how} row level security`).join(';')
  await owner.query(`begin; ${turned('no force')}`)
  try {
    const result = await work()
    await owner.query(`${turned('force')}; commit`)
    return result
  } catch (error) {
    await owner.query('rollback').catch(() => {})
    throw error
  }
}
