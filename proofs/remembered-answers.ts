import { isDeepStrictEqual } from 'node:util'
import { countHistory } from '#engine/history-counts.ts'
import { describeLane } from '#engine/lane-insight.ts'
import { laneRates } from '#engine/lane-rates.ts'
import { adviseMarkup } from '#engine/markup.ts'
import { readPlace } from '#engine/place.ts'
import { countRates } from '#engine/rate-counts.ts'
import { readTenantQuotes } from '#server/database/queries/index.ts'
import { type Database, tenantId } from '#server/database/session/index.ts'
import { type AskedLane, countedMiles, knownOrFolded } from '#server/quotes/index.ts'
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
import { proofDatabase } from './proof-database.ts'

const insights = '/api/integrations/insights'
const cities = ['Dallas, TX', 'Atlanta, GA', 'Macon, GA'] as const
const stepsFull = 400
/** A change in another process must be visible within a second. */
const otherProcessMs = 1_000

interface World {
  readonly database: Database
  readonly nodes: readonly [TestApp, TestApp]
  readonly ours: Integration
  readonly random: () => number
  /** All lane_refs so far, also of undone imports: a call about one returns 404 and changes nothing. */
  readonly refs: string[]
  readonly imports: number[]
}

/** Waits until an import or its undo has finished. Both continue after the response. */
async function importEnded(node: TestApp, token: string, importId: number): Promise<void> {
  for (;;) {
    const { body } = await call(node, 'GET', `/api/imports/${importId}`, { token })
    if (body.status !== 'running' && body.status !== 'undoing') return
    await new Promise((resume) => setTimeout(resume, 10))
  }
}

/** Makes one random change through a node, whether it succeeds or not. Returns a description. */
async function change(world: World, node: TestApp): Promise<string> {
  const { ours, random, refs, imports } = world
  const token = ours.tenant.owner
  const rate = between(random, 1_500, 2_500)
  const ref = refs[between(random, 0, Math.max(0, refs.length - 1))]
  const kind = refs.length < 4 ? 0 : between(random, 0, 6)
  switch (kind) {
    case 0: {
      const quotes = Array.from({ length: between(random, 1, 3) }, () => ({
        origin: oneOf(random, cities),
        destination: oneOf(random, cities),
        equipment: oneOf(random, ['V', 'R']),
        quoted_rate: rate,
      }))
      const made = await call(node, 'POST', '/api/quote-requests', {
        token,
        body: { customer_name: 'Acme', lanes: quotes },
      })
      for (const { lane_ref } of requireStatus('quote request', made, 201).lanes) refs.push(lane_ref)
      return 'a quote request'
    }
    case 1:
      await call(node, 'POST', `/api/lanes/${ref}/outcome`, {
        token,
        body: { outcome: oneOf(random, ['won', 'lost', 'pending']) },
      })
      return 'an outcome'
    case 2: {
      const again = await call(node, 'POST', `/api/lanes/${ref}/requote`, {
        token,
        body: { quoted_rate: rate },
      })
      if (again.status === 201) refs.push(again.body.lane_ref)
      return 'a requote'
    }
    case 3: {
      const { body } = await call(node, 'GET', `/api/lanes/${ref}/changes`, { token })
      const [newest] = body.changes ?? []
      if (newest !== undefined) {
        await call(node, 'POST', `/api/lanes/${ref}/rollback`, {
          token,
          body: { change_id: newest.change_id ?? newest.id },
        })
      }
      return 'a rollback'
    }
    case 4: {
      const rows = Array.from({ length: between(random, 1, 4) }, () => {
        const outcome = oneOf(random, ['Won', 'Lost', 'Pending'])
        return `"${oneOf(random, cities)}","${oneOf(random, cities)}",V,${rate + between(random, 0, 90)},2026-0${between(random, 1, 9)}-03,${outcome}\n`
      })
      const file = `Origin,Destination,Equipment,Quoted Rate,Quote Date,Status\n${rows.join('')}`
      const sent = await fetch(`${node.url}/api/imports`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
        body: file,
      })
      if (sent.status !== 202)
        throw new Error(`import returned ${sent.status}, expected 202: ${await sent.text()}`)
      const { import_id } = (await sent.json()) as { import_id: number }
      await importEnded(node, token, import_id)
      imports.push(import_id)
      return 'an import'
    }
    case 5: {
      const importId = imports.pop()
      if (importId !== undefined) {
        await call(node, 'POST', `/api/imports/${importId}/undo`, { token })
        await importEnded(node, token, importId)
      }
      return 'an undone import'
    }
    default: {
      const bytes = JSON.stringify({ lane_ref: ref, customer_rate: rate, truck_cost: rate - 200 })
      await fetch(`${node.url}/api/integrations/tms/shipment-update`, {
        method: 'POST',
        headers: signedHeaders(ours, bytes, Math.floor(node.now / 1000)),
        body: bytes,
      })
      return 'a signed update'
    }
  }
}

