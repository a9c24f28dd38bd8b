import type pg from 'pg'

/** A value in the text format of COPY. */
export type CopyValue = string | number | boolean | Date | Buffer | null

/** The methods of the driver's connection that COPY needs, which are missing in its type declarations. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Formats rows as text for COPY. */
export function copyText(rows: readonly (readonly CopyValue[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(cellText).join('\t')}\n`).join(''))
}

/**
 * Writes rows with COPY ... FROM STDIN, the fastest way to fill a table. All of `text` is sent at once. COPY is not possible on
 * a table with forced row-level security; see `withoutForcedSecurity`.
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
 * Runs `work` in a transaction of the owner in which row-level security is not forced on these tables, so that it can write
 * rows of any tenant. It is forced again before the commit, and the table locks block other transactions until then.
 */
export async function withoutForcedSecurity<Result>(
  owner: pg.Client,
  tables: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const alter = (how: 'no force' | 'force') =>
    tables.map((table) => `alter table ${table} ${how} row level security`).join(';')
  await owner.query(`begin; ${alter('no force')}`)
  try {
    const result = await work()
    await owner.query(`${alter('force')}; commit`)
    return result
  } catch (error) {
    await owner.query('rollback').catch(() => {})
    throw error
  }
}
