import { createHmac } from 'node:crypto'
import Value from 'typebox/value'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, signsOf } from '#contract/endpoint.ts'
import { textBeforeBody } from '#contract/signature.ts'
import { signedEndpoints } from '#contract/signed-endpoints.ts'
import { tokenScopeNames } from '#contract/token-scopes.ts'
import { sessionCookie } from '#server/access/index.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { placesOf } from './request-places.ts'
import { type CallerName, expectations } from './route-expectations.ts'
import { type Operation, requestOf, type WalkRequest } from './route-requests.ts'
import { idsOf, jtiOf, type Label, sessionOf } from './seeded-ids.ts'
import { canaryOf, type SeededTenants, signingSecretOf } from './seeded-tenants.ts'
import { settled } from './settled.ts'

/**
 * Calls every operation with every kind of credential. After each call, the response may contain nothing of the brokerage that did
 * not call, and none of its rows may have changed.
 */

/** A backtest thread that never finishes, so that backtests always report `running`. */
export const endlessThread = new URL('../server/testing/hanging-thread.ts', import.meta.url)

export interface WalkAnswer {
  readonly status: number
  readonly text: string
  readonly body: string
}

export interface Walked {
  readonly calls: number
  /** One line per violation. Empty if tenants are isolated. */
  readonly faults: readonly string[]
  /** Operations whose responses contained canaries of the caller's own brokerage, so that a leak could be seen. */
  readonly seenOwn: ReadonlySet<string>
}

export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  (allEndpoints as readonly Endpoint[]).map((endpoint) => [endpoint.name, endpoint]),
)

const labelOf = (caller: CallerName): Label | null =>
  caller.endsWith('-A') ? 'A' : caller.endsWith('-B') ? 'B' : null
const otherThan = (label: Label): Label => (label === 'A' ? 'B' : 'A')

