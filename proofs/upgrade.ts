import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, promisify } from 'node:util'
import { migrate } from '#server/database/schema/index.ts'
import { asMaker, databaseUrl } from '#testing/database-cluster.ts'
import { allRows, keptRows } from '#testing/kept-rows.ts'
import type { Answer, Integration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, lossesIn, type Writer, write, writersLog } from './signed-writers.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

/** A version that people upgrade from. */
interface Earlier {
  /** A tag or a commit. */
  readonly revision: string
  /** Whether its instances may run beside those of this version. */
  readonly runsBeside: boolean
}

/** The last state before 1.0.0, then the releases, oldest first. Only the newest release is the version before this one. */
async function earlierVersions(): Promise<Earlier[]> {
  const { stdout } = await run('git', ['tag', '--merged', 'HEAD', '--sort=v:refname', '--list', 'v[1-9]*'], {
    cwd: root,
  })
  const releases = stdout.split('\n').filter((tag) => tag !== '')
  return ['69d4e95d', ...releases].map((revision) => ({ revision, runsBeside: revision === releases.at(-1) }))
}

const builds = new Map<string, Promise<string>>()

/** Builds a version in a temporary folder, with its own packages, once for all runs of this process. */
function built(revision: string): Promise<string> {
  const known = builds.get(revision) ?? build(revision)
  builds.set(revision, known)
  return known
}

async function build(revision: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lanewise-earlier-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder])
  await run('git', ['checkout', '--quiet', '--detach', revision], { cwd: folder })
  await run('npm', ['run', '--silent', 'build'], { cwd: folder, maxBuffer: 2 ** 26 })
  return folder
}

/** Sends a request. Does not compare the response with the contract of this version: another version may answer. */
async function ask(
  url: string,
  path: string,
  { token, body, csv }: { token?: string; body?: object; csv?: string } = {},
): Promise<Answer['body']> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined && csv === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(csv === undefined ? {} : { 'Content-Type': 'text/csv' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(csv === undefined ? {} : { body: csv }),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

/** Makes a brokerage with a token, a secret and these quotes. */
async function brokerage(url: string, rates: readonly number[]) {
  const password = 'correct horse battery staple'
  const email = `owner-${crypto.randomUUID()}@example.com`
  const signUp = { company: 'Upgraded Brokers', name: 'Olive Quay', email, password }
  const { tenant, token: owner } = await ask(url, '/api/auth/sign-up', { body: signUp })
  const { token } = await ask(url, '/api/integrations/tokens', { token: owner, body: { name: 'tms' } })
  const { secret } = await ask(url, '/api/integrations/secrets', { token: owner, body: { name: 'tms' } })
  const lanes = rates.map((rate) => ({
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    equipment: 'V',
    quoted_rate: rate,
  }))
  const { lanes: quotes } = await ask(url, '/api/quote-requests', {
    token: owner,
    body: { customer_name: 'Harvest Table Foods', lanes },
  })
  const integration: Integration = { tenant: { id: tenant.id, email, password, owner }, token, secret }
  return { integration, laneRefs: quotes.map((quote: { lane_ref: string }) => quote.lane_ref) as string[] }
}

async function writers(url: string, count: number): Promise<Writer[]> {
  const made: Writer[] = []
  while (made.length < count) {
    const { integration, laneRefs } = await brokerage(url, [2000])
    made.push(...laneRefs.map((laneRef) => ({ integration, laneRef })))
  }
  return made
}

/** Makes a brokerage that uses every kind of data, and that nobody writes to afterwards. */
async function history(url: string): Promise<Integration> {
  const { integration, laneRefs } = await brokerage(url, [1900, 2000, 2100, 2200, 2300])
  const token = integration.tenant.owner
  for (const [nth, ref] of laneRefs.entries()) {
    const body = nth % 2 === 0 ? { outcome: 'won' } : { outcome: 'lost', reason: 'price' }
    await ask(url, `/api/lanes/${ref}/outcome`, { token, body })
  }
  await ask(url, '/api/pricing-rules', {
    token,
    body: { conditions: { miles_over: 100 }, terms: { minimum: { margin_pct: 9 } } },
  })
  await ask(url, '/api/event-endpoints', { token, body: { url: 'https://127.0.0.1/events' } })
  const csv = 'Ship From,Ship To,Equip,Quote Price,Quote Date\n"Reno, NV","Boise, ID",V,1450,2026-02-27\n'
  const { import_id: id } = await ask(url, '/api/imports', { token, csv })
  while ((await ask(url, `/api/imports/${id}`, { token })).finished_at === null) await delay(100)
  return integration
}

/** What the clients of a brokerage read that every version answers alike. */
async function answersOf(url: string, { token, tenant: { owner } }: Integration) {
  const { quotes } = await ask(url, '/api/integrations/quotes', { token })
  const { rules } = await ask(url, '/api/pricing-rules', { token: owner })
  const { imports } = await ask(url, '/api/imports', { token: owner })
  const { endpoints } = await ask(url, '/api/event-endpoints', { token: owner })
  const only = (rows: Record<string, unknown>[], ...names: string[]) =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))
  return {
    quotes: only(quotes, 'lane_ref', 'origin', 'destination', 'equipment', 'quoted_rate', 'outcome'),
    rules: only(rules, 'rule_id', 'on', 'terms'),
    imports: only(imports, 'import_id', 'created', 'finished_at'),
    endpoints: only(endpoints, 'endpoint_id', 'url'),
  }
}

const events = { EVENTS: 'on', EVENTS_ALLOW_PRIVATE: '127.0.0.1' }
const withoutMigration = { ...events, MIGRATION_DATABASE_URL: '' }

