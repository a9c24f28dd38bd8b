import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, faultsOf, percentile, workingDay } from './at-work/working-day.ts'
import { benchCommand } from './bench-command.ts'
import { spreadOf } from './bench-row.ts'
import { tenantPace } from './load/tenant-pace.ts'
import { tenantsOf } from './scale/plan.ts'
import { quotesOfChunk } from './scale/scale-quotes.ts'
import { lanesOf } from './scale/tenant-lanes.ts'

const folder = mkdtempSync(join(tmpdir(), 'lanewise-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('npm run bench', () => {
  test('refuses an unknown row', { tags: 'long' }, async () => {
    expect(await benchCommand('--only', 'nonsense')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/Unknown row/),
    })
  })

  test('measures a row and reports it as a table and as JSON', { tags: 'long' }, async () => {
    const json = join(folder, 'figures.json')
    // Longer than one second, because the warm-up can use up the request limits of the 300 brokerages for the first second.
    const small = ['--seconds', '1.2', '--rounds', '2', '--quotes', '2000', '--tenants', '300']
    const { code, output } = await benchCommand(
      '--only',
      'markup',
      ...small,
      '--data',
      folder,
      '--json',
      json,
    )
    expect(output).toMatch(/ {2}bare server .*\n {2}lanewise /)
    expect(output.split('\n').filter((line) => line.includes('FAULT'))).toEqual([])
    expect(code).toBe(0)
    const { rows } = JSON.parse(readFileSync(json, 'utf8'))
    expect(rows).toMatchObject([{ name: 'markup', findings: { faults: [], bars: expect.any(Array) } }])
    for (const [, throughput] of rows[0].findings.table.lines) expect(throughput.median).toBeGreaterThan(0)
  })

  test('simulates work in a small brokerage, and reports response times with their limits', {
    tags: 'long',
  }, async () => {
    const json = join(folder, 'at-work.json')
    const small = ['--brokerage', '2000', '--seconds', '1.2', '--import-rows', '300']
    const { code, output } = await benchCommand(
      '--only',
      'at-work',
      ...small,
      '--data',
      folder,
      '--json',
      json,
    )
    expect(output).toMatch(/ {2}2,000: advice .*\n {2}2,000: save .*\n {2}2,000: update /)
    expect(output).toMatch(/first advice after a start, s: [\d.]+, bar at most 0\.5/)
    expect(output.split('\n').filter((line) => line.includes('FAULT'))).toEqual([])
    expect(code).toBe(0)
    const { rows } = JSON.parse(readFileSync(json, 'utf8'))
    for (const { value } of rows[0].findings.bars) expect(value).toEqual(expect.any(Number))
  })
})

describe('the load generator', () => {
  test('never sends eleven requests of a tenant within a second, however late the responses are', () => {
    const pace = tenantPace(2)
    const permits = Array.from({ length: 10 }, () => pace.take(0, 0))
    expect(new Set(permits).size).toBe(10)
    expect(pace.take(0, 5_000)).toBe(-1)
    expect(pace.take(1, 0)).not.toBe(-1)
    pace.answered(permits[0] ?? -1, 5_000)
    expect(pace.take(0, 5_900)).toBe(-1)
    expect(pace.take(0, 6_010)).toBe(permits[0])
  })
})

test('a spread is the median, minimum and maximum', () => {
  expect(spreadOf([5, 1, 3, 100])).toEqual({ median: 4, least: 1, most: 100 })
})

describe('workingDay', () => {
  const call = { method: 'GET', path: '/', headers: {} } as const
  const caller = (kind: 'advice' | 'save' | 'update', everyMs: number) => ({
    kind,
    everyMs,
    firstMs: 0,
    next: () => ({ ...call, path: `/${kind}` }),
  })

  test('keeps sending while responses are late, and waits for all of them', async () => {
    // All responses wait for the sixth request.
    const sixth = Promise.withResolvers<void>()
    let asked = 0
    const send = async (): Promise<Answer> => {
      if (++asked === 6) sixth.resolve()
      await sixth.promise
      await delay(20)
      return { status: 200, text: '{"curve":[]}', ms: 60 }
    }
    const { advice } = await workingDay(send, [caller('advice', 10)], sixth.promise)
    expect(asked).toBeGreaterThan(5)
    expect(advice.times).toHaveLength(asked)
    expect(advice.refused.size).toBe(0)
  })

  test('each caller sends at least one request, also if the period ends before the request is due', async () => {
    const send = async (): Promise<Answer> => ({ status: 200, text: '{"curve":[]}', ms: 1 })
    const late = (['advice', 'save', 'update'] as const).map((kind) => ({
      ...caller(kind, 60_000),
      firstMs: 50_000,
    }))
    const day = await workingDay(send, late, Promise.resolve())
    expect(Object.values(day).map(({ times }) => times.length)).toEqual([1, 1, 1])
  })

  test('counts failed calls, and advice without the requested content, as faults', async () => {
    const send = async ({ path }: { path: string }): Promise<Answer> =>
      path === '/update'
        ? { status: 503, text: '{"status":503,"detail":"Not now."}', ms: 1 }
        : { status: path === '/save' ? 201 : 200, text: '{}', ms: 1 }
    const callers = [caller('advice', 60_000), caller('save', 60_000), caller('update', 60_000)]
    const day = await workingDay(send, callers, Promise.resolve())
    expect(day.save.times).toEqual([1])
    expect(faultsOf('a day', day)).toEqual([
      'a day, advice: no call succeeded',
      'a day, advice: 1 with status 200, such as: {}',
      'a day, update: no call succeeded',
      'a day, update: 1 with status 503, such as: Not now.',
    ])
  })

  test('is summarized by percentiles', () => {
    const values = Array.from({ length: 100 }, (_, at) => 100 - at)
    expect([0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([50, 95, 100])
    expect(percentile([], 0.5)).toBeNaN()
  })
})

test('the brokerage of the at-work row has 600 days of quotes on many lanes, none of which dominates', {
  tags: 'long',
}, () => {
  const other = { quotes: 100, tenants: 1, seed: 1, until: '2026-11-01' }
  const plan = { ...other, brokerage: 9_000 }
  const tenants = tenantsOf(plan)
  expect(tenants.map(({ kind, quotes }) => [kind, quotes])).toEqual([
    ['ordinary', 100],
    ['brokerage', 9_000],
  ])
  expect(tenantsOf(other)[0]?.tenantId).not.toBe(tenants[0]?.tenantId)
  const quotes = quotesOfChunk(plan, tenants, 0).filter(({ tenant }) => tenant.kind === 'brokerage')
  const days = quotes.map(({ quotedAt }) => (Date.parse('2026-11-01') - quotedAt) / 86_400_000)
  expect(Math.max(...days)).toBeGreaterThan(590)
  expect(Math.max(...days)).toBeLessThan(603)
  const counts = Map.groupBy(quotes, ({ lane }) => lane)
  expect(lanesOf(plan, tenants[1] ?? tenants[0] ?? expect.fail()).lanes).toHaveLength(1_897)
  expect(counts.size).toBeGreaterThan(1_500)
  expect(Math.max(...Array.from(counts.values(), ({ length }) => length))).toBeLessThan(9_000 / 40)
})
