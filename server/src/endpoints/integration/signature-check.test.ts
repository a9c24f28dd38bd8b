import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { bodyBytesMax, signatureChecksPerMinuteMax } from '#contract/limits.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeTenant,
  signedHeaders,
} from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { testApp } from '#testing/test-app.ts'

const path = '/api/signature-check'
const body = '{"lane_ref":"48211093754-1-1","customer_rate":2150}'

let app: TestApp
let acme: Integration
let other: Integration

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = [await makeIntegration(app), await makeIntegration(app)]
})

const nowSeconds = () => Math.floor(app.now / 1000)

/** The headers and the body of a signed write, as a person would paste them. */
function pasted(integration: Pick<Integration, 'secret' | 'token'> = acme, text = body) {
  const headers = signedHeaders(integration, text, nowSeconds())
  return {
    timestamp: headers['X-Service-Timestamp'] ?? '',
    signature: headers['X-Service-Signature'] ?? '',
    body: text,
  }
}

const check = (sent: unknown, token = acme.tenant.owner) => call(app, 'POST', path, { token, body: sent })

const verdicts = (answer: { body: { parts: { part: string; ok: boolean | null }[] } }) =>
  Object.fromEntries(answer.body.parts.map(({ part, ok }) => [part, ok]))

describe('200', () => {
  test('a signature that the write accepts is ok, and the secret is named', async () => {
    const answer = await check(pasted())
    expect([answer.status, answer.body.ok]).toEqual([200, true])
    expect(answer.body.matched_secret).toEqual({ id: 1, name: 'tms' })
    expect(verdicts(answer)).toEqual({ timestamp: true, signature: true, body: true, secret: true })
  })

  test('a frequent mistake is found, with a remedy', async () => {
    const answer = await check({ ...pasted(), body: `${body}\n` })
    expect(verdicts(answer)).toEqual({ timestamp: true, signature: true, body: false, secret: true })
    expect(answer.body.parts[2].detail).toContain('a line break at its end was added or removed')
    expect(answer.body.parts[2].remedy).toMatch(/\.$/)
  })

  test('the default address is that of shipment-update, which signs the body only', async () => {
    const address = 'POST /api/integrations/tms/shipment-update'
    expect((await check({ ...pasted(), address })).body).toEqual((await check(pasted())).body)
  })

  test('an address where nothing is signed is refused, and the signed ones are suggested', async () => {
    const answer = await check({ ...pasted(), address: 'GET /api/integrations/shipments' })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/address'])
    expect(answer.body.errors[0].suggestions).toContain('POST /api/integrations/tms/shipment-update')
  })

  test('empty values are reported as missing', async () => {
    const answer = await check({ timestamp: '', body: '', signature: '' })
    expect(verdicts(answer)).toEqual({ timestamp: false, signature: false, body: false, secret: null })
  })

  test('a revoked secret is named with the time it ended, and so is one whose overlap has ended', async () => {
    const mine = await makeIntegration(app)
    const sent = pasted(mine)
    const token = mine.tenant.owner
    await call(app, 'DELETE', '/api/integrations/secrets/1', { token })
    const revoked = await check(sent, token)
    expect(revoked.body.parts[3].detail).toContain(`revoked at ${new Date(app.now).toISOString()}`)
    const made = await call(app, 'POST', '/api/integrations/secrets', { token, body: { name: 'b' } })
    await call(app, 'POST', `/api/integrations/secrets/${made.body.id}/rotate`, {
      token,
      body: { overlap_hours: 0 },
    })
    const expired = await check(pasted({ ...mine, secret: made.body.secret }), token)
    expect(expired.body.parts[3].detail).toContain('overlap ended at')
    expect(expired.body.matched_secret).toEqual({ id: made.body.id, name: 'b' })
  })

  test('secret_name limits the secrets that are tried', async () => {
    expect((await check({ ...pasted(), secret_name: 'tms' })).body.ok).toBe(true)
    const none = await check({ ...pasted(), secret_name: 'nobody' })
    expect(verdicts(none).secret).toBe(false)
    expect(none.body.matched_secret).toBeNull()
  })

  test('a secret of another brokerage is unknown', async () => {
    const answer = await check(pasted(other))
    expect([answer.body.ok, answer.body.matched_secret]).toEqual([false, null])
    const empty = await makeTenant(app)
    const none = await check(pasted(other), empty.owner)
    expect(none.body.parts[3].detail).toBe('There is no such signing secret.')
  })

  test('a body of 64 KiB is accepted, also when JSON escapes make it longer', async () => {
    const large = '\u0001"\\'.repeat(64 * 1024).slice(0, 64 * 1024)
    expect((await check(pasted(acme, large))).body.ok).toBe(true)
  })

  test('neither the secret nor the correct signature is ever returned or logged', async () => {
    const right = createHmac('sha256', acme.secret).update(`${nowSeconds()}.${body}`).digest('hex')
    const wrong = { ...pasted(), signature: `sha256=${'0'.repeat(64)}` }
    const answer = await check(wrong)
    expect(JSON.stringify(answer.body)).not.toContain(right)
    expect(JSON.stringify(answer.body)).not.toContain(acme.secret)
    expect(app.logLines.join('\n')).not.toContain(right)
    expect(app.logLines.join('\n')).not.toContain(acme.secret)
  })
})

