import { setTimeout as delay } from 'node:timers/promises'
import { gazetteer } from '#geography/gazetteer.ts'
import { type Bench, type BenchFindings, type BenchRow, spreadOf } from '../bench-row.ts'
import { rateFor, readPath, tokenOf } from '../load/request-pool.ts'
import { askOnce } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import type { ServerProcess } from '../processes.ts'
import { type PlannedTenant, tenantsOf } from '../scale/plan.ts'
import { lanesOf } from '../scale/tenant-lanes.ts'
import type { ScaleDatabase } from '../scale-database.ts'
import { giantLaneQuotes } from './giant-lane.ts'

const samples = 20
/** Longer than a process needs to notice a change to a tenant's facts. */
const noticeMs = 300

interface Case {
  readonly name: string
  readonly data: ScaleDatabase
  readonly tenant: PlannedTenant
  readonly path: (sample: number) => string
  readonly mostMs: number
  readonly scope?: string
}

/** States outside all regions. For a pair of them without quotes, only the widest scope has data. */
const regionless = ['AK', 'HI', 'PR']

/** Returns lanes for which only the widest scope of the tenant has data. */
function unquotedLanes(
  data: ScaleDatabase,
  tenant: PlannedTenant,
): { origin: string; destination: string }[] {
  const { lanes } = lanesOf(data.access.plan, tenant)
  for (const from of regionless) {
    for (const to of regionless) {
      if (lanes.some((lane) => lane.origin_state === from && lane.destination_state === to)) continue
      const towns = (state: string) =>
        (gazetteer().byState.get(state) ?? []).filter(({ city }) => /^[A-Z][a-z]+$/.test(city))
      const [origins, destinations] = [towns(from), towns(to).toReversed()]
      return Array.from({ length: samples }, (_, at) => ({
        origin: `${origins[at % origins.length]?.city}, ${from}`,
        destination: `${destinations[at % destinations.length]?.city}, ${to}`,
      }))
    }
  }
  throw new Error('The tenant has quotes between all states outside the regions.')
}

/** The duration of the first read of a lane after another process changed the tenant's facts. */
export const firstAnswerRow: BenchRow = {
  name: 'first-answer',
  about: 'the first read of a lane that is not in memory',
  async measure(bench): Promise<BenchFindings> {
    const cases = await readCases(bench)
    const { times, faults } = await measureCases(bench, cases)
    const sorted = (name: string) => (times.get(name) ?? []).toSorted((a, b) => a - b)
    const p99 = (name: string) => sorted(name).at(-1) ?? Number.NaN
    return {
      table: {
        columns: ['median ms', 'longest ms', 'samples'],
        lines: cases.map(({ name }) => [
          name,
          spreadOf(sorted(name)),
          spreadOf([p99(name)]),
          String(sorted(name).length),
        ]),
      },
      bars: cases.map(({ name, mostMs }) => ({
        check: 'first-answer',
        measure: `${name}: p99 ms`,
        value: p99(name),
        most: mostMs,
      })),
      faults,
      notes: [
        `each server has served ${warmUps} reads on two other lanes of the tenant`,
        `before each sample the version of the tenant’s facts is increased in the database, as another process would; the longest of ${samples} samples stands for p99`,
      ],
    }
  },
}

function tenantOf(data: ScaleDatabase, kind: PlannedTenant['kind']): PlannedTenant {
  const found = tenantsOf(data.access.plan).find((tenant) => tenant.kind === kind)
  if (found === undefined) throw new Error(`The data contain no ${kind}.`)
  return found
}

