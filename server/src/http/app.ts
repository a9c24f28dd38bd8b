import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { problem } from '#contract/errors.ts'
import {
  answerStallSecondsMax,
  bodyBytesMax,
  headerBytesMax,
  headersArrivalSecondsMax,
  keepAliveSeconds,
  refusedPerAddressPerSecondMax,
  uploadArrivalSecondsMax,
  uriBytesMax,
} from '#contract/limits.ts'
import { callers } from '../access/index.ts'
import {
  approvalEndpoints,
  auditEndpoints,
  backtestEndpoints,
  credentialEndpoints,
  customerEndpoints,
  eventEndpoints,
  exchangeEndpoints,
  firstStepsEndpoint,
  forecastEndpoints,
  fuelEndpoints,
  importEndpoints,
  insightBatchEndpoint,
  integrationCallEndpoints,
  laneAdviceEndpoint,
  laneInsightEndpoint,
  laneRecordEndpoint,
  marketRateEndpoints,
  marketStandingEndpoints,
  markQuotesEndpoint,
  markupEndpoint,
  type Parts,
  pastedQuotesEndpoint,
  performanceEndpoints,
  pricingRuleEndpoints,
  pushQuoteEndpoints,
  pushShipmentUpdatesEndpoint,
  quoteAdviceEndpoint,
  quoteEndpoints,
  quoteListEndpoints,
  quoteListSettingsEndpoints,
  quotesAdviceEndpoint,
  readBackEndpoints,
  type ServedEndpoint,
  sandboxEndpoints,
  settingsEndpoints,
  shipmentUpdateEndpoint,
  signatureCheckEndpoint,
  signInEndpoints,
  suggestionEndpoints,
  teamEndpoints,
  userEndpoints,
  voidQuoteEndpoints,
} from '../endpoints/index.ts'
import { dashboardShare } from '../limits/index.ts'
import { callerNetwork, slidingWindow, trustedProxies } from '../security/index.ts'
import { recordRequests } from '../watching/index.ts'
import { agentRoute } from './agent-route.ts'
import { standardHeaders } from './answer-headers.ts'
import { asksForPage, builtDashboard } from './dashboard-files.ts'
import { endSockets, leaveInPeace } from './drain-connections.ts'
import { begunRequests } from './late-headers.ts'
import { answerProblem, answerRawError, fromFramework, notFound } from './problem-answers.ts'
import { hasBody, limitArrival } from './request-body.ts'
import { serveEndpoint } from './serve-endpoint.ts'
import { operationRoutes } from './service-routes.ts'
import { limitSockets } from './socket-limit.ts'

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
  ...settingsEndpoints,
  firstStepsEndpoint,
  ...userEndpoints,
  ...auditEndpoints,
  quoteAdviceEndpoint,
  laneAdviceEndpoint,
  quotesAdviceEndpoint,
  pastedQuotesEndpoint,
  laneRecordEndpoint,
  ...suggestionEndpoints,
  ...quoteEndpoints,
  markQuotesEndpoint,
  ...quoteListSettingsEndpoints,
  ...customerEndpoints,
  ...teamEndpoints,
  ...approvalEndpoints,
  ...pricingRuleEndpoints,
  ...fuelEndpoints,
  ...exchangeEndpoints,
  ...voidQuoteEndpoints,
  ...sandboxEndpoints,
  ...quoteListEndpoints,
  ...pushQuoteEndpoints,
  pushShipmentUpdatesEndpoint,
  ...readBackEndpoints,
  ...performanceEndpoints,
  ...marketStandingEndpoints,
  ...marketRateEndpoints,
  ...importEndpoints,
  ...backtestEndpoints,
  ...forecastEndpoints,
]

const serverOptions = {
  requestTimeout: uploadArrivalSecondsMax * 1000,
  keepAliveTimeout: keepAliveSeconds * 1000,
  headersTimeout: headersArrivalSecondsMax * 1000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: headerBytesMax,
  // The first hook rejects a missing Host with a Problem, like every other refusal.
  requireHostHeader: false,
} as const

/** Builds the application: every route, and one place for errors. */
export async function buildApp(parts: Parts, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const isProxy = trustedProxies(parts.config.trustProxy ?? [])
  const app = newFastify(parts, logger, isProxy)
  recordRequests(app, parts)
  if (parts.config.trustProxy === null) noticeProxy(app, parts)
  leaveInPeace(app)
  app.decorateRequest('admitted', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const dashboard = builtDashboard()
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) =>
    // A browser that requests a page gets the dashboard's not-found page.
    dashboard !== null && asksForPage(request)
      ? dashboard.sendPage(reply.code(404))
      : answerProblem(notFound(request), request, reply, parts)
  checkFirst(app, parts, answerNotFound)
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    await parsed
    return answerProblem(fromFramework(error, request.routeOptions), request, reply, parts)
  })
  app.setNotFoundHandler(answerNotFound)

  const gates = {
    refusedLimit: slidingWindow(refusedPerAddressPerSecondMax, 1000),
    callers: callers(parts),
    share: dashboardShare(),
  }
  refuseUnserved()
  for (const served of servedEndpoints) serveEndpoint(app, served, parts, gates)
  agentRoute(app, servedEndpoints, parts, gates)
  await app.register(operationRoutes(parts))
  if (dashboard === null) app.get('/', async (_request, reply) => reply.redirect('/docs/'))
  else await app.register(dashboard.routes)

  limitSockets(app, isProxy)
  endSockets(app)
  routeExpectations(app)
  return app
}

