import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { TObject } from 'typebox'
import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import { bodyBytesMaxOf, type Endpoint, readsOnly, signsOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { bodyBytesMax, jsonDepthMax } from '#contract/limits.ts'
import { type BodyPath, knownMembers, readParameters, type Shape, shape } from '#contract/shape.ts'
import { type SignedAddress, type Signs, signatureHeader, timestampHeader } from '#contract/signature.ts'
import { finished, type Steps } from '#engine/steps.ts'
import type { Callers } from '../access/index.ts'
import { recordExport } from '../audit/index.ts'
import { type CsvFile, type Parts, Reply, type ServedEndpoint, type Signed } from '../endpoints/index.ts'
import { andThen, type NowOrLater, takeTurn, yieldBetweenSteps } from '../runtime/index.ts'
import { type JsonLimits, readJsonInSteps, readSignatureHeaders, verifySignature } from '../signing/index.ts'
import { Admission, type Admitted, type Gates } from './admission.ts'
import { answerHeaders } from './answer-headers.ts'
import { asProblem } from './error-response.ts'
import { asksStrictHandling, type Ignored, ignoredHeaders, unknownFields } from './ignored-fields.ts'
import { queryReader } from './query-parameters.ts'
import { bytesOf, declaredBytes, readPieces } from './request-body.ts'
import { sendCsv } from './send-csv.ts'

/**
 * Turns an endpoint's contract into a route. The checks run in this order, and the first that fails answers: those of
 * `Admission`, then the size of the body, the signature over its exact bytes, the signed time, JSON, fields.
 */
export function serveEndpoint(
  app: FastifyInstance,
  served: ServedEndpoint,
  parts: Parts,
  gates: Gates,
): void {
  const { endpoint, beforeBody } = served
  const bytesMax = bodyBytesMaxOf(endpoint)
  const admission = new Admission(endpoint, parts, gates, {
    ...(beforeBody === undefined
      ? {}
      : {
          beforeBody: (request, { caller, now }) => {
            const bytes = declaredBytes(request) ?? 0
            return beforeBody({ caller, bytes, now } as never, parts)
          },
        }),
  })
  const signs = signsOf(endpoint)
  const readRequest = requestReader(endpoint)
  const headers = answerHeaders(endpoint)

  const route: RouteOptions = {
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bytesMax,
    config: {
      endpoint: endpoint.name,
      isRead: readsOnly(endpoint),
      isUpload: endpoint.bodyKind === 'csv',
    },
    onRequest: admission.admit,
    handler: async (request, reply) => {
      const admitted = admission.admitted(request)
      // Reservations are released before the answer is sent, because the caller may send its next request as soon as it has the answer.
      const result = await admission.holding(request, reply, () =>
        admission.inTurn(request, () => {
          const signed =
            signs === null
              ? undefined
              : admission.run(request, () => verifySigned(request, signs, admitted, gates.callers))
          return andThen(signed, (signed) =>
            andThen(readRequest(request, reply), ({ params, query, body }) =>
              admission.handle(request, served, {
                params,
                query,
                body,
                signed,
                gone: endpoint.bodyKind === 'csv' ? goneOf(reply) : undefined,
              }),
            ),
          )
        }),
      )
      if (endpoint.answerKind === 'csv') {
        return sendFile(result as CsvFile, request, reply, { endpoint, parts, admitted })
      }
      const body = result instanceof Reply ? result.body : result
      if (result instanceof Reply) {
        reply.headers(result.headers)
        if (result.remark !== null) request.record?.call?.remark(result.remark)
      }
      return reply
        .code(endpoint.status)
        .headers(headers)
        .send(admission.charge(request, () => JSON.stringify(body)))
    },
  }
  if (endpoint.bodyKind === 'csv') routeUpload(app, route, bytesMax)
  else app.route(route)
}

/** A signal that aborts when the caller hangs up before the answer. */
function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.closed) gone.abort()
  else raw.once('close', () => gone.abort())
  return gone.signal
}

/** Adds a route whose body is collected in pieces, in a context of its own because parsers belong to a context. */
function routeUpload(app: FastifyInstance, route: RouteOptions, bytesMax: number): void {
  app.register(async (context) => {
    context.removeAllContentTypeParsers()
    context.addContentTypeParser('*', (request: FastifyRequest, body: IncomingMessage) =>
      readPieces(body, {
        bytes: declaredBytes(request),
        bytesMax,
        take: (bytes) => request.admitted?.end.take?.(bytes),
      }),
    )
    context.route(route)
  })
}

function sendFile(
  file: CsvFile,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    endpoint,
    parts: { database, log, traces },
    admitted: { caller, deadline, now, network },
  }: { endpoint: Endpoint; parts: Pick<Parts, 'database' | 'log' | 'traces'>; admitted: Admitted },
): Promise<FastifyReply> {
  if (caller.kind === 'anyone') throw new Error('Data is exported only for a known caller.')
  // An export that leaves no trace is refused: if the row cannot be written, the answer is 503.
  const onBegin = () =>
    database.inTenant(caller.tenant, (transaction) =>
      recordExport(transaction, { caller, now, network, requestId: request.id }, endpoint, {
        url: request.url,
        params: request.params as Record<string, string>,
      }),
    )
  const onCut = (error: unknown) => {
    const { code, cause } = asProblem(error, true)
    const tenant = request.record?.signer?.tenant ?? null
    log.error({ request_id: request.id, tenant_id: tenant, code, err: cause }, 'a CSV answer ended early')
  }
  return traces.within(request.record?.span ?? null, () =>
    sendCsv(file, request, reply, { onBegin, onCut }, deadline),
  )
}

