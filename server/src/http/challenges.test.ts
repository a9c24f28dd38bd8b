import { beforeAll, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, signedHeaders } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app)
})

const update = '/api/integrations/tms/shipment-update'

test('every 401 says what to authenticate with', async () => {
  const body = JSON.stringify({ lane_ref: '7-1-1' })
  const send = (headers: Record<string, string>) =>
    fetch(`${app.url}${update}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ours.token}`, 'Content-Type': 'application/json', ...headers },
      body,
    })
  const seconds = Math.floor(app.now / 1000)
  const signature = { 'X-Service-Signature': `sha256=${'0'.repeat(64)}` }
  const answers = {
    'signature-missing': await send({}),
    'signature-malformed': await send({ 'X-Service-Timestamp': `${seconds}`, 'X-Service-Signature': 'no' }),
    'signature-mismatch': await send({ 'X-Service-Timestamp': `${seconds}`, ...signature }),
    'timestamp-malformed': await send({ 'X-Service-Timestamp': 'now', ...signature }),
    'timestamp-out-of-window': await send(signedHeaders(ours, body, seconds - 301)),
  }
  for (const [code, answer] of Object.entries(answers)) {
    const { code: sent } = (await answer.json()) as { code: string }
    expect([answer.status, sent, answer.headers.get('WWW-Authenticate')]).toEqual([
      401,
      code,
      'HMAC-SHA256 realm="integrations"',
    ])
  }
  const signIn = { email: 'nobody@example.com', password: 'not the password' }
  for (const answer of [
    await call(app, 'POST', '/api/auth/sign-in', { body: signIn }),
    await call(app, 'GET', '/api/lanes'),
    await call(app, 'GET', '/api/lanes', { token: 'made.up.token' }),
    await call(app, 'POST', '/api/integrations/tokens', { token: ours.token, body: { name: 'x' } }),
  ]) {
    expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm=/),
    ])
  }
})
