import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '#contract/errors.ts'
import { bodyBytesMax, jsonDepthMax, jsonKeysMax } from '#contract/limits.ts'
import { Patience, withPatience } from '../database/patience.ts'
import type { Parts } from '../endpoints/call.ts'
import { callerNetwork } from '../security/caller-network.ts'
import { readJsonObject } from '../security/strict-json.ts'
import { countedRefusal, type Gates } from '../serve-endpoint.ts'
import { quotaExceeded } from '../tenant-limit.ts'
import { agentServer } from './tools.ts'

export const agentPath = '/mcp'

/**
 * The Model Context Protocol over HTTP, without sessions: each request is a whole one. A tool's call becomes the read that it
 * stands for, through every check of the ordinary way with the caller's own token; all else takes a place of the tenant's
 * limit here.
 */
export function agentRoute(app: FastifyInstance, parts: Parts, gates: Gates): void {
  const handler = createMcpHandler(
    ({ authInfo }) =>
      agentServer(async (path) => {
        const { statusCode, body } = await app.inject({
          method: 'GET',
          url: path,
          headers: { authorization: `Bearer ${authInfo?.token ?? ''}`, host: 'localhost' },
          remoteAddress: String(authInfo?.extra?.address ?? ''),
        })
        return { status: statusCode, body: JSON.parse(body) as unknown }
      }),
    // Nothing ever changes in the list of tools: nobody need hold a connection to hear of it.
    { maxSubscriptions: 0, onerror: (error) => parts.log.info({ err: error }, 'mcp') },
  )

  app.route({
    method: 'POST',
    url: agentPath,
    bodyLimit: bodyBytesMax,
    config: { endpoint: 'mcp' },
    handler: async (request, reply) => {
      refuseForeignPage(request)
      const now = parts.clock()
      const patience = new Patience()
      const { authorization } = request.headers
      const network = callerNetwork(request.ip)
      const caller = await withPatience(patience, () =>
        gates.callers.service(authorization, now, network, {
          signedBy(tenant, { jti, user_id: userId }) {
            if (request.record) request.record.tenant = tenant
            parts.refusals.signedBy(request, { tenant, userId, jti })
          },
          refuseSpent(tenant) {
            const refusal = parts.tenantLimit.refusedNow(tenant)
            if (refusal !== null) throw quotaExceeded(refusal)
          },
        }),
      ).catch((error: unknown) => {
        throw countedRefusal(error, network, gates, parts)
      })
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const message = readJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: jsonKeysMax })
      if (message.method !== 'tools/call') {
        const admission = await withPatience(patience, () => parts.tenantLimit.admit(caller.tenant))
        if (!admission.admitted) throw quotaExceeded(admission)
      }
      const answer = await handler.fetch(asWebRequest(request, bytes), {
        parsedBody: message,
        authInfo: {
          token: (authorization ?? '').replace(/^Bearer\s+/i, ''),
          clientId: String(caller.tokenId),
          scopes: [],
          extra: { address: request.ip },
        },
      })
      const type = answer.headers.get('content-type')
      if (type !== null) reply.type(type)
      return reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()))
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
    method: 'POST',
    headers: sent,
    body: new Uint8Array(body),
  })
}
