import type { IncomingMessage } from 'node:http'
import { companyAnswerBytesMax, companyAnswerSecondsMax } from '#contract/limits.ts'
import { guardedRequest, requestFailure } from '../events/index.ts'
import type { AllowedPrivate } from '../security/index.ts'

/** A provider that cannot be asked, or does not answer in time. The message is for people. */
export class ProviderUnreachable extends Error {}

/** What the OpenID Connect client asks of `fetch`. */
export type ProviderFetch = (
  url: string,
  request: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
  },
) => Promise<Response>

/**
 * A `fetch` for addresses that a brokerage set, or that its provider names: on the public internet, unless the operator permits
 * others; with a limit of time and size; without redirects.
 *
 * @throws ProviderUnreachable
 */
export function providerFetch(allowed: AllowedPrivate): ProviderFetch {
  return async (url, { method, headers = {}, body }) => {
    const signal = AbortSignal.timeout(companyAnswerSecondsMax * 1000)
    const text =
      body instanceof URLSearchParams ? body.toString() : typeof body === 'string' ? body : undefined
    try {
      const answer = await guardedRequest(
        url,
        {
          method: method === 'POST' ? 'POST' : 'GET',
          headers: { ...headers },
          ...(text === undefined ? {} : { body: text }),
        },
        { allowed, signal },
      )
      if (typeof answer === 'string') throw new ProviderUnreachable(answer)
      return await responseOf(answer)
    } catch (error) {
      if (error instanceof ProviderUnreachable) throw error
      throw new ProviderUnreachable(
        signal.aborted ? `No answer within ${companyAnswerSecondsMax} seconds.` : requestFailure(error),
      )
    }
  }
}

async function responseOf(answer: IncomingMessage): Promise<Response> {
  const status = answer.statusCode ?? 0
  const kept: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > companyAnswerBytesMax) {
      answer.destroy()
      throw new ProviderUnreachable(`The answer is larger than ${companyAnswerBytesMax / 1024} KiB.`)
    }
    kept.push(chunk)
  }
  if (status >= 500) throw new ProviderUnreachable(`The answer has the status ${status}.`)
  // A Response cannot have these statuses with a body, or at all.
  if (status < 200 || status === 204 || status === 205 || status === 304) {
    throw new ProviderUnreachable(`The answer has the status ${status}.`)
  }
  const type = answer.headers['content-type']
  const challenge = answer.headers['www-authenticate']
  return new Response(Buffer.concat(kept), {
    status,
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
    },
  })
}
