import { createHmac } from 'node:crypto'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { sessionCookie } from '#server/access/index.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { type CallerName, expectations } from './route-expectations.ts'
import { type Operation, requestOf, type WalkRequest } from './route-requests.ts'
import {
  canaryOf,
  idsOf,
  jtiOf,
  type Label,
  type SeededTenants,
  sessionOf,
  signingSecretOf,
} from './seeded-tenants.ts'

/**
 * Walks over every operation with every kind of credential, and looks at each answer with the eyes of the brokerage that
 * is not calling: nothing of it may be in the answer, and nothing of it may have changed.
 */

/** A backtest answers `running` and no more: a walk asks for it often, and waits for none. */
export const endlessThread = new URL('../server/testing/hanging-thread.ts', import.meta.url)

export interface WalkAnswer {
  readonly status: number
  /** Status line, headers and body, as they came. */
  readonly text: string
  readonly body: string
}

export interface Walked {
  readonly calls: number
  /** What should not have been, a line each; empty when the walls held. */
  readonly faults: readonly string[]
  /** The operations in whose answers a caller saw canaries of their own brokerage: elsewhere none can be missed. */
  readonly seenOwn: ReadonlySet<string>
}

export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  (allEndpoints as readonly Endpoint[]).map((endpoint) => [endpoint.name, endpoint]),
)

const labelOf = (caller: CallerName): Label | null =>
  caller.endsWith('-A') ? 'A' : caller.endsWith('-B') ? 'B' : null
export const otherThan = (label: Label): Label => (label === 'A' ? 'B' : 'A')

/** The headers of a caller: what tells who they are, and the signature that their integration would send. */
export function credentialOf(
  app: TestApp,
  caller: CallerName,
  { sentAtSeconds }: Pick<SeededTenants, 'sentAtSeconds'>,
  request: WalkRequest,
): Record<string, string> {
  const label = labelOf(caller) ?? 'A'
  const ids = idsOf(label)
  const service = (token: number, expiresAt = sentAtSeconds + 30 * 86_400) =>
    `Bearer ${app.tokens.sign('service', {
      tenant_id: ids.tenant,
      user_id: ids.owner,
      role: 'owner',
      scope: 'integrations:write',
      jti: jtiOf(label, token),
      iat: sentAtSeconds - 86_400,
      exp: expiresAt,
    })}`
  const dashboard = (user: number) =>
    app.tokens.sign('dashboard', {
      tenant_id: ids.tenant,
      user_id: user,
      // The role is the database's to say: whatever a token claims is not believed.
      role: 'owner',
      scope: 'dashboard',
      jti: sessionOf(label, user),
      iat: sentAtSeconds,
      exp: sentAtSeconds + 30 * 86_400,
    })
  const signature: Record<string, string> =
    request.text?.type === 'application/json'
      ? {
          'X-Service-Timestamp': String(sentAtSeconds),
          'X-Service-Signature': `sha256=${createHmac('sha256', signingSecretOf(label))
            .update(`${sentAtSeconds}.${request.text.bytes}`)
            .digest('hex')}`,
        }
      : {}
  const authorization = (): Record<string, string> => {
    switch (caller) {
      case 'nobody':
        return {}
      case 'garbage':
        return { Authorization: 'Bearer aaaa.bbbb.cccc' }
      case 'service-A':
      case 'service-B':
        return { Authorization: service(ids.liveToken) }
      case 'expired-A':
        return { Authorization: service(ids.expiredToken, sentAtSeconds - 3600) }
      case 'revoked-A':
        return { Authorization: service(ids.revokedToken) }
      case 'owner-A':
      case 'owner-B':
        return { Authorization: `Bearer ${dashboard(ids.owner)}` }
      case 'admin-A':
        return { Authorization: `Bearer ${dashboard(ids.admin)}` }
      case 'member-A':
        return { Authorization: `Bearer ${dashboard(ids.member)}` }
      case 'viewer-A':
        return { Authorization: `Bearer ${dashboard(ids.viewer)}` }
      case 'removed-A':
        return { Authorization: `Bearer ${dashboard(ids.removed)}` }
      case 'cookie-A':
        return { Cookie: `${sessionCookie}=${dashboard(ids.owner)}`, 'X-Lanewise-Request': '1' }
      case 'bare-cookie-A':
        return { Cookie: `${sessionCookie}=${dashboard(ids.owner)}` }
    }
  }
  return { ...signature, ...authorization() }
}

