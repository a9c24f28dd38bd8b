import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { keyCheckPlace, keyCheckText, secretPlace } from '../access/index.ts'
import { byOperator, recordEvent } from '../audit/index.ts'
import {
  analyzeTables,
  type CopiedTable,
  copyingTenant,
  readKeyCheck,
  type TenantCopy,
  verifyAuditChain,
  writeKeyCheck,
} from '../database/queries/index.ts'
import { lastBaselineMigration, lastEarlierMigrations } from '../database/schema/index.ts'
import { type Database, type TenantId, tenantId } from '../database/session/index.ts'
import { keyName, type SecretKey, type SecretKeys, seal, unseal, unsealWithAny } from '../security/index.ts'
import { atDatabase, type CommandDatabase, CommandRefused } from './command-database.ts'
import { filledColumns, presentLine, renamedTables } from './earlier-export.ts'
import {
  type ExportedTable,
  manifestKey,
  readManifest,
  readTable,
  type SealedManifest,
} from './export-files.ts'
import { bytesOf, everySoOften, isOfSecrets, isOver, type SecretLine, textOfBytes } from './export-tenant.ts'

export interface ImportOptions {
  readonly folder: string
  readonly keys: SecretKeys
  /** The keys of tokens; those of secrets if absent. */
  readonly tokenKeys?: SecretKeys
  readonly moveKey: SecretKey | null
  /** Import the brokerage even when its signing secrets cannot be decrypted. They are then revoked. */
  readonly withoutSecrets: boolean
  readonly now: number
  readonly onTable?: (table: ExportedTable) => void
}

/** The rows of the audit log, and the first wrong one. */
interface VerifiedRows {
  readonly rows: number
  readonly wrong: string | null
}

export interface ImportedTenant {
  readonly tenant: TenantId
  readonly name: string
  readonly suspended: boolean
  readonly tables: readonly ExportedTable[]
  /** Live service tokens that remain valid here. */
  readonly liveTokens: number
  /** Live service tokens that were signed with a key that this installation lacks. */
  readonly endedTokens: number
  readonly revokedSecrets: number
  /** True when the export has password hashes. */
  readonly passwords: boolean
  /** Numbers of quotes and quote requests that were already used here, by this brokerage or another. */
  readonly numbersGivenBefore: number
  readonly audit: VerifiedRows
  /** True when the export is from before the baseline, so that some values were converted. */
  readonly converted: boolean
}

/**
 * Imports an exported brokerage with its id, people, tokens, secrets and lane_refs, in one transaction, with or
 * without a running service. Before the commit, every row is read back and compared with its file. A failed or
 * interrupted import leaves nothing.
 *
 * @throws CommandRefused when anything is not as it was exported, the brokerage is there already, or nobody could open its secrets
 * @example await importTenant(around, { folder: 'blue-mesa', ... })
 */
