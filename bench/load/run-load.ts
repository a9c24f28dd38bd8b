import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoadResult, LoadRun, RequestPool } from './load-messages.ts'
import { type TenantPace, tenantPace } from './tenant-pace.ts'

interface Connection {
  readonly socket: Socket
  /** When the current request was sent; NaN if there is none. */
  sentAt: number
  /** The permit of the current request in the tenant's request limit. */
  permit: number
  /** The number of response bytes still expected. */
  left: number
  /** The received part of an incomplete response head. */
  head: string
  status: string
}

/** How often a sleeping generator checks for delayed requests. */
const sleepMs = 5
/** How long to wait for the last responses after a run. */
const lateMsMax = 3_000

/** A pool with its state between runs. */
export interface HeldPool {
  readonly pool: RequestPool
  /** The request limits continue across runs. */
  readonly pace: TenantPace
  /** The next request. A run continues where the last one stopped. */
  cursor: number
}

export function heldPool(pool: RequestPool): HeldPool {
  const tenants = pool.tenants.reduce((most, tenant) => Math.max(most, tenant), 0) + 1
  return { pool, pace: tenantPace(tenants), cursor: 0 }
}

/**
 * Sends the requests of a pool over raw sockets, one at a time per connection, and measures the responses. To save CPU time, only
 * the status and the length of a response are parsed.
 */
export async function runLoad(held: HeldPool, run: LoadRun): Promise<LoadResult> {
  const load = new RunningLoad(held, run)
  await load.connect()
  const cpu = process.cpuUsage()
  const began = performance.now()
  await load.sendFrom(began)
  const seconds = (performance.now() - began) / 1000
  const used = process.cpuUsage(cpu)
  const wholePool = load.isWholePoolSent
  await load.close()
  return {
    ...load.answered,
    seconds,
    generatorBusy: (used.user + used.system) / 1e6 / seconds,
    waitedShare: load.heldMs / 1000 / seconds,
    wholePool,
  }
}

/** The connections and the counts of one run. */
class RunningLoad {
  readonly #held: HeldPool
  readonly #run: LoadRun
  readonly #requests: Buffer
  /** Null when the run may exceed the tenants' request limits. */
  readonly #pace: TenantPace | null
  readonly #histogram = createHistogram()
  readonly #others: Record<string, number> = {}
  readonly #idle: Connection[] = []
  readonly #connections: Connection[] = []
  readonly #finished = Promise.withResolvers<void>()
  #answers = 0
  #sent = 0
  #heldMs = 0
  #isOver = false

  constructor(held: HeldPool, run: LoadRun) {
    const { bytes } = held.pool
    this.#held = held
    this.#run = run
    this.#requests = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#pace = run.withinLimit ? held.pace : null
    if (run.once) held.cursor = 0
  }

  /** How long connections waited for the tenants' request limit, in milliseconds. */
  get heldMs(): number {
    return this.#heldMs
  }

  get isWholePoolSent(): boolean {
    return this.#sent >= this.#held.pool.ends.length
  }

  /** The counts of responses and their durations in microseconds. */
  get answered(): Pick<LoadResult, 'answers' | 'others' | 'p50' | 'p99'> {
    const histogram = this.#histogram
    const isEmpty = this.#answers === 0
    return {
      answers: this.#answers,
      others: this.#others,
      p50: isEmpty ? Number.NaN : histogram.percentile(50),
      p99: isEmpty ? Number.NaN : histogram.percentile(99),
    }
  }

