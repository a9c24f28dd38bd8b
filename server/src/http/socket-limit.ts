import type { FastifyInstance } from 'fastify'
import { socketsPerNetworkMax } from '#contract/limits.ts'
import { callerNetwork, trustedProxies } from '../security/index.ts'

/** Limits the connections of one network. Proxies, which carry the requests of many networks, and this machine are exempt. */
export function limitSockets(app: FastifyInstance, isProxy: (address: string) => boolean): void {
  const isThisMachine = trustedProxies(['loopback'])
  const open = new Map<string, number>()
  app.server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    if (isThisMachine(remoteAddress) || isProxy(remoteAddress)) return
    const network = callerNetwork(remoteAddress)
    const count = (open.get(network) ?? 0) + 1
    if (count > socketsPerNetworkMax) {
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}
