/** @module-tag long */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** An entry of an exported chain. */
interface Row {
  entry: number
  at: string
  kind: string
  lane_id: number | null
  body: string
  hash: string
}

const folder = mkdtempSync(join(tmpdir(), 'lanewise-pilot-'))
let app: TestApp
let tenant: MadeTenant
let csv: string
let rows: readonly Row[]
let report: object
let head: { entry: number; hash: string }

const cities = ['Dallas, TX', 'Laredo, TX', 'Houston, TX', 'Memphis, TN', 'Chicago, IL', 'Denver, CO']

beforeAll(async () => {
  app = await testApp()
  const integration = await makeIntegration(app)
  tenant = integration.tenant
  for (const outcome of ['won', 'lost', 'won'] as const) {
    const { lane_ref } = await makeLane(app, tenant, { outcome })
    if (outcome === 'won') await pushUpdate(app, integration, { lane_ref, truck_cost: 1700 })
  }
  await call(app, 'PATCH', '/api/pilot', { token: tenant.owner, body: { active: true } })
  for (const [nth, origin] of [...cities, ...cities, ...cities].entries()) {
    const outcome = nth % 4 === 0 ? 'won' : nth % 4 === 2 ? 'pending' : 'lost'
    const { lane_ref } = await makeLane(app, tenant, { origin, rate: 1900 + 40 * nth, outcome })
    // One booking is in Canadian dollars on a day without an exchange rate.
    if (nth === 0) await pushUpdate(app, integration, { lane_ref, truck_cost: 2400, truck_currency: 'CAD' })
    app.now += 60_000
    if (nth % 6 === 5) await app.sealPilots()
  }
  csv = (await call(app, 'GET', '/api/pilot/export', { token: tenant.owner })).body
  rows = rowsOf(csv)
  report = (await call(app, 'GET', '/api/pilot/report', { token: tenant.owner })).body
  head = (await call(app, 'GET', '/api/pilot', { token: tenant.owner })).body.head
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

function rowsOf(text: string): Row[] {
  const [, ...cells] = Papa.parse<string[]>(text.replace(/^\uFEFF/, ''), { skipEmptyLines: true }).data
  return cells.map(([entry = '', at = '', kind = '', lane = '', body = '', hash = '']) => ({
    entry: Number(entry),
    at,
    kind,
    lane_id: lane === '' ? null : Number(lane),
    body,
    hash,
  }))
}

/** Runs the program on a file, as a buyer does. */
function verified(file: string | { entries: readonly Row[] }, ...options: readonly string[]) {
  const path = join(folder, typeof file === 'string' ? 'pilot.csv' : 'pilot.json')
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  const program = new URL('../recipes/verify-pilot.mjs', import.meta.url).pathname
  const run = spawnSync(process.execPath, [program, path, '--json', ...options], { encoding: 'utf8' })
  if (run.status === 2) throw new Error(run.stderr)
  const result = JSON.parse(run.stdout)
  expect(result.verified).toBe(run.status === 0)
  return result
}

const noted = () => ['--head', `${head.entry}:${head.hash}`]

/** The chain written anew with correct numbers and hashes, as somebody with access to the whole database could. */
function writtenAnew(changed: readonly Row[]): Row[] {
  let before: Buffer = Buffer.alloc(32)
  return changed.map((row, index) => {
    const entry = index + 1
    const members = [tenant.id, entry, Date.parse(row.at) * 1000, row.kind, row.lane_id, row.body]
    before = createHash('sha256').update(before).update(JSON.stringify(members)).digest()
    return { ...row, entry, hash: before.toString('hex') }
  })
}

/** The rows with some members of the body of one row replaced. */
function withBody(at: number, changes: object): Row[] {
  return rows.map((row, index) =>
    index === at ? { ...row, body: JSON.stringify({ ...JSON.parse(row.body), ...changes }) } : row,
  )
}
const indexOf = (kind: string, from = 0) => rows.findIndex((row, at) => at >= from && row.kind === kind)
const swapped = (one: number) => {
  const copy = [...rows]
  const [first, second] = [copy[one], copy[one + 1]]
  if (first !== undefined && second !== undefined) copy.splice(one, 2, second, first)
  return copy
}
const moved = (at: number, time: string) =>
  rows.map((row, index) => (index === at ? { ...row, at: time } : row))

test('an export is verified, and its scores are those of the service, from CSV and from JSON', () => {
  const reportFile = join(folder, 'report.json')
  writeFileSync(reportFile, JSON.stringify(report))
  for (const file of [csv, { entries: rows }]) {
    const result = verified(file, ...noted(), '--report', reportFile)
    expect(result).toMatchObject({ verified: true, problems: [], brokerage: { id: tenant.id } })
    expect(result.scores).toMatchObject({ forecasts: 18, scored: 14, won: 5, unscored: { undecided: 4 } })
    expect(result.scores).toMatchObject({ kept_apart: 1, dollars: { quotes: 1 } })
    expect(result.scores.scores.model.brier).toBeGreaterThan(0)
    expect(result.scores.better_than_lane_rate.range_95).not.toBeNull()
  }
})

test('a head that was noted before an outcome covers the forecasts before it', () => {
  const forecast = rows[indexOf('forecast')]
  if (forecast === undefined) throw new Error('no forecast')
  const before = verified(csv, '--head', `${forecast.entry}:${forecast.hash}@${rows[0]?.at}`)
  expect(before.scores.noted_before_outcome).toBe(1)
  const after = verified(csv, '--head', `${forecast.entry}:${forecast.hash}@2100-01-01`)
  expect(after.scores.noted_before_outcome).toBe(0)
})

/** Each kind of tampering: the file, and what the program says about it. */
const tampering: Readonly<Record<string, { file: () => readonly Row[]; says: string }>> = {
  'a changed forecast': {
    file: () => withBody(indexOf('forecast'), { probability: 0.999 }),
    says: 'its hash does not match',
  },
  'a changed forecast, with the chain written anew': {
    file: () => writtenAnew(withBody(indexOf('forecast'), { probability: 0.999 })),
    says: 'whose hash you noted: this chain was written anew',
  },
  'a dropped forecast': {
    file: () => rows.filter((_, at) => at !== indexOf('forecast', 4)),
    says: 'is missing or not in its place',
  },
  'a dropped forecast, with the chain written anew': {
    file: () => writtenAnew(rows.filter((_, at) => at !== indexOf('forecast', 4))),
    says: 'is missing, and all entries up to',
  },
  'a dropped forecast in the place of which another one is invented': {
    file: () => writtenAnew(withBody(indexOf('forecast', 4), { lane_ref: '1-1-1', rate: 1 })),
    says: 'this chain was written anew',
  },
  'a forecast that is backdated at the end of the chain': {
    file: () => {
      const last = rows[indexOf('forecast')] as Row
      return writtenAnew([
        ...rows,
        { ...last, body: last.body.replace(/"lane_ref":"[^"]*"/, '"lane_ref":"9-9-9"') },
      ])
    },
    says: 'is backdated',
  },
  'a backdated forecast within the chain': {
    file: () => writtenAnew(moved(indexOf('forecast', 5), rows[indexOf('forecast', 5) - 1]?.at ?? '')),
    says: 'this chain was written anew',
  },
  'a forecast of 25 hours later that is not marked': {
    file: () => {
      const later = new Date(Date.parse(rows.at(-1)?.at ?? '') + 25 * 3_600_000).toISOString()
      const body = rows[indexOf('forecast')]?.body.replace(/"lane_ref":"[^"]*"/, '"lane_ref":"9-9-9"') ?? ''
      return writtenAnew([...rows, { ...(rows[0] as Row), kind: 'forecast', lane_id: 1, at: later, body }])
    },
    says: 'more than 24 hours after its quote that is not marked',
  },
  'reordered entries': { file: () => swapped(4), says: 'is missing or not in its place' },
  'reordered entries, with the chain written anew': {
    file: () => writtenAnew(swapped(indexOf('outcome'))),
    says: 'this chain was written anew',
  },
  'a changed outcome': {
    file: () => withBody(indexOf('outcome'), { outcome: 'lost' }),
    says: 'its hash does not match',
  },
  'a changed outcome, with the chain written anew': {
    file: () => writtenAnew(withBody(indexOf('outcome'), { outcome: 'lost' })),
    says: 'this chain was written anew',
  },
  'a truncated tail': { file: () => rows.slice(0, -3), says: 'is missing, and all entries up to' },
  'another brokerage in the first entry': {
    file: () => withBody(0, { brokerage: { id: 1, name: 'Test Brokers' } }),
    says: 'its hash does not match',
  },
  'a changed time': {
    file: () => moved(2, new Date(Date.parse(rows[2]?.at ?? '') + 1).toISOString()),
    says: 'its hash does not match',
  },
}

/** A chain that begins like the export and goes on with these entries. */
const continued = (more: readonly { kind: string; body: object }[], from: readonly Row[] = rows) =>
  writtenAnew([
    ...from,
    ...more.map(({ kind, body }) => ({ ...(rows.at(-1) as Row), kind, body: JSON.stringify(body) })),
  ])
const bodyOf = (at: number) => JSON.parse(rows[at]?.body ?? '{}')

describe('an experiment', () => {
  const seed = '5'.repeat(32)
  const started = {
    action: 'started',
    by: 1,
    seed_sha256: createHash('sha256').update(seed).digest('hex'),
    quotes: 100,
    days: 30,
    cost_share_max: 0.02,
  }
  const of = (last: { kind: string; body: object }[], arms: readonly ('low' | 'high')[]) => {
    const forecast = bodyOf(indexOf('forecast'))
    const suggestions = arms.map((arm, nth) => ({
      kind: 'forecast',
      body: {
        ...forecast,
        quoted_at: rows.at(-1)?.at,
        lane_ref: `9-9-${nth}`,
        experiment: { arm, rate: 2000, day: 20_000 },
      },
    }))
    const chain = [{ kind: 'experiment', body: started }, ...suggestions, ...last]
    return verified({ entries: continued(chain) })
  }
  const ended = (given: string) => [{ kind: 'experiment', body: { action: 'ended', by: 1, seed: given } }]

  test('is checked against the seed that its end reveals, whose hash its start has', () => {
    // The two arms of one lane and day: one of them is not that of the seed.
    const [low, high] = [of(ended(seed), ['low']), of(ended(seed), ['high'])]
    expect([low.verified, high.verified].sort()).toEqual([false, true])
    const [wrong] = low.verified ? high.problems : low.problems
    expect(wrong.what).toContain('the seed of the experiment does not give')
    const arm = low.verified ? 'low' : 'high'
    for (const other of [ended('6'.repeat(32)), [{ kind: 'stopped', body: { by: 1 } }]]) {
      expect(of(other, [arm]).problems[0].what).toContain('without the seed whose hash was recorded')
    }
  })

  test('that runs is not checked yet, and the program says how many suggestions wait', () => {
    expect(of([], ['low', 'high'])).toMatchObject({ verified: true, unchecked: 2 })
  })
})

test('a later start with another setting does not change how the forecasts before it are scored', () => {
  const expired = { ...bodyOf(indexOf('outcome')), outcome: 'expired' }
  const from = rows.map((row, at) =>
    at === indexOf('outcome') ? { ...row, body: JSON.stringify(expired) } : row,
  )
  const before = verified({ entries: writtenAnew(from) }).scores
  const again = { ...bodyOf(0), expired_counts_as_lost: !bodyOf(0).expired_counts_as_lost }
  const later = continued(
    [
      { kind: 'stopped', body: { by: 1 } },
      { kind: 'started', body: again },
    ],
    from,
  )
  const after = verified({ entries: later }).scores
  expect(before.unscored.expired).toBe(1)
  expect([after.scored, after.unscored]).toEqual([before.scored, before.unscored])
})

test('quotes that were voided after they were won or lost are counted on their own', () => {
  const voided = { ...bodyOf(indexOf('outcome')), outcome: 'void' }
  const { scores } = verified({ entries: continued([{ kind: 'outcome', body: voided }]) })
  expect(scores).toMatchObject({ void_after_answer: 1, unscored: { void: 1 } })
  expect(verified({ entries: rows }).scores.void_after_answer).toBe(0)
})

describe('tampering is detected', () => {
  test.each(Object.keys(tampering))('%s', (name) => {
    const { file, says } = tampering[name] as (typeof tampering)[string]
    const { verified: isVerified, problems } = verified({ entries: file() }, ...noted())
    expect(isVerified).toBe(false)
    expect(problems.map(({ what }: { what: string }) => what).join('; ')).toContain(says)
  })

  test('an empty file is not a verified pilot', () => {
    const { verified: isVerified, problems } = verified({ entries: [] })
    expect([isVerified, problems[0].what]).toEqual([false, 'is missing: the file has no entries'])
  })

  test('a forecast that is recorded after its outcome is not scored', () => {
    const at = indexOf('outcome')
    const { lane_ref } = JSON.parse(rows[at]?.body ?? '{}')
    const own = rows.findIndex((row) => row.kind === 'forecast' && row.body.includes(lane_ref))
    // The forecast of the quote is moved behind its outcome: it claims the time of that entry, or it would be backdated.
    const forecast = { ...(rows[own] as Row), at: rows[at]?.at ?? '' }
    const late = [...rows.slice(0, own), ...rows.slice(own + 1, at + 1), forecast, ...rows.slice(at + 1)]
    const before = verified({ entries: rows })
    const { verified: isVerified, scores } = verified({ entries: writtenAnew(late) })
    // Without a noted head, the chain agrees with itself. The late forecast just does not count.
    expect(isVerified).toBe(true)
    expect(scores.scored).toBe(before.scores.scored - 1)
  })

  test('scores that differ from the chain', () => {
    const file = join(folder, 'better.json')
    const better = JSON.parse(JSON.stringify(report))
    better.scores.model.brier -= 0.01
    writeFileSync(file, JSON.stringify(better))
    const { problems } = verified(csv, ...noted(), '--report', file)
    expect(problems[0].what).toContain('scores.model.brier is')
  })
})
