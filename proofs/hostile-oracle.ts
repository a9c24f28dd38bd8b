import { Compile } from 'typebox/compile'
import { resolvedDocument } from '#testing/resolved-document.ts'
import type { DocumentedOperation, HostileRequest } from './hostile-requests.ts'

/** An answer as it came; names of headers in lower case. */
export interface HostileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

interface JsonSchema {
  readonly [member: string]: unknown
}

interface DocumentedResponse {
  readonly content: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, unknown>> }>
  >
}

/** As much of the OpenAPI document as is looked at here. */
export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: DocumentedOperation['name']
            readonly security: readonly Readonly<Record<string, unknown>>[]
            readonly parameters?: DocumentedOperation['parameters']
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
            }
            readonly responses: Readonly<Record<string, DocumentedResponse>>
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: { readonly Problem: JsonSchema } }
}

/** The operations of a document, to make requests from. */
export function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  return Object.entries(resolvedDocument(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [body] = Object.entries(operation.requestBody?.content ?? {})
      return {
        name: operation.operationId,
        method: method.toUpperCase(),
        path,
        isForAnyone: operation.security.length === 0,
        isSigned: operation.security.some((scheme) => 'signature' in scheme),
        parameters: (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header'),
        bodyType: body?.[0] ?? null,
        bodyFields: Object.keys(body?.[1].schema.properties ?? {}),
      }
    }),
  )
}

/** What no answer may show of the inside. No request of ours holds any of it, so no answer can be repeating it. */
const inside =
  /node_modules|\bat (async )?[\w.<>]+ \(|\bat (file|node):|\b(select|insert|update|delete)\b.{0,40}\b(from|into|set)\b .*\$\d|kysely|postgres|\bpg_(?!sleep)|relation "|syntax error at|invalid input syntax|violates|\.ts:\d+/

/** What an address that is no operation may answer: the pages, files and reports beside the API, or a refusal. */
const besideStatuses = new Set([200, 206, 301, 302, 304, 400, 404, 405, 408, 413, 414, 415, 416, 431])

/** What is wrong with the answer to a request, a line each. */
type Judge = (
  request: Pick<HostileRequest, 'method' | 'target' | 'headers'>,
  answer: HostileAnswer,
) => string[]

/**
 * Holds answers against the OpenAPI document that the service itself publishes: a status that it lists for the
 * operation, a body of the shape it gives and without a member it does not name, a problem that it names for that
 * status. Answers what is wrong, a line each.
 */
export function oracleOf(published: OpenApiDocument): Judge {
  const document = resolvedDocument(published)
  const problem = Compile(document.components.schemas.Problem)
  const known = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: operation.operationId,
        method: method.toUpperCase(),
        isTemplate: path.includes('{'),
        form: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        responses: new Map(
          Object.entries(operation.responses).map(([status, { content }]) => {
            const [[type, { schema, examples = {} }] = ['', { schema: {} }]] = Object.entries(content)
            return [
              Number(status),
              {
                type,
                body: type === 'application/json' ? Compile(closed(schema)) : null,
                problems: new Set(Object.keys(examples)),
              },
            ]
          }),
        ),
      })),
    )
    // As in the service: an address without parameters goes before one that would take its last part for one.
    .sort((one, other) => Number(one.isTemplate) - Number(other.isTemplate))

  function operationAt(method: string, target: string) {
    const path = routedPath(target)
    return known.find(
      (one) => one.form.test(path) && (one.method === method || (method === 'HEAD' && one.method === 'GET')),
    )
  }

  return (request, answer) => {
    const faults: string[] = []
    const { status, text, headers } = answer
    const type = String(headers['content-type'] ?? '').split(';')[0]
    const operation = operationAt(request.method, request.target)
    const response = operation?.responses.get(status)
    if (status >= 500) faults.push(`answered ${status}`)
    if (inside.test(text)) faults.push(`shows its inside: ${inside.exec(text)?.[0]}`)
    if (operation === undefined) {
      if (!besideStatuses.has(status)) faults.push(`answered ${status} where there is no operation`)
    } else if (response === undefined)
      faults.push(`answered ${status}, which ${operation.name} does not list`)
    if (request.method === 'HEAD') return faults
    if (status >= 400) {
      const body = parsed(text) as { type?: unknown; status?: unknown; request_id?: unknown } | undefined
      if (type === 'text/html' && mayBePage(request, status)) return faults
      if (type !== 'application/problem+json' || !problem.Check(body)) {
        faults.push(`${status} is no problem body`)
      } else {
        const code = String(body?.type).replace(/^.*[/#]/, '')
        if (body?.status !== status) faults.push(`the problem says ${body?.status}, the answer ${status}`)
        if (body?.request_id !== headers['request-id']) faults.push('Request-Id is not that of the body')
        if (response !== undefined && !response.problems.has(code)) {
          faults.push(`${operation?.name} does not list the problem ${code} for ${status}`)
        }
      }
    } else if (response !== undefined) {
      const body = response.body === null ? text : parsed(text)
      if (type !== response.type) faults.push(`${status} is ${type}, not ${response.type}`)
      if (response.body !== null && !response.body.Check(body)) {
        const [error] = response.body.Errors(body)
        faults.push(
          `the body of ${operation?.name} is not as documented: ${error?.instancePath} ${error?.message}`,
        )
      }
    }
    for (const name of ['request-id', 'x-content-type-options', 'content-security-policy']) {
      if (headers[name] === undefined) faults.push(`${status} lacks the header ${name}`)
    }
    return faults
  }
}

/** Whoever asks for a page at an address that is none of the API's may be told by a page that there is nothing. */
function mayBePage({ method, target, headers }: Parameters<Judge>[0], status: number): boolean {
  const asksForPage = headers.some(
    ([name, value]) => name.toLowerCase() === 'accept' && value.includes('text/html'),
  )
  return (
    method === 'GET' &&
    status === 404 &&
    asksForPage &&
    !target.replace(/^https?:\/\/[^/]*/i, '').startsWith('/api/')
  )
}

/** The path by which the service routes: of an absolute address its own, percent codes of plain letters read. */
function routedPath(target: string): string {
  const path =
    (/^https?:\/\//i.test(target) ? (URL.parse(target)?.pathname ?? '/') : target).split(/[?#]/)[0] ?? ''
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The schema with no room for a member that it does not name: an answer may not hold what nobody documented. */
function closed(schema: JsonSchema): JsonSchema {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner)
    return typeof value === 'object' && value !== null ? closed(value as JsonSchema) : value
  }
  const all = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, inner(value)]))
  const isObject = schema.type === 'object' && schema.properties !== undefined
  return isObject && schema.additionalProperties === undefined ? { ...all, additionalProperties: false } : all
}