/** Returns the headers of a caller: its credential, and the signature that its integration would send. */
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
      scope: tokenScopeNames.join(' '),
      jti: jtiOf(label, token),
      iat: sentAtSeconds - 86_400,
      exp: expiresAt,
    })}`
  const dashboard = (user: number) =>
    app.tokens.sign('dashboard', {
      tenant_id: ids.tenant,
      user_id: user,
      // The service ignores this claim and reads the role from the database.
      role: 'owner',
      scope: 'dashboard',
      jti: sessionOf(label, user),
      iat: sentAtSeconds,
      exp: sentAtSeconds + 30 * 86_400,
    })
  const signed = signedEndpoints.find(({ path }) => path === request.path.replace(/\?.*$/, ''))
  const address =
    signed === undefined || signsOf(signed) === 'body' ? null : { method: signed.method, path: request.path }
  const body = request.text?.bytes ?? JSON.stringify(request.body)
  const signature: Record<string, string> =
    signed === undefined
      ? {}
      : {
          'X-Service-Timestamp': String(sentAtSeconds),
          'X-Service-Signature': `sha256=${createHmac('sha256', signingSecretOf(label))
            .update(textBeforeBody(String(sentAtSeconds), address) + body)
            .digest('hex')}`,
        }
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
      case 'admin-B':
        return { Authorization: `Bearer ${dashboard(ids.admin)}` }
      case 'member-A':
      case 'member-B':
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

export async function send(
  app: TestApp,
  method: string,
  request: WalkRequest,
  headers: Record<string, string>,
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
  const head = Object.entries(answer.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
  return { status, body, text: `${status} ${statusMessage}\n${head}\n${body}` }
}

/** Returns the first canary of a brokerage in a text, or null. Values that the caller sent (`sent`) do not count. */
export function leakIn(text: string, of: Label, sent: readonly string[] = []): string | null {
  const rest = sent.reduce((left, known) => left.replaceAll(known.toLowerCase(), ''), text.toLowerCase())
  const at = rest.indexOf(canaryOf(of).toLowerCase())
  return at === -1 ? null : rest.slice(at, at + 60)
}

interface CallOptions {
  /** Values that the caller sent, which the response may echo. */
  readonly sent?: readonly string[]
  /** The calling brokerage. The other one is checked; with null, both. */
  readonly as?: Label | null
  /** Skips the check for changes, which follows after several calls. */
  readonly checkLater?: boolean
  /** After a write, leaves the rows of the calling brokerage as they are. They are restored after several calls. */
  readonly seedLater?: boolean
}

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

  const isUnchanged = async (label: Label) => (await tenants.checksum(label)) === sums[label]

  async function expectUnchanged(label: Label, after: string, isAttempt = false): Promise<void> {
    if (isAttempt) await app.settle()
    const now = await tenants.checksum(label)
    if (now === sums[label]) return
    const changed = difference(sums[label] ?? '', now)
    // A failed sign-in is recorded in the audit log of the person's brokerage.
    const isRecorded = isAttempt && changed === 'tenant_counters, audit_log'
    if (!isRecorded) faults.push(`${after} changed brokerage ${label}: ${changed}`)
    await seed(label)
  }

  async function call(
    caller: CallerName,
    operation: string,
    request: WalkRequest,
    { sent = [], as = labelOf(caller), checkLater = false, seedLater = false }: CallOptions = {},
  ): Promise<WalkAnswer> {
    const { method } = endpoints.get(operation) ?? { method: 'GET' }
    const watching: Label[] = as === null ? ['A', 'B'] : [otherThan(as)]
    const what = `${caller}: ${operation} ${request.path}`
    const answer = await send(app, method, request, credentialOf(app, caller, tenants, request))
    calls += 1
    if (answer.status >= 500) faults.push(`${what} returned ${answer.status}`)
    for (const watcher of watching) {
      const leak = leakIn(answer.text, watcher, sent)
      if (leak !== null) faults.push(`${what} showed ${leak}`)
      // Each call of B and each write is checked at once; other reads are checked once per caller.
      const checkNow = as === 'B' || method !== 'GET'
      if (checkNow && !checkLater) await expectUnchanged(watcher, what, isForAnyone(operation))
    }
    if (as !== null && leakIn(answer.text, as) !== null) seenOwn.add(operation)
    if (as !== null && method !== 'GET' && answer.status < 300 && !seedLater) {
      if (operation.endsWith('create-import')) await settled(app, tenants, as)
      await seed(as)
    }
    return answer
  }

  return { faults, seenOwn, seed, remove, call, isUnchanged, expectUnchanged, calls: () => calls }
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

const isForAnyone = (operation: string) => endpoints.get(operation)?.who.kind === 'anyone'

/** After this time failed sign-ins no longer count. */
const signInWindowMs = 16 * 60_000

/**
 * Compares the status of every response with the table in `route-expectations.ts`, for these callers.
 *
 * Callers of B go first and those of A last, so that rows the service writes after a response cannot appear in the check of
 * another caller.
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
  const rows = expectations.filter(({ operation }) => !isForAnyone(operation))
  const check = async (
    row: (typeof expectations)[number],
    caller: CallerName,
    { as = labelOf(caller), checkLater = false }: Pick<CallOptions, 'as' | 'checkLater'> = {},
  ) => {
    const { operation, about, statuses } = row
    const ids = idsOf(about === '-' ? (labelOf(caller) ?? 'A') : about)
    const request = requestOf[operation as Operation](ids)
    const { status } = await walk.call(caller, operation, request, { as, checkLater })
    if (status !== statuses[caller]) {
      walk.faults.push(`${caller}: ${operation} about ${about} returned ${status}, not ${statuses[caller]}`)
    }
  }
  for (const phase of phases) {
    for (const caller of callers.filter((name) => labelOf(name) === phase)) {
      const callAll = async (checkLater: boolean) => {
        for (const row of rows) await check(row, caller, { checkLater })
      }
      await callAll(true)
      // One check covers all calls of a caller. If rows have changed, the calls are repeated with a check of each, to find the call.
      for (const label of (['A', 'B'] as const).filter((one) => one !== phase)) {
        if (await walk.isUnchanged(label)) continue
        walk.faults.push(`the calls of ${caller} changed brokerage ${label}`)
        await walk.seed(label)
        await callAll(false)
      }
    }
    await settleAfterResponses(app)
    if (phase === 'A') await walk.seed('A')
    if (phase === 'B') await walk.seed('B')
  }
  for (const caller of callers) {
    for (const row of expectations.filter(({ operation }) => isForAnyone(operation))) {
      app.now += signInWindowMs
      // A caller with B's password or invitation is a person of B, whatever its credential is.
      await check(row, caller, { as: row.about === 'B' ? 'B' : null })
    }
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}

/**
 * Puts every id of A into every parameter and member of every request of B, like the namespace rule of RESTler. None may give access
 * to A. With `step` 3, each parameter or member gets every third id, from a different first one.
 */
export async function walkForeignIds(app: TestApp, tenants: SeededTenants, step = 1): Promise<Walked> {
  const walk = walker(app, tenants)
  await walk.seed('A')
  await walk.seed('B')
  const a = idsOf('A')
  const numbers = [a.tenant, a.owner, a.spareToken, a.secret, a.import, a.request, a.lane, a.call]
  const texts = [a.laneRef, a.jti, a.requestKey, sessionOf('A', a.owner), ...(await cursorsOf(app, tenants))]
  let places = 0
  const names = [`${canaryOf('A')}quotes-customer_name`, `${canaryOf('A')}quotes-lane_ref`]
  for (const endpoint of endpoints.values()) {
    const { name, who, method } = endpoint
    if (who.kind === 'anyone') continue
    const caller = who.kind === 'service' ? 'service-B' : 'owner-B'
    const request = requestOf[name as Operation](idsOf('B'))
    let hasSucceeded = false
    for (const { in: part, schema, holding } of placesOf(endpoint, request)) {
      const isNumber = schema.type === 'integer' || schema.type === 'number'
      if (!isNumber && schema.type !== 'string' && part !== 'path') continue
      // Only reads get names of A, because a write would save them as names of B.
      const values = isNumber ? numbers : method === 'GET' ? [...texts, ...names] : texts
      places += 1
      // A parameter that accepts at most three of the ids, such as a key, gets each of these.
      const taken = values.filter((value) => Value.Check(schema, value))
      for (const [at, value] of values.entries()) {
        if ((at + places) % step !== 0 && !(taken.length <= 3 && taken.includes(value))) continue
        const sent = [String(value)]
        const changed = holding(part === 'body' ? JSON.stringify(value) : String(value))
        const { status } = await walk.call(caller, name, changed, {
          sent,
          checkLater: true,
          seedLater: true,
        })
        hasSucceeded ||= status < 300
      }
    }
    await walk.expectUnchanged('A', `${name} with the ids of A`)
    if (method !== 'GET' && hasSucceeded) await walk.seed('B')
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}

/** Returns pagination cursors of A. For B they may select only rows of B. */
async function cursorsOf(app: TestApp, tenants: SeededTenants): Promise<string[]> {
  const cursors: string[] = []
  for (const path of ['/api/lanes?limit=2', '/api/performance?by=lane&limit=1', '/api/shipments?limit=1']) {
    const answer = await send(app, 'GET', { path }, credentialOf(app, 'owner-A', tenants, { path }))
    const { next_cursor } = JSON.parse(answer.body) as { next_cursor: string | null }
    if (next_cursor === null)
      throw new Error(`A's list at ${path} has only one page, so there is no cursor to test.`)
    cursors.push(next_cursor)
  }
  return cursors
}