const asked = (origin: string, destination: string, equipmentCode: string | null): AskedLane => {
  const places = { origin: placeOf(origin), destination: placeOf(destination) }
  return {
    places,
    origin: knownOrFolded(places.origin),
    destination: knownOrFolded(places.destination),
    equipmentCode,
  }
}

function placeOf(text: string) {
  const place = readPlace(text)
  if (place === null) throw new Error(`${text} is not a place.`)
  return place
}

const ratesTried = [160_000, 199_999, 240_000]

/** Computes the answers about a lane from the rows in the database with the engine, without caches. */
async function expectedAnswers(world: World, lane: AskedLane, now: number) {
  const tenant = tenantId(world.ours.tenant.id)
  return world.database.inTenant(tenant, async (transaction) => {
    const read = await readTenantQuotes(transaction, tenant, {
      since: null,
      max: Number.MAX_SAFE_INTEGER,
      milesOf: countedMiles,
    })
    // An offer that a later one superseded is evidence for estimates, but no count includes it.
    const superseded = await transaction
      .selectFrom('quotes')
      .select('lane_id')
      .where('tenant_id', '=', tenant)
      .where('superseded_by', 'is not', null)
      .execute()
    const isSuperseded = new Set(superseded.map(({ lane_id }) => lane_id))
    const all = read.filter(({ quoteId }) => !isSuperseded.has(quoteId))
    const counted = {
      wins: all.filter(({ outcome }) => outcome === 'won').length,
      decided: all.filter(({ outcome }) => outcome !== 'pending').length,
    }
    const history = all.filter(
      ({ originKey, destinationKey, equipmentCode }) =>
        originKey === lane.origin.key &&
        destinationKey === lane.destination.key &&
        (lane.equipmentCode === null || equipmentCode === lane.equipmentCode),
    )
    const rates = laneRates(countRates(history))
    const advice = ratesTried.map((proposedRateCents) =>
      history.length === 0
        ? null
        : adviseMarkup(rates, { proposedRateCents, marketRateCents: null, method: 'at_or_below' }),
    )
    const scope = lane.equipmentCode === null ? ('corridor' as const) : ('equipment' as const)
    const insight =
      history.length === 0
        ? null
        : describeLane({
            counts: countHistory(history, now),
            parent: counted,
            askedScope: scope,
            usedScope: scope,
            avgRateCents: null,
          })
    return { advice, insight }
  })
}

const dollars = (cents: number | null) => (cents === null ? null : Math.round(cents) / 100)

/** Compares the answers of one node with those computed from the database, to the last digit. Returns the differences. */
async function compareNode(
  world: World,
  node: TestApp,
  lane: [string, string, string | null],
): Promise<string[]> {
  const [origin, destination, equipment] = lane
  const expected = await expectedAnswers(world, asked(...lane), node.now)
  const faults: string[] = []
  const differs = (what: string, answer: unknown, wanted: unknown) => {
    if (!isDeepStrictEqual(answer, wanted))
      faults.push(`${what}: ${JSON.stringify(answer)}, expected ${JSON.stringify(wanted)}`)
  }
  const query = new URLSearchParams({ origin, destination, ...(equipment === null ? {} : { equipment }) })
  const read = async (path: string) =>
    (await call(node, 'GET', `${insights}/${path}`, { token: world.ours.token })).body
  for (const [at, rateCents] of ratesTried.entries()) {
    const body = await read(`markup?${query}&proposed_rate=${rateCents / 100}`)
    const advice = expected.advice[at] ?? null
    differs(
      `markup of ${query} at ${rateCents}`,
      [
        body.found,
        body.win_probability,
        body.markup_pct,
        body.suggested_rate,
        body.rate_band?.median,
        body.verdict,
      ],
      advice === null
        ? [false, undefined, undefined, undefined, undefined, undefined]
        : [
            true,
            advice.winProbability,
            advice.markupPct,
            dollars(advice.suggestedRateCents),
            dollars(advice.rateBand.medianCents),
            advice.verdict,
          ],
    )
  }
  const body = await read(`lane?${query}`)
  if (expected.insight !== null) {
    const { scope, scores, signals, summary, history } = expected.insight
    differs(
      `insight into ${query}`,
      [body.scope, body.scores, body.signals, body.summary, body.history?.total_quotes, body.history?.wins],
      [scope, { ...scores }, { ...signals }, summary, history.totalQuotes, history.wins],
    )
  }
  return faults
}

