import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { agentPath, bodyBytesMaxOf, endpoint } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { jsonDepthMax, messageKeysMax } from '#contract/limits.ts'
import { type AskService, agentReads, agentServer } from '../agents/index.ts'
import { type Parts, Reply, type ServedEndpoint } from '../endpoints/index.ts'
import { readJsonObject } from '../signing/index.ts'
import { Admission, type Gates } from './admission.ts'
import { asProblem, recordRefusal } from './error-response.ts'
import { unknownFields } from './ignored-fields.ts'
import { queryReader } from './query-parameters.ts'
import { bytesOf } from './request-body.ts'

/** One message, declared as an endpoint so that it is admitted like one. The protocol defines its body. */
const message = endpoint({
  name: 'mcp',
  method: 'POST',
  path: agentPath,
  summary: 'A message of the Model Context Protocol',
  description: 'One JSON-RPC message of an agent, without a session.',
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  body: Type.Object({}),
  // Agents have tools that read, and no others.
  isRead: true,
  status: 200,
  answer: Type.Unknown(),
})

/**
 * The Model Context Protocol over HTTP, without sessions: each request is complete. A message passes the same admission as
 * a request to any endpoint, so it is authenticated, counted and logged once, whatever it contains. A tool call then runs
 * the handler of its endpoint with the admitted caller.
 */
export function agentRoute(
  app: FastifyInstance,
  served: readonly ServedEndpoint[],
  parts: Parts,
  gates: Gates,
): void {
  const admission = new Admission(message, parts, gates, {
    refuse: (request) => {
      refuseForeignPage(request)
      refuseOtherMethods(request)
    },
  })
  const callTool = toolCaller(served, admission, parts)
  const handler = createMcpHandler(({ authInfo }) => agentServer(authInfo?.extra?.ask as AskService), {
    // The list of tools never changes, so no client needs a subscription to it.
    maxSubscriptions: 0,
    onerror: (error) => parts.log.info({ err: error }, 'mcp'),
  })

  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: agentPath,
    bodyLimit: bodyBytesMaxOf(message),
    config: { endpoint: message.name, isRead: true },
    onRequest: admission.admit,
    handler: async (request, reply) => {
      const bytes = bytesOf(request)
      const answer = await handler.fetch(asWebRequest(request, bytes), {
        parsedBody: readMessage(bytes),
        authInfo: { token: '', clientId: '', scopes: [], extra: { ask: callTool(request) } },
      })
      return sendAnswer(answer, request, reply, parts)
    },
  })
  app.addHook('onClose', () => handler.close())
}

/** @throws Problem method-not-allowed */
function refuseOtherMethods({ method }: FastifyRequest): void {
  if (method === message.method) return
  throw problem(
    'method-not-allowed',
    'Send each message of the Model Context Protocol as a POST. There is no stream to open and no session to end.',
    { headers: { Allow: message.method } },
  )
}

/** Rejects a page of another site in a browser, as the protocol requires. */
function refuseForeignPage({ headers }: FastifyRequest): void {
  const { origin, host } = headers
  if (origin !== undefined && URL.parse(origin)?.host !== host) {
    throw problem('csrf', 'Agents must call from their own program, not from a page of another site.')
  }
}

/** @throws Problem malformed-json */
function readMessage(bytes: Buffer): unknown {
  if (/^\s*\[/.test(bytes.toString('latin1'))) {
    throw problem(
      'malformed-json',
      'Send one JSON-RPC message per request, as an object. Batches are not supported.',
    )
  }
  return readJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: messageKeysMax })
}

/** Makes the function that runs the tool calls of one message: each calls the handler of its endpoint. */
function toolCaller(
  served: readonly ServedEndpoint[],
  admission: Admission,
  parts: Pick<Parts, 'log' | 'metrics'>,
): (request: FastifyRequest) => AskService {
  const reads = new Map(
    served
      .filter((one) => agentReads.includes(one.endpoint))
      .map((one) => [one.endpoint.name, { served: one, readQuery: queryReader(one.endpoint.query) }]),
  )
  return (request) =>
    async ({ name, status }, query) => {
      request.record?.call?.asks(`tool=${name}&${query}`)
      try {
        const read = reads.get(name)
        if (read === undefined) throw new Error(`No code serves ${name}.`)
        const ignored: string[] = []
        const sent = {
          params: {},
          query: read.readQuery(`?${query}`, ignored),
          body: {},
          signed: undefined,
          gone: undefined,
        }
        // Ignoring a misspelled argument would answer a different question.
        if (ignored.length > 0) throw unknownFields({ query: ignored, body: [] })
        const answer = await admission.handle(request, read.served, sent)
        return { status, body: answer instanceof Reply ? answer.body : answer }
      } catch (error) {
        const why = asProblem(error, true)
        recordRefusal(request, why, parts)
        return { status: why.status, body: why.body(request.id) }
      }
    }
}

async function sendAnswer(
  answer: Response,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<Parts, 'log' | 'metrics'>,
) {
  const text = await answer.text()
  const refusal = errorIn(text)
  // A JSON-RPC error has HTTP status 200, so the error handler does not see it.
  if (refusal !== null) recordRefusal(request, problem('malformed-request', refusal), parts)
  const type = answer.headers.get('content-type')
  if (type !== null) reply.type(type)
  return reply.code(answer.status).send(text)
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

/** The message of a JSON-RPC error, from JSON or from the one event of an event stream; null when there is no error. */
function errorIn(text: string): string | null {
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
  const { error } = (JSON.parse(json) ?? {}) as { error?: { message?: unknown } }
  return error === undefined ? null : String(error.message)
}
