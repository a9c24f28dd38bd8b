import type { IncomingMessage } from 'node:http'
import { deliveryAnswerBytesMax, deliveryAnswerKeptMax, deliverySecondsMax } from '#contract/limits.ts'
import type { AllowedPrivate } from '../security/index.ts'
import { guardedRequest, type LookUp, requestFailure, systemLookUp } from './guarded-request.ts'

/** The result of an attempt: an answer, or the reason why there is none, for people to read. */
export interface Posted {
  readonly status: number | null
  /** The first characters of the answer. */
  readonly text: string | null
  readonly failure: string | null
  readonly retryAfterSeconds: number | null
}

const nothing = { status: null, text: null, retryAfterSeconds: null } as const
const refusedToReach = (failure: string): Posted => ({ ...nothing, failure })

/**
 * Posts a body to a brokerage's URL, if it may be reached (`guardedRequest`). Redirects are not followed. Never throws: failures are part of the result.
 */
export async function postEvent(
  url: string,
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  {
    allowed,
    lookUp = systemLookUp,
    patienceMs = deliverySecondsMax * 1000,
    keptMax = deliveryAnswerKeptMax,
    stop,
  }: {
    readonly allowed: AllowedPrivate
    readonly lookUp?: LookUp
    readonly patienceMs?: number
    /** How many characters of the answer are kept. */
    readonly keptMax?: number
    readonly stop?: AbortSignal
  },
): Promise<Posted> {
  const signal = AbortSignal.any([AbortSignal.timeout(patienceMs), ...(stop === undefined ? [] : [stop])])
  try {
    const response = await guardedRequest(url, { method: 'POST', ...sent }, { allowed, lookUp, signal })
    return typeof response === 'string' ? refusedToReach(response) : await answerOf(response, keptMax)
  } catch (error) {
    if (stop?.aborted === true) return refusedToReach('The service was stopped before an answer came.')
    return refusedToReach(
      signal.aborted ? `No answer within ${patienceMs / 1000} seconds.` : requestFailure(error),
    )
  }
}

/** Reads the beginning of an answer. The status counts even when the rest of the answer does not arrive. */
async function answerOf(response: IncomingMessage, keptMax: number): Promise<Posted> {
  const status = response.statusCode ?? 0
  const kept: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (bytes < keptMax * 4) kept.push(chunk)
      bytes += chunk.length
      if (bytes >= deliveryAnswerBytesMax) break
    }
  } catch {
    // The answer was cut off.
  }
  response.destroy()
  const retryAfter = response.headers['retry-after'] ?? ''
  return {
    status,
    text: shownText(Buffer.concat(kept), keptMax),
    failure: status >= 300 && status < 400 ? 'Redirects are not followed.' : null,
    retryAfterSeconds: /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null,
  }
}

/** The first characters of an answer, without characters that the database or a terminal cannot store or show. */
function shownText(bytes: Buffer, keptMax: number): string {
  const characters = [...bytes.toString('utf8').replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, ' ')]
  return characters.slice(0, keptMax).join('')
}
