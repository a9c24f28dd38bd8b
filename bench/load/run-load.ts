import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoadResult, LoadRun, RequestPool } from './load-messages.ts'
import { type TenantPace, tenantPace } from './tenant-pace.ts'

interface Connection {
  readonly socket: Socket
  /** When the current request was due; NaN if there is none. */
  due: number
  /** The permit of the current request in the tenant's rate limit. */
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
  /** The rate limits continue across runs. */
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
  const { pool } = held
  const count = pool.ends.length
  const requests = Buffer.from(pool.bytes.buffer, pool.bytes.byteOffset, pool.bytes.length)
  const pace = run.withinLimit ? held.pace : null
  const histogram = createHistogram()
  const others: Record<string, number> = {}
  const idle: Connection[] = []
  const connections: Connection[] = []
  if (run.once) held.cursor = 0
  let answers = 0
  let sent = 0
  let heldMs = 0
  let tickedAt = 0
  let over = false
  let began = 0
  const { promise: finished, resolve } = Promise.withResolvers<void>()
  const note = (status: string) => {
    others[status] = (others[status] ?? 0) + 1
  }

  const isSpent = () => run.once && sent >= count
  /** Sends the next request. Returns false if its tenant must wait. */
  function send(connection: Connection, now: number, due: number): boolean {
    const tenant = pool.tenants[held.cursor] ?? 0
    const permit = pace === null ? -1 : pace.take(tenant, now)
    if (pace !== null && permit < 0) return false
    connection.permit = permit
    connection.due = due
    const start = held.cursor === 0 ? 0 : (pool.ends[held.cursor - 1] ?? 0)
    connection.socket.write(requests.subarray(start, pool.ends[held.cursor]))
    held.cursor = held.cursor + 1 === count ? 0 : held.cursor + 1
    sent++
    return true
  }
  function answered(connection: Connection): void {
    const now = performance.now()
    const took = now - connection.due
    connection.due = Number.NaN
    if (connection.permit >= 0) pace?.answered(connection.permit, now)
    if (connection.status !== '200') note(connection.status)
    if (over) return
    if (connection.status === '200') {
      answers++
      histogram.record(Math.max(1, Math.round(took * 1000)))
    }
    if (isSpent()) {
      idle.push(connection)
      if (idle.length === connections.length) resolve()
    } else if (run.perSecond !== null || !send(connection, now, now)) idle.push(connection)
  }
  function read(connection: Connection, bytes: number, buffer: Uint8Array): boolean {
    let from = 0
    while (from < bytes) {
      if (connection.left > 0) {
        const taken = Math.min(connection.left, bytes - from)
        connection.left -= taken
        from += taken
        if (connection.left === 0) answered(connection)
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
      if (connection.left === 0) answered(connection)
    }
    return true
  }

  function open(): Connection {
    const connection: Connection = {
      due: Number.NaN,
      permit: -1,
      left: 0,
      head: '',
      status: '',
      socket: connect({
        port: run.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(65_536),
          callback: (bytes, buffer) => read(connection, bytes, buffer),
        },
      }),
    }
    connection.socket.on('error', () => {})
    connection.socket.on('close', () => {
      if (over) return
      note('0')
      const at = connections.indexOf(connection)
      connections[at] = open()
      const idleAt = idle.indexOf(connection)
      if (idleAt >= 0) idle.splice(idleAt, 1)
      connections[at]?.socket.once('connect', () => idle.push(connections[at] ?? connection))
    })
    return connection
  }
  for (let at = 0; at < run.connections; at++) connections.push(open())
  await Promise.all(connections.map(({ socket }) => once(socket, 'connect')))

  const cpu = process.cpuUsage()
  began = performance.now()
  const ends = began + run.seconds * 1000
  const everyMs = run.perSecond === null ? 0 : 1000 / run.perSecond
  let due = began
  const tick = () => {
    // A run that ended early must not keep spinning.
    if (over) return
    const now = performance.now()
    if (run.perSecond === null && idle.length > 0 && !isSpent()) heldMs += now - tickedAt
    tickedAt = now
    if (now >= ends) {
      resolve()
      return
    }
    while (idle.length > 0 && !isSpent() && (run.perSecond === null || due <= now)) {
      const connection = idle.at(-1)
      if (connection === undefined || !send(connection, now, run.perSecond === null ? now : due)) break
      idle.pop()
      due += everyMs
    }
    // With `sleeps`, the generator leaves its core to the database. Otherwise it spins: writing to a sleeping process costs the
    // server the wake-up, which would penalize slow servers and favor those that keep the generator busy. Timers are also too
    // coarse for scheduled requests.
    if (run.sleeps === true) setTimeout(tick, sleepMs)
    else setImmediate(tick)
  }
  tickedAt = began
  idle.push(...connections)
  tick()
  await finished
  over = true
  const seconds = (performance.now() - began) / 1000
  const used = process.cpuUsage(cpu)
  const wholePool = sent >= count
  // Wait for open requests, because the server still counts them in the tenant's rate limit.
  for (let waited = 0; waited < lateMsMax && connections.some(({ due }) => !Number.isNaN(due)); waited += 5)
    await delay(5)
  pace?.giveUp(performance.now())
  for (const { socket } of connections) socket.destroy()
  return {
    answers,
    others,
    seconds,
    p50: answers === 0 ? Number.NaN : histogram.percentile(50),
    p99: answers === 0 ? Number.NaN : histogram.percentile(99),
    max: answers === 0 ? Number.NaN : histogram.max,
    generatorBusy: (used.user + used.system) / 1e6 / seconds,
    heldBack: heldMs / 1000 / seconds,
    wholePool,
  }
}
