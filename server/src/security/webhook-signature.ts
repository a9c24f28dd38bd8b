import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Signatures according to the Standard Webhooks specification. Each event endpoint has its own secrets. */

const prefix = 'whsec_'
const secretBytes = 32

/** A new secret: `whsec_` and 32 random bytes in base64. The HMAC key is those bytes. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/** The signed content: the event id, the time of the attempt in epoch seconds, and the exact body. */
export interface WebhookMessage {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

function signatureOf({ id, timestampSeconds, body }: WebhookMessage, secret: string): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')
}

/**
 * The value of the header `webhook-signature`: one signature per secret, separated by spaces.
 *
 * @example webhookSignature({ id: 'e1', timestampSeconds: 1772373600, body: '{}' }, [secret]) // 'v1,…='
 */
export function webhookSignature(message: WebhookMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${signatureOf(message, secret)}`).join(' ')
}

/** Whether one of the signatures in a header is valid. Does not check the time; the receiver must. */
export function isWebhookSignature(message: WebhookMessage, secret: string, header: string): boolean {
  const right = Buffer.from(`v1,${signatureOf(message, secret)}`)
  return header.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === right.length && timingSafeEqual(given, right)
  })
}