/** Asks without a socket, and asks again where the service says that it has no time: on a busy machine that is no fault. */
export async function send(
  app: TestApp,
  method: string,
  request: WalkRequest,
  headers: Record<string, string>,
  tries = 5,
): Promise<WalkAnswer> {
  const content =
    request.text ??
    (request.body === undefined
      ? undefined
      : { type: 'application/json', bytes: JSON.stringify(request.body) })
  const answer = await app.inject({
    method: method as 'GET',
    url: request.path,
    headers: { ...headers, ...(content === undefined ? {} : { 'Content-Type': content.type }) },
    ...(content === undefined ? {} : { payload: content.bytes }),
  })
  const { statusCode: status, statusMessage, payload: body } = answer
  if (status === 503 && tries > 0) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    return send(app, method, request, headers, tries - 1)
  }
  const head = Object.entries(answer.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
  return { status, body, text: `${status} ${statusMessage}\n${head}\n${body}` }
}

/** What of a brokerage is in a text that it should not be in, or null. What the caller sent itself tells them nothing. */
export function leakIn(text: string, of: Label, sent: readonly string[] = []): string | null {
  const rest = sent.reduce((left, known) => left.replaceAll(known.toLowerCase(), ''), text.toLowerCase())
  const at = rest.indexOf(canaryOf(of).toLowerCase())
  return at === -1 ? null : rest.slice(at, at + 60)
}

interface CallOptions {
  /** What the caller sent itself and may be sent back: it tells them nothing. */
  readonly sent?: readonly string[]
  /** The brokerage whose person or system calls; the other one watches, and both where it is nobody of theirs. */
  readonly as?: Label | null
  /** Whether anything has changed is looked at after several calls together. */
  readonly laterOn?: boolean
}

/** Calls as one caller, noting every fault. */
function walker(app: TestApp, tenants: SeededTenants) {
  const faults: string[] = []
  const seenOwn = new Set<string>()
  const sums: Partial<Record<Label, string>> = {}
  let calls = 0

  async function seed(label: Label): Promise<void> {
    await app.settle()
    await tenants.seed(label)
    sums[label] = await tenants.checksum(label)
  }

  async function remove(label: Label): Promise<void> {
    await tenants.remove(label)
    sums[label] = await tenants.checksum(label)
  }

  async function holdUnchanged(label: Label, after: string, isAttempt = false): Promise<void> {
    if (isAttempt) await app.settle()
    const now = await tenants.checksum(label)
    if (now === sums[label]) return
    const changed = difference(sums[label] ?? '', now)
    // Whoever tries to sign in as somebody: that it failed is recorded with the brokerage of that person.
    const isRecorded = isAttempt && changed === 'tenant_counters, audit_log'
    if (!isRecorded) faults.push(`${after} changed brokerage ${label}: ${changed}`)
    await seed(label)
  }

  async function call(
    caller: CallerName,
    operation: string,
    request: WalkRequest,
    { sent = [], as = labelOf(caller), laterOn = false }: CallOptions = {},
  ): Promise<WalkAnswer> {
    const { method } = endpoints.get(operation) ?? { method: 'GET' }
    const watching: Label[] = as === null ? ['A', 'B'] : [otherThan(as)]
    const what = `${caller}: ${operation} ${request.path}`
    const answer = await send(app, method, request, credentialOf(app, caller, tenants, request))
    calls += 1
    if (answer.status >= 500) faults.push(`${what} answered ${answer.status}`)
    for (const watcher of watching) {
      const leak = leakIn(answer.text, watcher, sent)
      if (leak !== null) faults.push(`${what} showed ${leak}`)
      // Every call of B is looked at alone. What the others read is looked at when each of them is done.
      const atOnce = as === 'B' || method !== 'GET'
      if (atOnce && !laterOn) await holdUnchanged(watcher, what, isForAnyone(operation))
    }
    if (as !== null && leakIn(answer.text, as) !== null) seenOwn.add(operation)
    if (as !== null && method !== 'GET' && answer.status < 300 && !laterOn) {
      if (operation === 'create-import') await importsEnded(tenants, as)
      await seed(as)
    }
    return answer
  }

  return { faults, seenOwn, seed, remove, call, holdUnchanged, calls: () => calls }
}

