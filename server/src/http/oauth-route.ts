import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { oauthPaths } from '#contract/assistants.ts'
import { agentPath } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import {
  assistantRegistrationsPerMinuteMax,
  jsonDepthMax,
  oauthBytesMax,
  oauthKeysMax,
  oauthRequestsPerMinuteMax,
} from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { clientIdOf, registered } from '../assistants/index.ts'
import { RequestDeadline, withDeadline } from '../database/session/index.ts'
import { answerRevocation, answerToken, assistantScope, type Parts, resourceOf } from '../endpoints/index.ts'
import { callerNetwork, type RateLimit, slidingWindow } from '../security/index.ts'
import { readJsonObject } from '../signing/index.ts'
import { standardHeaders } from './answer-headers.ts'
import { addressOf } from './own-address.ts'
import { answerProblem, fromFramework } from './problem-answers.ts'
import { bytesOf } from './request-body.ts'

/**
 * OAuth 2.1 for assistants: the metadata of /mcp (RFC 9728) and of this service (RFC 8414), registration (RFC 7591), tokens and revocation
 * (RFC 7009). The consent page and its two operations are part of the dashboard.
 */
export function oauthRoutes(app: FastifyInstance, parts: Parts): void {
  metadataRoutes(app, parts)
  registrationRoute(app, parts)
  tokenRoutes(app, parts)
}

function send(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .headers({ ...standardHeaders, 'Cache-Control': 'no-store', 'Request-Id': reply.request.id })
    .type('application/json')
    .send(JSON.stringify(body))
}

function metadataRoutes(app: FastifyInstance, parts: Parts): void {
  const resource = (request: FastifyRequest, reply: FastifyReply) => {
    const origin = addressOf(request, parts)
    return send(reply, 200, {
      resource: resourceOf(origin),
      resource_name: 'Lanewise',
      authorization_servers: [origin],
      scopes_supported: [assistantScope],
      bearer_methods_supported: ['header'],
    })
  }
  app.get(oauthPaths.resource, resource)
  app.get(`${oauthPaths.resource}${agentPath}`, resource)
  app.get(oauthPaths.server, (request, reply) => {
    const origin = addressOf(request, parts)
    return send(reply, 200, {
      issuer: origin,
      authorization_endpoint: `${origin}${pagePaths.connect}`,
      token_endpoint: `${origin}${oauthPaths.token}`,
      registration_endpoint: `${origin}${oauthPaths.register}`,
      revocation_endpoint: `${origin}${oauthPaths.revoke}`,
      scopes_supported: [assistantScope],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
  })
}

/** What the routes that take a body have in common. */
const bodyRoute = (parts: Parts) => ({
  bodyLimit: oauthBytesMax,
  errorHandler: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
    answerRefusal(error, request, reply, parts),
})

function registrationRoute(app: FastifyInstance, parts: Parts): void {
  const registrations = slidingWindow(assistantRegistrationsPerMinuteMax, 60_000)
  app.post(
    oauthPaths.register,
    { ...bodyRoute(parts), onRequest: limited(registrations, parts) },
    (request, reply) => {
      refuseOtherType(request, 'application/json')
      const sent = readJsonObject(bytesOf(request), { depthMax: jsonDepthMax, keysMax: oauthKeysMax })
      const client = registered(sent)
      if ('error' in client) {
        return send(reply, 400, { error: client.error, error_description: client.why })
      }
      return send(reply, 201, {
        client_id: clientIdOf(parts.secretKeys, client),
        client_id_issued_at: Math.floor(parts.clock() / 1_000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: assistantScope,
      })
    },
  )
}

function tokenRoutes(app: FastifyInstance, parts: Parts): void {
  const requests = slidingWindow(oauthRequestsPerMinuteMax, 60_000)
  const answers: readonly (readonly [path: string, answer: typeof answerToken])[] = [
    [oauthPaths.token, answerToken],
    [oauthPaths.revoke, answerRevocation],
  ]
  for (const [path, answer] of answers) {
    app.post(path, { ...bodyRoute(parts), onRequest: limited(requests, parts) }, async (request, reply) => {
      refuseOtherType(request, 'application/x-www-form-urlencoded')
      const call = {
        form: new URLSearchParams(bytesOf(request).toString('utf8')),
        now: parts.clock(),
        network: networkOf(request),
        requestId: request.id,
        address: addressOf(request, parts),
      }
      const { status, body } = await withDeadline(new RequestDeadline(), () => answer(call, parts))
      return send(reply, status, body)
    })
  }
}

const networkOf = (request: FastifyRequest) => request.record?.network ?? callerNetwork(request.ip)

/** A hook that refuses what a network sends too often, before its body is read. */
function limited(limit: RateLimit, { monotonic }: Pick<Parts, 'monotonic'>) {
  return async (request: FastifyRequest) => {
    const { admitted, retryAfterMs } = limit.admit(networkOf(request), monotonic())
    if (admitted) return
    const seconds = Math.ceil(retryAfterMs / 1_000)
    throw problem('too-many-attempts', `Too many requests from your network. Wait ${seconds} seconds.`, {
      headers: { 'Retry-After': String(seconds) },
    })
  }
}

/** @throws Problem unsupported-media-type */
function refuseOtherType({ headers }: FastifyRequest, type: string): void {
  const [sent = ''] = (headers['content-type'] ?? '').split(';')
  if (sent.trim().toLowerCase() !== type || headers['content-encoding'] !== undefined) {
    throw problem('unsupported-media-type', `Send Content-Type: ${type}, without a Content-Encoding.`)
  }
}

/** Answers a refusal in the form of OAuth (RFC 6749, 5.2), and records it like every other. */
function answerRefusal(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Parts,
): FastifyReply {
  const why = fromFramework(error, request.routeOptions)
  const isOurs = why.status === 429 || why.status >= 500
  return answerProblem(why, request, reply, parts, {
    type: 'application/json',
    text: JSON.stringify({
      error: isOurs ? 'temporarily_unavailable' : 'invalid_request',
      error_description: why.message,
    }),
  })
}