describe('401, 403 and 422', () => {
  test('only signed-in admins and owners may call it', async () => {
    expect((await call(app, 'POST', path, { body: pasted() })).status).toBe(401)
    const member = await makePerson(app, acme.tenant, 'member')
    expect((await check(pasted(), member.token)).body.type).toBe('/problems/role-required')
    const admin = await makePerson(app, acme.tenant, 'admin')
    expect((await check(pasted(), admin.token)).status).toBe(200)
  })

  test.each(['timestamp', 'body', 'signature'])('%s is required', async (name) => {
    const { status, body: answer } = await check({ ...pasted(), [name]: undefined })
    expect([status, answer.errors[0].pointer]).toEqual([422, `/${name}`])
  })

  test('a body above 64 KiB is rejected', async () => {
    for (const text of ['a'.repeat(bodyBytesMax + 1), 'é'.repeat(bodyBytesMax / 2 + 1)]) {
      const { status, body: answer } = await check({ ...pasted(), body: text })
      expect([status, answer.errors[0].pointer]).toEqual([422, '/body'])
      expect(answer.errors[0].detail).toContain('at most 65,536 bytes; sign a smaller request')
    }
  })
})

test('429: each brokerage has a limit per minute, and Retry-After says when to try again', async () => {
  const limited = await testApp({ monotonic: () => 0 })
  try {
    const [ours, theirs] = [await makeTenant(limited), await makeTenant(limited)]
    const ask = (token: string) =>
      call(limited, 'POST', path, { token, body: { timestamp: '', body: '', signature: '' } })
    for (let index = 0; index < signatureChecksPerMinuteMax; index++) {
      expect((await ask(ours.owner)).status).toBe(200)
    }
    const refused = await ask(ours.owner)
    expect([refused.status, refused.body.type]).toEqual([429, '/problems/too-many-attempts'])
    expect(refused.headers.get('Retry-After')).toBe('60')
    // The refusal comes before the body, because reading it is most of the work.
    const [early] = await sendRaw(
      limited,
      head(`POST ${path} HTTP/1.1`, [
        ['Host', 'x'],
        ['Authorization', `Bearer ${ours.owner}`],
        ['Content-Type', 'application/json'],
        ['Content-Length', '400000'],
      ]),
    )
    expect(early?.status).toBe(429)
    expect((await ask(theirs.owner)).status).toBe(200)
  } finally {
    await limited.close()
  }
})
