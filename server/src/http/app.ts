import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import cookie from '@fastify/cookie'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { agentPath } from '#contract/endpoint.ts'
import { type Problem, problem, problemContentType } from '#contract/errors.ts'
import {
  answerStallSecondsMax,
  bodyBytesMax,
  headerBytesMax,
  headersArrivalSecondsMax,
  keepAliveSeconds,
  refusedPerAddressPerSecondMax,
  socketsPerNetworkMax,
  uploadArrivalSecondsMax,
  uriBytesMax,
} from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { callers } from '../access/index.ts'
import {
  auditEndpoints,
  backtestEndpoint,
  credentialEndpoints,
  eventEndpoints,
  firstStepsEndpoint,
  importEndpoints,
  insightBatchEndpoint,
  integrationCallEndpoints,
  laneAdviceEndpoint,
  laneInsightEndpoint,
  laneListEndpoints,
  laneRecordEndpoint,
  markupEndpoint,
  type Parts,
  pastedLanesEndpoint,
  performanceEndpoints,
  quoteAdviceEndpoint,
  quoteEndpoints,
  type ServedEndpoint,
  shipmentUpdateEndpoint,
  signatureCheckEndpoint,
  signInEndpoints,
  suggestionEndpoints,
  userEndpoints,
} from '../endpoints/index.ts'
import { callerNetwork, slidingWindow, trustedProxies } from '../security/index.ts'
import { recordProblem, recordRequests } from '../watching/index.ts'
import { hasBody, limitArrival, tooLarge } from './admission.ts'
import { agentRoute } from './agent-route.ts'
import { type AnswerFromMemory, answerFromMemory } from './answer-from-memory.ts'
import { asksForPage, builtDashboard } from './dashboard-files.ts'
import { type Begun, endSockets, leaveInPeace } from './drain-connections.ts'
import { asProblem } from './error-response.ts'
import { serveEndpoint } from './serve-endpoint.ts'
import { operationPaths, operationRoutes } from './service-routes.ts'

const servedEndpoints: readonly ServedEndpoint[] = [
  shipmentUpdateEndpoint,
  markupEndpoint,
  laneInsightEndpoint,
  insightBatchEndpoint,
  ...credentialEndpoints,
  ...integrationCallEndpoints,
  signatureCheckEndpoint,
  ...eventEndpoints,
  ...signInEndpoints,
  firstStepsEndpoint,
  ...userEndpoints,
  ...auditEndpoints,
  quoteAdviceEndpoint,
  laneAdviceEndpoint,
  pastedLanesEndpoint,
  laneRecordEndpoint,
  ...suggestionEndpoints,
  ...quoteEndpoints,
  ...laneListEndpoints,
  ...performanceEndpoints,
  ...importEndpoints,
  backtestEndpoint,
]

/** Headers of every answer. A route may say more about caching; nothing may say less about the rest. */
const standardHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Authorization',
} as const

const serverOptions = {
  requestTimeout: uploadArrivalSecondsMax * 1000,
  keepAliveTimeout: keepAliveSeconds * 1000,
  headersTimeout: headersArrivalSecondsMax * 1000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: headerBytesMax,
  // A missing Host is refused by the first hook, in the words of every other refusal.
  requireHostHeader: false,
} as const

