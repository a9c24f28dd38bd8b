import { METHODS } from 'node:http'
import { type Endpoint, readsOnly, signsOf } from '#contract/endpoint.ts'
import { type SeededRandom, seededRandom } from '#server/sample/index.ts'
import { type FuzzRequest, type Header, rightfulCaller, valuesFor } from './fuzz-requests.ts'
import {
  columnNames,
  contentTypes,
  encodings,
  jsonBodies,
  methods,
  numberTexts,
  oddHeaders,
  texts,
} from './fuzz-values.ts'
import { placesOf } from './request-places.ts'
import type { CallerName } from './route-expectations.ts'
import { type Operation, requestOf, type WalkRequest } from './route-requests.ts'
import { endpoints } from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import type { ValueSchema } from './value-ends.ts'

/** Random requests of the fuzzer: valid requests with one to four changes of a value, the address, the headers or the bytes. */

/** A mutated request. Its number and the seed reproduce it. */
export type MutatedRequest = FuzzRequest & { readonly index: number }

interface Draft {
  readonly endpoint: Endpoint
  method: string
  path: string
  headers: Header[]
  /** The JSON body while its members can still change; null for an operation without one. */
  json: string | null
  bytes: Buffer | null
  caller: CallerName
  signature: FuzzRequest['signature']
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

/** POST operations that change nothing, even if the contract does not say so. */
const readingPosts: ReadonlySet<string> = new Set([
  'match-import-columns',
  'read-import-header',
  'read-pasted-quotes',
  'advise-quotes',
  'check-signature',
  'session-token',
])

/**
 * Generates a request, which depends only on the seed and the index. With `mustBeRefused`, a request that could change data gets a
 * flaw for which the service must refuse it.
 */
export function mutatedRequest(seed: number, index: number, mustBeRefused: boolean): MutatedRequest {
  const chance = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35))
  const draft = validDraft(chance.pick([...endpoints.values()]), index, chance)
  const kind = chance.weighted([15, 40, 45])
  if (kind === 1) changeValue(draft, chance)
  if (kind === 2) {
    for (let left = 1 + Math.floor(chance.uniform() * 4); left > 0; left--)
      chance.pick(mutations)(draft, chance)
  }
  if (draft.json !== null) draft.bytes ??= Buffer.from(draft.json)
  if (kind === 2 && chance.chance(0.4)) changeBytes(draft, chance)
  if (mustBeRefused) addFatalFlaw(draft, chance)
  const { endpoint, method, path, headers, bytes, caller, signature } = draft
  return {
    index,
    operation: endpoint.name as Operation,
    kind: 'mutation',
    what: `request ${index}`,
    caller,
    signature,
    method,
    target: path,
    headers,
    ...(bytes === null ? {} : { body: () => bytes }),
    overSocket: draft.overSocket || chance.chance(0.01),
  }
}

function validDraft(endpoint: Endpoint, index: number, chance: SeededRandom): Draft {
  const { path, body, text } = requestOf[endpoint.name as Operation](ids)
  const isJson = endpoint.body !== undefined && endpoint.bodyKind !== 'csv'
  const given = text?.bytes ?? (body === undefined ? '{}' : JSON.stringify(body))
  // Each sign-up has an e-mail address of its own, which depends only on the index.
  const json =
    endpoint.name === 'sign-up'
      ? JSON.stringify({ ...(body as object), email: `new-${index}@example.com` })
      : given
  const type = isJson ? 'application/json' : text?.type
  return {
    endpoint,
    method: endpoint.method,
    path,
    headers: type === undefined ? [] : [['Content-Type', type]],
    json: isJson ? json : null,
    bytes: isJson || text === undefined ? null : Buffer.from(text.bytes),
    caller: callerFor(endpoint, chance),
    signature: signsOf(endpoint) === null ? 'none' : 'right',
    overSocket: false,
  }
}