export function difference(before: string, after: string): string {
  const [was, is] = [before, after].map((text) => JSON.parse(text) as { name?: string; sum?: string }[])
  return (
    is
      ?.filter((table, at) => JSON.stringify(table) !== JSON.stringify(was?.[at]))
      .map(({ name }) => name)
      .join(', ') ?? ''
  )
}

/** An import goes on behind its answer. */
async function importsEnded(tenants: SeededTenants, label: Label): Promise<void> {
  for (let looks = 0; looks < 500; looks++) {
    const { rowCount } = await tenants
      .asOwner(label)
      .query(`select from imports where tenant_id = $1 and status in ('running', 'undoing')`, [
        idsOf(label).tenant,
      ])
    if (rowCount === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('An import did not end.')
}

const isForAnyone = (operation: string) => endpoints.get(operation)?.who.kind === 'anyone'

/** A quarter of an hour later no failed sign-in is remembered. */
const signInWindowMs = 16 * 60_000

/**
 * Holds every answer to these callers against the table of what is expected.
 *
 * Those of B go first, and those of A last: what the service notes of a call behind its answer then never falls into
 * the look at another.
 */
export async function walkRoutes(
  app: TestApp,
  tenants: SeededTenants,
  callers: readonly CallerName[],
): Promise<Walked> {
  const walk = walker(app, tenants)
  await walk.seed('A')
  await walk.seed('B')
  const phases: readonly (Label | null)[] = ['B', null, 'A']
  const hold = async (row: (typeof expectations)[number], caller: CallerName, as = labelOf(caller)) => {
    const { operation, about, statuses } = row
    const ids = idsOf(about === '-' ? (labelOf(caller) ?? 'A') : about)
    const request = requestOf[operation as Operation](ids)
    const { status } = await walk.call(caller, operation, request, { as })
    if (status !== statuses[caller]) {
      walk.faults.push(`${caller}: ${operation} about ${about} answered ${status}, not ${statuses[caller]}`)
    }
  }
  for (const phase of phases) {
    for (const caller of callers.filter((name) => labelOf(name) === phase)) {
      for (const row of expectations) if (!isForAnyone(row.operation)) await hold(row, caller)
      for (const label of ['A', 'B'] as const) {
        if (label !== phase) await walk.holdUnchanged(label, `${caller}, reading,`)
      }
    }
    await quiet(app)
    if (phase === 'A') await walk.seed('A')
    if (phase === 'B') await walk.seed('B')
  }
  for (const caller of callers) {
    for (const row of expectations.filter(({ operation }) => isForAnyone(operation))) {
      app.now += signInWindowMs
      // Who has B's password or invitation is B's person, whatever else the request came with.
      await hold(row, caller, row.about === 'B' ? 'B' : null)
    }
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}

/**
 * Puts every id of A into every parameter of every request of B, in the manner of RESTler's name-space rule: none of it
 * may open anything of A. `step` 3 puts every third of them there, from another one on for each parameter.
 */
export async function walkForeignIds(app: TestApp, tenants: SeededTenants, step = 1): Promise<Walked> {
  const walk = walker(app, tenants)
  await walk.seed('A')
  await walk.seed('B')
  const a = idsOf('A')
  const numbers = [a.tenant, a.owner, a.spareToken, a.secret, a.import, a.request, a.lane, a.call]
  const texts = [a.laneRef, a.jti, a.requestKey, sessionOf('A', a.owner), ...(await cursorsOf(app, tenants))]
  let places = 0
  const names = [`${canaryOf('A')}lanes-customer_name`, `${canaryOf('A')}lanes-lane_ref`]
  for (const endpoint of endpoints.values()) {
    const { name, who, method } = endpoint
    if (who.kind === 'anyone') continue
    const caller = who.kind === 'service' ? 'service-B' : 'owner-B'
    const request = requestOf[name as Operation](idsOf('B'))
    for (const { change, kind } of placesIn(endpoint, request)) {
      // Only a read: in a write the name would be B's own from then on.
      const values = kind === 'number' ? numbers : method === 'GET' ? [...texts, ...names] : texts
      places += 1
      for (const [at, value] of values.entries()) {
        if ((at + places) % step !== 0) continue
        await walk.call(caller, name, change(value), { sent: [String(value)], laterOn: true })
      }
    }
    await walk.holdUnchanged('A', `${name} with the ids of A`)
    if (method !== 'GET') await walk.seed('B')
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}

/** The places of a request that take a number or a text, with a way to put another one there. */
function placesIn(
  endpoint: Endpoint,
  request: WalkRequest,
): { kind: 'number' | 'text'; change: (value: string | number) => WalkRequest }[] {
  const named = (schema: unknown) =>
    Object.entries(
      (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {},
    )
  const kindOf = (type: string | undefined) =>
    type === 'integer' || type === 'number'
      ? ('number' as const)
      : type === 'string'
        ? ('text' as const)
        : null
  const [path = '', query = ''] = request.path.split('?')
  return [
    ...named(endpoint.params).map(([name, { type }]) => ({
      kind: kindOf(type) ?? ('text' as const),
      change: (value: string | number) => {
        const at = endpoint.path.split('/').indexOf(`{${name}}`)
        const parts = path.split('/').with(at, encodeURIComponent(value))
        return { ...request, path: query === '' ? parts.join('/') : `${parts.join('/')}?${query}` }
      },
    })),
    ...named(endpoint.query).flatMap(([name, { type }]) => {
      const kind = kindOf(type)
      if (kind === null) return []
      const change = (value: string | number) => {
        const changed = new URLSearchParams(query)
        changed.set(name, String(value))
        return { ...request, path: `${path}?${changed}` }
      }
      return [{ kind, change }]
    }),
    ...(endpoint.bodyKind === 'csv' ? [] : named(endpoint.body)).flatMap(([name, { type }]) => {
      const kind = kindOf(type)
      if (kind === null) return []
      const sent = request.text === undefined ? request.body : JSON.parse(request.text.bytes)
      const change = (value: string | number) => {
        const body = { ...(sent as object), [name]: value }
        return request.text === undefined
          ? { ...request, body }
          : { ...request, text: { ...request.text, bytes: JSON.stringify(body) } }
      }
      return [{ kind, change }]
    }),
  ]
}

/** Where A's own pages end: a cursor that got into the wrong hands is only a place in one's own list. */
async function cursorsOf(app: TestApp, tenants: SeededTenants): Promise<string[]> {
  const cursors: string[] = []
  for (const path of ['/api/lanes?limit=2', '/api/performance?by=lane&limit=1', '/api/shipments?limit=1']) {
    const answer = await send(app, 'GET', { path }, credentialOf(app, 'owner-A', tenants, { path }))
    const { next_cursor } = JSON.parse(answer.body) as { next_cursor: string | null }
    if (next_cursor === null) throw new Error(`A's list at ${path} has one page: there is no cursor to try.`)
    cursors.push(next_cursor)
  }
  return cursors
}

/** The end of a call is noted when its connection is done with it, which may be after the caller has read the answer. */
async function quiet(app: TestApp): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200))
  await app.settle()
}

/** Answers that differ from call to call, whoever else there is. */
const neverTheSame = new Set(['get-backtest', 'get-rate-limit'])

/**
 * Asks every read for everything B has, once while B is alone and once beside A: the answers must be the same to the
 * byte. It sees what no canary can show, such as an average or a count with a number of A's in it.
 */
export async function walkAlone(app: TestApp, tenants: SeededTenants): Promise<Walked> {
  const walk = walker(app, tenants)
  const reads = [...endpoints.values()].filter(
    ({ method, who, name }) => method === 'GET' && who.kind !== 'anyone' && !neverTheSame.has(name),
  )
  const answers = async () => {
    const found = new Map<string, string>()
    for (const { name, who } of [
      ...reads.filter(({ who: asked }) => asked.kind === 'dashboard'),
      ...reads.filter(({ who: asked }) => asked.kind === 'service'),
    ]) {
      const ids = idsOf('B')
      // Everything, not only what B's own owner did.
      const path = requestOf[name as Operation](ids)
        .path.replace(/[?&]quoted_by=\d+$/, '')
        // The calls of the walk itself were let in.
        .replace(/token_id=\d+$/, 'outcome=refused')
      const answer = await walk.call(who.kind === 'service' ? 'service-B' : 'owner-B', name, { path })
      found.set(name, `${answer.status} ${answer.body}`)
    }
    await quiet(app)
    return found
  }
  await quiet(app)
  await walk.remove('A')
  await walk.seed('B')
  const before = await answers()
  await walk.seed('B')
  await walk.seed('A')
  const beside = await answers()
  for (const [name, alone] of before) {
    if (beside.get(name) !== alone) walk.faults.push(`${name} answers B otherwise when A is there`)
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}
