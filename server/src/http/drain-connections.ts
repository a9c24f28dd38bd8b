import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextEvent } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { problem } from '#contract/errors.ts'
import { drainSeconds, stopSecondsMax } from '#contract/limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For some seconds, requests are still answered, each with Connection: close. */
    leave(): Promise<void>
  }
}

/**
 * The first half of a stop. For a few seconds `/readyz` answers 503, so that a load balancer sends no more requests, and
 * each answer asks its client to close the connection. Closing the port at once would fail requests that are already on
 * their way, and those of clients that open a connection for each.
 */
export function leaveInPeace(app: FastifyInstance): void {
  let leaving = false
  app.addHook('onRequest', (request, reply, done) => {
    if (!leaving) return done()
    reply.header('Connection', 'close')
    if (request.routeOptions.url === '/readyz') {
      throw problem('unavailable', 'This node is stopping. Use another one.', {
        headers: { 'Retry-After': '1', Connection: 'close' },
      })
    }
    done()
  })
  app.decorate('leave', async () => {
    if (leaving) return
    leaving = true
    await delay(drainSeconds * 1000)
  })
}

/** How long a connection without a request stays open after the port is closed: its request may be on its way. */
export const unusedConnectionMs = 250

/**
 * The second half of a stop: after the port is closed, connections without a request in flight are closed. Node closes only
 * connections that have had a request. A browser opens more connections than it uses, and an unused one would delay the
 * stop until its time-out. Requests in flight may finish, for at most `stopSecondsMax`.
 */
export function endSockets(app: FastifyInstance): void {
  const inFlight = new Map<Socket, number>()
  let closing = false
  const endIfUnused = (socket: Socket) => {
    if (closing && inFlight.get(socket) === 0) socket.destroySoon()
  }
  app.server.on('connection', (socket) => {
    inFlight.set(socket, 0)
    socket.once('close', () => inFlight.delete(socket))
  })
  app.addHook('preClose', async () => {
    // The port closes right after new connections were accepted. It would reset those that wait.
    await nextEvent()
    void delay(unusedConnectionMs, undefined, { ref: false }).then(() => {
      closing = true
      for (const socket of inFlight.keys()) endIfUnused(socket)
    })
    const late = setTimeout(() => {
      for (const socket of inFlight.keys()) socket.destroy()
    }, stopSecondsMax * 1000)
    app.server.once('close', () => clearTimeout(late))
  })
  app.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (inFlight.get(socket) ?? 1) - 1
      if (!socket.destroyed) inFlight.set(socket, left)
      endIfUnused(socket)
    })
  })
}