/** The service as a function of its parts: every route, and every error in one place. */
export async function buildApp(parts: Parts, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const isProxy = trustedProxies(parts.config.trustProxy)
  let fromMemory: AnswerFromMemory = () => false
  let begun: Begun = () => {}
  const app = fastify({
    // What is remembered is answered before the framework is asked: it costs more than such an answer.
    serverFactory: (handler) =>
      createServer(serverOptions, (request, response) => {
        const ordinary = {
          begun: () => begun(request, response),
          answer: () => handler(request, response),
        }
        if (fromMemory(request, response, ordinary)) return
        ordinary.begun()
        ordinary.answer()
      }),
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: isProxy,
    bodyLimit: bodyBytesMax,
    // A path parameter may be as long as the address: an odd lane_ref is "no lane", not "no route".
    routerOptions: { maxParamLength: uriBytesMax },
    requestTimeout: serverOptions.requestTimeout,
    // While stopping, requests on open connections are answered; the connection is closed behind them.
    return503OnClosing: false,
    rewriteUrl: (request) => pathOf(request.url ?? '/'),
    frameworkErrors: (error, request, reply) => {
      const answer = fromFramework(error, bodyBytesMax)
      // It never comes to the hooks.
      const { method } = request
      parts.metrics.answered({ endpoint: 'none', method, status: answer.status, seconds: null })
      answerProblem(answer, request, reply, parts)
    },
    clientErrorHandler: (error, socket) => answerRawError(error, socket, parts),
  })
  recordRequests(app, parts)
  leaveInPeace(app)
  await app.register(cookie)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...standardHeaders, 'Request-Id': request.id })
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw problem('malformed-request', 'The header Host is missing.', { headers: { Connection: 'close' } })
    }
    refuseDoubtfulFraming(request.raw)
    const url = request.raw.url ?? ''
    if (Buffer.byteLength(url) > uriBytesMax) {
      throw problem('uri-too-long', `The address must be at most ${uriBytesMax} bytes.`)
    }
    if (!url.startsWith('/')) {
      throw problem('malformed-request', 'The address must be a path such as /api/lanes, or a whole URL.')
    }
    limitArrival(request, reply, parts)
    // The router takes nothing for a name, too: /quotes/ is not the page of a quote. The framework would read the body of a
    // request that nothing serves before it says so.
    if (request.is404 || Object.values(request.params as Record<string, string>).includes('')) {
      // A body that came together with its head is there a moment later: then the caller keeps the connection.
      if (hasBody(request)) await immediate()
      await answerNotFound(request, reply)
      return reply
    }
  })
  // From here to its end an answer waits for its reader, who may never read. Node's own time-outs are for what arrives.
  app.addHook('onSend', async ({ raw }) => {
    raw.socket.setTimeout?.(answerStallSecondsMax * 1000)
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    answerProblem(fromFramework(error, request.routeOptions.bodyLimit ?? bodyBytesMax), request, reply, parts)
  })
  const dashboard = builtDashboard()
  function answerNotFound(request: FastifyRequest, reply: FastifyReply) {
    // A person who mistypes the address of a page gets a page.
    if (dashboard !== null && asksForPage(request)) return dashboard.sendPage(reply.code(404))
    return answerProblem(notFound(request), request, reply, parts)
  }
  app.setNotFoundHandler(answerNotFound)

  const gates = {
    refusedLimit: slidingWindow(refusedPerAddressPerSecondMax, 1000),
    callers: callers(parts),
  }
  fromMemory = answerFromMemory(servedEndpoints, parts, gates.callers, {
    isProxy,
    isLeaving: () => app.isLeaving(),
    standardHeaders,
  })
  for (const served of servedEndpoints) serveEndpoint(app, served, parts, gates)
  const unserved = allEndpoints.filter(
    ({ name }) => !servedEndpoints.some(({ endpoint }) => endpoint.name === name),
  )
  if (unserved.length > 0) throw new Error(`No code serves ${unserved.map(({ name }) => name).join(', ')}.`)
  agentRoute(app, servedEndpoints, parts, gates)
  await app.register(operationRoutes(parts))
  if (dashboard === null) app.get('/', async (_request, reply) => reply.redirect('/docs/'))
  else await app.register(dashboard.routes)

  limitSockets(app, isProxy)
  begun = endSockets(app)
  answerEarly(app)
  return app
}

/**
 * What Node reads and others may read otherwise, so that two parties see two requests: a version that has no such form,
 * chunks in HTTP/1.0, and a coding besides chunks, which Node would leave in the body (RFC 9112, 6.1).
 */
