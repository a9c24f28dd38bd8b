import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '#contract/endpoint.ts'
import { type Problem, problem, problemContentType } from '#contract/errors.ts'
import { bodyArrivalSecondsMax } from '#contract/limits.ts'
import type { Parts } from '../endpoints/index.ts'
import { recordRefusal } from './error-response.ts'

export function hasBody(request: FastifyRequest): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** The value of Content-Length; undefined when the header is absent. */
export function declaredBytes({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

/** The bytes of the body as sent; empty when there is none. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** The content types of a table: browsers on Windows send a CSV file with the type of Excel, and clients send a workbook with its own. */
const csvTypes: ReadonlySet<string> = new Set([
  'text/csv',
  'application/csv',
  'application/gzip',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
])

/**
 * Checks the headers of a body before the body is read.
 *
 * @throws Problem unsupported-encoding, unsupported-media-type, body-too-large
 */
export function refuseUnreadableBody(endpoint: Endpoint, request: FastifyRequest, bytesMax: number): void {
  if (endpoint.body === undefined) return
  const isCsv = endpoint.bodyKind === 'csv'
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw problem(
      'unsupported-encoding',
      isCsv
        ? 'Remove the header Content-Encoding. A gzip file is sent as it is, with Content-Type: text/csv.'
        : 'Send the body uncompressed: the signature and the size limits apply to uncompressed bytes.',
      { headers: { 'Accept-Encoding': 'identity' } },
    )
  }
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((parameter) => /^charset\s*=/i.test(parameter))
    ?.replace(/^charset\s*=\s*/i, '')
    .replaceAll(/^"|"$/g, '')
  const fits = isCsv ? csvTypes.has(type.toLowerCase()) : type.toLowerCase() === 'application/json'
  if (!fits || (charset !== undefined && !/^utf-?8$/i.test(charset))) {
    const right = isCsv ? 'text/csv' : 'application/json'
    const sent = type === '' ? 'absent' : JSON.stringify(request.headers['content-type'])
    throw problem('unsupported-media-type', `Send Content-Type: ${right}, in UTF-8; it was ${sent}.`, {
      headers: { 'Accept-Post': right },
    })
  }
  if ((declaredBytes(request) ?? 0) > bytesMax) throw tooLarge(bytesMax)
}

export function tooLarge(bytesMax: number): Problem {
  return problem('body-too-large', `The body must be at most ${bytesMax.toLocaleString('en-US')} bytes.`, {
    headers: { Connection: 'close' },
  })
}

/** Answers `Expect: 100-continue` with 100 Continue, after every check that needs no body has passed. */
export function sendContinue(request: FastifyRequest, reply: FastifyReply): void {
  const { httpVersion, headers } = request.raw
  if (httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
}

/**
 * Limits how long a body may take to arrive, at any address and for any answer, because a body that arrives byte by byte occupies
 * a socket. Before the answer, a late body is rejected with 408. After the answer, the connection is closed. Uploads use the
 * longer time-out of the server itself.
 */
export function limitArrival(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<Parts, 'log' | 'metrics'>,
): void {
  if (!hasBody(request)) return
  const { raw } = request
  const timer = setTimeout(() => {
    if (raw.complete || raw.socket.destroyed) return
    if (reply.sent) raw.destroy()
    else if (request.routeOptions.config.isUpload !== true) answerLate(request, reply, parts)
  }, bodyArrivalSecondsMax * 1000)
  timer.unref()
  // When the answer is sent before the body has arrived, the timer runs on.
  reply.raw.once('close', () => {
    if (raw.complete) clearTimeout(timer)
  })
}

/** Answers 408 outside the framework, which is still waiting for the body. */
function answerLate(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<Parts, 'log' | 'metrics'>,
): void {
  const late = problem('request-timeout', 'The body took too long to arrive.')
  recordRefusal(request, late, parts)
  const headers = reply.getHeaders()
  reply.hijack()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
  const body = JSON.stringify(late.body(request.id))
  reply.raw.writeHead(408, {
    'Content-Type': problemContentType,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  })
  reply.raw.end(body, () => request.raw.destroy())
}

/** The size of a buffer that collects chunks, so that thousands of tiny chunks take no more memory than one large one. */
const pieceBytesMax = 1024 * 1024

/**
 * Reads a body into pieces of up to a megabyte, without concatenating them at the end.
 *
 * @throws Problem body-too-large
 */
export async function readPieces(
  body: IncomingMessage,
  { bytes, bytesMax }: { bytes: number | undefined; bytesMax: number },
): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let total = 0
  let free = Buffer.alloc(0)
  // The 413 answer needs the connection, so the iterator must not destroy it.
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
