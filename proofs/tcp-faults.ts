import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Network faults, modeled on Shopify's Toxiproxy. */
export type NetworkFault =
  /** Data is delayed by this time. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** New connections are refused and open ones are closed. */
  | { readonly kind: 'down' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** The end of a connection is delayed by this time. */
  | { readonly kind: 'slow_close'; readonly ms: number }
  /** No data passes, and connections stay open, as with a pulled cable. */
  | { readonly kind: 'timeout' }
  /** Connections are reset when data is sent. */
  | { readonly kind: 'reset_peer' }
  /** Data arrives in small pieces. */
  | { readonly kind: 'slicer'; readonly bytes: number; readonly ms: number }
  /** Connections are closed after this many bytes. */
  | { readonly kind: 'limit_data'; readonly bytes: number }

/** A TCP proxy between the service and PostgreSQL that can inject network faults. */
export interface FaultProxy {
  readonly port: number
  /** Sets the fault. Null forwards data unchanged. */
  set(fault: NetworkFault | null): void
  /**
   * Drops the response to the next message that contains `text`: the message reaches the server, and the connection is reset
   * when the server responds. Resolves after the reset.
   */
  resetAfter(text: string): Promise<void>
  close(): Promise<void>
}

interface Trap {
  readonly text: string
  readonly sprung: () => void
}

/** Starts a proxy. `target` is the path of a Unix socket, or host and port. */
export async function faultProxy(target: string | { host: string; port: number }): Promise<FaultProxy> {
  let fault: NetworkFault | null = null
  let trap: Trap | null = null
  const open = new Set<Socket>()

  const server = createServer((client) => {
    if (fault?.kind === 'down') {
      client.destroy()
      return
    }
    const upstream = typeof target === 'string' ? connect(target) : connect(target)
    // Whether the message with the text was sent: then its response must be dropped.
    let sent = false
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      open.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => open.delete(socket))
    }
    void pump(client, upstream, (piece) => {
      if (trap !== null && piece.includes(trap.text)) sent = true
    })
    void pump(upstream, client, () => {
      if (!sent || trap === null) return
      const { sprung } = trap
      trap = null
      client.resetAndDestroy()
      upstream.destroy()
      sprung()
    })
  })

  async function pump(from: Socket, to: Socket, look: (piece: Buffer) => void): Promise<void> {
    let carried = 0
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (const piece of pieces(chunk)) {
          await hold(piece.length)
          if (fault?.kind === 'reset_peer') {
            for (const socket of [from, to]) socket.resetAndDestroy()
            return
          }
          look(piece)
          carried += piece.length
          if (to.destroyed) return
          if (!to.write(piece)) await once(to, 'drain')
          if (fault?.kind === 'limit_data' && carried > fault.bytes) {
            for (const socket of [from, to]) socket.destroy()
            return
          }
        }
      }
      await hold(0)
      if (fault?.kind === 'slow_close') await delay(fault.ms)
      to.end()
    } catch {
      // While no data passes, the other side must not notice the closed connection.
      await hold(0)
      to.destroy()
    }
  }

  function* pieces(chunk: Buffer): Generator<Buffer> {
    const size = fault?.kind === 'slicer' ? fault.bytes : chunk.length
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size)
  }

  async function hold(bytes: number): Promise<void> {
    if (fault?.kind === 'latency') await delay(fault.ms)
    if (fault?.kind === 'slicer') await delay(fault.ms)
    if (fault?.kind === 'bandwidth') await delay((bytes / fault.bytesPerSecond) * 1000)
    while (fault?.kind === 'timeout') await delay(10)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  return {
    port: address.port,
    set(next) {
      fault = next
      if (next?.kind === 'down') for (const socket of open) socket.destroy()
    },
    resetAfter: (text) =>
      new Promise<void>((sprung) => {
        trap = { text, sprung }
      }),
    async close() {
      fault = null
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