/** Waits for what the service writes after a response. It logs a call when its connection is done, after the caller has the response. */
async function settleAfterResponses(app: TestApp): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200))
  await app.settle()
}

/** Operations whose responses differ between calls. */
const varying = new Set(['get-backtest', 'export-backtest', 'get-rate-limit'])

/**
 * Sends every read as B, once without A and once with A in the database. The responses must be identical. This detects leaks
 * without a canary, such as an average or a count that includes rows of A.
 */
export async function walkAlone(app: TestApp, tenants: SeededTenants): Promise<Walked> {
  const walk = walker(app, tenants)
  const reads = [...endpoints.values()].filter(
    ({ method, who, name }) => method === 'GET' && who.kind !== 'anyone' && !varying.has(name),
  )
  const answers = async () => {
    const found = new Map<string, string>()
    for (const { name, who } of [
      ...reads.filter(({ who: asked }) => asked.kind === 'dashboard'),
      ...reads.filter(({ who: asked }) => asked.kind === 'service'),
    ]) {
      const ids = idsOf('B')
      // Without `quoted_by`, the read covers all rows of B, not only those of its owner.
      const path = requestOf[name as Operation](ids)
        .path.replace(/[?&]quoted_by=\d+$/, '')
        // Only refused calls are listed, because the calls of this function succeed and would differ.
        .replace(/token_id=\d+$/, 'outcome=refused')
      const answer = await walk.call(who.kind === 'service' ? 'service-B' : 'owner-B', name, { path })
      // Sealing draws a random number.
      found.set(name, `${answer.status} ${answer.body.replace(/"advice":"[\w-]+"/, '')}`)
    }
    await settleAfterResponses(app)
    return found
  }
  await settleAfterResponses(app)
  await walk.remove('A')
  await walk.seed('B')
  const before = await answers()
  await walk.seed('B')
  await walk.seed('A')
  const beside = await answers()
  for (const [name, alone] of before) {
    if (beside.get(name) !== alone) walk.faults.push(`${name} returns something else to B when A exists`)
  }
  return { calls: walk.calls(), faults: walk.faults, seenOwn: walk.seenOwn }
}
