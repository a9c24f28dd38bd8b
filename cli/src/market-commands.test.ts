import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeIntegration } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { runCommandLine } from '../testing/command-line.ts'

/** Tests `lanewise market push` against a running service. */

let app: TestApp
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  const { token, secret } = await makeIntegration(app, 'quotes:write')
  folder = mkdtempSync(join(tmpdir(), 'lanewise-market-'))
  env = { LANEWISE_URL: app.url, LANEWISE_TOKEN: token, LANEWISE_SECRET: secret }
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const push = (...words: string[]) =>
  runCommandLine(['market', 'push', ...words], {
    env: { ...env, LANEWISE_CONFIG: join(folder, 'config.json') },
    folder,
    now: () => app.now,
  })

const assumed = ['--source', 'DAT', '--basis', 'linehaul', '--as-of', '2026-02-27']
const header = 'Week of rates\nOrigin,Destination,Truck Type,Rate,Note'

test('a file is checked, stored and repeated; --json prints the answer of the service', async () => {
  writeFileSync(join(folder, 'rates.csv'), `${header}\n"Dallas, TX","Atlanta, GA",Van,1600,x\n`)
  const dry = await push('rates.csv', ...assumed, '--dry-run')
  expect(dry.exit).toBe(0)
  expect(dry.printed).toMatch(/would be stored +1\n/)
  expect(dry.printed).toMatch(
    /columns read +Origin \(origin\), .*Rate \(mid\)\ncolumns not read +Note\n1 line is above the header/,
  )
  const stored = JSON.parse((await push('rates.csv', ...assumed, '--json')).printed)
  expect(stored).toMatchObject({ rows: 1, stored: true, created: 1 })
  expect((await push('rates.csv', ...assumed)).printed).toMatch(/created +0\nupdated +0\nunchanged +1\n/)
})

test('rows with errors have exit code 6 and are named by line; the others are stored, also of a file in UTF-16', async () => {
  const text = `${header}\n"Dallas, TX","Macon, GA",Van,1500,\n"Dallas, TX","Macon, GA",Reefer,2.10,\n`
  writeFileSync(join(folder, 'some.csv'), Buffer.from(`\uFEFF${text}`, 'utf16le'))
  const some = await push('some.csv', ...assumed)
  expect(some).toMatchObject({ exit: 6, printed: expect.stringMatching(/created +1\n/) })
  expect(some.printed).toContain('line 4: mid must be dollars per load')
})

test.each([
  [
    'a file that does not say its basis',
    ['rates.csv', '--source', 'DAT'],
    1,
    'basis (or choose one for the whole file)',
  ],
  ['a wrong word', ['rates.csv', ...assumed, '--kind', 'both'], 1, 'kind must be'],
  ['no file', ['missing.csv', ...assumed], 2, 'there is no such file'],
])('%s: exit code, and nothing is stored', async (_, words, exit, message) => {
  const refused = await push(...words)
  expect(refused).toMatchObject({ exit, printed: '' })
  expect(refused.remarked).toContain(message)
})

test('a token without the scope is refused', async () => {
  const reading = await makeIntegration(app, 'read')
  env = { ...env, LANEWISE_TOKEN: reading.token, LANEWISE_SECRET: reading.secret }
  expect(await push('rates.csv', ...assumed)).toMatchObject({ exit: 3 })
})
