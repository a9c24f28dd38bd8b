import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { agentPath } from '#contract/endpoint.ts'
import { type Problem, problem, problemContentType } from '#contract/errors.ts'
import { bodyBytesMax } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { removedAddresses } from '#contract/removed-addresses.ts'
import type { Parts } from '../endpoints/index.ts'
import { callerNetwork } from '../security/index.ts'
import { standardHeaders } from './answer-headers.ts'
import { asProblem, recordRefusal } from './error-response.ts'
import { hasBody, tooLarge } from './request-body.ts'
import { operationPaths } from './service-routes.ts'

const readPaths = [...operationPaths, ...Object.values(pagePaths)]
const formOf = (path: string) =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
const removed = removedAddresses.map((address) => ({ ...address, form: formOf(address.path) }))
const paths = [
  ...allEndpoints,
  { path: agentPath, method: 'POST' as const },
  ...readPaths.map((path) => ({ path, method: 'GET' as const })),
].map(({ path, method }) => ({ method, form: formOf(path) }))

/**
 * The Problem for a request that no route serves: 405 with the allowed methods when the path exists, else 404. For a removed
 * address, the 404 says what to use instead.
 */
export function notFound(request: FastifyRequest): Problem {
  const path = (request.raw.url ?? '').split('?')[0] ?? ''
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const before = removed.find(({ methods, form }) => methods.some((one) => one === method) && form.test(path))
  if (before !== undefined) {
    return problem('route-not-found', `${method} ${before.path} was removed. ${before.instead}`)
  }
  const methods = new Set<string>(paths.filter(({ form }) => form.test(path)).map(({ method }) => method))
  if (methods.size === 0) return problem('route-not-found', 'There is nothing at this address.')
  if (methods.has('GET')) methods.add('HEAD')
  const allow = [...methods].sort().join(', ')
  return problem('method-not-allowed', `${request.method} is not allowed here; use ${allow}.`, {
    headers: { Allow: allow },
  })
}

/** The Problem for an error that the framework raised, or that a handler threw. */
export function fromFramework(
  error: FastifyError,
  { bodyLimit = bodyBytesMax, config }: FastifyRequest['routeOptions'],
): Problem {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bodyLimit)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('malformed-request', 'The body is not as long as Content-Length says.')
    case 'FST_ERR_BAD_URL':
      return problem(
        'malformed-request',
        'The address has a percent sign that is not followed by a valid code.',
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return problem('unsupported-media-type', 'Send Content-Type: application/json, in UTF-8.')
    case 'ECONNRESET':
      // The caller disconnected and never sees this answer. The log must not report it as an error of the service.
      return problem('malformed-request', 'The connection was closed before the body had arrived.')
    default:
      // Static files answer 403 for a forbidden path. Any other 4xx of a library means that the request is malformed.
      if (error.statusCode === 403 || error.statusCode === 404) {
        return problem('route-not-found', 'There is nothing at this address.')
      }
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
        return problem('malformed-request', 'The request could not be read.')
      }
      return asProblem(error, config?.isRead === true)
  }
}

/** Records a Problem and sends it. */
export function answerProblem(
  answer: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<Parts, 'refusals' | 'log' | 'metrics'>,
): FastifyReply {
  const { signer = null, network = callerNetwork(request.ip) } = request.record ?? {}
  if (signer !== null) parts.refusals.refuse(signer, answer, { network, requestId: request.id })
  recordRefusal(request, answer, parts)
  return reply
    .code(answer.status)
    .headers({
      ...standardHeaders,
      'Request-Id': request.id,
      ...(answer.status === 401 ? { 'WWW-Authenticate': challengeOf(answer) } : {}),
      ...answer.headers,
      ...(isLeftUnread(request, answer) ? { Connection: 'close' } : {}),
    })
    .type(problemContentType)
    .send(JSON.stringify(answer.body(request.id)))
}

/** The challenge that RFC 9110 requires in each 401: it asks for a signature if the signature is wrong, and otherwise for a token. */
const challengeOf = ({ code }: Problem) =>
  /^(signature|timestamp)-/.test(code) ? 'HMAC-SHA256 realm="integrations"' : 'Bearer realm="lanewise"'

/**
 * True when the connection must close after a refusal, because the unread body would still arrive on it. A small body that
 * was sent to an endpoint has nearly always arrived by then, and the connection stays open. The connection closes when the
 * body is large, has no declared length, or was sent to an address that no endpoint serves.
 */
function isLeftUnread(request: FastifyRequest, { code }: Problem): boolean {
  const { raw, headers, routeOptions } = request
  if (raw.complete || !hasBody(request)) return false
  const isOpenEnded = headers['transfer-encoding'] !== undefined
  return (
    routeOptions.config?.endpoint === undefined ||
    code === 'method-not-allowed' ||
    isOpenEnded ||
    Number(headers['content-length'] ?? 0) > bodyBytesMax
  )
}

/** Answers a request that could not be parsed (bad framing, slow headers) on its socket, and closes the socket. */
export function answerRawError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { log, metrics }: Pick<Parts, 'log' | 'metrics'>,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = rawProblem(error)
  const requestId = randomUUID()
  const { status, code } = answer
  metrics.answered({ endpoint: 'none', method: 'other', status, seconds: null })
  metrics.refused(code)
  log.info({ request_id: requestId, tenant_id: null, code }, 'refused')
  const body = JSON.stringify(answer.body(requestId))
  const headers = {
    ...standardHeaders,
    'Request-Id': requestId,
    'Content-Type': problemContentType,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    Date: new Date().toUTCString(),
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${head.join('')}\r\n${body}`)
}

function rawProblem({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return problem('headers-too-large', 'The headers must be at most 16 KiB.')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem('request-timeout', 'The request took too long to arrive.')
  }
  return problem('malformed-request', 'The request is not well-formed HTTP/1.1.')
}