/** Returns the reads to measure, from the lane with 10,000 quotes to the widest scope of the largest tenant. */
async function readCases(bench: Bench): Promise<Case[]> {
  const small = await bench.data({ quotes: 1_000, tenants: 10, giantLane: 10_000 })
  const large = await bench.data({
    quotes: 1_000,
    tenants: 10,
    giantLane: giantLaneQuotes,
    giantTenant: bench.options.giantTenant,
  })
  const giantLane = (data: ScaleDatabase, read: 'markup' | 'lane') => {
    const tenant = tenantOf(data, 'giant-lane')
    const [lane] = lanesOf(data.access.plan, tenant).lanes
    if (lane === undefined) throw new Error('The tenant has no lanes.')
    return { data, tenant, path: (sample: number) => readPath(read, lane, rateFor(lane, sample / samples)) }
  }
  const widest = tenantOf(large, 'giant-tenant')
  const unquoted = unquotedLanes(large, widest)
  const count = (quotes: number) => quotes.toLocaleString('en-US')
  return [
    { name: 'markup, 10,000 quotes', ...giantLane(small, 'markup'), mostMs: 25 },
    { name: 'lane insight, 10,000 quotes', ...giantLane(small, 'lane'), mostMs: 25 },
    { name: `markup, ${count(giantLaneQuotes)} quotes`, ...giantLane(large, 'markup'), mostMs: 60 },
    { name: `lane insight, ${count(giantLaneQuotes)} quotes`, ...giantLane(large, 'lane'), mostMs: 60 },
    {
      name: `lane insight, widest scope, ${count(widest.quotes)} quotes`,
      data: large,
      tenant: widest,
      path: (sample) => {
        const lane = unquoted[sample] ?? { origin: 'Nome, AK', destination: 'Hilo, HI' }
        return readPath('lane', { ...lane, equipment: 'V' }, 0)
      },
      mostMs: 100,
      scope: 'tenant',
    },
  ]
}

/** Measures the cases one after another. Returns the milliseconds of each sample by the name of its case. */
async function measureCases(
  bench: Bench,
  cases: readonly Case[],
): Promise<{ times: Map<string, number[]>; faults: string[] }> {
  const servers = new Map<ScaleDatabase, ServerProcess>()
  const times = new Map<string, number[]>()
  const faults: string[] = []
  try {
    for (const { name, data, tenant, path, scope } of cases) {
      bench.say(`first-answer: ${name}`)
      const server = servers.get(data) ?? (await startLanewise(data))
      servers.set(data, server)
      const token = tokenOf(data.access, tenant)
      await warmUp({ data, tenant }, server, token)
      const taken: number[] = []
      for (let sample = 0; sample < samples; sample++) {
        await increaseVersion(data, tenant)
        await delay(noticeMs)
        const began = performance.now()
        const answer = await askOnce<{ found: boolean; scope?: string }>(server, path(sample), token).catch(
          (error: unknown) => ({ found: false, scope: String(error) }),
        )
        taken.push(performance.now() - began)
        if (!answer.found || (scope !== undefined && answer.scope !== scope)) {
          faults.push(`${name}: returned ${JSON.stringify(answer).slice(0, 200)}`)
          break
        }
      }
      times.set(name, taken)
    }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
  return { times, faults }
}

/** The number of reads of two other lanes before the measurement, so that the process itself is warm. */
const warmUps = 5

async function warmUp(
  { data, tenant }: Pick<Case, 'data' | 'tenant'>,
  server: ServerProcess,
  token: string,
): Promise<void> {
  const others = lanesOf(data.access.plan, tenant).lanes.slice(1, 3)
  for (let nth = 0; nth < warmUps; nth++) {
    await increaseVersion(data, tenant)
    // Four reads in this time are within the tenant's rate limit.
    await delay(2 * noticeMs)
    for (const lane of others) {
      for (const read of ['markup', 'lane'] as const)
        await askOnce(server, readPath(read, lane, rateFor(lane, nth / warmUps)), token)
    }
  }
}

/** Increases the version of the tenant's facts like a write of another process, which invalidates the caches. */
async function increaseVersion(data: ScaleDatabase, tenant: PlannedTenant): Promise<void> {
  await data.as('superuser', (client) =>
    client.query(
      `update tenant_facts set facts_version = facts_version + 1, changed_in = pg_current_xact_id()
       where tenant_id = $1`,
      [tenant.tenantId],
    ),
  )
}
