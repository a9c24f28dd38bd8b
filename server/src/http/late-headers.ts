import type { Socket } from 'node:net'

/** Knows the connections on which a request has begun: its headers are complete. */
export interface BegunRequests {
  begin(socket: Socket): void
  /** Calls `onLate`, unless the headers of a request have arrived and were only not read yet, because the process was busy. */
  unlessBegun(socket: Socket, onLate: () => void): void
}

export function begunRequests(): BegunRequests {
  const begun = new WeakSet<Socket>()
  return {
    begin: (socket) => {
      begun.add(socket)
    },
    unlessBegun(socket, onLate) {
      begun.delete(socket)
      // What the system has received is read between the timers, in which Node looks for late requests, and this call.
      setImmediate(() => {
        if (!begun.has(socket)) onLate()
      })
    },
  }
}
