import { beforeAll, expect, test } from 'vitest'
import { type Integration, makeIntegration } from '#testing/make.ts'
import { head, jsonHeader, refusedForAddress, sendHead, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Requests that are answered without their body. If the service waited for it, the answer would be 408. */

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app)
})

const bearer = () => ['Authorization', `Bearer ${ours.token}`] as const

test.each(refusedForAddress)(
  '$firstLine with $what that never comes is answered at once and closed',
  async (sent) => {
    const answer = await sendHead(app, sent.firstLine, [jsonHeader, sent.length])
    expect(answer).toMatchObject({ status: sent.status, saysClose: true })
  },
)

test.each(['GET', 'DELETE'])('%s /mcp is 405 at once, and the connection ends', async (method) => {
  const answer = await sendHead(app, `${method} /mcp HTTP/1.1`, [
    bearer(),
    jsonHeader,
    ['Content-Length', '100'],
  ])
  expect(answer).toMatchObject({ status: 405, allow: 'POST', saysClose: true })
})

test("after an unknown address, the connection stays open if the request's body has arrived", async () => {
  const next = head('GET /healthz HTTP/1.1', [
    ['Host', 'x'],
    ['Connection', 'close'],
  ])
  const first = head('POST /no/such/address HTTP/1.1', [['Host', 'x'], jsonHeader, ['Content-Length', '2']])
  expect((await sendRaw(app, `${first}{}${next}`, { answers: 2 })).map(({ status }) => status)).toEqual([
    404, 200,
  ])
})
