import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { spreadOf } from './bench-row.ts'
import { tenantPace } from './load/tenant-pace.ts'

const folder = mkdtempSync(join(tmpdir(), 'lanewise-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function bench(...options: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [
    fileURLToPath(new URL('./bench-main.ts', import.meta.url)),
    ...options,
  ])
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

describe('npm run bench', () => {
  test('measures a row in turns and says it as a table and as JSON', async () => {
    const json = join(folder, 'figures.json')
    // Longer than a second: so few brokerages may spend all their requests of a second before a measurement begins.
    const small = ['--seconds', '1.2', '--rounds', '2', '--quotes', '2000', '--tenants', '300']
    const { code, output } = await bench('--only', 'markup', ...small, '--data', folder, '--json', json)
    expect(output).toMatch(/ {2}limit .*\n {2}framework .*\n {2}ordinary .*\n {2}lanewise /)
    expect(output).not.toContain('FAULT')
    expect(code).toBe(0)
    const { rows } = JSON.parse(readFileSync(json, 'utf8'))
    expect(rows).toMatchObject([{ name: 'markup', findings: { faults: [], bars: expect.any(Array) } }])
    for (const [, throughput] of rows[0].findings.table.lines) expect(throughput.median).toBeGreaterThan(0)
  }, 120_000)

  test('refuses a row that is not there', async () => {
    expect(await bench('--only', 'nonsense')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/no row/),
    })
  })
})

describe('the load generator', () => {
  test('lets no eleven requests of a tenant arrive within a second, however late they are answered', () => {
    const pace = tenantPace(2)
    const places = Array.from({ length: 10 }, () => pace.take(0, 0))
    expect(new Set(places).size).toBe(10)
    expect(pace.take(0, 5_000)).toBe(-1)
    expect(pace.take(1, 0)).not.toBe(-1)
    pace.answered(places[0] ?? -1, 5_000)
    expect(pace.take(0, 5_900)).toBe(-1)
    expect(pace.take(0, 6_010)).toBe(places[0])
  })
})

test('a spread is the median and how far the rounds were apart', () => {
  expect(spreadOf([5, 1, 3, 100])).toEqual({ median: 4, least: 1, most: 100 })
})