type Planted = 'the upgrade changes a rate'

/**
 * Upgrades two instances of an earlier version as docs/deploying.md says, while writers send updates, then goes back. Returns the faults
 * and the number of acknowledged updates.
 */
async function upgradeFrom(
  { revision, runsBeside }: Earlier,
  { cluster, share, onProgress, signal }: ProofOptions,
  planted?: Planted,
): Promise<{ acknowledged: number; compared: number; faults: string[] }> {
  const faults: string[] = []
  const folder = await built(revision)
  onProgress(`${revision}: built`)
  const before = join(folder, 'server/src/main.ts')
  const database = await proofDatabase({ ...cluster, template: 'template0' })
  const backup = `${database.forTests.name}_backup`
  const services = serviceProcesses(database)
  const log = writersLog()
  let [instances, over, turn, compared]: [RunningService[], boolean, number, number] = [[], false, 0, 0]
  const stopped = async (service: RunningService) => {
    instances = instances.filter((one) => one !== service)
    await service.end('SIGTERM')
  }
  const started = async (...options: Parameters<typeof services.start>) => {
    instances.push(await services.start(...options))
  }
  const writtenMore = async () => {
    const wanted = acknowledgedCount(log) + shareOf(200, share, 20)
    while (acknowledgedCount(log) < wanted && !signal.aborted) await delay(20)
  }
  const expectSame = (what: string, one: unknown, other: unknown) => {
    if (!isDeepStrictEqual(one, other))
      faults.push(`${what}: ${JSON.stringify(one)} became ${JSON.stringify(other)}`)
  }
  let writing: Promise<unknown> = Promise.resolve()
  try {
    for (let nth = 0; nth < 2; nth++) await started({ main: before, env: events })
    const first = instances[0]?.url ?? ''
    const kept = await history(first)
    const answers = await answersOf(first, kept)
    writing = write(
      await writers(first, 4),
      log,
      () => instances[turn++ % instances.length]?.url ?? '',
      () => over,
    )
    await writtenMore()
    if (!runsBeside) {
      for (const one of instances) await stopped(one)
      await asMaker(cluster.makerUrl, (maker) =>
        maker.query(`create database ${backup} template ${database.forTests.name}`),
      )
    }
    // No instance can write between the two reads of a version that stops. Beside running writers, only the quiet brokerage is compared.
    const superuser = database.url('superuser')
    const rows = runsBeside ? null : await allRows(superuser)
    await migrate({ connectionString: database.url('owner') })
    if (planted !== undefined) {
      await database.ask('update quotes set quoted_rate_cents = 1 where tenant_id = $1', [kept.tenant.id])
    }
    if (rows !== null) {
      const found = keptRows(rows, await allRows(superuser))
      faults.push(...found.faults)
      compared = found.compared
    }
    onProgress(`${revision}: migrated, ${acknowledgedCount(log)} acknowledged`)
    const replaced = runsBeside ? [...instances] : []
    for (const old of [replaced[0], replaced[1]]) {
      if (old !== undefined) await stopped(old)
      await started({ env: withoutMigration })
      await writtenMore()
    }
    expectSame('the answers of this version', answers, await answersOf(instances[0]?.url ?? '', kept))
    const upgraded = [...instances]
    const previous = { main: before, env: withoutMigration }
    if (runsBeside) {
      for (const one of upgraded) {
        await stopped(one)
        await started(previous)
        await writtenMore()
      }
    }
    over = true
    await writing
    faults.push(...(await lossesIn(database, log)))
    if (!runsBeside) {
      for (const one of upgraded) await stopped(one)
      await started({ ...previous, databaseUrl: databaseUrl(cluster.serviceUrl, backup) })
    }
    expectSame('the answers after going back', answers, await answersOf(instances[0]?.url ?? '', kept))
    const expected = runsBeside ? [200, 429, 503] : [200, 429, 503, 0]
    for (const [status, count] of log.statuses)
      if (!expected.includes(status)) faults.push(`${count} updates ended in ${status}`)
    onProgress(`${revision}: upgraded and back, ${acknowledgedCount(log)} acknowledged`)
    return { acknowledged: acknowledgedCount(log), compared, faults }
  } finally {
    over = true
    await services.remove()
    await writing
    await asMaker(cluster.makerUrl, (maker) => maker.query(`drop database if exists ${backup} with (force)`))
    await database.drop()
  }
}

async function upgradeAll(options: ProofOptions, planted?: Planted): Promise<Finding> {
  const versions = await earlierVersions().catch(() => [])
  if (versions.length === 0) return { figure: '', faults: [], skipped: 'this copy has no Git history' }
  let [acknowledged, compared]: [number, number] = [0, 0]
  const faults: string[] = []
  for (const version of planted === undefined ? versions : versions.slice(0, 1)) {
    if (options.signal.aborted) break
    const found = await upgradeFrom(version, options, planted)
    acknowledged += found.acknowledged
    compared += found.compared
    faults.push(...found.faults.map((fault) => `${version.revision}: ${fault}`))
  }
  return {
    figure: `${versions.map(({ revision }) => revision).join(', ')}: ${compared} rows compared, ${acknowledged} acknowledged updates`,
    faults: firstFaults(faults),
  }
}

export const upgrade: Proof = {
  name: 'upgrade',
  claim:
    'Each earlier version is upgraded under load and goes back as docs/deploying.md says: every row, answer and acknowledged update stays',
  fault: 'the upgrade changes a rate',
  run: (options) => upgradeAll(options),
  control: (options) => upgradeAll(options, 'the upgrade changes a rate'),
}