/** Picks mostly a caller with permission: a request refused by authentication tests none of the code behind it. */
function callerFor(endpoint: Endpoint, chance: SeededRandom): CallerName {
  const rightfulOne = rightfulCaller(endpoint)
  if (rightfulOne === 'nobody') return chance.chance(0.9) ? 'nobody' : chance.pick(rightful)
  if (chance.chance(0.15)) return chance.pick([...powerless, ...rightful, 'bare-cookie-A'])
  return rightfulOne === 'service-A'
    ? rightfulOne
    : chance.pick(['owner-A', 'owner-A', 'admin-A', 'cookie-A'])
}

/** Changes the value of a parameter or of a member, or adds one that the contract does not have. */
function changeValue(draft: Draft, chance: SeededRandom): void {
  const { endpoint, path, json } = draft
  const valid: WalkRequest =
    json === null ? { path } : { path, text: { type: 'application/json', bytes: json } }
  const places = draft.bytes === null ? placesIn(endpoint, valid) : []
  if (places.length === 0 || chance.chance(0.1)) {
    const name = chance.pick(texts)
    if (json === null || chance.chance(0.3))
      addToQuery(draft, `${encoded(name, chance)}=${encoded(name, chance)}`)
    else draft.json = `{${JSON.stringify(name)}:${chance.pick(numberTexts)},${json.slice(1)}`
    return
  }
  const place = chance.pick(places)
  const values = valuesFor(chance.chance(0.85) ? place : { in: place.in, schema: { type: 'string' } })
  const long = () => `[${Array.from({ length: 120 }, () => chance.pick(numberTexts)).join(',')}]`
  const other = () => (chance.chance(0.5) ? long() : chance.pick(jsonBodies).toString())
  const value = place.in === 'body' && chance.chance(0.2) ? other() : chance.pick(values)
  const changed = place.holding(value)
  draft.path = changed.path
  draft.json = changed.text?.bytes ?? draft.json
}

/** The places of a request; none if an earlier change gave the path more or fewer segments, or made the body no object. */
function placesIn(endpoint: Endpoint, request: WalkRequest) {
  if (request.path.split('?')[0]?.split('/').length !== endpoint.path.split('/').length) return []
  try {
    return placesOf(endpoint, request)
  } catch {
    return []
  }
}

function encoded(text: string, chance: SeededRandom): string {
  return chance.chance(0.95)
    ? encodeURIComponent(text.toWellFormed())
    : [...Buffer.from(text.slice(0, 500))].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

function addToQuery(draft: Draft, pair: string): void {
  draft.path += `${draft.path.includes('?') ? '&' : '?'}${pair}`
}

type Mutation = (draft: Draft, chance: SeededRandom) => void

function setHeader(draft: Draft, name: string, value: string): void {
  draft.headers = [
    ...draft.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase()),
    [name, value],
  ]
}