function newFastify(
  parts: Pick<Parts, 'refusals' | 'log' | 'metrics'>,
  logger: FastifyBaseLogger,
  isProxy: (address: string) => boolean,
): FastifyInstance {
  const begun = begunRequests()
  return fastify({
    serverFactory: (handler) =>
      createServer(serverOptions, (request, response) => {
        begun.begin(request.socket)
        handler(request, response)
      }),
    loggerInstance: logger,
    // Nothing is logged through the request's logger, and making one takes longer than routing.
    childLoggerFactory: (log) => log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: isProxy,
    bodyLimit: bodyBytesMax,
    // A path parameter may be as long as the URL, so that an odd lane_ref is answered "no such lane", not "no route".
    // The queries of endpoints are read by `query-parameters.ts`, which reports errors.
    routerOptions: { maxParamLength: uriBytesMax, querystringParser: () => ({}) },
    requestTimeout: serverOptions.requestTimeout,
    // While the service stops, requests on open connections are answered, and each connection is closed afterwards.
    return503OnClosing: false,
    rewriteUrl: (request) => pathOf(request.url ?? '/'),
    frameworkErrors: (error, request, reply) => {
      const answer = fromFramework(error, request.routeOptions)
      // The hooks that count requests do not see this one.
      const { method } = request
      parts.metrics.answered({ endpoint: 'none', method, status: answer.status, seconds: null })
      answerProblem(answer, request, reply, parts)
    },
    clientErrorHandler: (error, socket) => {
      const answer = () => answerRawError(error, socket, parts)
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') begun.unlessBegun(socket, answer)
      else answer()
    },
  })
}

/**
 * Says once that the service seems to be behind a proxy that TRUST_PROXY does not name: the limits of addresses would count
 * all callers as one, and nothing else would tell.
 */
function noticeProxy(app: FastifyInstance, { log }: Pick<Parts, 'log'>): void {
  let noticed = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!noticed && request.headers['x-forwarded-for'] !== undefined) {
      noticed = true
      log.warn(
        { network: callerNetwork(request.ip) },
        'a request has X-Forwarded-For, and TRUST_PROXY is not set: name the proxy in it, or none if callers connect directly',
      )
    }
    done()
  })
}

/**
 * Resolves once Node has parsed all bytes that arrived together with the head of a request. If they are not well-formed,
 * the parser's own answer is then the only one.
 */
const parsed = Promise.resolve()

/** Adds the hooks of every request: standard headers, Host, framing, URL, the time limits of body and answer. */
function checkFirst(
  app: FastifyInstance,
  parts: Pick<Parts, 'log' | 'metrics'>,
  answerNotFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(standardHeaders).header('Request-Id', request.id)
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
    // The router also matches an empty parameter: /quotes/ is not the page of a quote. Answering here prevents the framework
    // from reading the body of a request that no route serves.
    if (!request.is404 && !hasEmptyParameter(request) && !isInOtherForm(request)) {
      if (hasBody(request)) void parsed.then(() => done())
      else done()
      return
    }
    // A body sent together with its headers arrives within this turn, so the connection can stay open.
    if (hasBody(request)) setImmediate(() => void answerNotFound(request, reply))
    else void parsed.then(() => answerNotFound(request, reply))
  })
  // Node's own time-outs cover only what arrives. This one covers callers that do not read their answers.
  app.addHook('onSend', ({ raw }, _reply, payload, done) => {
    raw.socket.setTimeout?.(answerStallSecondsMax * 1000)
    done(null, payload)
  })
}

function hasEmptyParameter({ params }: FastifyRequest): boolean {
  for (const name in params as Record<string, string>) {
    if ((params as Record<string, string>)[name] === '') return true
  }
  return false
}

/**
 * Whether the address is not written as its route is: the router also decodes `/api/%6canes` and cuts off `#a`, so a rule of a
 * proxy by path would not see these.
 */
function isInOtherForm({ raw, routeOptions }: FastifyRequest): boolean {
  const [path = ''] = (raw.url ?? '').split('?')
  if (path.includes('#')) return true
  const sent = path.split('/')
  const own = routeOptions.url?.split('/') ?? []
  return own.some((segment, at) => {
    if (segment === '*') return sent.slice(at).some((one) => one.includes('%'))
    return segment !== sent[at] && !segment.startsWith(':')
  })
}

function refuseUnserved(): void {
  const served = new Set(servedEndpoints.map(({ endpoint }) => endpoint.name))
  const unserved = allEndpoints.filter(({ name }) => !served.has(name))
  if (unserved.length > 0) throw new Error(`No code serves ${unserved.map(({ name }) => name).join(', ')}.`)
}

/**
 * Rejects framing that Node accepts but that another party could read as a different request: an unknown HTTP version, a
 * Transfer-Encoding in HTTP/1.0, and an encoding other than chunked, which Node would leave in the body (RFC 9112, 6.1).
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

/** The path and query of an absolute URL, which clients send to proxies. An unreadable URL is returned unchanged. */
function pathOf(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return url
  // As it was sent: URL would resolve dots and encode characters.
  const from = url.slice(url.indexOf('//') + 2).search(/[/?#]/)
  const rest = from < 0 ? '' : url.slice(url.indexOf('//') + 2 + from)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Passes requests with an `Expect` header to the routes. For `100-continue` the route asks for the body after admission.
 * Any other expectation is ignored, as RFC 9110 allows.
 */
function routeExpectations(app: FastifyInstance): void {
  for (const event of ['checkContinue', 'checkExpectation']) {
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
  }
}
