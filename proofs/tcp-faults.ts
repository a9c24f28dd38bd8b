import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What can be wrong with a network, after the faults of Shopify's toxiproxy. */
export type NetworkFault =
  /** Every piece comes so much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Nobody listens, and what was open is closed. */
  | { readonly kind: 'down' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** The end of a connection comes so much later. */
  | { readonly kind: 'slow_close'; readonly ms: number }
  /** Nothing comes through any more, and nothing is closed: a cable that was pulled. */
  | { readonly kind: 'timeout' }
  /** Connections are reset as soon as something is sent on them. */
  | { readonly kind: 'reset_peer' }
  /** Everything comes in small pieces. */
  | { readonly kind: 'slicer'; readonly bytes: number; readonly ms: number }
  /** A connection is closed after so many bytes. */
  | { readonly kind: 'limit_data'; readonly bytes: number }

/** A TCP proxy that stands between the service and PostgreSQL and can be made bad. */
export interface FaultProxy {
  readonly port: number
  /** Null: as good as a wire. */
  set(fault: NetworkFault | null): void
  /**
   * Resets the next connection on which a message with `text` was sent, after it has reached the other side and has been
   * answered: the answer is what is lost. Resolves when it was done.
   */
  resetAfter(text: string): Promise<void>
  close(): Promise<void>
}

interface Trap {
  readonly text: string
  readonly sprung: () => void
}

/** `target` is a unix socket's path, or a host and a port. */
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
    // What is to be lost: the answer to the text of a trap.
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

  /** Carries what comes from one side to the other, as badly as the fault of the moment wants it. */
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
      // The other side has to hear of it only when the wire is whole.
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
