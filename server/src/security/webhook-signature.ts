import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Signing by the Standard Webhooks specification, with secrets of an address of its own. */

const prefix = 'whsec_'
const secretBytes = 32

/** A new secret: `whsec_` and 32 random bytes in base64. The key of the HMAC is those bytes. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/** What a signature is made over: an event, the attempt's second, and the body byte for byte. */
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
 * The header `webhook-signature`: one signature for each secret, separated by spaces.
 *
 * @example webhookSignature({ id: 'e1', timestampSeconds: 1772373600, body: '{}' }, [secret]) // 'v1,…='
 */
export function webhookSignature(message: WebhookMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${signatureOf(message, secret)}`).join(' ')
}

/** True when one of the signatures of a header is right. Says nothing of the time: that is for the receiver to judge. */
export function isWebhookSignature(message: WebhookMessage, secret: string, header: string): boolean {
  const right = Buffer.from(`v1,${signatureOf(message, secret)}`)
  return header.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === right.length && timingSafeEqual(given, right)
  })
}