export async function importTenant(around: CommandDatabase, options: ImportOptions): Promise<ImportedTenant> {
  const folder = resolve(options.folder)
  const manifest = await readManifest(folder)
  const key = manifestKey(manifest, [...options.keys, ...(options.moveKey === null ? [] : [options.moveKey])])
  if (key === null && !options.withoutSecrets) throw new CommandRefused(unknownKey(manifest))
  const tenant = tenantId(manifest.tenant.tenant_id)
  return atDatabase(around, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL: only the owner of the tables can import a brokerage.',
      )
    }
    await refuseOtherKey(database, options.keys)
    const arriving: Arriving = { ...options, folder, manifest, key, tenant, remark: around.remark }
    const written = await copyingTenant(owner, tenant, 'write', async (copy) => {
      const there = await copy.present()
      if (there !== null) {
        throw new CommandRefused(
          `Brokerage ${tenant} already exists here (${there}). Nothing was imported. To replace it, erase it first: npm run tenant -- erase ${tenant}`,
        )
      }
      const pairs = tablesOf(copy, manifest)
      const counted = await writeAll(copy, pairs, arriving, database)
      await compareAll(copy, pairs, arriving)
      if (lastEarlierMigrations.has(manifest.schema)) await copy.completeEarlier()
      const revokedSecrets = key === null ? await copy.revokeSecrets(new Date(options.now)) : 0
      await copy.moveVersions()
      const grown = pairs.filter(([, { rows }]) => rows > 0).map(([{ name }]) => name)
      return { counts: { ...counted, revokedSecrets }, grown }
    })
    await analyzeTables(owner, written.grown)
    // From here on the database contains data that only this key decrypts. (No effect after a first start, which saves
    // the key's check value.)
    await database.outsideTenants((transaction) =>
      writeKeyCheck(transaction, seal(options.keys[0], keyCheckPlace, keyCheckText)),
    )
    const audit = await verifiedRows(database, tenant)
    await database.inTenant(tenant, (transaction) =>
      recordEvent(transaction, byOperator(tenant, options.now), 'tenant-imported', {
        about: { exported_at: manifest.made_at },
      }),
    )
    return {
      tenant,
      name: manifest.tenant.name,
      tables: manifest.tables,
      passwords: manifest.passwords,
      converted: lastEarlierMigrations.has(manifest.schema),
      ...written.counts,
      audit,
    }
  })
}

async function verifiedRows(database: Database, tenant: TenantId): Promise<VerifiedRows> {
  const { rows, wrong } = await verifyAuditChain((work) => database.inTenant(tenant, work), tenant, [])
  return { rows, wrong: wrong === null ? null : `row ${wrong.entry} ${wrong.why}` }
}

interface Arriving extends ImportOptions {
  readonly manifest: SealedManifest
  /** The keys that decrypt its secrets; null when there are none. */
  readonly key: SecretKey | null
  readonly tenant: TenantId
  readonly remark: (line: string) => void
}

type TablePair = readonly [here: CopiedTable, exported: ExportedTable]

function unknownKey({ key }: SealedManifest): string {
  return key?.for === 'move'
    ? `The export is encrypted with a key that was made for the move (${key.name}): pass that key with --key-file.`
    : `The export is encrypted with the key of another installation (${key?.name}). There are three ways. Add that key after the one here (LANEWISE_SECRET_KEY=here,there, or on the next line of the file secret-key): tokens and signing secrets stay valid. Or export again with --key-file: signing secrets stay valid. Or import with --without-secrets, and create all of them again.`
}

/** Secrets are encrypted with this installation's key, which must match the check value of a first start. */
async function refuseOtherKey(database: Database, keys: SecretKeys): Promise<void> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known !== null && unsealWithAny(keys, keyCheckPlace, known) === null) {
    throw new CommandRefused(
      'The secret key is not the key of this database: set LANEWISE_SECRET_KEY (or the file secret-key) to the value of the service.',
    )
  }
}

/**
 * Whether an export fits this database. The baseline created the same tables as the migrations before it, and what later
 * migrations add has default values.
 */
function isSameSchema(exported: string, here: string): boolean {
  return exported === here || (lastEarlierMigrations.has(exported) && here >= lastBaselineMigration)
}

/** Pairs each table of this database with the exported one. Both must have the same schema. */
function tablesOf(copy: TenantCopy, { schema, tables }: SealedManifest): TablePair[] {
  if (!isSameSchema(schema, copy.schema)) {
    throw new CommandRefused(
      `The export has the schema ${schema}, and this database has ${copy.schema}. Bring both to the same version of Lanewise (npm run migrate), and export again.`,
    )
  }
  // An export from before the baseline lacks the tables and columns that it added. New columns have default values.
  const mayLack = lastEarlierMigrations.has(schema)
  const refuse = (why: string): never => {
    throw new CommandRefused(
      `${why}: bring the other installation to this version (npm run migrate), and export again. Nothing was imported.`,
    )
  }
  const exported = new Map(tables.map((table) => [renamedTables[table.name] ?? table.name, table]))
  const unknown = [...exported.keys()].find((name) => copy.tables.every((here) => here.name !== name))
  if (unknown !== undefined) refuse(`The export has a table ${unknown}, which this version does not have`)
  return copy.tables.flatMap((here): TablePair[] => {
    const there = exported.get(here.name)
    if (there === undefined) return mayLack ? [] : refuse(`The export has no table ${here.name}`)
    const columns = mayLack
      ? filledColumns(here.name, here.columns, there.columns)
      : here.columns.join() === there.columns.join() && here.columns
    if (columns) return [[{ ...here, columns }, there]]
    const differing = [...here.columns, ...there.columns].filter(
      (column) => !(here.columns.includes(column) && there.columns.includes(column)),
    )
    return refuse(`The columns of ${here.name} differ: ${differing.join(', ') || 'their order'}`)
  })
}

