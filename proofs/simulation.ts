import { createHash } from 'node:crypto'
import { type Database, DatabaseUnavailable } from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, requireStatus, signedHeaders } from '#testing/make.ts'
import {
  between,
  type Finding,
  firstFaults,
  oneOf,
  type Proof,
  type ProofOptions,
  seeded,
  shareOf,
} from './proof.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'

const tenantsCount = 3
const quotesEach = 3
const stepsPerSeed = 50

/** When a transaction fails: before it begins, at its end with a rollback, or after the commit, whose response is lost. */
type Fault = 'before' | 'within' | 'after'

/** Wraps the database. `arm` makes one of the next transactions fail. */
function faultInjector() {
  let armed: { in: number; fault: Fault } | null = null
  const lost = () => Object.assign(new Error('terminating connection'), { code: '57P01' })
  const nextFault = (): Fault | null => {
    if (armed === null || armed.in-- > 0) return null
    const { fault } = armed
    armed = null
    return fault
  }
  return {
    arm(uses: number, fault: Fault) {
      armed = { in: uses, fault }
    },
    wrap: (database: Database): Database => ({
      ...database,
      async inTenant(tenant, work) {
        const fault = nextFault()
        if (fault === 'before') throw new DatabaseUnavailable(lost())
        const result = await database.inTenant(tenant, async (transaction) => {
          const done = await work(transaction)
          if (fault === 'within') throw lost()
          return done
        })
        if (fault === 'after') throw new DatabaseUnavailable(lost(), true)
        return result
      },
      // The call is a single message, which PostgreSQL commits or rolls back as a whole.
      async callInTenant(tenant, name, values) {
        const fault = nextFault()
        if (fault === 'before' || fault === 'within') throw new DatabaseUnavailable(lost())
        const value = await database.callInTenant(tenant, name, values)
        if (fault === 'after') throw new DatabaseUnavailable(lost(), name === 'book_shipment')
        return value as never
      },
    }),
  }
}

interface Sent {
  readonly tenant: number
  readonly bytes: string
  readonly timestamp: number
  readonly digest: string
  /** Whether at least one response was 200. */
  acknowledged: boolean
  /** Whether every response so far says that nothing was changed. */
  refused: boolean
}

interface World {
  readonly app: TestApp
  readonly database: ProofDatabase
  readonly integrations: readonly Integration[]
  readonly lanes: readonly (readonly string[])[]
  readonly sent: Sent[]
  /** The signature times per quote, in seconds. They are distinct, so the order is unambiguous. */
  readonly signed: Map<string, Set<number>>
  /** When calls were admitted, by the simulated clock. */
  readonly admitted: number[][]
  readonly faults: string[]
}

const tag = (tenant: number) => `CANARY-${tenant}-`

async function act(world: World, random: () => number): Promise<void> {
  const tenant = between(random, 0, tenantsCount - 1)
  const kind = random()
  if (kind < 0.55) await push(world, tenant, newUpdate(world, tenant, random))
  else if (kind < 0.75) {
    const mine = world.sent.filter(
      (one) => one.tenant === tenant && world.app.now / 1000 - one.timestamp < 290,
    )
    const again = mine[Math.floor(random() * mine.length)]
    if (again !== undefined) await push(world, tenant, again)
  } else await read(world, tenant, random)
}

function newUpdate(world: World, tenant: number, random: () => number): Sent {
  const lanes = world.lanes[tenant]
  const laneRef = lanes?.[Math.floor(random() * lanes.length)] ?? ''
  const signed = world.signed.get(laneRef) ?? new Set()
  world.signed.set(laneRef, signed)
  let timestamp = Math.floor(world.app.now / 1000) - between(random, 0, 200)
  while (signed.has(timestamp)) timestamp--
  signed.add(timestamp)
  const some = () => random() < 0.6
  const bytes = JSON.stringify({
    lane_ref: laneRef,
    ...(some() ? { customer_rate: between(random, 1_000, 3_000) } : {}),
    ...(some() ? { truck_cost: between(random, 800, 2_500) } : {}),
    ...(some() ? { customer_name: `${tag(tenant)}${between(random, 1, 9)}` } : {}),
    ...(some() ? { carrier_name: `${tag(tenant)}${between(random, 1, 9)}` } : {}),
  })
  const digest = createHash('sha256').update(`${timestamp}.${bytes}`).digest('hex')
  const update = { tenant, bytes, timestamp, digest, acknowledged: false, refused: true }
  world.sent.push(update)
  return update
}

async function push(world: World, tenant: number, update: Sent): Promise<void> {
  const integration = world.integrations[tenant]
  if (integration === undefined) throw new Error('No tenant.')
  const answer = await fetch(`${world.app.url}/api/integrations/tms/shipment-update`, {
    method: 'POST',
    headers: signedHeaders(integration, update.bytes, update.timestamp),
    body: update.bytes,
  })
  const text = await answer.text()
  if (answer.status === 200) update.acknowledged = true
  if (answer.status === 200 || /outcome unknown/.test(text)) update.refused = false
  checkResponse(world, tenant, answer.status, text, 'an update')
}

async function read(world: World, tenant: number, random: () => number): Promise<void> {
  const integration = world.integrations[tenant]
  if (integration === undefined) throw new Error('No tenant.')
  const insight = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
  const [path, token] = oneOf(random, [
    [insight, integration.token],
    ['/api/lanes?limit=50', integration.tenant.owner],
    ['/api/shipments?limit=50', integration.tenant.owner],
  ])
  const answer = await fetch(`${world.app.url}${path}`, { headers: { Authorization: `Bearer ${token}` } })
  checkResponse(world, tenant, answer.status, await answer.text(), path === insight ? 'an insight' : 'a page')
}

