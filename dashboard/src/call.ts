import operations from 'virtual:operations'
import type { allEndpoints } from '#contract/all-endpoints.ts'
import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'
import type { FieldError, ProblemBody, ProblemCode } from '#contract/errors.ts'

type Operation = (typeof allEndpoints)[number]
export type OperationName = Operation['name']
type OperationCalled<Name extends OperationName> = Extract<Operation, { name: Name }>

/** What an operation answers, by its name. */
export type Answer<Name extends OperationName> = AnswerOf<OperationCalled<Name>>
export type Query<Name extends OperationName> = QueryOf<OperationCalled<Name>>
export type Body<Name extends OperationName> = BodyOf<OperationCalled<Name>>

type Part<Key extends string, Values> = [keyof Values] extends [never]
  ? { readonly [K in Key]?: never }
  : Record<never, never> extends Values
    ? { readonly [K in Key]?: Values }
    : { readonly [K in Key]: Values }
type BodyPart<E extends Endpoint> = E['bodyKind'] extends 'csv'
  ? { readonly body: Blob }
  : [BodyOf<E>] extends [never]
    ? { readonly body?: never }
    : { readonly body: BodyOf<E> }
export type Sent<Name extends OperationName> = Part<'params', ParamsOf<OperationCalled<Name>>> &
  Part<'query', QueryOf<OperationCalled<Name>>> &
  BodyPart<OperationCalled<Name>> & { readonly signal?: AbortSignal }

/** Why there is no answer: a problem the service named, that nothing came back at all, or what the browser made of it. */
export type FailureCode = ProblemCode | 'offline' | 'timed-out' | 'unreadable-answer' | 'session-not-kept'

/** A call that failed. `message` is a sentence for the person at the screen. */
export class CallFailed extends Error {
  readonly code: FailureCode
  readonly status: number | null
  readonly errors: readonly FieldError[]
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(
    code: FailureCode,
    message: string,
    more: Partial<Pick<CallFailed, 'status' | 'errors' | 'requestId' | 'retryAfterSeconds'>> = {},
  ) {
    super(message)
    this.name = 'CallFailed'
    this.code = code
    this.status = more.status ?? null
    this.errors = more.errors ?? []
    this.requestId = more.requestId ?? null
    this.retryAfterSeconds = more.retryAfterSeconds ?? null
  }

  /**
   * What was wrong with one field of the body (`/lanes/0/origin`) or one parameter; undefined when nothing was. It stands
   * below a label, so it says "Must be ..." and not the name that the field has in the interface.
   */
  fieldError(where: string): string | undefined {
    const wrong = this.errors.find(({ pointer, parameter }) => pointer === where || parameter === where)
    const name = where.replace(/^\//, '').replaceAll('/', '.')
    return wrong?.detail.startsWith(`${name} must `)
      ? `M${wrong.detail.slice(name.length + 2)}`
      : wrong?.detail
  }

  /** Worth another try without a change: the service or the way to it was at fault, or asked for patience. */
  get isPassing(): boolean {
    return (
      this.code === 'offline' ||
      this.code === 'timed-out' ||
      this.code === 'unavailable' ||
      this.code === 'quota-exceeded' ||
      this.code === 'request-in-progress'
    )
  }
}

const patienceMs = 20_000
const uploadPatienceMs = 300_000

/** The session ended while the page was open: whoever draws the page asks for the password again. */
let onSessionEnded: () => void = () => {}
export function whenSessionEnds(told: () => void): void {
  onSessionEnded = told
}

const signInOperations: ReadonlySet<string> = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'change-password',
])

/**
 * Calls one operation of the service, by the name it has in the contract. The only place that fetches.
 *
 * @throws CallFailed whatever goes wrong; an aborted call throws the signal's own AbortError.
 * @example const { lanes } = await call('list-lanes', { query: { outcome: 'pending' } })
 */
