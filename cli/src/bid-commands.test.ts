import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeIntegration, makePricedBid } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { runCommandLine } from '../testing/command-line.ts'

/** Tests `lanewise bid` against a running service. */

let app: TestApp
let folder: string
let env: Record<string, string>
let bid: string

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  const { tenant, token, secret } = await makeIntegration(app, 'quotes:write read')
  folder = mkdtempSync(join(tmpdir(), 'lanewise-bid-'))
  env = {
    LANEWISE_URL: app.url,
    LANEWISE_TOKEN: token,
    LANEWISE_SECRET: secret,
    LANEWISE_SESSION: tenant.owner,
  }
  const lanes =
    'Lane ID,Origin,Destination,Annual Volume\nH-1,"Dallas, TX","Atlanta, GA",52\nH-2,"Reno, NV","Boise, ID",20\n'
  bid = String(await makePricedBid(app, tenant.owner, lanes))
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const run = (...words: string[]) =>
  runCommandLine(['bid', ...words], {
    env: { ...env, LANEWISE_CONFIG: join(folder, 'config.json') },
    folder,
    now: () => app.now,
  })

test('bids and their lanes are listed', async () => {
  const list = await run('list')
  expect(list).toMatchObject({ exit: 0, printed: expect.stringContaining('RFP 2027') })
  expect(list.printed).toMatch(/bid +name +customer +stage +lanes/)
  const lanes = await run('lanes', bid)
  expect(lanes.printed).toMatch(/1 +H-1 +Dallas, TX +Atlanta, GA/)
  expect(JSON.parse((await run('lanes', bid, '--json')).printed).lanes).toHaveLength(2)
})

test('an award is pushed, and a file with awards is taken', async () => {
  expect(await run('award', bid, 'H-1', 'awarded', '--rate', '2,150', '--loads', '48')).toMatchObject({
    exit: 0,
    printed: expect.stringContaining('updated'),
  })
  expect((await run('award', bid, 'H-1', 'awarded', '--rate', '2150', '--loads', '48')).printed).toContain(
    'unchanged',
  )
  expect((await run('lanes', bid)).printed).toContain('awarded $2,150.00')
  app.now += 2_000
  writeFileSync(join(folder, 'letter.csv'), 'Lane ID,Award\nH-2,yes\n')
  const taken = await run('awards', bid, 'letter.csv', '--others-lost')
  expect(taken).toMatchObject({ exit: 0, printed: expect.stringContaining('1 changed; 2 awarded, 0 lost') })
})

test.each([
  [['award', 'BID', 'H-7', 'awarded'], 6, 'has no lane "H-7"'],
  [['award', 'BID', 'H-1', 'maybe'], 6, 'state must be one of'],
  [['award', 'BID', 'H-1', 'awarded', '--rate', 'x'], 2, '--rate must be a number'],
  [['lanes', 'first'], 2, 'The bid must be its number'],
  [['lanes', '999999'], 4, 'There is no bid 999999'],
  [['awards', 'BID', 'missing.csv'], 2, 'there is no such file'],
])('%j has exit code %i and says why', async (words, exit, message) => {
  const refused = await run(...words.map((word) => (word === 'BID' ? bid : word)))
  expect(refused.exit).toBe(exit)
  expect(refused.printed + refused.remarked).toContain(message)
})
