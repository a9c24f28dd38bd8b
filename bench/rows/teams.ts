import { randomBytes } from 'node:crypto'
import { signIn } from '#contract/sign-in.ts'
import { hashPassword } from '#server/security/index.ts'
import type { Bar } from '../../evaluation/src/bar.ts'
import { type Bench, type BenchFindings, type BenchRow, type BenchTable, spreadOf } from '../bench-row.ts'
import { startLanewise } from '../peers/four-servers.ts'
import type { ServerProcess } from '../processes.ts'
import { figure } from '../report.ts'
import { tenantsOf } from '../scale/plan.ts'
import type { ScaleDatabase } from '../scale-database.ts'

/** A rep waits at most this many times as long as the owner for the same page. */
const timesMost = 2
/** Times below this are not compared: no person notices the difference, and a busy machine makes larger ones. */
const unnoticedMs = 20
/** The customers that are hidden from the rep: none, those of one full team, and those of all fifty teams. */
const hidden = [0, 500, 25_000]
const customersPerTeam = 500
/** The users of a generated brokerage that are measured. */
const ownerId = 1
const repId = 3

/** What the pages of the dashboard request, with the address of the first customer, lane and quote of the brokerage. */
function pagesOf(lane: { lane_ref: string; origin: string; destination: string; equipment: string }) {
  const { lane_ref: ref } = lane
  const [origin, destination] = [lane.origin, lane.destination].map(encodeURIComponent)
  const asked = `origin=${origin}&destination=${destination}&equipment=${lane.equipment}`
  return [
    '/api/me',
    '/api/lanes',
    '/api/lanes?outcome=won',
    '/api/lanes?q=freight',
    '/api/shipments',
    `/api/lanes/${ref}`,
    `/api/lanes/${ref}/changes`,
    `/api/quote-requests/${ref.split('-')[0]}`,
    '/api/customers?q=a',
    '/api/customers/list',
    '/api/customers/variants',
    '/api/customers/record?name=Hidden%20Shipper%2025001',
    '/api/performance?by=month',
    '/api/performance?by=customer',
    '/api/performance?by=lane',
    '/api/performance/margin-gaps',
    `/api/lane-record?${asked}`,
    `/api/advice/markup?${asked}&proposed_rate=2000&include=evidence,estimate`,
    '/api/approvals',
    '/api/pricing-rules',
    '/api/fuel',
    '/api/places?q=dal',
    '/api/market-standing',
  ]
}

interface Page {
  readonly path: string
  readonly ownerMs: number
  readonly repMs: number
  readonly refused: readonly number[]
}

interface Measured {
  readonly quotes: number
  readonly hidden: number
  readonly pages: readonly Page[]
}

/** How many times as long as the owner a rep waited. */
const timesOf = ({ ownerMs, repMs }: Page) => Math.max(repMs, unnoticedMs) / Math.max(ownerMs, unnoticedMs)

/** Gives nine quotes of ten to customers of teams, in equal numbers, and sets a password of the owner and the rep. */
async function prepare(data: ScaleDatabase, tenantId: number, password: string): Promise<void> {
  const hash = await hashPassword(password)
  await data.as('superuser', async (client) => {
    await client.query(
      `update users set password_hash = $1 where tenant_id = $2 and user_id in (${ownerId}, ${repId})`,
      [hash, tenantId],
    )
    // Fifty of fifty-one quotes have a customer of a team. A rep sees the last customer.
    await client.query(
      `update quote_requests set customer_name = 'Hidden Shipper ' || (1 + abs(hashint8(request_id)::bigint) % 25500)
       where tenant_id = $1`,
      [tenantId],
    )
    await client.query(
      `update lanes set quoted_customer_name = r.customer_name from quote_requests r
       where lanes.tenant_id = $1 and r.tenant_id = $1 and r.request_id = lanes.request_id`,
      [tenantId],
    )
    await client.query(
      `with named as (select n, 'Hidden Shipper ' || n as name from generate_series(1, 25500) as n),
       added as (insert into customers (tenant_id, customer_id, name, created_at, updated_at)
         select $1, n, name, now(), now() from named)
       insert into customer_aliases (tenant_id, customer_key, name, own_id, customer_id, main_key)
       select $1, customer_key(name), name, n, n, customer_key(name) from named`,
      [tenantId],
    )
    await client.query(
      `insert into teams (tenant_id, team_id, name, created_at) select $1, n, 'Team ' || n, now()
       from generate_series(1, 50) as n`,
      [tenantId],
    )
    await client.query('vacuum analyze')
  })
}

/** Puts the first customers into teams of 500. The rep is in none. */
async function hide(data: ScaleDatabase, tenantId: number, count: number): Promise<void> {
  await data.as('superuser', async (client) => {
    await client.query('delete from team_customers where tenant_id = $1', [tenantId])
    await client.query(
      `insert into team_customers (tenant_id, team_id, customer_id)
       select $1, 1 + (n - 1) / ${customersPerTeam}, n from generate_series(1, $2::integer) as n`,
      [tenantId, count],
    )
    await client.query('vacuum analyze team_customers')
  })
}

