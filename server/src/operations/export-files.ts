import { createHash, createHmac, type Hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { rowsAtOnce } from '../database/queries/index.ts'
import { derivedKey, keyName, type SecretKey } from '../security/index.ts'
import { CommandRefused } from './command-database.ts'

/**
 * The files of an exported brokerage (docs/moving.md): a folder with manifest.json, and for each table a gzipped file
 * with one JSON object per line and row.
 */
export const formatName = 'lanewise tenant export'
export const formatVersion = 1
export const manifestFile = 'manifest.json'

export interface ExportedTable {
  readonly name: string
  readonly file: string
  readonly columns: readonly string[]
  readonly rows: number
  /** SHA-256 of the uncompressed lines: `zcat FILE | sha256sum`. */
  readonly sha256: string
  /** The first 16 digits of the SHA-256 of each thousand lines, to locate damage. */
  readonly thousands: readonly string[]
}

export interface Manifest {
  readonly format: typeof formatName
  readonly format_version: number
  readonly made_at: string
  readonly tenant: { readonly tenant_id: number; readonly name: string }
  /** The newest migration of the source database. */
  readonly schema: string
  /** True when the export contains password hashes and invitations. */
  readonly passwords: boolean
  /**
   * The key that encrypts the signing secrets and authenticates this manifest: the installation's key, or a key made for
   * the move.
   */
  readonly key: { readonly name: string; readonly for: 'installation' | 'move' }
  readonly tables: readonly ExportedTable[]
  readonly left_behind: Readonly<Record<string, string>>
}

export type SealedManifest = Manifest & { readonly seal: string }

/** Writes the rows of a table as a stream, and returns the table's entry for the manifest. */
export async function writeTable(
  folder: string,
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
  rows: AsyncIterable<readonly string[]>,
  onRows: (rows: number) => void,
): Promise<ExportedTable> {
  const file = `${name}.ndjson.gz`
  const packed = createGzip({ level: 3 })
  const output = createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600, flush: true })
  const written = finished(packed.pipe(output))
  // Awaited below. Until then, an error such as a full disk must not count as unhandled.
  written.catch(() => {})
  const whole = createHash('sha256')
  const thousands: string[] = []
  let count = 0
  for await (const lines of rows) {
    const text = textOf(lines)
    whole.update(text)
    thousands.push(thousandOf(createHash('sha256').update(text)))
    if (!packed.write(text)) await Promise.race([once(packed, 'drain'), written])
    count += lines.length
    onRows(count)
  }
  packed.end()
  await written
  return { name, file, columns, rows: count, sha256: whole.digest('hex'), thousands }
}

const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
const thousandOf = (hash: Hash) => hash.digest('hex').slice(0, 16)

/** Some rows of an exported table, and the number of their first line, from 1. */
export interface ExportedRows {
  readonly from: number
  readonly lines: readonly string[]
}

/**
 * Reads the rows of a table, a thousand at a time, and verifies each thousand against the manifest before returning it.
 *
 * @throws CommandRefused which names the file and the lines that are not as they were exported
 */
export async function* readTable(folder: string, table: ExportedTable): AsyncGenerator<ExportedRows> {
  const wrong = (what: string) =>
    new CommandRefused(`${table.file} is not as it was exported: ${what}. Nothing was imported.`)
  let from = 1
  let some: string[] = []
  const next = table.thousands.values()
  const checked = (): ExportedRows => {
    const expected = next.next().value
    if (expected === undefined) throw wrong(`it continues after its last line, ${table.rows}`)
    if (thousandOf(createHash('sha256').update(textOf(some))) !== expected) {
      throw wrong(`one of its lines ${from} to ${from + some.length - 1} was changed or is missing`)
    }
    const rows = { from, lines: some }
    from += some.length
    some = []
    return rows
  }
  try {
    for await (const line of linesOf(join(folder, table.file))) {
      some.push(line)
      if (some.length === rowsAtOnce) yield checked()
    }
    if (some.length > 0) yield checked()
  } catch (error) {
    if (error instanceof CommandRefused || !(error instanceof Error) || !('code' in error)) throw error
    throw wrong(error.code === 'ENOENT' ? 'it is missing' : `it cannot be read (${error.message})`)
  }
  if (from !== table.rows + 1) throw wrong(`it ends after line ${from - 1} of ${table.rows}`)
}

/** The lines of a gzipped file. (node:readline also splits at other characters, which JSON may contain.) */
async function* linesOf(path: string): AsyncGenerator<string> {
  const source = createReadStream(path)
  const unpacked = createGunzip()
  source.once('error', (error) => unpacked.destroy(error))
  source.pipe(unpacked).setEncoding('utf8')
  let rest = ''
  try {
    for await (const text of unpacked as AsyncIterable<string>) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    if (rest !== '') yield rest
  } finally {
    source.destroy()
  }
}

/** The authentication code of a manifest. Without the key, nobody can create a manifest or change one. */
function sealOf(key: SecretKey, manifest: Manifest): string {
  return createHmac('sha256', derivedKey(key, 'exports of a tenant'))
    .update(JSON.stringify(manifest))
    .digest('hex')
}

export async function writeManifest(folder: string, manifest: Manifest, key: SecretKey): Promise<void> {
  const sealed: SealedManifest = { ...manifest, seal: sealOf(key, manifest) }
  await writeFile(join(folder, manifestFile), `${JSON.stringify(sealed, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })
}

/**
 * Reads the manifest of an export.
 *
 * @throws CommandRefused where there is none, or one of a newer version
 */
export async function readManifest(folder: string): Promise<SealedManifest> {
  const path = join(folder, manifestFile)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandRefused(
      `${path} cannot be read (${error instanceof Error ? error.message : error}): ${folder} is not an export of a brokerage, or is incomplete.`,
    )
  })
  const manifest = parsed(text)
  if (manifest?.format !== formatName) throw new CommandRefused(`${path} is not the manifest of an export.`)
  if (manifest.format_version !== formatVersion) {
    throw new CommandRefused(
      `${path} has format version ${manifest.format_version}; this version of Lanewise reads version ${formatVersion}. Import it with the version of Lanewise that exported it.`,
    )
  }
  return manifest
}

function parsed(text: string): SealedManifest | null {
  try {
    return JSON.parse(text) as SealedManifest | null
  } catch {
    return null
  }
}

/**
 * The key that sealed the manifest; null when it is not among `keys`.
 *
 * @throws CommandRefused when the manifest is not as it was sealed
 */
export function manifestKey(manifest: SealedManifest, keys: readonly SecretKey[]): SecretKey | null {
  const key = keys.find((one) => keyName(one) === manifest.key?.name)
  if (key === undefined) return null
  const { seal, ...rest } = manifest
  const [expected, given] = [sealOf(key, rest), String(seal)].map((text) => Buffer.from(text))
  if (
    expected === undefined ||
    given === undefined ||
    expected.length !== given.length ||
    !timingSafeEqual(expected, given)
  ) {
    throw new CommandRefused(`${manifestFile} is not as it was exported. Nothing was imported.`)
  }
  return key
}
