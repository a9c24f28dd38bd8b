import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { isWebhookSignature, newWebhookSecret, webhookSignature } from './webhook-signature.ts'

const secret = newWebhookSecret()
const message = {
  id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11',
  timestampSeconds: Math.floor(Date.now() / 1000),
  body: '{"type":"lane.booked","data":{"lane":{"customer_name":"Café Zürich"}}}',
}
const headersOf = (signature: string, sent = message) => ({
  'webhook-id': sent.id,
  'webhook-timestamp': String(sent.timestampSeconds),
  'webhook-signature': signature,
})

describe('a signature', () => {
  test('matches the example of the specification', () => {
    // This example is in the specification and in its libraries.
    const known = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1614265330,
      body: '{"test": 2432232314}',
    }
    expect(webhookSignature(known, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  test('is valid for the public Standard Webhooks library, and invalid if a byte differs', () => {
    const signature = webhookSignature(message, [secret])
    const library = new Webhook(secret)
    expect(library.verify(message.body, headersOf(signature))).toEqual(JSON.parse(message.body))
    const altered = message.body.replace('Café', 'Cafe')
    expect(() => library.verify(altered, headersOf(signature))).toThrow('No matching signature')
    const later = { ...message, timestampSeconds: message.timestampSeconds + 1 }
    expect(() => library.verify(message.body, headersOf(signature, later))).toThrow('No matching signature')
    expect(() => new Webhook(newWebhookSecret()).verify(message.body, headersOf(signature))).toThrow(
      'No matching signature',
    )
  })

  test('made with two secrets is valid for a receiver with either of them', () => {
    const next = newWebhookSecret()
    const signature = webhookSignature(message, [next, secret])
    expect(signature.split(' ')).toHaveLength(2)
    for (const held of [secret, next]) {
      expect(new Webhook(held).verify(message.body, headersOf(signature))).toBeDefined()
      expect(isWebhookSignature(message, held, signature)).toBe(true)
    }
    expect(isWebhookSignature(message, newWebhookSecret(), signature)).toBe(false)
  })

  test('of the public library is valid here, and no other is', () => {
    const signature = new Webhook(secret).sign(
      message.id,
      new Date(message.timestampSeconds * 1000),
      message.body,
    )
    expect(isWebhookSignature(message, secret, signature)).toBe(true)
    expect(isWebhookSignature({ ...message, body: `${message.body} ` }, secret, signature)).toBe(false)
    expect(isWebhookSignature(message, secret, `v1a,${signature.slice(3)}`)).toBe(false)
    expect(isWebhookSignature(message, secret, '')).toBe(false)
  })
})

test('a secret is 32 random bytes', () => {
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newWebhookSecret()).not.toBe(secret)
})
