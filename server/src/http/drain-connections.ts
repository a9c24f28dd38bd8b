import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { problem } from '#contract/errors.ts'
import { drainSeconds, stopSecondsMax } from '#contract/limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends everybody away in peace: what is asked is still answered, and no connection is kept. Then `close` may come. */
    leave(): Promise<void>
    /** Whether that has begun. */
    isLeaving(): boolean
  }
}

/**
 * The first half of a stop. For a few seconds readiness says 503, so that a balancer sends nobody here any more, and
 * each answer asks its client to close the connection and to make the next one elsewhere. A door that is shut at once
 * would cut off whoever is about to knock. A service that nobody is connected to leaves at once.
 */
export function leaveInPeace(app: FastifyInstance): void {
  let leaving = false
  const open = new Set<Socket>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!leaving) return
    reply.header('Connection', 'close')
    if (request.routeOptions.url === '/readyz') {
      throw problem('unavailable', 'This node is stopping: ask another one.', {
        headers: { 'Retry-After': '1', Connection: 'close' },
      })
    }
  })
  app.decorate('isLeaving', () => leaving)
  app.decorate('leave', async () => {
    if (leaving || open.size === 0) return
    leaving = true
    await delay(drainSeconds * 1000)
  })
}

/** Told of each request that is not answered at once. */
export type Begun = (request: IncomingMessage, response: ServerResponse) => void

/**
 * The second half: when the door is closed, a connection without a request in flight is ended. Node ends only those that
 * had a request before; a browser opens more than it uses, and such a one would hold up the stop until it is thrown out
 * for saying nothing. What has begun is let end, but not for ever.
 */
export function endSockets(app: FastifyInstance): Begun {
  const inFlight = new Map<Socket, number>()
  let closing = false
  const endIfUnused = (socket: Socket) => {
    if (closing && inFlight.get(socket) === 0) socket.destroySoon()
  }
  app.server.on('connection', (socket) => {
    inFlight.set(socket, 0)
    socket.once('close', () => inFlight.delete(socket))
    endIfUnused(socket)
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const socket of inFlight.keys()) endIfUnused(socket)
    const late = setTimeout(() => {
      for (const socket of inFlight.keys()) socket.destroy()
    }, stopSecondsMax * 1000)
    app.server.once('close', () => clearTimeout(late))
  })
  return ({ socket }, response) => {
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (inFlight.get(socket) ?? 1) - 1
      if (!socket.destroyed) inFlight.set(socket, left)
      endIfUnused(socket)
    })
  }
}
