import { readFile, stat } from 'node:fs/promises'
import { dieselFileBytesMax } from '#contract/limits.ts'
import type { DieselPrice } from '#engine/fuel-surcharge.ts'
import { byOperator } from '../audit/index.ts'
import { listTenants, type NamedTenant } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import { ImportFileError, readDieselFile, storeDieselPrices } from '../imports/index.ts'
import { atDatabase, atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'

/** What was stored for a brokerage: how many weeks are new or have another price. */
export interface LoadedDiesel {
  readonly name: string
  readonly changed: number
}

/**
 * Loads the weekly diesel prices of a file of the EIA, or of an address, for the named brokerage, or for all of them except
 * test brokerages. A file with an unreadable line changes nothing.
 *
 * @returns the prices of the file, oldest week first, and what was stored for each brokerage
 * @throws CommandRefused when the file cannot be read (with its lines), or the brokerages cannot be listed
 * @example await loadDiesel(around, 'diesel.csv', { named: undefined, now: Date.now() })
 */
export async function loadDiesel(
  around: CommandDatabase,
  file: string,
  { named, now }: { named: string | undefined; now: number },
): Promise<{ prices: readonly DieselPrice[]; loaded: readonly LoadedDiesel[] }> {
  const prices = await pricesOf(file)
  const load = async (database: Database, { tenant, name }: NamedTenant): Promise<LoadedDiesel> => ({
    name,
    changed: await database.inTenant(tenant, (transaction) =>
      storeDieselPrices(transaction, byOperator(tenant, now), prices),
    ),
  })
  if (named !== undefined) {
    const one = await atTenant(around, named, load)
    return { prices, loaded: [one] }
  }
  return atDatabase(around, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL, because only the database owner can list the brokerages, or name one by its number (--tenant NUMBER).',
      )
    }
    const tenants = (await listTenants(owner)).filter(({ isTest }) => !isTest)
    if (tenants.length === 0) {
      throw new CommandRefused(
        'There is no brokerage yet. Make one: npm run tenant -- create NAME --owner-email EMAIL',
      )
    }
    const loaded: LoadedDiesel[] = []
    for (const one of tenants) loaded.push(await load(database, one))
    return { prices, loaded }
  })
}

const downloadMs = 30_000

/** Whether a name is an address. Only https, and http of this machine: prices are used for money. */
const isAddress = (file: string) => /^https?:\/\//i.test(file)

/** The text at an address. @throws CommandRefused if it cannot be read */
async function download(address: string): Promise<string> {
  const url = URL.parse(address)
  const isLocal = url !== null && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !isLocal)) {
    throw new CommandRefused('The address must begin with https://.')
  }
  // The address may contain a key, so messages have only its host.
  const from = url.host
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(downloadMs) })
  } catch (error) {
    throw new CommandRefused(`Nothing was stored. ${from} cannot be reached: ${String(error)}.`)
  }
  if (!response.ok) throw new CommandRefused(`Nothing was stored. ${from} answered with ${response.status}.`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > dieselFileBytesMax) {
      throw new CommandRefused(
        `The file of ${from} must have at most ${dieselFileBytesMax.toLocaleString('en-US')} bytes.`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function pricesOf(file: string): Promise<DieselPrice[]> {
  try {
    if (isAddress(file)) return readDieselFile(await download(file))
    const { size } = await stat(file)
    if (size > dieselFileBytesMax) {
      throw new CommandRefused(
        `${file} must have at most ${dieselFileBytesMax.toLocaleString('en-US')} bytes; it has ${size.toLocaleString('en-US')}.`,
      )
    }
    return readDieselFile(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof ImportFileError) {
      const lines = error.problems.map(({ detail }) => `  ${detail}`)
      throw new CommandRefused(
        `Nothing was stored. ${isAddress(file) ? 'The download' : file} cannot be read:\n${lines.join('\n')}`,
      )
    }
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new CommandRefused(
      code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`,
    )
  }
}