function refuseDoubtfulFraming({ httpVersion, headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  const fits =
    httpVersion === '1.1'
      ? coding === undefined || coding.toLowerCase() === 'chunked'
      : httpVersion === '1.0' && coding === undefined
  if (!fits) {
    throw problem('malformed-request', 'The request is not well-formed HTTP/1.1.', {
      headers: { Connection: 'close' },
    })
  }
}

/** An absolute address (as proxies are sent) is routed by its path alone. One that cannot be read is left as it is. */
function pathOf(url: string): string {
  const parsed = /^https?:\/\//i.test(url) ? URL.parse(url) : null
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`
}

const readPaths = [...operationPaths, ...Object.values(pagePaths)]
const paths = [
  ...allEndpoints,
  { path: agentPath, method: 'POST' as const },
  ...readPaths.map((path) => ({ path, method: 'GET' as const })),
].map(({ path, method }) => ({
  method,
  form: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** 405 with the methods there are where the path is one of ours, else 404. */
function notFound(request: FastifyRequest): Problem {
  const path = (request.raw.url ?? '').split('?')[0] ?? ''
  const methods = new Set<string>(paths.filter(({ form }) => form.test(path)).map(({ method }) => method))
  if (methods.size === 0) return problem('route-not-found', 'There is nothing at this address.')
  if (methods.has('GET')) methods.add('HEAD')
  const allow = [...methods].sort().join(', ')
  return problem('method-not-allowed', `${request.method} is not allowed here; use ${allow}.`, {
    headers: { Allow: allow },
  })
}

/** The framework's own refusals, in our words. Anything else is looked at as any error. */
function fromFramework(error: FastifyError, bytesMax: number): Problem {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bytesMax)
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
      // The caller went away. Nobody reads this answer; the log says what happened, and it is no error of ours.
      return problem('malformed-request', 'The connection was closed before the body had arrived.')
    default:
      // A file that may not be served is not there, and anything else that a library refuses is the request's fault.
      if (error.statusCode === 403 || error.statusCode === 404) {
        return problem('route-not-found', 'There is nothing at this address.')
      }
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
        return problem('malformed-request', 'The request could not be read.')
      }
      return asProblem(error)
  }
}

function answerProblem(answer: Problem, request: FastifyRequest, reply: FastifyReply, parts: Parts) {
  parts.calls.refuse(request, answer)
  parts.refusals.refuse(request, answer, { network: callerNetwork(request.ip), requestId: request.id })
  recordProblem(request, answer, parts)
  return reply
    .code(answer.status)
    .headers({
      ...standardHeaders,
      'Request-Id': request.id,
      ...answer.headers,
      ...(isLeftUnread(request, answer) ? { Connection: 'close' } : {}),
    })
    .type(problemContentType)
    .send(JSON.stringify(answer.body(request.id)))
}

/**
 * Whether the connection ends behind a refusal, because its body was not read and would have to be taken off the connection.
 * A small body that was sent to an endpoint is nearly always there a moment later, and its caller keeps the connection. It
 * ends where the body is large, or does not say how large it is, or where nothing would ever have read it.
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

/** What never became a request (bad framing, slow headers) is answered on the socket, and the socket is closed. */
function answerRawError(error: NodeJS.ErrnoException, socket: Socket, { log, metrics }: Parts): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const answer =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? problem('headers-too-large', 'The headers must be at most 16 KiB.')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? problem('request-timeout', 'The request took too long to arrive.')
        : problem('malformed-request', 'The request is not well-formed HTTP/1.1.')
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

/** One network cannot take all sockets. Proxies are exempt, for they bring everybody's, and so is this machine. */
function limitSockets(app: FastifyInstance, isProxy: (address: string) => boolean): void {
  const isThisMachine = trustedProxies(['loopback'])
  const open = new Map<string, number>()
  app.server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    if (isThisMachine(remoteAddress) || isProxy(remoteAddress)) return
    const network = callerNetwork(remoteAddress)
    const count = (open.get(network) ?? 0) + 1
    if (count > socketsPerNetworkMax) {
      socket.destroy()
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
}

/**
 * `Expect: 100-continue`: the body is asked for by the route, once nothing that can be known without it is wrong. Any
 * other expectation is none of ours; a server may ignore it (RFC 9110).
 */
function answerEarly(app: FastifyInstance): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
}
