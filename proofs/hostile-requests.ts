import { METHODS } from 'node:http'
import { type SeededRandom, seededRandom } from '#server/sample/index.ts'
import {
  columnNames,
  contentTypes,
  encodings,
  jsonBodies,
  methods,
  numberParameters,
  numberTexts,
  oddHeaders,
  texts,
} from './hostile-values.ts'
import type { CallerName } from './route-expectations.ts'
import { type Operation, requestOf } from './route-requests.ts'
import { idsOf } from './seeded-ids.ts'

/** A request without its credential, which the sender adds. */
export interface HostileRequest {
  /** The number of the request. Together with the seed it reproduces the request. */
  readonly index: number
  /** The operation that the request was derived from. After mutation it may be another operation, or none. */
  readonly operation: string
  readonly caller: CallerName
  readonly signature: 'right' | 'wrong' | 'stale' | 'none'
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | null
  /** Sends the exact bytes over a socket, for a request that no HTTP library would send. */
  readonly overSocket: boolean
}

export type Header = readonly [string, string]

/** An operation in the OpenAPI document. */
export interface DocumentedOperation {
  readonly name: Operation
  readonly method: string
  readonly path: string
  readonly isForAnyone: boolean
  readonly isSigned: boolean
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: FieldSchema }[]
  readonly bodyType: string | null
  readonly bodyFields: readonly string[]
}

interface FieldSchema {
  readonly type?: string | readonly string[]
}

interface Draft {
  method: string
  path: string
  query: string[]
  headers: Header[]
  /** The JSON body, until `bytes` is set. */
  json: Record<string, unknown> | null
  /** JSON texts that no JavaScript value can represent, by their placeholder in `json`. */
  readonly tokens: Map<string, string>
  bytes: Buffer | null
  caller: CallerName
  signature: HostileRequest['signature']
  overSocket: boolean
}

const ids = idsOf('A')
const rightful: readonly CallerName[] = [
  'owner-A',
  'owner-A',
  'admin-A',
  'member-A',
  'viewer-A',
  'cookie-A',
  'service-A',
]
/** Callers that are refused by every operation that needs a credential. */
const powerless: readonly CallerName[] = ['nobody', 'garbage', 'expired-A', 'revoked-A', 'removed-A']

/** POST operations that only read. */
const readingPosts: ReadonlySet<string> = new Set([
  'match-import-columns',
  'read-import-header',
  'read-pasted-lanes',
  'advise-lanes',
  'check-signature',
  'session-token',
])

/**
 * Generates a request. It depends only on the seed, the index and the document. With `mustBeRefused`, a request that could
 * change data gets a flaw for which it must be refused.
 */
export function hostileRequest(
  operations: readonly DocumentedOperation[],
  seed: number,
  index: number,
  mustBeRefused: boolean,
): HostileRequest {
  const chance = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35))
  const operation = chance.pick(operations)
  const draft = validDraft(operation, index, chance)
  const kind = chance.weighted([15, 40, 45])
  if (kind === 1) nearValid(draft, operation, chance)
  if (kind === 2) {
    for (let left = 1 + Math.floor(chance.uniform() * 4); left > 0; left--) {
      chance.pick(mutations)(draft, operation, chance)
    }
  }
  finishBody(draft)
  if (kind === 2 && chance.chance(0.4)) mutateBytes(draft, chance)
  if (mustBeRefused) addFatalFlaw(draft, operation, chance)
  const query = draft.query.length === 0 ? '' : `?${draft.query.join('&')}`
  return {
    index,
    operation: operation.name,
    caller: draft.caller,
    signature: draft.signature,
    method: draft.method,
    target: draft.path + query,
    headers: draft.headers,
    body: draft.bytes,
    overSocket: draft.overSocket || chance.chance(0.01),
  }
}

