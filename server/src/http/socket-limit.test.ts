import { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { socketsPerNetworkMax } from '#contract/limits.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let server: FastifyInstance

beforeAll(async () => {
  app = await testApp({
    config: { trustProxy: ['10.0.0.0/8'] },
    plant: (planted) => {
      server = planted
    },
  })
})
afterAll(() => app.close())

/**
 * A connection from another machine, as the server sees it. Real connections of a test come from this machine, which is
 * exempt.
 */
function connectFrom(remoteAddress: string): Duplex {
  const socket = Object.assign(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), {
    remoteAddress,
    setTimeout() {},
    setNoDelay() {},
    setKeepAlive() {},
    destroySoon() {
      socket.destroy()
    },
  })
  server.server.emit('connection', socket)
  return socket
}

const open = (sockets: readonly Duplex[]) => sockets.filter(({ destroyed }) => !destroyed)
const from = (count: number, address: (nth: number) => string) =>
  Array.from({ length: count }, (_, nth) => connectFrom(address(nth)))

test('a network, such as an IPv6 /64, may have a hundred connections, and may open one for each that closes', async () => {
  const made: Duplex[] = []
  for (const address of [() => '203.0.113.7', (nth: number) => `2001:db8:0:1::${(nth + 1).toString(16)}`]) {
    const sockets = from(socketsPerNetworkMax + 20, address)
    made.push(...sockets)
    expect(open(sockets)).toHaveLength(socketsPerNetworkMax)
    const [first] = sockets
    first?.destroy()
    await new Promise((resolve) => setImmediate(resolve))
    const [next, oneTooMany] = from(2, address)
    expect([next?.destroyed, oneTooMany?.destroyed]).toEqual([false, true])
    if (next !== undefined) made.push(next)
  }
  const others = from(3, (nth) => `198.51.100.${nth}`)
  expect(open(others)).toHaveLength(3)
  for (const socket of [...made, ...others]) socket.destroy()
})

test('connections from a proxy or from this machine are not counted', () => {
  for (const address of ['10.1.2.3', '127.0.0.1', '::1']) {
    const sockets = from(socketsPerNetworkMax + 20, () => address)
    expect(open(sockets)).toHaveLength(socketsPerNetworkMax + 20)
    for (const socket of sockets) socket.destroy()
  }
})
