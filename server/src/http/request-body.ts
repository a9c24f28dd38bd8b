import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '#contract/endpoint.ts'
import { type Problem, problem, problemContentType } from '#contract/errors.ts'
import { bodyArrivalSecondsMax, uploadBytesPerSecondMin, uploadGraceSeconds } from '#contract/limits.ts'
import type { Parts } from '../endpoints/index.ts'
import { recordRefusal } from './error-response.ts'
import { watchRate } from './upload-rate.ts'

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
  const onLate = () =>
    unlessRead(raw, () => {
      if (reply.sent) raw.destroy()
      else if (isHeldBack(raw)) timer.refresh()
      else if (request.routeOptions.config.isUpload !== true) answerLate(request, reply, parts)
    })
  const timer = setTimeout(onLate, bodyArrivalSecondsMax * 1000).unref()
  // When the answer is sent before the body has arrived, the timer runs on.
  reply.raw.once('close', () => {
    if (raw.complete) clearTimeout(timer)
  })
}

/** Whether the body waits for this process, which reads no more of it until the caller is admitted. */
function isHeldBack(raw: IncomingMessage): boolean {
  return raw.readableLength >= raw.readableHighWaterMark
}

/** Many more than a body needs that has arrived while the process was busy: each reads 64 KiB. */
const looksMax = 100

/** Calls `onLate`, unless the body has arrived and was only not read yet, because the process was busy. */
function unlessRead(raw: IncomingMessage, onLate: () => void, looks = 0): void {
  const { bytesRead } = raw.socket
  // What the system has received is read between the timers and this call.
  setImmediate(() => {
    if (raw.complete || raw.socket.destroyed) return
    if (raw.socket.bytesRead > bytesRead && looks < looksMax) unlessRead(raw, onLate, looks + 1)
    else onLate()
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

/** The size of the buffers that collect chunks, so that thousands of tiny chunks take no more memory than one large one. */
const [firstPieceBytes, pieceBytesMax] = [64 * 1024, 1024 * 1024]

/**
 * Reads a body into pieces of up to a megabyte, without concatenating them at the end.
 *
 * @param take reserves memory for a piece before its bytes are read
 * @throws Problem body-too-large; request-timeout if the body does not keep its rate; what `take` throws
 */
export async function readPieces(
  body: IncomingMessage,
  { bytes, bytesMax, take }: { bytes: number | undefined; bytesMax: number; take: (bytes: number) => void },
): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let total = 0
  let free = Buffer.alloc(0)
  // Ends the current wait. A race with one promise for the whole body would hold each chunk until the end of the body.
  let stop = (_: Problem) => {}
  const end = watchRate(
    () => total,
    () => stop(tooSlow()),
  )
  try {
    // The answer of a refusal needs the connection, so the iterator must not destroy it.
    const arriving = body.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        stop = reject
        arriving.next().then(resolve, reject)
      })
      if (done === true) break
      if (total + value.length > bytesMax) throw tooLarge(bytesMax)
      for (let at = 0; at < value.length; ) {
        if (free.length === 0) {
          const left = (bytes ?? bytesMax) - total
          const size = Math.min(pieceBytesMax, Math.max(firstPieceBytes, total), Math.max(left, 1))
          take(size)
          free = Buffer.allocUnsafeSlow(size)
          pieces.push(free)
        }
        const copied = value.copy(free, 0, at)
        free = free.subarray(copied)
        at += copied
        total += copied
      }
    }
  } finally {
    end()
  }
  const last = pieces.pop()
  if (last !== undefined) pieces.push(last.subarray(0, last.length - free.length))
  return pieces
}

function tooSlow(): Problem {
  return problem(
    'request-timeout',
    `The file arrived too slowly: after ${uploadGraceSeconds} seconds, an upload must bring ${uploadBytesPerSecondMin.toLocaleString('en-US')} bytes per second.`,
    { headers: { Connection: 'close' } },
  )
}
