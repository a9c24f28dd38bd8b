import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { benchCommand } from './bench-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'lanewise-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('npm run bench', () => {
  test('measures a row and reports it as a table and as JSON', async () => {
    const json = join(folder, 'figures.json')
    // Longer than one second, because 300 brokerages can use up the rate limit of a second before the measurement starts.
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
    expect(output).toMatch(/ {2}limit .*\n {2}framework .*\n {2}ordinary .*\n {2}lanewise /)
    expect(output.split('\n').filter((line) => line.includes('FAULT'))).toEqual([])
    expect(code).toBe(0)
    const { rows } = JSON.parse(readFileSync(json, 'utf8'))
    expect(rows).toMatchObject([{ name: 'markup', findings: { faults: [], bars: expect.any(Array) } }])
    for (const [, throughput] of rows[0].findings.table.lines) expect(throughput.median).toBeGreaterThan(0)
  }, 120_000)

  test('simulates work in a small brokerage, and reports response times with their limits', async () => {
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
  }, 120_000)
})
