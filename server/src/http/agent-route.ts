import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { agentPath, endpoint } from '#contract/endpoint.ts'
import { type Problem, problem } from '#contract/errors.ts'
import { jsonDepthMax, jsonKeysMax } from '#contract/limits.ts'
import { type AskService, agentReads, agentServer } from '../agents/index.ts'
import { type Parts, Reply, type ServedEndpoint } from '../endpoints/index.ts'
import { readJsonObject } from '../signing/index.ts'
import { recordProblem } from '../watching/index.ts'
import { admission, bodyBytesMaxOf, type Gates } from './admission.ts'
import { asProblem } from './error-response.ts'
import { unknownFields } from './ignored-fields.ts'
import { queryReader } from './query-parameters.ts'

/** One message, as the checks of every endpoint see it. It is no operation of the API: the protocol says what is in it. */
const message = endpoint({
  name: 'mcp',
  method: 'POST',
  path: agentPath,
  summary: 'A message of the Model Context Protocol',
  description: 'One JSON-RPC message of an agent, without a session.',
  tag: 'Integration',
  who: { kind: 'service', signed: false },
  body: Type.Object({}),
  status: 200,
  answer: Type.Unknown(),
})

/**
 * The Model Context Protocol over HTTP, without sessions: each request is a whole one. It passes the checks of every other
 * endpoint before its body is read, so each message is authenticated, counted and logged once, whatever it holds. A tool's
 * call then runs the code of its operation with the caller that was found.
 */
export function agentRoute(
  app: FastifyInstance,
  served: readonly ServedEndpoint[],
  parts: Parts,
  gates: Gates,
): void {
  const { admit, admitted, asAsked } = admission(message, parts, gates, {
    refuse: (request) => {
      refuseForeignPage(request)
      if (request.method !== message.method) {
        throw problem(
          'method-not-allowed',
          'Send each message of the Model Context Protocol as a POST. There is no stream to open and no session to end.',
          { headers: { Allow: message.method } },
        )
      }
    },
  })
  const reads = new Map(
    served
      .filter((one) => agentReads.includes(one.endpoint))
      .map((one) => [one.endpoint.name, { ...one, readQuery: queryReader(one.endpoint.query) }]),
  )

  /** Notes what is refused inside an answer of the protocol: that answer is no error of HTTP. */
  function noteRefusal(request: FastifyRequest, why: Problem): void {
    parts.calls.refuse(request, why)
    recordProblem(request, why, parts)
  }

  /** Runs the operations that one message asks for. */
  function asker(request: FastifyRequest): AskService {
    return async ({ name, status }, query) => {
      parts.calls.asks(request, `tool=${name}&${query}`)
      try {
        const read = reads.get(name)
        if (read === undefined) throw new Error(`No code serves ${name}.`)
        const { caller, now, network, patience } = admitted(request)
        const ignored: string[] = []
        const call = {
          caller,
          params: {},
          query: read.readQuery(`?${query}`, ignored),
          body: {},
          signed: undefined,
          now,
          network,
          requestId: request.id,
        }
        // A misspelled argument that is ignored would be an answer to another question.
        if (ignored.length > 0) throw unknownFields({ query: ignored, body: [] })
        const answer = await asAsked(request, patience, () => read.handler(call as never, parts))
        return { status, body: answer instanceof Reply ? answer.body : answer }
      } catch (error) {
        const why = asProblem(error)
        noteRefusal(request, why)
        return { status: why.status, body: why.body(request.id) }
      }
    }
  }

  const handler = createMcpHandler(({ authInfo }) => agentServer(authInfo?.extra?.ask as AskService), {
    // Nothing ever changes in the list of tools: nobody need hold a connection to hear of it.
    maxSubscriptions: 0,
    onerror: (error) => parts.log.info({ err: error }, 'mcp'),
  })

  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: agentPath,
    bodyLimit: bodyBytesMaxOf(message),
    config: { endpoint: message.name },
    onRequest: admit,
    handler: async (request, reply) => {
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      if (/^\s*\[/.test(bytes.toString('latin1'))) {
        throw problem(
          'malformed-json',
          'Send one JSON-RPC message at a time, as an object: batches are not taken.',
        )
      }
      const parsedBody = readJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: jsonKeysMax })
      const answer = await handler.fetch(asWebRequest(request, bytes), {
        parsedBody,
        authInfo: {
          token: '',
          clientId: '',
          scopes: [],
          extra: { ask: asker(request) },
        },
      })
      const text = await answer.text()
      const refusal = errorIn(text)
      if (refusal !== null) noteRefusal(request, problem('malformed-request', refusal))
      const type = answer.headers.get('content-type')
      if (type !== null) reply.type(type)
      return reply.code(answer.status).send(text)
    },
  })
  app.addHook('onClose', () => handler.close())
}

/** A page of another site in somebody's browser has no business here (the protocol asks for this check). */
function refuseForeignPage({ headers }: FastifyRequest): void {
  const { origin, host } = headers
  if (origin !== undefined && URL.parse(origin)?.host !== host) {
    throw problem('csrf', 'Agents call from their own program, not from a page of another site.')
  }
}

function asWebRequest({ headers, raw }: FastifyRequest, body: Buffer): Request {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && name !== 'content-length' && name !== 'connection'
      ? [[name, value] as [string, string]]
      : [],
  )
  return new Request(`http://localhost${raw.url ?? agentPath}`, {
    method: message.method,
    headers: sent,
    body: new Uint8Array(body),
  })
}

/** What a JSON-RPC error says, in an answer that is JSON or the one event of a stream; null where the answer is no error. */
function errorIn(text: string): string | null {
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
  const { error } = (JSON.parse(json) ?? {}) as { error?: { message?: unknown } }
  return error === undefined ? null : String(error.message)
}
