import { Compile } from 'typebox/compile'
import type { Endpoint } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import { resolvedDocument } from '#testing/resolved-document.ts'
import type { ChangedPlace, FuzzRequest } from './fuzz-requests.ts'
import { pointerOf, valueAt } from './request-places.ts'
import { endpoints } from './route-walk.ts'
import { inner, type ValueSchema } from './value-ends.ts'

/** An answer. Header names are in lower case. */
export interface FuzzAnswer {
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

export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly responses: Readonly<Record<string, DocumentedResponse>>
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: { readonly Problem: JsonSchema } }
}

/** Internal details that no answer may contain. No request contains them, so none is an echo. */
const internals =
  /node_modules|\bat (async )?[\w.<>]+ \(|\bat (file|node):|\b(select|insert|update|delete)\b.{0,40}\b(from|into|set)\b .*\$\d|kysely|postgres|\bpg_(?!sleep)|relation "|syntax error at|invalid input syntax|violates|\.ts:\d+/

/** Statuses allowed for a path that is not an operation: pages, files and reports, or a refusal. */
const nonOperationStatuses = new Set([200, 206, 301, 302, 304, 400, 404, 405, 408, 413, 414, 415, 416, 431])

type Judge = (
  request: Pick<
    FuzzRequest,
    'operation' | 'method' | 'target' | 'headers' | 'body' | 'changed' | 'mustBeRefused'
  >,
  answer: FuzzAnswer,
) => string[]

/**
 * Returns a judge of answers. The OpenAPI document of the service must list the status, and for it the problem code or every member
 * of the body. A refusal names a field of the request, and the changed field if its value is invalid. An accepted text comes back
 * unchanged. No answer shows internals, or `foreign`, a text of another brokerage.
 */
export function oracleOf(published: OpenApiDocument, foreign = '\u0000'): Judge {
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
    // No path of the service has one.
    if (path.includes('#')) return undefined
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
    if (text.toLowerCase().includes(foreign)) faults.push('shows data of another brokerage')
    if (operation === undefined) {
      if (!nonOperationStatuses.has(status))
        faults.push(`returned ${status} for a path that is not an operation`)
    } else if (response === undefined)
      faults.push(`returned ${status}, which ${operation.name} does not document`)
    if (request.method === 'HEAD') return faults
    const { operation: sentTo, changed, mustBeRefused = false } = request
    if (changed !== undefined) faults.push(...faultsOfChanged(sentTo, changed, mustBeRefused, answer))
    else if (mustBeRefused && status < 400) faults.push(`was accepted, and must be refused (${status})`)
    if (status >= 400) {
      const body = parsed(text) as
        | { type?: unknown; status?: unknown; request_id?: unknown; errors?: readonly FieldError[] }
        | undefined
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
        const endpoint = endpoints.get(operation?.name ?? '')
        if (endpoint !== undefined)
          faults.push(...faultsOfNames(endpoint, body?.errors ?? [], request.body?.()))
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

/** Codes of errors about members that the contract does not declare: unknown ones, and too many in the body as a whole. */
const undeclaredCodes: ReadonlySet<string> = new Set(['unknown', 'too-many-keys', 'too-many-items'])

/** Other errors may name only fields that the contract declares, at paths that the sent body has. */
function faultsOfNames(
  { params, query, body }: Endpoint,
  errors: readonly FieldError[],
  sent: string | Buffer | undefined,
): string[] {
  const json = parsed(String(sent ?? ''))
  return errors.flatMap(({ pointer, parameter, code }) => {
    if (undeclaredCodes.has(code)) return []
    if (parameter !== undefined) {
      const isDeclared = [params, query].some((of) => Object.hasOwn(of?.properties ?? {}, parameter))
      return isDeclared ? [] : [`names the parameter ${parameter}, which is not declared`]
    }
    const steps = (pointer ?? '').split('/').slice(1)
    let schema: ValueSchema | undefined = body
    for (const step of steps) {
      const own: ValueSchema = inner(schema ?? {})
      schema = own.properties?.[step] ?? own.items
    }
    if (schema === undefined) return [`names ${pointer}, which is not declared`]
    const isInBody = json === undefined || steps.length < 2 || valueAt(json, steps.slice(0, -1)) !== undefined
    return isInBody ? [] : [`names ${pointer}, which the body does not have`]
  })
}

/** Operations that find a customer by any spelling of its name, and return the saved spelling. */
const returnsOwnName: ReadonlySet<string> = new Set(['change-customer', 'rename-customer'])

/** A refusal of an invalid value must name its place. An accepted text must come back as sent. */
function faultsOfChanged(
  operation: string,
  { place, value }: ChangedPlace,
  mustBeRefused: boolean,
  { status, text }: FuzzAnswer,
): string[] {
  const body = parsed(text) as Record<string, unknown> | undefined
  if (!mustBeRefused) {
    const isText = place.in === 'body' && place.path.length === 1 && value.startsWith('"')
    if (!isText || status >= 300 || place.name === 'email' || returnsOwnName.has(operation)) return []
    const returned = [body?.[place.name], (body?.user as Record<string, unknown> | undefined)?.[place.name]]
    return returned.some((one) => typeof one === 'string' && one !== JSON.parse(value))
      ? [`returned another ${place.name} than was sent`]
      : []
  }
  if ([400, 413, 429].includes(status) || (place.in === 'path' && status === 404)) return []
  const { itemsOf } = endpoints.get(operation) ?? {}
  const isOfItem = place.in === 'body' && place.path[0] === itemsOf
  const refused = isOfItem && status < 300 ? valueAt(body, ['results', 0]) : body
  const { status: ownStatus, errors = [] } = (refused ?? {}) as { status?: unknown; errors?: FieldError[] }
  if (ownStatus !== 422) return [`accepted an invalid ${place.name}: ${status}`]
  const at = pointerOf({ path: isOfItem && status < 300 ? place.path.slice(2) : place.path })
  const isNamed = errors.some(
    ({ pointer, parameter }) =>
      parameter === place.name || pointer === at || pointer?.startsWith(`${at}/`) === true,
  )
  return isNamed
    ? []
    : [`refused ${place.name} and named ${JSON.stringify(errors.map((one) => one.pointer ?? one.parameter))}`]
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

/**
 * Returns the path that the service routes by: without scheme and host, and with percent-encoded letters decoded. The target of a request
 * has no fragment, so a `#` belongs to the path.
 */
function routedPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')[0] || '/'
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
