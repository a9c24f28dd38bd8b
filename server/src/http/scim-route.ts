import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { endpoint } from '#contract/endpoint.ts'
import { type Problem, problem } from '#contract/errors.ts'
import { jsonDepthMax, scimBodyBytesMax, scimKeysMax } from '#contract/limits.ts'
import { type ScimType, scimContentType, scimPath } from '#contract/scim.ts'
import { answerScim, type Parts, type ScimCall, ScimRefusal, scimError } from '../endpoints/index.ts'
import { readJsonObject } from '../signing/index.ts'
import { Admission, type Gates } from './admission.ts'
import { answerProblem, fromFramework } from './problem-answers.ts'
import { bytesOf } from './request-body.ts'

/** A request of a directory, declared as an endpoint so that it is admitted like one. The protocol defines its paths and bodies. */
const request = endpoint({
  name: 'scim',
  method: 'POST',
  path: scimPath,
  summary: 'A request of SCIM 2.0',
  description: 'People and groups, as a directory manages them.',
  tag: 'People',
  // Not a read for a scope, so that no scope that permits reads lists people.
  who: { kind: 'service', signed: false, scope: 'people:write' },
  body: Type.Object({}),
  bodyBytesMax: scimBodyBytesMax,
  status: 200,
  answer: Type.Unknown(),
})

/** SCIM 2.0 for directories such as Entra ID and Okta. Its errors have the form of SCIM, not of the API. */
export function scimRoute(app: FastifyInstance, parts: Parts, gates: Gates): void {
  const admission = new Admission(request, parts, gates)
  const route = {
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    bodyLimit: scimBodyBytesMax,
    config: { endpoint: request.name },
    onRequest: admission.admit,
    errorHandler: (error: FastifyError, asked: FastifyRequest, reply: FastifyReply) =>
      answerRefusal(error, asked, reply, parts),
    handler: async (asked: FastifyRequest, reply: FastifyReply) => {
      const call = scimCall(asked, admission)
      const { status, body } = await admission.inTurn(asked, () =>
        admission.run(asked, () => answerScim(call, parts)),
      )
      reply.code(status)
      if (body === null) return reply.send()
      const location = status === 201 ? (body.meta as { location?: string } | undefined)?.location : undefined
      if (location !== undefined) reply.header('Location', location)
      return reply.type(scimContentType).send(JSON.stringify(body))
    },
  }
  app.route({ ...route, url: scimPath })
  app.route({ ...route, url: `${scimPath}/*` })
}

function scimCall(asked: FastifyRequest, admission: Admission): ScimCall {
  const { caller, now, network } = admission.admitted(asked)
  if (caller.kind !== 'service') throw new Error('A directory has a service token.')
  const [path = '', query = ''] = (asked.raw.url ?? '').split('?')
  const bytes = bytesOf(asked)
  return {
    ...{ caller, now, network, requestId: asked.id, scimToken: caller.tokenId, method: asked.method },
    path: path
      .slice(scimPath.length + 1)
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
    body:
      bytes.length === 0
        ? undefined
        : readJsonObject(bytes, { depthMax: jsonDepthMax, keysMax: scimKeysMax }),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new ScimRefusal(
      400,
      'invalidSyntax',
      'The address has a percent sign that is not followed by a valid code.',
    )
  }
}

/** How a refusal of SCIM is recorded. */
const codes = { 400: 'malformed-request', 404: 'not-found', 409: 'state-conflict' } as const

/** The kind of a Problem in the words of SCIM. */
function scimTypeOf({ code }: Problem): ScimType | null {
  if (code === 'email-taken') return 'uniqueness'
  if (code === 'validation-failed') return 'invalidValue'
  if (code === 'malformed-json' || code === 'duplicate-key' || code === 'forbidden-key')
    return 'invalidSyntax'
  return null
}

/** Answers a refusal as SCIM does, and records it like every other. */
function answerRefusal(
  error: FastifyError,
  asked: FastifyRequest,
  reply: FastifyReply,
  parts: Parts,
): FastifyReply {
  const cause = error as unknown
  const why =
    cause instanceof ScimRefusal
      ? problem(codes[cause.status], cause.message)
      : fromFramework(error, asked.routeOptions)
  const scimType = cause instanceof ScimRefusal ? cause.scimType : scimTypeOf(why)
  return answerProblem(why, asked, reply, parts, {
    type: scimContentType,
    text: JSON.stringify(scimError(why.status, scimType, why.message)),
  })
}