const mutations: readonly Mutation[] = [
  changeValue,
  changeValue,
  changeValue,
  changeValue,
  (draft, chance) => {
    draft.caller = chance.pick([...powerless, ...rightful, 'bare-cookie-A'])
    if (signsOf(draft.endpoint) !== null) draft.signature = chance.pick(['right', 'wrong', 'stale', 'none'])
  },
  (draft, chance) => {
    draft.method = chance.pick(methods)
    // Only methods that Node knows can be sent without a raw socket.
    draft.overSocket = chance.chance(0.2) || draft.overSocket || !METHODS.includes(draft.method)
  },
  (draft, chance) => {
    const [path = '', query] = draft.path.split('?')
    draft.overSocket = true
    const other = chance.pick([
      ...['/', ';x=1', '/..', '/%2e%2e', '%00', '%', '%2f', '#x', '.json', '%ff'].map((end) => path + end),
      ...[`/${path}`, `http://evil.example${path}`, `HTTPS://x:y@z${path}`, `//evil.example${path}`],
      ...[path.toUpperCase(), path.replace('/api', '/api/.'), `${path}${'/x'.repeat(1000)}`],
      ...[path.replaceAll('/', '%2f'), path.replaceAll('/', '\\'), `/${'a'.repeat(8300)}`],
      path.replaceAll(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
      ...['*', 'x', '/', '/healthz', '/openapi.json', '/problems', '/problems/x', '/docs/'],
      ...['/docs/static/../x', '/quotes/1', '/assets/x'],
    ])
    draft.path = query === undefined ? other : `${other}?${query}`
  },
  (draft, chance) => {
    const pair = chance.pick(draft.path.split('?')[1]?.split('&') ?? ['a=1'])
    const members = Object.keys((draft.endpoint.body as ValueSchema | undefined)?.properties ?? {})
    const odd = ['__proto__=1', 'constructor[x]=1', 'a%5B%5D=1', '%', '%zz=%ff', '=', '&&', '+++']
    const named = [...members, ...columnNames].map((name) => `${name}=1`)
    addToQuery(draft, chance.pick([pair, `${pair}&${pair}`, ...odd, `x=${'y'.repeat(7000)}`, ...named]))
  },
  (draft, chance) => {
    for (const name of columnNames) {
      if (draft.json?.startsWith('{"') && chance.chance(0.3))
        draft.json = `{"${name}":1,${draft.json.slice(1)}`
    }
  },
  (draft, chance) => {
    if (draft.json !== null || chance.chance(0.2)) draft.bytes = Buffer.from(chance.pick(jsonBodies))
  },
  (draft, chance) => {
    const [name, value] = chance.pick(oddHeaders)
    setHeader(draft, name, value)
    if (name === 'Host' || !/^[\x20-\x7e]*$/.test(value)) draft.overSocket = true
  },
  (draft, chance) => setHeader(draft, 'Content-Type', chance.pick(contentTypes)),
  (draft, chance) => setHeader(draft, 'Content-Encoding', chance.pick(encodings)),
  (draft, chance) => {
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
  (draft, chance) => {
    // Sizes around the body limits.
    const length = chance.pick([65_535, 65_536, 65_537, 262_145, 409_601, 524_289])
    if (chance.chance(0.1)) draft.bytes = Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`)
  },
]

/** Corrupts the body: flips a bit, or removes, repeats, truncates or re-encodes bytes. */
function changeBytes(draft: Draft, chance: SeededRandom): void {
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
    () => put(Buffer.from(chance.pick([...'\u0000\ufeff"\\{}[],:\ud800\n', '1e999', '\\u0000']))),
    () => Buffer.from(bytes.toString('latin1'), 'utf16le'),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.concat([bytes, bytes]),
  ]
  draft.bytes = chance.pick(changed)()
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether a successful request may have changed data. */
export function mayChange({ method, operation }: Pick<FuzzRequest, 'method' | 'operation'>): boolean {
  const endpoint = endpoints.get(operation)
  const isRead = endpoint?.method === method && readsOnly(endpoint) && method === 'POST'
  return !safeMethods.has(method) && !isRead && !(method === 'POST' && readingPosts.has(operation))
}

function addFatalFlaw(draft: Draft, chance: SeededRandom): void {
  const { endpoint } = draft
  if (!mayChange({ method: draft.method, operation: endpoint.name as Operation })) return
  const isJson = endpoint.body !== undefined && endpoint.bodyKind !== 'csv'
  const flaws: (() => void)[] = []
  // A missing credential is a flaw, except at operations for anyone. With another method it is the only sure flaw.
  if (endpoint.who.kind !== 'anyone' || draft.method !== endpoint.method) {
    flaws.push(() => {
      draft.caller = chance.pick(powerless)
      draft.headers = draft.headers.filter(([name]) => !/^(authorization|cookie)$/i.test(name))
    })
  }
  if (draft.method === endpoint.method) {
    if (signsOf(endpoint) !== null)
      flaws.push(() => (draft.signature = chance.pick(['wrong', 'stale', 'none'])))
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
    if (endpoint.body !== undefined || endpoint.bodyKind === 'csv') {
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