/**
 * Verifies the signature of a signed write over the exact bytes of its body and, unless it signs the body only, over its
 * method and path as sent.
 *
 * @throws Problem signature-missing, timestamp-malformed, signature-malformed, signature-mismatch,
 *   timestamp-out-of-window
 */
async function verifySigned(
  request: FastifyRequest,
  signs: Signs,
  { caller, now }: Admitted,
  callers: Callers,
): Promise<Signed> {
  if (caller.kind !== 'service') throw new Error('A signed write has a service token.')
  const bodyBytes = Array.isArray(request.body) ? (request.body as readonly Buffer[]) : bytesOf(request)
  const { timestamp, digest } = readSignatureHeaders({
    timestamp: oneHeader(request, timestampHeader),
    signature: oneHeader(request, signatureHeader),
  })
  const secrets = await callers.liveSecrets(caller.tenant, now)
  const address = signs === 'body' ? null : addressOf(request)
  const signed = { timestamp, digest, address, bodyBytes }
  const { secret, requestDigest } = await verifySignature(signed, secrets, now)
  callers.secretUsed(caller.tenant, secret, now)
  return { timestampSeconds: Number(timestamp), requestDigest }
}

/** The method of a request, and its path and query, exactly as sent. */
function addressOf({ method, raw }: FastifyRequest): SignedAddress {
  return { method, path: raw.url ?? '' }
}

/** The value of a header. If it was sent twice, the joined value matches no accepted form. */
function oneHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

interface Sent {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** A longer body is read in steps: the largest ones, of eight megabytes, take a tenth of a second. */
const readAtOnceBytesMax = bodyBytesMax

/**
 * Reads and validates the parameters and the body of an endpoint's requests. Unknown names are reported in a header. A long body
 * is read in steps.
 */
function requestReader(
  endpoint: Endpoint,
): (request: FastifyRequest, reply: FastifyReply) => NowOrLater<Sent> {
  const isCsv = endpoint.bodyKind === 'csv'
  const paramsShape = endpoint.params === undefined ? null : shape(endpoint.params, 'parameter')
  const checkedBody = endpoint.body === undefined || isCsv ? null : bodyShape(endpoint)
  const limits = { depthMax: jsonDepthMax, keysMax: isCsv ? 0 : bodyKeysMaxOf(endpoint) }
  const readQuery = queryReader(endpoint.query)
  return (request, reply) => {
    const ignored: Ignored = { query: [], body: [] }
    const params = readParams(endpoint.params, paramsShape, {
      ...(request.params as Record<string, string>),
    })
    const query = readQuery(request.raw.url ?? '', ignored.query)
    const sent = (body: unknown): Sent => {
      reportIgnored(request, reply, ignored)
      return { params, query, body }
    }
    if (isCsv) return sent(request.body ?? [])
    const bytes = bytesOf(request)
    const reading = readBody(endpoint, { check: checkedBody, limits }, bytes, ignored.body, reply)
    if (bytes.length <= readAtOnceBytesMax) return sent(finished(reading))
    const { caller } = request.admitted ?? {}
    const owner = caller === undefined || caller.kind === 'anyone' ? undefined : caller.tenant
    return yieldBetweenSteps(reading, owner).then(async (body) => {
      // The handler works long on a long body, so it runs in its own turn.
      await new Promise<void>(takeTurn)
      return sent(body)
    })
  }
}

function readParams(schema: Endpoint['params'], check: Shape | null, sent: Record<string, string>) {
  if (schema === undefined || check === null) return {}
  const values = readParameters(schema, sent)
  const errors = check.errors(values)
  if (errors.length > 0) throw invalid(errors)
  return values
}

/** The shape of a body. Where the handler validates the items of a list one by one, the shape leaves them out. */
function bodyShape({ body, itemsOf }: Endpoint): Shape {
  if (itemsOf === undefined) return shape(body as TObject, 'body')
  const { properties, ...whole } = body as TObject
  const list = { ...properties[itemsOf], items: {} }
  return shape({ ...whole, properties: { ...properties, [itemsOf]: list } } as TObject, 'body')
}

function* readBody(
  endpoint: Endpoint,
  { check, limits }: { readonly check: Shape | null; readonly limits: JsonLimits },
  bodyBytes: Buffer,
  ignored: BodyPath[],
  reply: FastifyReply,
): Steps<unknown> {
  if (check === null || endpoint.body === undefined) return undefined
  const needed = (endpoint.body as { required?: readonly string[] }).required ?? []
  const sent = bodyBytes.length === 0 && needed.length === 0 ? {} : yield* readJsonInSteps(bodyBytes, limits)
  yield
  const known = knownMembers(endpoint.body, sent, ignored, {
    emptyIsAbsent: endpoint.who.kind === 'service',
  })
  yield
  const errors = check.errors(known)
  if (errors.length > 0) {
    // A missing field may have been sent under a misspelled name.
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