function validDraft(operation: DocumentedOperation, index: number, chance: SeededRandom): Draft {
  const { path, body, text } = requestOf[operation.name](ids)
  const [route = path, query = ''] = path.split('?')
  const isJson = operation.bodyType === 'application/json'
  const given = body ?? (isJson ? JSON.parse(text?.bytes ?? '{}') : null)
  // Another address for each request, and the same address whenever the request is generated again.
  const json = operation.name === 'sign-up' ? { ...given, email: `new-${index}@example.com` } : given
  return {
    method: operation.method,
    path: route,
    query: query === '' ? [] : query.split('&'),
    headers: operation.bodyType === null ? [] : [['Content-Type', operation.bodyType]],
    json: json as Draft['json'],
    tokens: new Map(),
    bytes: isJson || text === undefined ? null : Buffer.from(text.bytes),
    caller: callerFor(operation, chance),
    signature: operation.isSigned ? 'right' : 'none',
    overSocket: false,
  }
}

/** Mostly a caller with permission: a request refused by authentication tests none of the code behind it. */
function callerFor(operation: DocumentedOperation, chance: SeededRandom): CallerName {
  if (operation.isForAnyone) return chance.chance(0.9) ? 'nobody' : chance.pick(rightful)
  if (chance.chance(0.15)) return chance.pick([...powerless, ...rightful, 'bare-cookie-A'])
  const isService = operation.path.startsWith('/api/integrations/insights') || operation.isSigned
  return isService ? 'service-A' : chance.pick(['owner-A', 'owner-A', 'admin-A', 'cookie-A'])
}

/** Puts a hostile value into one field or parameter. */
function nearValid(draft: Draft, operation: DocumentedOperation, chance: SeededRandom): void {
  if (operation.parameters.length > 0 && (draft.json === null || chance.chance(0.4))) {
    hostileParameter(draft, operation, chance)
  } else if (draft.json !== null) hostileField(draft, operation, chance)
  else mutateBytes(draft, chance)
}

function encoded(text: string, chance: SeededRandom): string {
  return chance.chance(0.95)
    ? encodeURIComponent(text.toWellFormed())
    : [...Buffer.from(text.slice(0, 500))].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

function hostileParameter(draft: Draft, operation: DocumentedOperation, chance: SeededRandom): void {
  if (operation.parameters.length === 0) {
    draft.query.push(`${encoded(chance.pick(texts), chance)}=${encoded(chance.pick(texts), chance)}`)
    return
  }
  const parameter = chance.pick(operation.parameters)
  const isNumber = ['number', 'integer'].includes(String(parameter.schema.type))
  const value = encoded(chance.pick(isNumber === chance.chance(0.85) ? numberParameters : texts), chance)
  if (parameter.in === 'path') {
    const at = operation.path.split('/').indexOf(`{${parameter.name}}`)
    const parts = draft.path.split('/')
    parts[at] = value
    draft.path = parts.join('/')
    return
  }
  draft.query = draft.query.filter((pair) => !pair.startsWith(`${parameter.name}=`))
  if (!chance.chance(0.1)) draft.query.push(`${parameter.name}=${value}`)
}

/** Returns the path of every member of a JSON value. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
  return path.length === 0 ? inner : [path, ...inner]
}

function hostileField(draft: Draft, operation: DocumentedOperation, chance: SeededRandom): void {
  if (draft.json === null) return
  const known = operation.bodyFields.map((name) => [name])
  const path = chance.pick([...pathsIn(draft.json), ...known, [chance.pick(texts)]])
  const draw = chance.weighted([3, 3, 1, 1, 1])
  const mark = `\ue000${draft.tokens.size}\ue001`
  const token =
    draw === 0
      ? chance.pick(numberTexts)
      : draw === 1
        ? JSON.stringify(chance.pick(texts))
        : draw === 2
          ? chance.pick(jsonBodies).toString()
          : draw === 3
            ? `[${Array.from({ length: Math.floor(chance.uniform() * 120) }, () => chance.pick(numberTexts)).join(',')}]`
            : ''
  draft.tokens.set(mark, token)
  draft.json = withValue(draft.json, path, token === '' ? undefined : mark) as Record<string, unknown>
}

function withValue(value: unknown, [step, ...rest]: readonly string[], put: unknown): unknown {
  if (step === undefined) return put
  if (Array.isArray(value)) {
    return value.map((member, at) => (String(at) === step ? withValue(member, rest, put) : member))
  }
  const members = Object.entries(typeof value === 'object' && value !== null ? value : {})
  const old = members.find(([name]) => name === step)?.[1]
  return Object.fromEntries([...members.filter(([name]) => name !== step), [step, withValue(old, rest, put)]])
}

/** Serializes the JSON body, with its placeholders replaced by their texts. */
function finishBody(draft: Draft): void {
  if (draft.bytes !== null || draft.json === null) return
  let text = JSON.stringify(draft.json)
  for (const [mark, token] of draft.tokens) text = text.replace(JSON.stringify(mark), () => token)
  draft.bytes = Buffer.from(text)
}

type Mutation = (draft: Draft, operation: DocumentedOperation, chance: SeededRandom) => void

function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [
    ...draft.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ]
}

