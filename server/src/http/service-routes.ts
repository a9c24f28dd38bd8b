import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem, problems, problemType } from '#contract/errors.ts'
import { openApiDocument } from '#contract/openapi.ts'
import type { Parts } from '../endpoints/index.ts'
import { revision, version } from '../runtime/index.ts'
import { readiness } from '../watching/index.ts'
import { plainPagePolicy } from './plain-page.ts'
import { problemListPage, problemPage } from './problem-pages.ts'
import { interactivePath, referencePage } from './reference-page.ts'

/** The paths of the operational routes, all GET. */
export const operationPaths = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/problems',
  '/problems/{code}',
  '/docs',
] as const

interface Reference {
  readonly document: ReturnType<typeof openApiDocument>
  readonly documentBytes: Buffer
  readonly referenceBytes: Buffer
}

let written: Reference | null = null

/**
 * The OpenAPI document and its page. Written once per process, which takes a quarter of a second. Slow readers share the bytes
 * instead of holding a copy each.
 */
function reference(): Reference {
  if (written !== null) return written
  const document = openApiDocument(version, revision)
  written = {
    document,
    documentBytes: Buffer.from(JSON.stringify(document)),
    referenceBytes: Buffer.from(referencePage(document)),
  }
  return written
}

/**
 * The routes for operators and integrators: health, readiness, the OpenAPI document, its reference page, and the
 * problems.
 */
export function operationRoutes(
  parts: Pick<Parts, 'database' | 'clock' | 'migrations'>,
): (app: FastifyInstance) => Promise<void> {
  const { document, documentBytes, referenceBytes } = reference()
  return async (app) => {
    app.get('/healthz', async (_request, reply) => reply.send({ status: 'ok' }))

    app.get('/readyz', async (_request, reply) => {
      const checks = await readiness(parts)
      const said = checks.map(({ name, holds, detail }) => ({
        name,
        status: holds === null ? 'unknown' : holds ? 'ok' : 'failed',
        ...(detail === null ? {} : { detail }),
      }))
      const failed = checks.flatMap(({ holds, detail, optional }) =>
        holds === false && detail !== null && optional !== true ? [detail] : [],
      )
      if (failed.length > 0) {
        throw problem('unavailable', failed.join(' '), {
          headers: { 'Retry-After': '5' },
          members: { checks: said },
        })
      }
      return reply.send({ status: 'ready', version, revision, checks: said })
    })

    app.get('/openapi.json', async (_request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .header('Cache-Control', 'public, max-age=300')
        .send(documentBytes),
    )

    app.get('/problems', async (request, reply) => {
      if (wantsPage(request, reply)) return reply.send(problemListPage())
      return reply.send({
        problems: Object.entries(problems).map(([code, known]) => ({
          code,
          type: `/problems/${code}`,
          ...known,
        })),
      })
    })
    app.get<{ Params: { code: string } }>('/problems/:code', async (request, reply) => {
      const { code } = request.params
      if (!isProblemCode(code)) throw problem('not-found', 'There is no problem with this code.')
      if (wantsPage(request, reply)) return reply.send(problemPage(code))
      return reply.send({ code, type: problemType(code), ...problems[code] })
    })

    for (const path of ['/docs', '/docs/']) {
      app.get(path, async (_request, reply) =>
        reply
          .type('text/html; charset=utf-8')
          .header('Content-Security-Policy', plainPagePolicy)
          .header('Cache-Control', 'public, max-age=300')
          .send(referenceBytes),
      )
    }

    await app.register(swagger, { mode: 'static', specification: { document: document as never } })
    await app.register(swaggerUi, {
      routePrefix: interactivePath,
      uiConfig: { layout: 'BaseLayout', docExpansion: 'list', deepLinking: true, validatorUrl: null },
      theme: { title: 'Lanewise API' },
      uiHooks: {
        onRequest: (_request, reply, next) => {
          reply.header('Content-Security-Policy', docsPolicy)
          next()
        },
      },
    })
  }
}

/** Allows the scripts and styles of the reference page. Its icons are data URLs, and a script sets its styles. */
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** True for a browser, which gets a page; other callers get JSON. Neither is cached. */
function wantsPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!(request.headers.accept ?? '').includes('text/html')) return false
  reply.type('text/html; charset=utf-8').header('Content-Security-Policy', plainPagePolicy)
  return true
}

function isProblemCode(code: string): code is keyof typeof problems {
  return Object.hasOwn(problems, code)
}
