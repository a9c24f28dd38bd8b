import { Compile } from 'typebox/compile'
import { resolvedDocument } from '#testing/resolved-document.ts'
import type { DocumentedOperation, HostileRequest } from './hostile-requests.ts'

/** A response. Header names are in lower case. */
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

/** The parts of the OpenAPI document that the oracle uses. */
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

/** Returns the operations of a document. */
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

/** Internal details that no response may contain. No request contains them either, so a response cannot echo them. */
const internals =
  /node_modules|\bat (async )?[\w.<>]+ \(|\bat (file|node):|\b(select|insert|update|delete)\b.{0,40}\b(from|into|set)\b .*\$\d|kysely|postgres|\bpg_(?!sleep)|relation "|syntax error at|invalid input syntax|violates|\.ts:\d+/

/** Statuses allowed for a path that is not an operation: pages, files and reports, or a refusal. */
const nonOperationStatuses = new Set([200, 206, 301, 302, 304, 400, 404, 405, 408, 413, 414, 415, 416, 431])

/** Returns one line per fault in the response to a request. */
type Judge = (
  request: Pick<HostileRequest, 'method' | 'target' | 'headers'>,
  answer: HostileAnswer,
) => string[]

/**
 * Checks responses against the OpenAPI document that the service publishes: the operation must list the status, the body must
 * match the schema without additional members, and a problem must be listed for the status.
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
    // Paths without parameters come first, as in the service's router.
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
    if (status >= 500) faults.push(`returned ${status}`)
    if (internals.test(text)) faults.push(`shows internals: ${internals.exec(text)?.[0]}`)
    if (operation === undefined) {
      if (!nonOperationStatuses.has(status))
        faults.push(`returned ${status} for a path that is not an operation`)
    } else if (response === undefined)
      faults.push(`returned ${status}, which ${operation.name} does not document`)
    if (request.method === 'HEAD') return faults
    if (status >= 400) {
      const body = parsed(text) as { type?: unknown; status?: unknown; request_id?: unknown } | undefined
      if (type === 'text/html' && mayBePage(request, status)) return faults
      if (type !== 'application/problem+json' || !problem.Check(body)) {
        faults.push(`the body of ${status} is not a problem`)
      } else {
        const code = String(body?.type).replace(/^.*[/#]/, '')
        if (body?.status !== status)
          faults.push(`the problem has status ${body?.status}, the response ${status}`)
        if (body?.request_id !== headers['request-id']) faults.push('Request-Id differs from the body')
        if (response !== undefined && !response.problems.has(code)) {
          faults.push(`${operation?.name} does not document the problem ${code} for ${status}`)
        }
      }
    } else if (response !== undefined) {
      const body = response.body === null ? text : parsed(text)
      if (type !== response.type) faults.push(`${status} has type ${type}, not ${response.type}`)
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

/** A request that accepts HTML, outside /api/, may get a 404 as an HTML page. */
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

/** Returns the path that the service routes by: without scheme and host, and with percent-encoded letters decoded. */
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

/** Returns the schema without additional properties, so that undocumented members are faults. */
function closed(schema: JsonSchema): JsonSchema {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner)
    return typeof value === 'object' && value !== null ? closed(value as JsonSchema) : value
  }
  const all = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, inner(value)]))
  const isObject = schema.type === 'object' && schema.properties !== undefined
  return isObject && schema.additionalProperties === undefined ? { ...all, additionalProperties: false } : all
}
