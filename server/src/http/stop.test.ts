import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { testApp } from '#testing/test-app.ts'

test.each([
  ['says nothing', ''],
  ['never ends its headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\n'],
])(
  'a connection that %s does not hold up a stop',
  async (_, said) => {
    const app = await testApp()
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (said !== '') socket.write(said)
    // A request on another connection: once it is answered, the service has accepted both connections.
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
    const ended = once(socket, 'close')
    await app.close()
    await ended
  },
  15_000,
)