interface Counted {
  suspended: boolean
  liveTokens: number
  endedTokens: number
  numbersGivenBefore: number
}

async function writeAll(
  copy: TenantCopy,
  pairs: readonly TablePair[],
  arriving: Arriving,
  { identifiers }: Database,
): Promise<Counted> {
  const counted: Counted = { suspended: false, liveTokens: 0, endedTokens: 0, numbersGivenBefore: 0 }
  const { folder, tenant, remark, now } = arriving
  const keysHere = (arriving.tokenKeys ?? arriving.keys).map(keyName)
  for (const [here, exported] of pairs) {
    const progress = everySoOften(remark, here.name)
    for await (const { from, lines } of readTable(folder, exported)) {
      const refuse = (index: number, why: string): never => {
        throw new CommandRefused(`${exported.file}, line ${from + index}: ${why}. Nothing was imported.`)
      }
      const rows = lines.map((line, index) => {
        const row = rowOf(line)
        if (row === null || Object.keys(row).join() !== exported.columns.join()) {
          return refuse(index, `it is not a row of ${here.name}`)
        }
        return row.tenant_id === tenant
          ? row
          : refuse(index, `it belongs to another brokerage, ${row.tenant_id}`)
      })
      const written = lines.map((line) =>
        isOfSecrets(here)
          ? sealedHere(line, arriving)
          : presentLine(here.name, line, arriving.manifest.made_at),
      )
      const refused = await copy.insert(here, written)
      if (refused !== null) refuse(refused.index, refused.why)
      const numbers = (column: string) => rows.map((row) => Number(row[column]))
      if (here.name === 'quotes')
        counted.numbersGivenBefore += await copy.take(identifiers, numbers('lane_id'), [])
      if (here.name === 'quote_requests') {
        counted.numbersGivenBefore += await copy.take(identifiers, [], numbers('request_id'))
      }
      if (here.name === 'tenants') counted.suspended = rows.some((row) => row.status === 'suspended')
      if (here.name === 'service_tokens') {
        for (const row of rows) {
          if (row.revoked_at !== null || Date.parse(String(row.expires_at)) <= now) continue
          if (keysHere.includes(String(row.signed_with))) counted.liveTokens++
          else counted.endedTokens++
        }
      }
      progress(from + lines.length - 1)
    }
  }
  return counted
}

function rowOf(line: string): Record<string, unknown> | null {
  try {
    const row: unknown = JSON.parse(line)
    return typeof row === 'object' && row !== null ? { ...row } : null
  } catch {
    return null
  }
}

/**
 * A signing secret encrypted with this installation's key. An ended secret that could not be decrypted at its source
 * stays as it is.
 */
function sealedHere(line: string, { key, keys, tenant, now, withoutSecrets }: Arriving): string {
  if (key === null || keys.includes(key)) return line
  const secret: SecretLine = JSON.parse(line)
  const place = secretPlace(tenant, secret.secret_id)
  const plaintext = unseal(key, place, bytesOf(secret.sealed))
  if (plaintext !== null)
    return JSON.stringify({ ...secret, sealed: textOfBytes(seal(keys[0], place, plaintext)) })
  if (isOver(secret, now) || withoutSecrets) return line
  throw new CommandRefused(
    `Signing secret ${secret.secret_id} cannot be decrypted with the key of the export. Nothing was imported.`,
  )
}

