import pg from 'pg'
import { urlsOfHosts } from './urls-of-hosts.ts'

/** How long one host may take to say that it is the primary. A connection may wait a second in all. */
const probeMs = 800

/** No host of the database accepts writes. Its message names every host with its reason. */
class NoPrimary extends Error {
  readonly code = 'NO_PRIMARY'
  constructor(reasons: readonly string[]) {
    super(`None of the hosts accepts writes: ${reasons.join('; ')}.`)
    this.name = 'NoPrimary'
  }
}

interface Host {
  readonly host: string
  readonly port: number
}

/** Searches that run now. Connections that open at the same time, such as those of a pool, share one. */
const searches = new Map<string, Promise<Host>>()

/**
 * The host that is the primary: the first to answer that it accepts writes. All are asked at the same time, so a host that is gone
 * delays nothing. Nothing is remembered, because the next connection may be the one after a failover.
 */
function primaryAmong(url: string, urls: readonly string[]): Promise<Host> {
  const running = searches.get(url)
  if (running !== undefined) return running
  const search = Promise.any(urls.map(refusingReadOnly))
    .catch(({ errors }: AggregateError) => {
      throw new NoPrimary(errors.map((error) => error.message))
    })
    .finally(() => searches.delete(url))
  searches.set(url, search)
  return search
}

/** The host of the URL if it accepts writes. Rejects with its name and the reason otherwise. */
async function refusingReadOnly(url: string): Promise<Host> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: probeMs,
    query_timeout: probeMs,
    application_name: 'lanewise search',
  })
  client.on('error', () => {})
  const { host, port } = client
  try {
    await client.connect()
    const { rows } = await client.query<{ standby: boolean; read_only: string }>(
      `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only`,
    )
    if (rows[0]?.standby === true) throw new Error('is a standby')
    if (rows[0]?.read_only === 'on') throw new Error('is read-only')
    return { host, port }
  } catch (error) {
    throw new Error(`${host}:${port} ${reasonOf(error)}`, { cause: error })
  } finally {
    // A host that hangs answers no goodbye, either.
    void client.end().catch(() => {})
  }
}

/** A host name with several addresses fails with one error per address and an empty message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

type Connected = (error: Error | null, client?: pg.Client) => void

/**
 * The client of every connection to the database of a URL. If the URL names several hosts, it connects to the primary among them
 * (`target_session_attrs=read-write` of libpq, which the driver does not have).
 *
 * @example new DatabaseClient({ connectionString: 'postgres://u:p@10.0.0.5,10.0.0.6/lanewise' }).connect()
 * @throws NoPrimary from `connect` if no host accepts writes
 */
export class DatabaseClient extends pg.Client {
  readonly #url: string
  readonly #urls: readonly string[]

  constructor(config: pg.ClientConfig = {}) {
    const url = config.connectionString ?? ''
    const urls = urlsOfHosts(url)
    super(urls.length === 1 ? config : { ...config, connectionString: urls[0] })
    this.#url = url
    this.#urls = urls
  }

  override connect(): Promise<pg.Client>
  override connect(connected: Connected): void
  override connect(connected?: Connected): Promise<pg.Client> | undefined {
    const connecting = this.#urls.length === 1 ? super.connect() : this.#connectToPrimary()
    if (connected === undefined) return connecting
    connecting.then((client) => connected(null, client), connected)
    return undefined
  }

  async #connectToPrimary(): Promise<pg.Client> {
    const { host, port } = await primaryAmong(this.#url, this.#urls)
    this.host = host
    this.port = port
    return super.connect()
  }
}

/**
 * Runs `work` on a connection of its own, which is closed afterwards. A connection that is lost fails the next statement.
 *
 * @example const { rows } = await withDatabaseClient(owner, (client) => client.query('select 1'))
 * @throws NoPrimary, or the error of the driver, if it cannot connect
 */
export async function withDatabaseClient<T>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new DatabaseClient(config)
  // Without a listener, a connection that is lost between two statements would end the process with a stack trace.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
