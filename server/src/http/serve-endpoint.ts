import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { TObject } from 'typebox'
import type { Endpoint } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { jsonDepthMax, jsonKeysMax } from '#contract/limits.ts'
import { type BodyPath, knownMembers, readParameters, type Shape, shape } from '#contract/shape.ts'
import { signatureHeader, timestampHeader } from '#contract/signature.ts'
import type { ServiceCaller } from '../access/index.ts'
import {
  type Call,
  type CsvFile,
  type Parts,
  Reply,
  type ServedEndpoint,
  type Signed,
} from '../endpoints/index.ts'
import { readJsonObject, readSignatureHeaders, verifySignature } from '../signing/index.ts'
import { admission, bodyBytesMaxOf, declaredBytes, type Gates, hasBody, tooLarge } from './admission.ts'
import { asProblem } from './error-response.ts'
import { asksStrictHandling, type Ignored, ignoredHeaders, unknownFields } from './ignored-fields.ts'
import { queryReader } from './query-parameters.ts'
import { sendCsv } from './send-csv.ts'

/**
 * Turns an endpoint's contract into a route. The checks come in one order, and the first that fails answers: those of
 * `admission`, then the size, the signature over the exact bytes, its time, JSON, fields.
 */
export function serveEndpoint(
  app: FastifyInstance,
  served: ServedEndpoint,
  parts: Parts,
  gates: Gates,
): void {
  const { endpoint } = served
  const bytesMax = bodyBytesMaxOf(endpoint)
  const { admit, admitted, asAsked } = admission(endpoint, parts, gates, {
    async beforeBody(request, { caller, now }) {
      const bytes = declaredBytes(request) ?? (hasBody(request) ? bytesMax : 0)
      return (await served.beforeBody?.({ caller, bytes, now } as never, parts)) ?? (() => {})
    },
  })
  const shapes = {
    params: endpoint.params === undefined ? null : shape(endpoint.params, 'parameter'),
    body: endpoint.body === undefined || endpoint.bodyKind === 'csv' ? null : bodyShape(endpoint),
  }
  const readQuery = queryReader(endpoint.query)

  const route: RouteOptions = {
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bytesMax,
    config: { endpoint: endpoint.name, isUpload: endpoint.bodyKind === 'csv' },
    onRequest: admit,
    handler: async (request, reply) => {
      const { caller, now, network, patience, end } = admitted(request)
      const bodyBytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const signed =
        caller.kind === 'service'
          ? await asAsked(request, patience, () => verifySigned(endpoint, request, caller, bodyBytes, now))
          : undefined
      const ignored: Ignored = { query: [], body: [] }
      const call: Call<Endpoint> = {
        caller: caller as never,
        params: readTextual(endpoint.params, shapes.params, {
          ...(request.params as Record<string, string>),
        }),
        query: readQuery(request.raw.url ?? '', ignored.query),
        body: (endpoint.bodyKind === 'csv'
          ? (request.body ?? [])
          : readBody(endpoint, shapes.body, bodyBytes, ignored.body, reply)) as never,
        signed: signed as never,
        now,
        network,
        requestId: request.id,
      }
      reportIgnored(request, reply, ignored)
      // Before the answer: whoever has it may send the next request at once.
      const result = await asAsked(request, patience, () => served.handler(call as never, parts)).finally(end)
      if (endpoint.answerKind === 'csv') {
        return parts.traces.within(request.record?.span ?? null, () =>
          sendCsv(
            result as CsvFile,
            request,
            reply,
            (error) => {
              const { code, cause } = asProblem(error)
              const tenant = request.record?.tenant ?? null
              parts.log.error(
                { request_id: request.id, tenant_id: tenant, code, err: cause },
                'a file was cut off',
              )
            },
            patience,
          ),
        )
      }
      const body = result instanceof Reply ? result.body : result
      if (result instanceof Reply) reply.headers(result.headers)
      return reply.code(endpoint.status).headers(answerHeaders(endpoint)).send(JSON.stringify(body))
    },
  }
  if (endpoint.bodyKind !== 'csv') app.route(route)
  else {
    // In a context of its own, where a body is kept in pieces as it arrives.
    app.register(async (context) => {
      context.removeAllContentTypeParsers()
      context.addContentTypeParser('*', (request: FastifyRequest, body: IncomingMessage) =>
        readPieces(body, { bytes: declaredBytes(request), bytesMax }),
      )
      context.route(route)
    })
  }

  async function verifySigned(
    of: Endpoint,
    request: FastifyRequest,
    caller: ServiceCaller,
    bodyBytes: Buffer,
    now: number,
  ): Promise<Signed | undefined> {
    if (of.who.kind !== 'service' || !of.who.signed) return undefined
    const { timestamp, digest } = readSignatureHeaders({
      timestamp: oneHeader(request, timestampHeader),
      signature: oneHeader(request, signatureHeader),
    })
    const secrets = await gates.callers.liveSecrets(caller.tenant, now)
    const secret = verifySignature({ timestamp, digest, bodyBytes }, secrets, now)
    gates.callers.secretUsed(caller.tenant, secret, now)
    return {
      timestampSeconds: Number(timestamp),
      requestDigest: createHash('sha256').update(`${timestamp}.`).update(bodyBytes).digest(),
    }
  }
}