/** Checks what must be true of every response. */
function checkResponse(
  { app, admitted, faults }: World,
  tenant: number,
  status: number,
  text: string,
  what: string,
): void {
  if (![200, 429, 503].includes(status)) faults.push(`${what} returned ${status}: ${text.slice(0, 200)}`)
  for (let other = 0; other < tenantsCount; other++) {
    if (other !== tenant && text.includes(tag(other))) faults.push(`tenant ${tenant} saw ${tag(other)}`)
  }
  if (status !== 200 || what === 'a page') return
  const times = admitted[tenant] ?? []
  times.push(app.now)
  if (times.filter((time) => app.now - time < 1_000).length > 10)
    faults.push('eleven requests were admitted within a second')
}

interface KeptUpdate {
  digest: string
  lane_ref: string
  carried: Record<string, string | number>
}

/** Checks what must be true of the database after every step. */
async function checkDatabase({ database, sent, faults }: World): Promise<void> {
  const kept = await database.ask<KeptUpdate>(`
    select encode(u.request_digest, 'hex') as digest, l.lane_ref, u.carried
    from shipment_updates u join quotes l using (tenant_id, lane_id) order by u.signed_at`)
  const digests = new Set(kept.map(({ digest }) => digest))
  for (const { digest, acknowledged, refused, bytes } of sent) {
    if (acknowledged && !digests.has(digest)) faults.push(`acknowledged but missing: ${bytes}`)
    if (refused && digests.has(digest)) faults.push(`reported as not stored but stored: ${bytes}`)
  }
  const expectedQuotes = new Map<string, Record<string, string | number>>()
  for (const { lane_ref, carried } of kept) {
    expectedQuotes.set(lane_ref, Object.assign(expectedQuotes.get(lane_ref) ?? {}, carried))
  }
  const lanes = await database.ask<Record<string, string | number | null>>(
    `select lane_ref, customer_rate_cents::int / 100 as customer_rate, truck_cost_cents::int / 100 as truck_cost,
            customer_name, carrier_name, outcome from quotes`,
  )
  for (const lane of lanes) {
    const fold = expectedQuotes.get(String(lane.lane_ref)) ?? {}
    const isBooked = fold.customer_rate !== undefined || fold.truck_cost !== undefined
    const wanted = {
      customer_rate: fold.customer_rate ?? null,
      truck_cost: fold.truck_cost ?? null,
      customer_name: fold.customer_name ?? null,
      carrier_name: fold.carrier_name ?? null,
      outcome: isBooked ? 'won' : 'pending',
    }
    for (const [name, value] of Object.entries(wanted)) {
      if (lane[name] !== value) faults.push(`${name} of a lane is ${lane[name]}; its updates give ${value}`)
    }
  }
}

async function makeQuotes(app: TestApp, { tenant }: Integration): Promise<string[]> {
  const quoted = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: {
      customer_name: 'Simulated Foods',
      lanes: Array.from({ length: quotesEach }, () => ({
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 2000,
      })),
    },
  })
  return requireStatus('quote request', quoted, 201).lanes.map(
    ({ lane_ref }: { lane_ref: string }) => lane_ref,
  )
}

/** Runs one seed: a few concurrent callers per step, with injected faults, and a check of everything after each step. */
async function playSeed(
  seed: number,
  staleWrites: 'reject' | 'apply',
  { cluster, signal }: ProofOptions,
): Promise<string[]> {
  const random = seeded(seed)
  const database = await proofDatabase(cluster)
  const injector = faultInjector()
  let monotonic = 0
  const app = await appOn(database.forTests, {
    config: { staleWrites },
    wrapDatabase: injector.wrap,
    monotonic: () => monotonic,
  })
  try {
    const integrations: Integration[] = []
    const lanes: string[][] = []
    for (let made = 0; made < tenantsCount; made++) {
      const integration = await makeIntegration(app)
      integrations.push(integration)
      lanes.push(await makeQuotes(app, integration))
    }
    monotonic += 2_000
    app.now += 2_000
    const admitted = integrations.map((): number[] => [])
    const world: World = {
      app,
      database,
      integrations,
      lanes,
      sent: [],
      signed: new Map(),
      admitted,
      faults: [],
    }
    for (let step = 0; step < stepsPerSeed && world.faults.length === 0 && !signal.aborted; step++) {
      const passed = random() < 0.5 ? 0 : between(random, 1, 1_500)
      app.now += passed
      monotonic += passed
      if (random() < 0.4) injector.arm(between(random, 0, 6), oneOf(random, ['before', 'within', 'after']))
      await Promise.all(Array.from({ length: between(random, 1, 6) }, () => act(world, random)))
      await checkDatabase(world)
      if (world.faults.length > 0) world.faults.push(`seed ${seed}, step ${step}`)
    }
    return world.faults
  } finally {
    await app.close()
    await database.drop()
  }
}

async function playSeeds(
  count: number,
  staleWrites: 'reject' | 'apply',
  options: ProofOptions,
): Promise<Finding> {
  const faults: string[] = []
  let done = 0
  while (done < count && faults.length === 0 && !options.signal.aborted) {
    faults.push(...(await playSeed(options.seed + done, staleWrites, options)))
    done++
    options.onProgress(`${done} of ${count} seeds`)
  }
  return { figure: `${done} seeds of ${stepsPerSeed} steps`, faults: firstFaults(faults) }
}

export const simulation: Proof = {
  name: 'fault-simulation',
  claim:
    'With random actions and database faults, no acknowledged update is lost, each lane follows from its updates, and tenant isolation and rate limits hold',
  fault: 'STALE_WRITES=apply',
  run: (options) => playSeeds(shareOf(40, options.share, 2), 'reject', options),
  control: (options) => playSeeds(20, 'apply', options),
}