/** Compares the estimates of the nodes, updated change by change, with those of a new instance. Returns the differences. */
async function compareWithNewInstance(
  world: World,
  database: Parameters<typeof appOn>[0],
  options: Parameters<typeof appOn>[1],
): Promise<string[]> {
  const fresh = await appOn(database, { ...options, now: world.nodes[0].now })
  const faults: string[] = []
  try {
    const token = world.ours.tenant.owner
    for (const origin of cities) {
      for (const destination of cities) {
        const query = new URLSearchParams({
          origin,
          destination,
          equipment: 'V',
          proposed_rate: '1990',
          include: 'estimate,curve,optimum,evidence',
        })
        const read = async (node: TestApp) => {
          const { body } = await call(node, 'GET', `/api/advice/markup?${query}`, { token })
          // Each answer's own certificate of what was shown.
          const { advice: _, ...estimate } = body
          return estimate
        }
        const expected = await read(fresh)
        for (const node of world.nodes) {
          if (!isDeepStrictEqual(await read(node), expected))
            faults.push(`the estimate of ${query} differs from that of a new instance`)
        }
      }
    }
  } finally {
    await fresh.close()
  }
  return faults
}

async function compareAnswers(
  { seed, share, cluster, onProgress, signal }: ProofOptions,
  wrapDatabase: (database: Database) => Database = (database) => database,
): Promise<Finding> {
  const random = seeded(seed)
  const own = await proofDatabase(cluster)
  const first = await appOn(own.forTests, { wrapDatabase })
  const same = { wrapDatabase, secretKeys: [first.secretKey] as const, now: first.now }
  const elsewhere = await appOn(own.forTests, same)
  const faults: string[] = []
  let steps = 0
  let compared = 0
  try {
    const world: World = {
      database: first.database,
      nodes: [first, elsewhere],
      ours: await makeIntegration(first),
      random,
      refs: [],
      imports: [],
    }
    const all = shareOf(stepsFull, share, 25)
    while (steps < all && faults.length === 0 && !signal.aborted) {
      const lane: [string, string, string | null] = [
        oneOf(random, cities),
        oneOf(random, cities),
        oneOf(random, ['V', 'R', null]),
      ]
      // Fill the caches before the change, so that an outdated answer is possible afterwards.
      for (const node of world.nodes) await compareNode(world, node, lane)
      const changed = oneOf(random, world.nodes)
      const what = await change(world, changed)
      // Check the changed node first: after a second it would notice the change even without the notification.
      const isOther = (node: TestApp) => node !== changed
      for (const node of world.nodes.toSorted((a, b) => Number(isOther(a)) - Number(isOther(b)))) {
        const until = isOther(node) ? performance.now() + otherProcessMs : 0
        let found = await compareNode(world, node, lane)
        while (found.length > 0 && performance.now() < until) found = await compareNode(world, node, lane)
        compared++
        faults.push(...found.map((fault) => `after ${what}, step ${steps}: ${fault}`))
      }
      steps++
      if (steps % 25 === 0) onProgress(`${steps} of ${all} changes`)
    }
    if (faults.length === 0) faults.push(...(await compareWithNewInstance(world, own.forTests, same)))
  } finally {
    for (const app of [elsewhere, first]) await app.close()
    await own.drop()
  }
  return {
    figure: `${steps} changes, ${compared} comparisons across two instances; then the estimates of a new instance`,
    faults: firstFaults(faults),
  }
}

/** Plants the fault: the instances are not notified of changes. */
const withoutNotifications = (database: Database): Database => ({
  ...database,
  onVersionsMoved: () => {},
  changedTenants: async (since) => ({ ...(await database.changedTenants(since)), tenants: [] }),
})

export const rememberedAnswers: Proof = {
  name: 'cached-answers',
  claim:
    'After any change in any instance, answers from a cached book equal those computed from the database, to the last digit: at once in the same instance, within a second in others',
  fault: 'instances are not notified of changes',
  run: (options) => compareAnswers(options),
  // The run ends at the first fault, which may take a few changes.
  control: (options) => compareAnswers({ ...options, share: 1 }, withoutNotifications),
}