/** Reads every row back and compares it with its line of the file. */
async function compareAll(copy: TenantCopy, pairs: readonly TablePair[], arriving: Arriving): Promise<void> {
  for (const [here, exported] of pairs) {
    const files = readTable(arriving.folder, exported)
    let compared = 0
    for await (const rows of copy.rows(here)) {
      const { value } = await files.next()
      const lines = value?.lines ?? []
      const differs = rows.findIndex((row, index) => !isSameRow(here, row, lines[index], arriving))
      if (differs !== -1 || rows.length !== lines.length) {
        const line = compared + (differs === -1 ? Math.min(rows.length, lines.length) : differs) + 1
        throw new CommandRefused(
          `${here.name} differs from the export after the import, from line ${line} of ${exported.file} on. Nothing was imported.`,
        )
      }
      compared += rows.length
    }
    if (compared !== exported.rows) {
      throw new CommandRefused(
        `${here.name} has ${compared} rows after the import, and ${exported.rows} were exported. Nothing was imported.`,
      )
    }
    arriving.onTable?.(exported)
  }
}

/** Compares a row with its line as text. Re-encrypted secrets are equal when both decrypt to the same text. */
function isSameRow(table: CopiedTable, row: string, line: string | undefined, arriving: Arriving): boolean {
  if (row === line) return true
  const { key, keys, tenant, manifest } = arriving
  const present = line === undefined ? line : presentLine(table.name, line, manifest.made_at)
  if (present !== undefined && present !== line)
    return isDeepStrictEqual(JSON.parse(row), JSON.parse(present))
  if (line === undefined || !isOfSecrets(table) || key === null) return false
  const [written, exported]: [SecretLine, SecretLine] = [JSON.parse(row), JSON.parse(line)]
  const place = secretPlace(tenant, exported.secret_id)
  const plaintext = unseal(keys[0], place, bytesOf(written.sealed))
  return (
    plaintext !== null &&
    plaintext === unseal(key, place, bytesOf(exported.sealed)) &&
    JSON.stringify({ ...written, sealed: '' }) === JSON.stringify({ ...exported, sealed: '' })
  )
}

const chainWords = ({ rows, wrong }: VerifiedRows) =>
  `${rows} rows, ${wrong === null ? 'unbroken' : `but ${wrong}, as where it came from`}`

/** The lines that the import prints at its end. */
export function importedLines(imported: ImportedTenant): string[] {
  const { name, tenant, tables, liveTokens, endedTokens, revokedSecrets, audit, numbersGivenBefore } =
    imported
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return [
    `${name} (${tenant}) was imported: ${rows.toLocaleString('en-US')} rows of ${tables.length} tables, each read back and equal to its file.`,
    `Audit log: ${chainWords(audit)}.`,
    ...(liveTokens > 0 ? [`${liveTokens} live service token(s) stay valid.`] : []),
    ...(endedTokens > 0
      ? [
          `${endedTokens} live service token(s) were signed with a key that this installation lacks: create new ones in Settings.`,
        ]
      : []),
    ...(revokedSecrets > 0
      ? [
          `${revokedSecrets} signing secret(s) could not be decrypted and are revoked: create new ones in Settings.`,
        ]
      : []),
    ...(imported.converted
      ? [
          'The export is of an earlier version: its floors are the first pricing rule now, the earlier offers for a load are superseded, and e-mail addresses of open invitations are free again.',
        ]
      : []),
    ...(imported.passwords ? [] : ['The export has no passwords: set new ones with npm run reset-password.']),
    ...(numbersGivenBefore > 0
      ? [
          `${numbersGivenBefore} numbers of quotes or quote requests were already used here, by this brokerage or another: each brokerage sees only its own.`,
        ]
      : []),
    ...(imported.suspended
      ? [`It is suspended, as it was exported: npm run tenant -- resume ${tenant} resumes it.`]
      : []),
  ]
}