  async connect(): Promise<void> {
    for (let at = 0; at < this.#run.connections; at++) this.#connections.push(this.#open())
    await Promise.all(this.#connections.map(({ socket }) => once(socket, 'connect')))
  }

  /** Sends requests for the time of the run, or until the whole pool has been sent once. */
  async sendFrom(began: number): Promise<void> {
    const { seconds, sleeps } = this.#run
    const idle = this.#idle
    const ends = began + seconds * 1000
    let tickedAt = began
    const tick = () => {
      // A run that ended early must stop spinning.
      if (this.#isOver) return
      const now = performance.now()
      if (idle.length > 0 && !this.#isSpent()) this.#heldMs += now - tickedAt
      tickedAt = now
      if (now >= ends) {
        this.#finished.resolve()
        return
      }
      while (idle.length > 0 && !this.#isSpent()) {
        const connection = idle.at(-1)
        if (connection === undefined || !this.#send(connection, now)) break
        idle.pop()
      }
      // With `sleeps`, the generator leaves its core to the database. Otherwise it spins, because a server would have to wake a sleeping
      // generator, which would penalize slow servers.
      if (sleeps === true) setTimeout(tick, sleepMs)
      else setImmediate(tick)
    }
    idle.push(...this.#connections)
    tick()
    await this.#finished.promise
    this.#isOver = true
  }

  /** Closes the connections after the last responses, because the server counts open requests in the tenant's request limit. */
  async close(): Promise<void> {
    const isOpen = () => this.#connections.some(({ sentAt }) => !Number.isNaN(sentAt))
    for (let waited = 0; waited < lateMsMax && isOpen(); waited += 5) await delay(5)
    this.#pace?.giveUp(performance.now())
    for (const { socket } of this.#connections) socket.destroy()
  }

  #isSpent(): boolean {
    return this.#run.once && this.isWholePoolSent
  }

  #countOther(status: string): void {
    this.#others[status] = (this.#others[status] ?? 0) + 1
  }

  /** Sends the next request. Returns false if its tenant must wait. */
  #send(connection: Connection, now: number): boolean {
    const held = this.#held
    const { tenants, ends } = held.pool
    const permit = this.#pace === null ? -1 : this.#pace.take(tenants[held.cursor] ?? 0, now)
    if (this.#pace !== null && permit < 0) return false
    connection.permit = permit
    connection.sentAt = now
    const start = held.cursor === 0 ? 0 : (ends[held.cursor - 1] ?? 0)
    connection.socket.write(this.#requests.subarray(start, ends[held.cursor]))
    held.cursor = held.cursor + 1 === ends.length ? 0 : held.cursor + 1
    this.#sent++
    return true
  }

  #onAnswer(connection: Connection): void {
    const now = performance.now()
    const took = now - connection.sentAt
    connection.sentAt = Number.NaN
    if (connection.permit >= 0) this.#pace?.answered(connection.permit, now)
    if (connection.status !== '200') this.#countOther(connection.status)
    if (this.#isOver) return
    if (connection.status === '200') {
      this.#answers++
      this.#histogram.record(Math.max(1, Math.round(took * 1000)))
    }
    if (this.#isSpent()) {
      this.#idle.push(connection)
      if (this.#idle.length === this.#connections.length) this.#finished.resolve()
    } else if (!this.#send(connection, now)) this.#idle.push(connection)
  }

  #read(connection: Connection, bytes: number, buffer: Uint8Array): boolean {
    let from = 0
    while (from < bytes) {
      if (connection.left > 0) {
        const taken = Math.min(connection.left, bytes - from)
        connection.left -= taken
        from += taken
        if (connection.left === 0) this.#onAnswer(connection)
        continue
      }
      const before = connection.head.length
      const head = connection.head + (buffer as Buffer).toString('latin1', from, bytes)
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) {
        connection.head = head
        return true
      }
      const at = head.search(/content-length: /i)
      connection.head = ''
      connection.status = head.slice(9, 12)
      connection.left = at < 0 || at > end ? 0 : Number.parseInt(head.slice(at + 16, at + 26), 10)
      from += end + 4 - before
      if (connection.left === 0) this.#onAnswer(connection)
    }
    return true
  }

  #open(): Connection {
    const connection: Connection = {
      sentAt: Number.NaN,
      permit: -1,
      left: 0,
      head: '',
      status: '',
      socket: connect({
        port: this.#run.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(65_536),
          callback: (bytes, buffer) => this.#read(connection, bytes, buffer),
        },
      }),
    }
    connection.socket.on('error', () => {})
    connection.socket.on('close', () => this.#reopen(connection))
    return connection
  }

  /** Replaces a connection that the server closed by a new one. */
  #reopen(closed: Connection): void {
    if (this.#isOver) return
    this.#countOther('0')
    const opened = this.#open()
    this.#connections[this.#connections.indexOf(closed)] = opened
    const idleAt = this.#idle.indexOf(closed)
    if (idleAt >= 0) this.#idle.splice(idleAt, 1)
    opened.socket.once('connect', () => this.#idle.push(opened))
  }
}