export async function call<Name extends OperationName>(
  name: Name,
  ...[sent]: Record<never, never> extends Sent<Name> ? [sent?: Sent<Name>] : [sent: Sent<Name>]
): Promise<Answer<Name>> {
  const { method, path } = operationCalled(name)
  const { params, query, body, signal } = (sent ?? {}) as {
    params?: Record<string, unknown>
    query?: Record<string, unknown>
    body?: unknown
    signal?: AbortSignal
  }
  // The integration interface reads no cookie, so its pages show a token that lives for minutes.
  const bearer = path.startsWith('/api/integrations/') ? await shortToken() : null
  const response = await answerTo(addressOf(path, params, query), {
    method,
    headers: {
      Accept: 'application/json',
      'X-Lanewise-Request': '1',
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': body instanceof Blob ? 'text/csv' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    signal: AbortSignal.any([
      AbortSignal.timeout(body instanceof Blob ? uploadPatienceMs : patienceMs),
      ...(signal === undefined ? [] : [signal]),
    ]),
  })
  if (response.ok) return (await readJson(response)) as Answer<Name>
  const failed = await failureOf(response)
  if (response.status !== 401 || signInOperations.has(name)) throw failed
  held = null
  onSessionEnded()
  // The service tells programs which header to send; a person signs in and asks once more.
  throw new CallFailed(failed.code, 'Your session had ended. Sign in again, then try once more.', {
    status: failed.status,
    requestId: failed.requestId,
  })
}

/** The address of an operation that a link leads to, such as a file to save. @example addressOfCall('export-shipments', {}) // '/api/shipments/export' */
export function addressOfCall<Name extends OperationName>(name: Name, query: Query<Name>): string {
  return addressOf(operationCalled(name).path, undefined, query)
}

/** A file of data that this application was built with, by the address the build gave it. */
export async function builtFile(address: string): Promise<unknown> {
  const response = await answerTo(address, { signal: AbortSignal.timeout(patienceMs) })
  if (!response.ok) throw await failureOf(response)
  return readJson(response)
}

function operationCalled(name: string) {
  const operation = operations[name]
  if (operation === undefined) throw new Error(`There is no operation ${name}.`)
  return operation
}

function addressOf(path: string, params: object | undefined, query: object | undefined): string {
  const values: Record<string, unknown> = { ...params }
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(values[name])),
  )
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  )
  return pairs.length === 0 ? address : `${address}?${new URLSearchParams(pairs)}`
}

async function answerTo(address: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...request, credentials: 'same-origin', redirect: 'error' })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new CallFailed('timed-out', 'The service has not answered in time. It may be busy: try again.')
    }
    throw new CallFailed(
      'offline',
      'The service cannot be reached. Check your connection; what you have entered is still here.',
    )
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw new CallFailed('unreadable-answer', 'The answer of the service could not be read. Try again.', {
      status: response.status,
    })
  }
}

async function failureOf(response: Response): Promise<CallFailed> {
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null
  const body = (await response.json().catch(() => null)) as ProblemBody | null
  if (typeof body?.type !== 'string' || typeof body.detail !== 'string') {
    // A proxy in between answered, not the service.
    const { status } = response
    if (status === 429) {
      const message = 'The way to the service takes no more requests right now (status 429).'
      return new CallFailed('quota-exceeded', message, { status, retryAfterSeconds })
    }
    const code = status >= 500 ? 'unavailable' : 'unreadable-answer'
    const message = `The service cannot be reached (status ${status}). Try again shortly.`
    return new CallFailed(code, message, { status, retryAfterSeconds })
  }
  const code = body.type.split(/[/#]/).at(-1) as ProblemCode
  return new CallFailed(code, body.detail, {
    status: response.status,
    errors: body.errors ?? [],
    requestId: body.request_id,
    retryAfterSeconds,
  })
}

let held: { readonly token: string; readonly until: number } | null = null
const renewedBeforeEndMs = 30_000

/** A dashboard token of this session, for calls that read no cookie. */
async function shortToken(): Promise<string> {
  if (held === null || held.until - renewedBeforeEndMs < Date.now()) {
    const { token, expires_at } = await call('session-token', { body: {} })
    held = { token, until: Date.parse(expires_at) }
  }
  return held.token
}

/** Forgets the token of a session that was left. */
export function forgetSession(): void {
  held = null
}
