import type { Server } from 'node:net'
import { callerNetwork } from './caller-network.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** Limits the connections of one network. Proxies, which carry the requests of many networks, and this machine are exempt. */
export function limitSockets(
  server: Server,
  { max, isProxy }: { readonly max: number; readonly isProxy: (address: string) => boolean },
): void {
  const isThisMachine = trustedProxies(['loopback'])
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    if (isThisMachine(remoteAddress) || isProxy(remoteAddress)) return
    const network = callerNetwork(remoteAddress)
    const count = (open.get(network) ?? 0) + 1
    if (count > max) {
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
