import { connect, type Socket } from 'node:net'
import { createHistogram, performance } from 'node:perf_hooks'
import type { LoadResult, LoadRun, RequestPool } from './load-messages.ts'
import { tenantPace } from './tenant-pace.ts'

interface Connection {
  readonly socket: Socket
  /** When the request under way was due; NaN while there is none. */
  due: number
  /** Bytes of the answer that are still to come. */
  left: number
  /** What has come of an answer whose head is not whole yet. */
  head: string
  status: string
}

/** A pool with what is remembered between the runs on it. */
export interface HeldPool {
  readonly pool: RequestPool
  /** The limit does not begin anew with a run. */
  readonly pace: ReturnType<typeof tenantPace>
  /** Where the last run stopped: the next goes on there, so that all requests get their turn. */
  cursor: number
}

export function heldPool(pool: RequestPool): HeldPool {
  const tenants = pool.tenants.reduce((most, tenant) => Math.max(most, tenant), 0) + 1
  return { pool, pace: tenantPace(tenants), cursor: 0 }
}

/**
 * Sends the requests of a pool over raw sockets, one at a time on each connection, and counts what comes back. As little
 * as can be is done for each answer: its status, its length, its time.
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
  let heldBack = 0
  let over = false
  let began = 0
  const { promise: finished, resolve } = Promise.withResolvers<void>()
  const note = (status: string) => {
    others[status] = (others[status] ?? 0) + 1
  }

  const isSpent = () => run.once && sent >= count
  /** Sends the next request, unless its tenant must wait. */
  function send(connection: Connection, now: number, due: number): boolean {
    const tenant = pool.tenants[held.cursor] ?? 0
    if (pace !== null && !pace.take(tenant, now)) {
      heldBack++
      return false
    }
    connection.due = due
    const start = held.cursor === 0 ? 0 : (pool.ends[held.cursor - 1] ?? 0)
    connection.socket.write(requests.subarray(start, pool.ends[held.cursor]))
    held.cursor = held.cursor + 1 === count ? 0 : held.cursor + 1
    sent++
    return true
  }
  function answered(connection: Connection): void {
    const now = performance.now()
    if (connection.status === '200') {
      answers++
      histogram.record(Math.max(1, Math.round((now - connection.due) * 1000)))
    } else note(connection.status)
    connection.due = Number.NaN
    if (over) return
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
      const place = idle.indexOf(connection)
      if (place >= 0) idle.splice(place, 1)
      connections[at]?.socket.once('connect', () => idle.push(connections[at] ?? connection))
    })
    return connection
  }
  for (let at = 0; at < run.connections; at++) connections.push(open())
  await Promise.all(
    connections.map(({ socket }) => new Promise((connected) => socket.once('connect', connected))),
  )

  const cpu = process.cpuUsage()
  began = performance.now()
  const ends = began + run.seconds * 1000
  const everyMs = run.perSecond === null ? 0 : 1000 / run.perSecond
  let due = began
  idle.push(...connections)
  const tick = () => {
    const now = performance.now()
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
    // An open loop sends at its times, to the fraction of a millisecond: no timer is as fine.
    if (run.perSecond !== null || (idle.length > 0 && !isSpent())) setImmediate(tick)
    else setTimeout(tick, 1)
  }
  tick()
  await finished
  over = true
  const seconds = (performance.now() - began) / 1000
  const used = process.cpuUsage(cpu)
  for (const { socket } of connections) socket.destroy()
  const unsent = Object.values(others).reduce((sum, times) => sum + times, 0)
  return {
    answers,
    others,
    seconds,
    p50: answers === 0 ? Number.NaN : histogram.percentile(50),
    p99: answers === 0 ? Number.NaN : histogram.percentile(99),
    max: answers === 0 ? Number.NaN : histogram.max,
    generatorBusy: (used.user + used.system) / 1e6 / seconds,
    heldBack,
    wholePool: sent >= count && answers + unsent >= sent - run.connections,
  }
}