const mutations: readonly Mutation[] = [
  hostileField,
  hostileField,
  hostileParameter,
  hostileParameter,
  (draft, operation, chance) => {
    draft.caller = chance.pick([...powerless, ...rightful, 'bare-cookie-A'])
    if (operation.isSigned) draft.signature = chance.pick(['right', 'wrong', 'stale', 'none'])
  },
  (draft, _operation, chance) => {
    draft.method = chance.pick(methods)
    // Only methods that Node knows can be sent without a raw socket.
    draft.overSocket = chance.chance(0.2) || draft.overSocket || !METHODS.includes(draft.method)
  },
  (draft, _operation, chance) => {
    const { path } = draft
    draft.overSocket = true
    draft.path = chance.pick([
      ...[
        `${path}/`,
        `/${path}`,
        path.toUpperCase(),
        `${path};x=1`,
        `${path}/..`,
        `${path}/%2e%2e`,
        `${path}%00`,
        `${path}%`,
      ],
      ...[
        `${path}%2f`,
        path.replace('/api', '/api/.'),
        `http://evil.example${path}`,
        `HTTPS://x:y@z${path}`,
        '*',
        `${path}#x`,
      ],
      ...[
        `${path}${'/x'.repeat(1000)}`,
        `/${'a'.repeat(8300)}`,
        path.replaceAll('/', '%2f'),
        path.replaceAll('/', '\\'),
        `${path}.json`,
      ],
      ...[
        path
          .split('')
          .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
          .join(''),
        `${path}%ff`,
        `//evil.example${path}`,
        'x',
      ],
      ...[
        '/',
        '/healthz',
        '/openapi.json',
        '/problems',
        '/problems/x',
        '/docs/',
        '/docs/static/../x',
        '/quotes/1',
        '/assets/x',
      ],
    ])
  },
  (draft, operation, chance) => {
    const pair = chance.pick(draft.query.length === 0 ? ['a=1'] : draft.query)
    draft.query.push(
      chance.pick([
        ...[
          pair,
          `${pair}&${pair}`,
          '__proto__=1',
          'constructor[x]=1',
          'a%5B%5D=1',
          '%',
          '%zz=%ff',
          '=',
          '&&',
          '+++',
          `x=${'y'.repeat(7000)}`,
        ],
        ...operation.bodyFields.map((name) => `${name}=1`),
        ...columnNames.map((name) => `${name}=1`),
      ]),
    )
  },
  (draft, _operation, chance) => {
    if (draft.json !== null)
      for (const name of columnNames) if (chance.chance(0.3)) draft.json = { ...draft.json, [name]: 1 }
  },
  (draft, _operation, chance) => {
    if (draft.json !== null || chance.chance(0.2)) draft.bytes = Buffer.from(chance.pick(jsonBodies))
  },
  (draft, _operation, chance) => {
    const [name, value] = chance.pick(oddHeaders)
    setHeader(draft, name, value)
    if (name === 'Host' || !/^[\x20-\x7e]*$/.test(value)) draft.overSocket = true
  },
  (draft, _operation, chance) => setHeader(draft, 'Content-Type', chance.pick(contentTypes)),
  (draft, _operation, chance) => setHeader(draft, 'Content-Encoding', chance.pick(encodings)),
  (draft, _operation, chance) => {
    draft.overSocket = true
    draft.headers.push(
      chance.pick([
        ...draft.headers,
        ...oddHeaders,
        ['Authorization', 'Bearer x'],
        ['Content-Type', 'text/plain'],
      ]),
    )
  },
  (draft, _operation, chance) => {
    // Sizes around the body limits.
    const length = chance.pick([65_535, 65_536, 65_537, 262_145, 409_601, 524_289])
    if (chance.chance(0.1)) draft.bytes = Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`)
  },
]

/** Corrupts the body: flips a bit, or removes, repeats, truncates or re-encodes bytes. */
function mutateBytes(draft: Draft, chance: SeededRandom): void {
  const bytes = draft.bytes ?? Buffer.alloc(0)
  const at = Math.floor(chance.uniform() * (bytes.length + 1))
  const to = Math.min(bytes.length, at + 1 + Math.floor(chance.uniform() * 12))
  const put = (middle: Buffer) => Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(to)])
  const random = () =>
    Buffer.from(Array.from({ length: to - at + 1 }, () => Math.floor(chance.uniform() * 256)))
  const changed = [
    () => {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(chance.uniform() * 8))
      return flipped
    },
    () => put(Buffer.alloc(0)),
    () => put(random()),
    () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]),
    () => bytes.subarray(0, at),
    () =>
      put(
        Buffer.from(
          chance.pick([
            '\u0000',
            '\ufeff',
            '"',
            '\\',
            '{',
            '}',
            '[',
            ']',
            ',',
            ':',
            '\ud800',
            '1e999',
            '\\u0000',
            '\n',
          ]),
        ),
      ),
    () => Buffer.from(bytes.toString('latin1'), 'utf16le'),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.concat([bytes, bytes]),
  ]
  draft.bytes = chance.pick(changed)()
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether a successful request may have changed data. */
export function mayChange({ method, operation }: Pick<HostileRequest, 'method' | 'operation'>): boolean {
  return !safeMethods.has(method) && !(method === 'POST' && readingPosts.has(operation))
}

/** Gives a request that could change data a flaw for which it must be refused. */
function addFatalFlaw(draft: Draft, operation: DocumentedOperation, chance: SeededRandom): void {
  if (!mayChange({ method: draft.method, operation: operation.name })) return
  const isJson = operation.bodyType === 'application/json'
  const flaws: (() => void)[] = []
  // An operation for anyone needs no credential. With another method the operation is unknown, and this is the only sure flaw.
  if (!operation.isForAnyone || draft.method !== operation.method) {
    flaws.push(() => {
      draft.caller = chance.pick(powerless)
      draft.headers = draft.headers.filter(([name]) => !/^(authorization|cookie)$/i.test(name))
    })
  }
  if (draft.method === operation.method) {
    if (operation.isSigned) flaws.push(() => (draft.signature = chance.pick(['wrong', 'stale', 'none'])))
    if (isJson) {
      flaws.push(
        // A JSON object followed by a letter is invalid.
        () => (draft.bytes = Buffer.concat([draft.bytes ?? Buffer.alloc(0), Buffer.from('x')])),
        () =>
          (draft.bytes = Buffer.from(
            chance.pick(['[]', 'null', '1', '"a"', '{"a":1,"a":2}', '\ufeff{}', '{"__proto__":1}']),
          )),
      )
    }
    if (operation.bodyType !== null) {
      flaws.push(() => {
        draft.bytes ??= Buffer.from('{}')
        if (draft.bytes.length === 0) draft.bytes = Buffer.from('{}')
        setHeader(
          draft,
          'Content-Type',
          chance.pick(['text/plain', 'application/xml', 'application/json; charset=utf-16']),
        )
      })
    }
  }
  chance.pick(flaws)()
}