async function signedIn(server: ServerProcess, tenantId: number, role: string, password: string) {
  const answer = await fetch(`http://127.0.0.1:${server.port}${signIn.path}`, {
    method: signIn.method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${role}@brokerage-${tenantId}.example`, password }),
  })
  const { token } = (await answer.json()) as { token?: string }
  if (token === undefined) throw new Error(`The ${role} could not sign in: ${answer.status}.`)
  return token
}

/** The time until the last byte, and the status. */
async function timed(server: ServerProcess, path: string, token: string) {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await answer.arrayBuffer()
  return { ms: performance.now() - began, status: answer.status }
}

async function pageOf(server: ServerProcess, path: string, tokens: readonly string[], rounds: number) {
  const times: number[][] = tokens.map(() => [])
  const refused = new Set<number>()
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const [at, token] of tokens.entries()) {
      const { ms, status } = await timed(server, path, token)
      if (round > 0) times[at]?.push(ms)
      if (status !== 200) refused.add(status)
    }
  }
  const [ownerMs = Number.NaN, repMs = Number.NaN] = times.map((one) => spreadOf(one).median)
  return { path, ownerMs, repMs, refused: [...refused] }
}

async function measureOne(bench: Bench, quotes: number): Promise<Measured[]> {
  const data = await bench.freshData({ quotes: 100, tenants: 1, brokerage: quotes })
  try {
    const tenant = tenantsOf(data.access.plan).find(({ kind }) => kind === 'brokerage')
    if (tenant === undefined) throw new Error('The data contain no brokerage.')
    const { tenantId } = tenant
    const password = randomBytes(15).toString('base64url')
    bench.say(`teams: preparing ${quotes.toLocaleString('en-US')} quotes of 25,500 customers`)
    await prepare(data, tenantId, password)
    const { rows } = await data.as('superuser', (client) =>
      client.query(
        `select lane_ref, origin, destination, equipment from lanes
         where tenant_id = $1 and substring(quoted_customer_name from '[0-9]+$')::integer > 25000
         order by created_at desc limit 1`,
        [tenantId],
      ),
    )
    const measured: Measured[] = []
    for (const count of hidden) {
      bench.say(`teams: ${quotes.toLocaleString('en-US')} quotes, ${count} hidden customers`)
      await hide(data, tenantId, count)
      const server = await startLanewise(data)
      try {
        const tokens: string[] = []
        for (const role of ['owner', 'member']) tokens.push(await signedIn(server, tenantId, role, password))
        const pages: Page[] = []
        for (const path of pagesOf(rows[0]))
          pages.push(await pageOf(server, path, tokens, bench.options.rounds))
        measured.push({ quotes, hidden: count, pages })
      } finally {
        await server.stop()
      }
    }
    return measured
  } finally {
    await data.close()
  }
}

function linesOf({ quotes, hidden, pages }: Measured): BenchTable['lines'] {
  return pages.map((page) => [
    `${quotes.toLocaleString('en-US')}, ${hidden.toLocaleString('en-US')} hidden: ${page.path.split('&')[0]}`,
    `${figure(page.ownerMs)}`,
    `${figure(page.repMs)}`,
    timesOf(page).toFixed(2),
  ])
}

/** The pages of a rep from whom teams hide customers, compared with the same pages of the owner. */
export const teamsRow: BenchRow = {
  name: 'teams',
  about: 'each page of a rep from whom 0, 500 and 25,000 customers are hidden, compared with the owner',
  async measure(bench): Promise<BenchFindings> {
    const measured: Measured[] = []
    for (const quotes of bench.options.teamQuotes) measured.push(...(await measureOne(bench, quotes)))
    const bars: Bar[] = measured.map(({ quotes, hidden, pages }) => {
      const worst = pages.toSorted((a, b) => timesOf(b) - timesOf(a))[0]
      return {
        check: 'teams',
        measure: `${quotes.toLocaleString('en-US')} quotes, ${hidden.toLocaleString('en-US')} hidden customers: the rep's time divided by the owner's, slowest page (${worst?.path.split('?')[0]})`,
        value: worst === undefined ? Number.NaN : timesOf(worst),
        most: timesMost,
      }
    })
    return {
      table: { columns: ['owner ms', 'rep ms', 'ratio'], lines: measured.flatMap(linesOf) },
      bars,
      faults: measured.flatMap(({ quotes, hidden, pages }) =>
        pages.flatMap(({ path, refused }) =>
          refused.map((status) => `${quotes} quotes, ${hidden} hidden: ${path} returned ${status}`),
        ),
      ),
      notes: [`times below ${unnoticedMs} ms count as ${unnoticedMs} ms in the ratio`],
    }
  },
}