/** What an answer of the endpoint says of itself. */
export function answerHeaders({ cacheSeconds }: Endpoint): Record<string, string> {
  return {
    ...(cacheSeconds === undefined ? {} : { 'Cache-Control': `private, max-age=${cacheSeconds}` }),
    'Content-Type': 'application/json; charset=utf-8',
  }
}

/** A piece of a body that is kept: large enough that thousands of tiny chunks cost no more than one large one. */
const pieceBytesMax = 1024 * 1024

/**
 * Reads a body into pieces of up to a megabyte, without copying the whole together at its end.
 *
 * @throws Problem when it is longer than `bytesMax`
 */
async function readPieces(
  body: IncomingMessage,
  { bytes, bytesMax }: { bytes: number | undefined; bytesMax: number },
): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let total = 0
  let free = Buffer.alloc(0)
  // What is too long is answered on its connection, so that stays open.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    if (total + chunk.length > bytesMax) throw tooLarge(bytesMax)
    for (let at = 0; at < chunk.length; ) {
      if (free.length === 0) {
        free = Buffer.allocUnsafeSlow(Math.min(pieceBytesMax, Math.max((bytes ?? bytesMax) - total, 1)))
        pieces.push(free)
      }
      const copied = chunk.copy(free, 0, at)
      free = free.subarray(copied)
      at += copied
      total += copied
    }
  }
  const last = pieces.pop()
  if (last !== undefined) pieces.push(last.subarray(0, last.length - free.length))
  return pieces
}

/** A header's one value; two of them stay joined, and then fit no form. */
function oneHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function readTextual(schema: Endpoint['params'], check: Shape | null, sent: Record<string, string>) {
  if (schema === undefined || check === null) return {}
  const values = readParameters(schema, sent)
  const errors = check.errors(values)
  if (errors.length > 0) throw invalid(errors)
  return values
}

/** Where items are checked one by one, the whole body is checked without them. */
function bodyShape({ body, itemsOf }: Endpoint): Shape {
  if (itemsOf === undefined) return shape(body as TObject, 'body')
  const { properties, ...whole } = body as TObject
  const list = { ...properties[itemsOf], items: {} }
  return shape({ ...whole, properties: { ...properties, [itemsOf]: list } } as TObject, 'body')
}

function readBody(
  endpoint: Endpoint,
  check: Shape | null,
  bodyBytes: Buffer,
  ignored: BodyPath[],
  reply: FastifyReply,
): unknown {
  if (check === null || endpoint.body === undefined) return undefined
  const needed = (endpoint.body as { required?: readonly string[] }).required ?? []
  const sent =
    bodyBytes.length === 0 && needed.length === 0
      ? {}
      : readJsonObject(bodyBytes, { depthMax: jsonDepthMax, keysMax: endpoint.bodyKeysMax ?? jsonKeysMax })
  const known = knownMembers(endpoint.body, sent, ignored)
  const errors = check.errors(known)
  if (errors.length > 0) {
    // A member that is missing may be there under a name that is not known.
    if (ignored.length > 0) reply.headers(ignoredHeaders({ query: [], body: ignored }))
    throw invalid(errors)
  }
  return known
}

/** @throws Problem unknown-field */
function reportIgnored(request: FastifyRequest, reply: FastifyReply, ignored: Ignored): void {
  if (ignored.query.length + ignored.body.length === 0) return
  if (asksStrictHandling(request.headers.prefer)) throw unknownFields(ignored)
  reply.headers(ignoredHeaders(ignored))
}
