import { ClientError } from './failures.ts'
import { isHmacSha256 } from './sign.ts'
import type { Webhooks } from './wire.ts'

/** The body of an event of any type. Switch on its `type`. */
export type WebhookEvent = Webhooks[keyof Webhooks]

/** An event whose signature and time are correct. */
export interface VerifiedEvent {
  /** Identifies the event. It is the same in each attempt and in a replay: ignore an id that you have processed. */
  readonly id: string
  readonly event: WebhookEvent
}

/** The request is not from Lanewise, it was altered, or it is too old. Not a failure of a call: answer 401. */
export class EventRejected extends Error {
  override readonly name = 'EventRejected'
  readonly code = 'event-rejected'
  /** The error: a header is missing, the time is too far from now, or no signature matches. */
  readonly reason: 'headers' | 'time' | 'signature'

  constructor(reason: EventRejected['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** The headers of a request: of the Fetch API, of Node, or a plain object. */
export type EventHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A request with an older or later time is rejected, because somebody could have recorded it and sent it again. */
const toleranceSeconds = 300

/**
 * Verifies a request that Lanewise sent to your webhook endpoint, and returns its event. Call it before you use the body.
 *
 * @param body the body byte for byte as received, as text or bytes, not parsed
 * @param secret the secret of the endpoint, `whsec_...`
 * @param nowMs the current time, for tests
 * @throws EventRejected if the request is not from Lanewise or is too old: answer 401
 * @throws ClientError if the secret or the body is not usable, which is an error of the receiver
 * @example const { id, event } = await verifyEvent(await request.text(), request.headers, secret)
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secret: string,
  nowMs: number = Date.now(),
): Promise<VerifiedEvent> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  // No `instanceof`, because a test's or a worker's realm has its own classes.
  if (!ArrayBuffer.isView(bytes)) {
    throw new ClientError(
      'invalid-argument',
      `The body must be text or bytes as received, before it is parsed; it is ${bytes === null ? 'null' : typeof bytes}.`,
    )
  }
  const keyBytes = keyOf(secret)
  const [id, timestamp, signatures] = [
    headerOf(headers, 'webhook-id'),
    headerOf(headers, 'webhook-timestamp'),
    headerOf(headers, 'webhook-signature'),
  ]
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new EventRejected('time', `webhook-timestamp must be epoch seconds; it is "${timestamp}".`)
  }
  const offBySeconds = Math.round(nowMs / 1000 - Number(timestamp))
  if (Math.abs(offBySeconds) > toleranceSeconds) {
    const direction = offBySeconds > 0 ? 'ago' : 'in the future'
    throw new EventRejected(
      'time',
      `The event was signed ${Math.abs(offBySeconds)} seconds ${direction}; at most ${toleranceSeconds} are accepted. Check the clock of this machine.`,
    )
  }
  const start = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(start.length + bytes.length)
  signed.set(start)
  signed.set(bytes, start.length)
  if (!(await isSigned(signed, signatures, keyBytes))) {
    throw new EventRejected(
      'signature',
      'No signature in webhook-signature matches. Use the secret of this endpoint, and pass the body byte for byte as received.',
    )
  }
  return { id, event: JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent }
}

/** Whether one of the signatures is correct. During a rotation of the secret there are two. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  keyBytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const one of signatures.split(' ')) {
    const signature = one.startsWith('v1,') ? bytesOfBase64(one.slice(3)) : null
    if (signature !== null && (await isHmacSha256(keyBytes, signature, signed))) return true
  }
  return false
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key =
    typeof secret === 'string' && secret.startsWith('whsec_') ? bytesOfBase64(secret.slice(6)) : null
  if (key === null || key.length === 0) {
    throw new ClientError(
      'invalid-configuration',
      'The secret of a webhook endpoint starts with whsec_, followed by base64.',
    )
  }
  return key
}

/** The value of a header, whatever the case of its name. @throws EventRejected if it is missing */
function headerOf(headers: EventHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? (headers as Headers).get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const text = typeof value === 'object' && value !== null ? value.join(' ') : value
  if (typeof text === 'string' && text !== '') return text
  throw new EventRejected('headers', `The header ${name} is missing.`)
}

/** The bytes of a base64 text; null if it is not base64. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
  } catch {
    return null
  }
}
