import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { secretPlace } from '../access/index.ts'
import { byOperator, recordEvent } from '../audit/index.ts'
import { type CopiedTable, copyingTenant, tablesLeftBehind } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { keyName, type SecretKey, type SecretKeys, seal, unseal, unsealWithAny } from '../security/index.ts'
import {
  atDatabase,
  atTenant,
  type CommandDatabase,
  CommandRefused,
  makeRoomFor,
} from './command-database.ts'
import {
  type ExportedTable,
  formatName,
  formatVersion,
  type Manifest,
  manifestFile,
  writeManifest,
  writeTable,
} from './export-files.ts'

export interface ExportOptions {
  /** A folder that does not exist yet. */
  readonly folder: string
  readonly keys: SecretKeys
  /** Encrypts signing secrets for the move, so that an installation with another key can import them. */
  readonly moveKey: SecretKey | null
  readonly passwords: boolean
  readonly now: number
}

/**
 * Exports all data of a brokerage into a folder, as of one moment, without delaying a running service. The folder gets
 * its final name when it is complete; an interrupted export starts again.
 *
 * @throws CommandRefused when there is no brokerage of the name, the folder is there already, or a live secret does not open
 * @example await exportTenant(around, 'Blue Mesa Logistics', { folder: 'blue-mesa', ... })
 */
export async function exportTenant(
  around: CommandDatabase,
  named: string | undefined,
  { folder, keys, moveKey, passwords, now }: ExportOptions,
): Promise<Manifest> {
  const final = resolve(folder)
  if (existsSync(final)) throw new CommandRefused(`${final} already exists. Name a new folder.`)
  return atDatabase(around, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL: only the owner of the tables can export a brokerage.',
      )
    }
    const { tenant, name } = await atTenant(around, named, async (_database, found) => found)
    const key = moveKey ?? keys[0]
    // This event is part of the export, too, so that its origin can be identified.
    await database.inTenant(tenant, (transaction) =>
      recordEvent(transaction, byOperator(tenant, now), 'tenant-exported', {
        about: { key: keyName(key), passwords },
      }),
    )
    const unfinished = `${final}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    makeRoomFor(unfinished)
    await mkdir(unfinished, { mode: 0o700 })
    const manifest = await copyingTenant(owner, tenant, 'read', async (copy) => {
      const tables: ExportedTable[] = []
      for (const table of copy.tables) {
        const rows = copy.rows(table, passwords ? {} : withoutPasswords[table.name])
        const sealed = isOfSecrets(table) ? resealed(rows, tenant, { keys, key, now }) : rows
        tables.push(await writeTable(unfinished, table, sealed, everySoOften(around.remark, table.name)))
      }
      return {
        format: formatName,
        format_version: formatVersion,
        made_at: new Date(now).toISOString(),
        tenant: { tenant_id: Number(tenant), name },
        schema: copy.schema,
        passwords,
        key: { name: keyName(key), for: moveKey === null ? 'installation' : 'move' },
        tables,
        left_behind: tablesLeftBehind,
      } satisfies Manifest
    })
    await writeFile(join(unfinished, 'README.txt'), readme(manifest), { mode: 0o600, flush: true })
    await writeManifest(unfinished, manifest, key)
    await toDisk(unfinished)
    await rename(unfinished, final)
    await toDisk(dirname(final))
    return manifest
  })
}

const withoutPasswords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  users: { password_hash: 'null::text', invitation_hash: 'null::bytea' },
}

export const isOfSecrets = ({ name }: Pick<CopiedTable, 'name'>) => name === 'signing_secrets'

/** The columns of signing_secrets that a move needs. */
export interface SecretLine {
  readonly secret_id: number
  /** Bytes in PostgreSQL's text format: `\x` and hex digits. */
  readonly sealed: string
  readonly revoked_at: string | null
  readonly expires_at: string | null
}

export const bytesOf = (text: string) => Buffer.from(text.slice(2), 'hex')
export const textOfBytes = (bytes: Buffer) => `\\x${bytes.toString('hex')}`

/** Encrypts every secret with the key of the export. An ended secret that cannot be decrypted stays as it is. */
async function* resealed(
  rows: AsyncIterable<readonly string[]>,
  tenant: TenantId,
  { keys, key, now }: { keys: SecretKeys; key: SecretKey; now: number },
): AsyncGenerator<readonly string[]> {
  for await (const lines of rows) {
    yield lines.map((line) => {
      const secret: SecretLine = JSON.parse(line)
      const place = secretPlace(tenant, secret.secret_id)
      if (unseal(key, place, bytesOf(secret.sealed)) !== null) return line
      const plaintext = unsealWithAny(keys, place, bytesOf(secret.sealed))
      if (plaintext !== null) {
        return JSON.stringify({ ...secret, sealed: textOfBytes(seal(key, place, plaintext)) })
      }
      if (isOver(secret, now)) return line
      throw new CommandRefused(
        `Signing secret ${secret.secret_id} cannot be decrypted with any key of this installation, so it would be useless after the move. Add the key that encrypted it, or have the secret revoked, and export again.`,
      )
    })
  }
}

export function isOver({ revoked_at, expires_at }: SecretLine, now: number): boolean {
  return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now)
}

/** Reports the progress of a table from time to time. */
export function everySoOften(remark: (line: string) => void, table: string): (rows: number) => void {
  return (rows) => {
    if (rows % 100_000 === 0) remark(`${table}: ${rows.toLocaleString('en-US')} rows`)
  }
}

async function toDisk(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}

function readme({ tenant, made_at, tables, passwords }: Manifest): string {
  const lines = tables.map(
    ({ file, rows }) => `  ${file.padEnd(30)} ${rows.toLocaleString('en-US').padStart(12)} rows`,
  )
  return `Everything that Lanewise had saved of ${tenant.name} (brokerage ${tenant.tenant_id}) on ${made_at}.

Each file contains one table: a row a line, each line a JSON object, packed with gzip. Amounts are whole cents, times are
UTC, bytes are \\x and hex digits. ${manifestFile} says how many rows each has, and the SHA-256 of its lines:

  zcat quotes.ndjson.gz | head -1
  zcat quotes.ndjson.gz | sha256sum

To import it into another installation of Lanewise: npm run tenant -- import FOLDER
Protect it like a backup: it contains ${passwords ? 'the hashes of passwords, and ' : ''}customers, rates and costs.

${lines.join('\n')}
`
}
