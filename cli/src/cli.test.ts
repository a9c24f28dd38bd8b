import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { tokenScopes } from '#contract/token-scopes.ts'
import { type Integration, makeIntegration, makeLane, makePerson, makeServiceToken } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { scriptedServer } from '../../client/testing/scripted-server.ts'
import { runCommandLine } from '../testing/command-line.ts'
import { exits } from './exits.ts'
import type { Surroundings } from './surroundings.ts'

let app: TestApp
let integration: Integration
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  integration = await makeIntegration(app)
})
afterAll(() => app.close())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-cli-'))
  const { token, secret, tenant } = integration
  env = {
    LANEWISE_URL: app.url,
    LANEWISE_TOKEN: token,
    LANEWISE_SECRET: secret,
    LANEWISE_SESSION: tenant.owner,
    LANEWISE_CONFIG: join(folder, 'settings', 'config.json'),
  }
  return () => rmSync(folder, { recursive: true })
})

const lanewise = (words: readonly string[], more: Partial<Surroundings> & { stdin?: string } = {}) =>
  runCommandLine(words, { env, folder, now: () => app.now, ...more })

const file = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const dallas = ['Dallas, TX', 'Atlanta, GA']

describe('signing in', () => {
  test('saves the session and new credentials in a file that only the owner can read', async () => {
    const { email, password } = integration.tenant
    env = { LANEWISE_URL: app.url, LANEWISE_CONFIG: env.LANEWISE_CONFIG ?? '' }
    const signedIn = await lanewise(['sign-in', '--email', email, '--password-stdin'], {
      stdin: `${password}\n`,
    })
    expect(signedIn).toMatchObject({ exit: 0, remarked: '' })
    const path = env.LANEWISE_CONFIG ?? ''
    expect(statSync(path).mode & 0o777).toBe(0o600)

    expect((await lanewise(['markup', ...dallas, '2000'])).exit).toBe(0)
    const made = await lanewise(['token', 'create', 'laptop', '--save'])
    expect(made.remarked).toContain('shown once')
    expect(JSON.parse(readFileSync(path, 'utf8')).token).toBe(made.printed)
    await lanewise(['secret', 'create', 'cli', '--save'])
    const lane = await makeLane(app, integration.tenant)
    expect(await lanewise(['shipment-update', lane.lane_ref, '--truck-cost', '1500'])).toMatchObject({
      exit: 0,
    })

    // Credentials for one service are not sent to another.
    const elsewhere = await lanewise(['markup', ...dallas, '2000', '--url', 'http://127.0.0.1:1'])
    expect(elsewhere).toMatchObject({ exit: 3, printed: '' })
    const status = JSON.parse((await lanewise(['status', '--json'])).printed)
    expect(status).toMatchObject({ signed_in_as: email, service_token: 'kept', signing_secret: 'kept' })
    await lanewise(['sign-out'])
    expect((await lanewise(['export', 'lanes'])).exit).toBe(3)
  })

  test('reports a wrong password, and a missing password without a terminal', async () => {
    const wrong = await lanewise(['sign-in', '--email', integration.tenant.email, '--password-stdin'], {
      stdin: 'no',
    })
    expect(wrong).toMatchObject({ exit: 3, remarked: expect.stringContaining('sign-in-failed') })
    const asked = await lanewise(['sign-in', '--email', 'x@example.com'])
    expect(asked).toMatchObject({ exit: 2, remarked: expect.stringContaining('LANEWISE_PASSWORD') })
  })

  test('rejects a settings file that other users can read', async () => {
    file('config.json', '{}')
    env = { LANEWISE_CONFIG: join(folder, 'config.json') }
    expect(await lanewise(['status'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('chmod 600'),
    })
  })
})

describe('from a quote to its margin', () => {
  test('quote, markup, lane, shipment-update, outcome, export', async () => {
    const quoted = await lanewise([
      'quote',
      'Reno, NV',
      'Boise, ID',
      'V',
      '$1,450',
      '--customer',
      'Harvest Table Foods',
    ])
    expect(quoted).toMatchObject({ exit: 0, printed: expect.stringMatching(/^\d+-1-1$/) })
    const laneRef = quoted.printed
    const update = await lanewise([
      'shipment-update',
      laneRef,
      '--customer-rate',
      '1,450.10',
      '--truck-cost',
      '1200.05',
      '--carrier-name',
      'Peña "Trucks"',
      '--json',
    ])
    expect(JSON.parse(update.printed)).toMatchObject({ status: 'ok', updated: true })
    const markup = await lanewise(['markup', 'Reno, NV', 'Boise, ID', '1450', '--include', 'estimate'])
    expect(markup.printed).toMatch(/win probability +\d+\.\d %\nconfidence +low/)
    const lane = await lanewise(['lane', 'Reno, NV', 'Boise, ID', '-e', 'V', '--json'])
    expect(JSON.parse(lane.printed)).toMatchObject({
      found: true,
      scope: 'equipment',
      history: { avg_rate_usd: 1450.1 },
    })
    expect((await lanewise(['outcome', laneRef, 'lost', '--reason', 'service'])).printed).toMatch(
      /outcome +lost/,
    )
    expect(
      (await lanewise(['export', 'shipments', '-o', 'out.csv', '--customer', 'Harvest Table Foods'])).exit,
    ).toBe(0)
    expect(read('out.csv')).toContain('"Peña ""Trucks"""')
    expect((await lanewise(['outcome', '1-1-1', 'won'])).exit).toBe(4)
    expect((await lanewise(['outcome', laneRef, 'maybe'])).exit).toBe(2)
  })

  test('customer: list, show, set, rename, merge, unmerge', async () => {
    for (const customer of ['Harvest Foods', 'Harvest Foods, Inc.']) {
      await lanewise(['quote', ...dallas, 'V', '2000', '--customer', customer])
    }
    const run = async (...words: string[]) => (await lanewise(['customer', ...words])).printed
    expect(await run('merge', 'Harvest Foods, Inc.', 'Harvest Foods')).toBe(
      'Harvest Foods: Harvest Foods, Inc.',
    )
    expect(await run('set', 'harvest foods', '--tier', 'A', '--payment-days', '30')).toMatch(/tier A, .* 30$/)
    expect(await run('list', '--search', 'harvest')).toMatch(/^customer.*\nHarvest Foods +A +2 /)
    const shown = await run('show', 'Harvest Foods, Inc.')
    expect(shown).toMatch(/^customer +Harvest Foods\nother names +Harvest Foods, Inc\.\ntier +A/)
    expect(await run('unmerge', 'Harvest Foods, Inc.')).toBe('Harvest Foods, Inc.')
    expect(await run('rename', 'Harvest Foods', 'Harvest Field Foods')).toBe('Harvest Field Foods')
    expect((await lanewise(['customer', 'set', 'Harvest', '--payment-days', 'soon'])).exit).toBe(2)
    expect((await lanewise(['customer', 'show', 'Nobody'])).exit).toBe(4)
  })

  test('a booking is cancelled, a repeat changes nothing, and a newer booking is kept', async () => {
    const { lane_ref } = await makeLane(app, integration.tenant)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1500'])).exit).toBe(0)
    for (let times = 0; times < 2; times++) {
      expect(await lanewise(['cancel-booking', lane_ref, '--reason', 'No truck'])).toMatchObject({
        exit: 0,
        printed: expect.stringContaining('Cancelled the booking'),
      })
    }
    expect((await lanewise(['cancel-booking', '1-1-1'])).exit).toBe(4)
    expect((await lanewise(['cancel-booking'])).exit).toBe(2)
  })

  test('an update from a file is sent byte for byte', async () => {
    const { lane_ref } = await makeLane(app, integration.tenant)
    file('body.json', `{ "lane_ref": "${lane_ref}",\n "truck_cost": 1500.50 }\n`)
    expect(await lanewise(['shipment-update', '--body', 'body.json'])).toMatchObject({ exit: 0 })
    expect((await lanewise(['shipment-update', '--body', 'none.json'])).exit).toBe(2)
    const both = await lanewise(['shipment-update', '1-1-1', '--body', 'body.json'])
    expect(both).toMatchObject({ exit: 2, remarked: expect.stringContaining('remove the lane_ref') })
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1.500,50'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '-5'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1500.505'])).exit).toBe(1)
  })

  test('import reports the imported rows and the rows with errors', async () => {
    file(
      'past.csv',
      'Origin,Destination,Equipment,Quoted Rate,Quoted At,Outcome\nReno,"Boise, ID",V,1,2026-01-01,won\n"Reno, NV","Boise, ID",V,1400,2026-01-02,won\n',
    )
    const done = await lanewise(['import', 'past.csv', '--dry-run'])
    expect(done.printed).toMatch(/rows read +2\nwould be added +1/)
    expect(done.printed).toContain('line 2')
    expect(done.exit).toBe(6)
  })

  test('import --signed pushes the file with the service token and the secret', async () => {
    file(
      'pushed.csv',
      'Origin,Destination,Equipment,Quoted Rate,Quoted At\n"Reno, NV","Boise, ID",V,1400,2026-01-02\n',
    )
    const owner = integration.tenant.owner
    env.LANEWISE_TOKEN = await makeServiceToken(app, owner, 'imports:write')
    env.LANEWISE_SECRET = integration.secret
    const done = await lanewise(['import', 'pushed.csv', '--signed', '--dry-run'])
    expect([done.exit, done.remarked]).toEqual([0, ''])
    expect(done.printed).toMatch(/would be added +1/)
    env.LANEWISE_TOKEN = await makeServiceToken(app, owner, 'read')
    expect(await lanewise(['import', 'pushed.csv', '--signed'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('this token has read'),
    })
  })

  test('sandbox: created, entered, and reset; a token made inside is a test token', async () => {
    const created = await lanewise(['sandbox', 'create'])
    expect([created.exit, created.printed]).toEqual([0, expect.stringContaining('(test)')])
    expect((await lanewise(['sandbox', 'show'])).printed).toMatch(/test +true/)
    const token = env.LANEWISE_SESSION
    const entered = await lanewise(['sandbox', 'enter', '--json'])
    expect(JSON.parse(entered.printed)).toMatchObject({ tenant: { test: true } })
    delete env.LANEWISE_SESSION
    const made = await lanewise([
      'token',
      'create',
      'trial',
      '--scope',
      'read quotes:write',
      '--scope',
      'imports:write',
      '--json',
    ])
    expect(JSON.parse(made.printed)).toMatchObject({ scope: 'quotes:write imports:write read', test: true })
    if (token !== undefined) env.LANEWISE_SESSION = token
    expect((await lanewise(['sandbox', 'reset'])).printed).toMatch(/Reset .*\(test\): \d+ rows erased/)
  })

  test('in the sandbox, pushes, updates and reads go to the test brokerage, or are refused', async () => {
    const { email, password, owner } = integration.tenant
    env = { LANEWISE_URL: app.url, LANEWISE_CONFIG: join(folder, 'sandbox.json') }
    const signIn = () =>
      lanewise(['sign-in', '--email', email, '--password-stdin'], { stdin: `${password}\n` })
    const status = async () => JSON.parse((await lanewise(['status', '--json'])).printed)
    const scope = ['--scope', 'integrations:write quotes:write']
    await signIn()
    await lanewise(['token', 'create', 'own', ...scope, '--save'])
    await lanewise(['secret', 'create', 'own', '--save'])
    const own = await status()
    expect(own.service_token_of).toBe(own.signed_in_to)
    expect(own.signing_secret_of).toBe(own.signed_in_to)

    await lanewise(['sandbox', 'create'])
    expect((await lanewise(['sandbox', 'enter'])).exit).toBe(0)
    file(
      'sandbox.csv',
      'Load ID,Customer,Origin,Destination,Equipment,Quoted Rate,Quoted At\nSANDBOX-1,Harvest,"Reno, NV","Boise, ID",V,9999,2026-01-02\n',
    )
    const push = () => lanewise(['quotes', 'push', 'sandbox.csv'])
    const ownLane = await makeLane(app, integration.tenant)
    const update = () => lanewise(['shipment-update', ownLane.lane_ref, '--truck-cost', '1500'])
    // The own token and secret are put aside.
    for (const refused of [await push(), await update()]) {
      expect(refused).toMatchObject({
        exit: 3,
        remarked: expect.stringContaining('token create NAME --save'),
      })
    }
    expect(await status()).toMatchObject({
      signed_in_to: `${own.signed_in_to} (test)`,
      service_token: 'none',
      signing_secret: 'none',
    })
    for (const name of ['LANEWISE_TOKEN', 'LANEWISE_SESSION'] as const) {
      env[name] = name === 'LANEWISE_TOKEN' ? await makeServiceToken(app, owner, scope[1]) : owner
      const words = name === 'LANEWISE_TOKEN' ? ['markup', ...dallas, '2000'] : ['export', 'lanes']
      expect(await lanewise(words)).toMatchObject({
        exit: 3,
        remarked: expect.stringContaining(`Unset ${name}`),
      })
      delete env[name]
    }

    await lanewise(['token', 'create', 'trial', ...scope, '--save'])
    await lanewise(['secret', 'create', 'trial', '--save'])
    expect(await push()).toMatchObject({ exit: 0, printed: expect.stringContaining('created') })
    expect((await update()).exit).toBe(4)
    const refsOf = async () => (await lanewise(['export', 'lanes'])).printed
    expect(await refsOf()).toContain('9999.00')
    expect((await lanewise(['markup', 'Reno, NV', 'Boise, ID', '9999', '--json'])).printed).toContain(
      '"found":true',
    )

    // Back outside: the own credentials are used again, and the quote is not there.
    await signIn()
    expect(await status()).toEqual({ ...own, signed_in_until: expect.any(String) })
    expect(await refsOf()).not.toContain('9999.00')
    expect((await update()).exit).toBe(0)
  })

  test('a missing role is reported', async () => {
    env.LANEWISE_SESSION = (await makePerson(app, integration.tenant, 'viewer')).token
    expect(await lanewise(['token', 'create', 'x'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('role-required'),
    })
  })
})

describe('verify-signature', () => {
  const vector = {
    timestamp: '1772373600',
    body: '{"lane_ref":"48211093754-1-1","customer_rate":2150,"truck_cost":1820.5}',
    signature: 'sha256=a20943eebf5aaa85a17b511a74048c13a16bba0343fe66c4dd503f4937397776',
    secret: 'lwsec_BGnd5fHs5RUZ4PyZ1a1zR1tzQPe8vwxEfaxkz0AuHsB1YxORM',
  }
  const verify = (change: Partial<typeof vector> = {}, at = ['--at', vector.timestamp]) => {
    const { timestamp, body, signature, secret } = { ...vector, ...change }
    file('body.json', body)
    file('secret', `${secret}\n`)
    return lanewise([
      'verify-signature',
      '--timestamp',
      timestamp,
      '--signature',
      signature,
      '--body',
      'body.json',
      '--secret-file',
      'secret',
      ...at,
    ])
  }

  test('confirms a correct signature', async () => {
    expect(await verify()).toMatchObject({
      exit: 0,
      printed: expect.stringContaining('is correct for these 71 bytes'),
    })
  })

  test.each([
    ['the bytes', { body: `${vector.body}\n` }, '!  body'],
    ['the clock', { timestamp: '1772373600000' }, '!  timestamp'],
    ['the form', { signature: vector.signature.replace('sha256=', '') }, 'lacks "sha256="'],
    ['the prefix of the secret', { secret: vector.secret.slice(6) }, 'with the prefix lwsec_'],
  ])('reports a problem with %s', async (_name, change, expected) => {
    expect(await verify(change)).toMatchObject({ printed: expect.stringContaining(expected) })
  })

  test('uses only local terms, and gives a remedy', async () => {
    const mismatch = await verify({ body: '{"lane_ref":"1-1-1"}' })
    expect(mismatch.exit).toBe(7)
    expect(mismatch.printed).toMatch(/^! {2}signature {2}.*this secret does not produce it from these bytes/m)
    expect(mismatch.printed).toContain('lanewise verify-signature --help')
    expect(mismatch.printed).toMatch(/^The signature is not correct for these 20 bytes\.$/m)
    const old = await verify({}, [])
    expect(old.printed).toMatch(
      /^The signature is correct for these 71 bytes, but the service would reject its timestamp\.$/m,
    )
    expect(old.printed).toMatch(/behind the clock of this machine;.*\n.*give its arrival time with --at/)
    const ahead = await verify({}, ['--at', '1772370000'])
    expect(ahead.printed).toMatch(/3,600 seconds ahead of the time given with --at/)
    const missing = await verify({ timestamp: '', signature: '' })
    for (const { printed } of [mismatch, old, ahead, missing])
      expect(printed).not.toMatch(/server|dashboard|brokerage|documentation|paste/i)

    const { printed } = await lanewise(['verify-signature', '--help'])
    for (const part of [vector.secret, vector.timestamp, vector.body, vector.signature])
      expect(printed).toContain(part)
  })

  test('compares with the current time by default', async () => {
    expect(await verify({}, [])).toMatchObject({
      exit: 7,
      printed: expect.stringContaining('behind the clock of this machine'),
    })
  })
})

describe('price', () => {
  const lanes = [
    '"Dallas, TX";"Atlanta, GA";V;2000',
    '"Reno, NV";"Boise, ID";V;1400',
    ';"Boise, ID";V;1400',
    '"Dallas, TX";"Atlanta, GA";V;free',
    '"Reno";"Boise, ID";V;1400',
  ]
  const columns = 'Origin;Destination;Equip;Rate;Note'

  test('returns 10,000 rows in order with added columns, errors per row and escaped formulas', async () => {
    await makeLane(app, integration.tenant, { rate: 2000, outcome: 'won' })
    const rows = Array.from({ length: 10_000 }, (_, at) => `${lanes[at % 5]};${at % 2 === 0 ? '=cmd|x' : at}`)
    file('lanes.csv', `\uFEFF${columns}\r\n${rows.join('\r\n')}\r\n`)
    const done = await lanewise(['price', 'lanes.csv', '-o', 'out.csv', '--json'])
    expect(JSON.parse(done.printed)).toMatchObject({ rows: 10_000, refused: 6_000 })
    expect(done).toMatchObject({ exit: 6, remarked: expect.stringContaining('5000 of 10000 rows') })
    const out = read('out.csv').split('\r\n')
    expect(out).toHaveLength(10_002)
    expect(out[0]).toMatch(
      /^\uFEFFOrigin;Destination;Equip;Rate;Note;lanewise_rate;lanewise_win_probability;.*;lanewise_error$/,
    )
    expect(out[1]).toMatch(/^Dallas, TX;Atlanta, GA;V;2000;"'=cmd\|x";2000;0\.\d+;low;/)
    expect(out[9_998]).toMatch(/;The origin is missing\.$/)
    expect(out[9_999]).toMatch(/free;9998|free;"'=cmd\|x";.*The rate must be an amount/)
    expect(out[10_000]).toMatch(/origin must be a city with its state/)
    for (const [at, line] of out.slice(1, -1).entries()) {
      const note = at % 2 === 0 ? `"'=cmd|x"` : String(at)
      if (!line.includes(`;${note};`)) throw new Error(`Row ${at} is not where it was: ${line}`)
    }
  })

  const pricedRows = (name: string) =>
    Papa.parse<Record<string, string>>(read(name), { header: true, skipEmptyLines: true }).data

  test('prices a file at the suggested rates with --suggest', async () => {
    await makeLane(app, integration.tenant, { rate: 2000, outcome: 'won' })
    file('list.csv', 'From,To,Equip,Rate\n"Dallas, TX","Atlanta, GA",V,9\n"Fargo, ND","Bangor, ME",V,9\n')
    const done = await lanewise(['price', 'list.csv', '-o', 'priced.csv', '--insight', '--suggest'])
    expect(done).toMatchObject({ exit: 0 })
    const [priced, nothing] = pricedRows('priced.csv')
    expect(priced?.lanewise_rate).toBe(priced?.lanewise_suggested_rate)
    expect(Number(priced?.lanewise_rate)).toBeGreaterThan(9)
    expect(nothing).toMatchObject({ lanewise_rate: '', lanewise_confidence: 'none', lanewise_error: '' })
    expect(nothing?.lanewise_verdict).toBe('No quotes on this lane yet.')
  })

  test('rejects a file without a rate column, names its columns, and writes nothing', async () => {
    file('unpriced.csv', 'From,To,Equip,Turnover\n"Dallas, TX","Atlanta, GA",V,2000\n')
    const refused = await lanewise(['price', 'unpriced.csv', '-o', 'never.csv'])
    expect(refused.exit).toBe(2)
    for (const words of ['"Turnover"', '--column rate=NAME', '--suggest'])
      expect(refused.remarked).toContain(words)
    expect(() => read('never.csv')).toThrow()
    const mapped = ['price', 'unpriced.csv', '-o', 'mapped.csv', '--column', 'rate=Turnover']
    expect((await lanewise(mapped)).exit).toBe(0)
    expect(pricedRows('mapped.csv')[0]?.lanewise_rate).toBe('2000')
    expect((await lanewise([...mapped, '--suggest'])).exit).toBe(2)
  })

  test.each([
    'Sell Rate',
    'sell_rate ($)',
    'Quoted Rate',
    'Customer Rate',
    'AR',
    'Rate',
    'All-In Rate',
    'proposed_rate',
  ])('recognizes %s as the rate, and separate columns for city, state and ZIP code', async (name) => {
    const header = `Origin City,Origin State,Origin Zip,Dest Zip,Equip,Buy Rate,${name}`
    file('named.csv', `${header}\nDallas,TX,75201,30303,Dry Van,1500,1999\n,,75201,30303,2150,1500,1999\n`)
    expect((await lanewise(['price', 'named.csv', '-o', 'named.out.csv'])).exit).toBe(6)
    const [priced, wrong] = pricedRows('named.out.csv')
    expect(priced).toMatchObject({ lanewise_rate: '1999', lanewise_error: '' })
    expect(wrong?.lanewise_error).toMatch(/2150 looks like a rate/)
  })

  test('reports two possible rate columns, and rows with a missing or foreign rate', async () => {
    file('two.csv', 'From,To,Quoted Rate,Sell Rate\n"Dallas, TX","Atlanta, GA",1,2\n')
    const asked = await lanewise(['price', 'two.csv'])
    expect(asked).toMatchObject({ exit: 2, remarked: expect.stringContaining('"Quoted Rate", "Sell Rate"') })
    const rates = ['', '1.850', '"2150,50"', '"2,150.50"']
    file('rows.csv', `From,To,Sell Rate\n${rates.map((rate) => `DFW,ATL,${rate}\n`).join('')}`)
    expect((await lanewise(['price', 'rows.csv', '-o', 'rows.out.csv'])).exit).toBe(6)
    const rows = pricedRows('rows.out.csv')
    expect(rows.map((row) => row.lanewise_rate)).toEqual(['', '', '', '2150.5'])
    expect(rows[0]?.lanewise_error).toBe('The rate is missing.')
    for (const row of rows.slice(1, 3)) expect(row.lanewise_error).toMatch(/must be an amount of dollars/)
  })

  test('does not compare a rate on another basis, in another currency or in another unit', async () => {
    await makeLane(app, integration.tenant, { rate: 2000, outcome: 'won' })
    const ends = '"Dallas, TX","Atlanta, GA",V'
    file('linehaul.csv', `From,To,Equip,Linehaul\n${ends},1700\n`)
    expect((await lanewise(['price', 'linehaul.csv', '-o', 'linehaul.out.csv'])).exit).toBe(6)
    expect(pricedRows('linehaul.out.csv')[0]?.lanewise_error).toBe(
      'The rate is linehaul, and the rates of the brokerage are compared as all-in rates. Price the all-in rate.',
    )
    const rows = ['2000,all_in,USD', '2000,all_in,CAD', '2000,,', '2000,gross,', '1700,linehaul,']
    file('terms.csv', `From,To,Equip,Sell Rate,Basis,Currency\n${ends},${rows.join(`\n${ends},`)}\n`)
    expect((await lanewise(['price', 'terms.csv', '-o', 'terms.out.csv'])).exit).toBe(6)
    expect(pricedRows('terms.out.csv')).toMatchObject([
      { lanewise_error: '', lanewise_basis: 'all_in', lanewise_currency: 'USD', lanewise_kept_apart: '0' },
      { lanewise_error: expect.stringContaining('the currency is "CAD"'), lanewise_rate: '' },
      { lanewise_error: '' },
      { lanewise_error: expect.stringContaining('linehaul or all_in; it is "gross"') },
      { lanewise_error: expect.stringContaining('The rate is linehaul') },
    ])
    file('cad.csv', `From,To,Equip,Sell Rate (CAD)\n${ends},2700\n`)
    expect(
      (await lanewise(['price', 'cad.csv', '-c', 'rate=Sell Rate (CAD)', '-o', 'cad.out.csv'])).exit,
    ).toBe(6)
    expect(pricedRows('cad.out.csv')[0]?.lanewise_error).toContain('the currency is "CAD"')
    file('miles.csv', `From,To,Equip,Rate per mile\n${ends},2.35\n`)
    expect(await lanewise(['price', 'miles.csv', '-c', 'rate=Rate per mile'])).toMatchObject({
      exit: 2,
      remarked: expect.stringContaining('has amounts per mile'),
    })
    for (const words of [
      ['markup', ...dallas, '2000'],
      ['lane', ...dallas],
    ])
      expect((await lanewise(words)).printed).toMatch(/basis +all-in, US dollars/)
  })

  test('reports an unknown place with suggestions', async () => {
    file('typo.csv', 'From,To,Rate\n"Dalas, TX","Atlanta, GA",2000\n')
    expect((await lanewise(['price', 'typo.csv', '-o', 'typo.out.csv', '--insight'])).exit).toBe(0)
    const words = 'The origin "Dalas, TX" is not a known place. Did you mean Dallas, TX?'
    const [row] = pricedRows('typo.out.csv')
    expect(row?.lanewise_verdict).toContain(words)
    expect(row?.lanewise_summary).toContain(words)
    expect((await lanewise(['markup', 'Dalas, TX', 'Atlanta, GA', '2000'])).printed).toContain(words)
    expect((await lanewise(['lane', 'Dalas, TX', 'Atlanta, GA'])).printed).toContain(words)
  })

  test('continues an interrupted run without repeating requests', async () => {
    const rows = Array.from(
      { length: 1_060 },
      (_, at) => `Reno\t"Boise, ID"\tV\t${at < 1_055 ? 1400 : 1400 + at}\t${at}`,
    )
    const text = `${columns.replaceAll(';', '\t')}\n${rows.join('\n')}\n`.replaceAll('Reno\t', '"Reno, NV"\t')
    file('lanes.tsv', text)
    const stop = new AbortController()
    const stopped = await lanewise(['price', 'lanes.tsv', '-o', 'out.tsv'], {
      signal: stop.signal,
      remark: (line) => {
        if (line.startsWith('1000 of 1060')) stop.abort()
      },
    })
    expect(stopped.exit).toBe(130)
    expect(read('out.tsv.part').split('\n')).toHaveLength(1_002)

    file('other.tsv', text.replace('1400', '1401'))
    expect((await lanewise(['price', 'other.tsv', '-o', 'out.tsv'])).exit).toBe(2)
    // A partially written row is written again.
    file('out.tsv.part', `${read('out.tsv.part')}"Reno, N`)
    const done = await lanewise(['price', 'lanes.tsv', '-o', 'out.tsv'])
    expect(done).toMatchObject({ exit: 0, remarked: expect.stringContaining('Continuing after row 1000') })
    const numbers = read('out.tsv')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => Number(line.split('\t')[4]))
    expect(numbers).toEqual(rows.map((_, at) => at))
  })

  test('reports an invalid file before any request', async () => {
    file('a.csv', 'Somewhere,To,Rate\nx,y,1\n')
    expect(await lanewise(['price', 'a.csv'])).toMatchObject({
      exit: 2,
      remarked: expect.stringContaining('No column is recognized as the origin'),
    })
    file('b.csv', 'From,To,Rate\n"x,y,1\n')
    expect((await lanewise(['price', 'b.csv'])).exit).toBe(2)
    file('c.csv', Buffer.from([0x46, 0xff, 0xfe]))
    expect(await lanewise(['price', 'c.csv'])).toMatchObject({
      exit: 2,
      remarked: expect.stringContaining('UTF-8'),
    })
    file('d.csv', '')
    expect(await lanewise(['price', 'd.csv'])).toMatchObject({ exit: 2, remarked: 'The file is empty.' })
  })

  test('stops when the service is unavailable, and explains how to continue', async () => {
    file('lanes.csv', `${columns}\n${lanes[0]};1\n`)
    const stop = new AbortController()
    const server = createServer((socket) => {
      socket.destroy()
      stop.abort()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    env.LANEWISE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const away = lanewise(['price', 'lanes.csv'], { signal: stop.signal })
    expect(await away).toMatchObject({ exit: 130, remarked: expect.stringContaining('again to continue') })
  })
})

describe('unknown fields', () => {
  test('are an error, which is JSON with --json; with --lenient a warning', async () => {
    const { lane_ref } = await makeLane(app, integration.tenant)
    file('body.json', JSON.stringify({ lane_ref, truck_cost: 1500, custommer_rate: 2150 }))
    const send = (...words: string[]) => lanewise(['shipment-update', '--body', 'body.json', ...words])
    const refused = await send()
    expect(refused).toMatchObject({ exit: 1, printed: '' })
    expect(refused.remarked).toMatch(/custommer_rate.*\nCorrect the name, or use --lenient/)
    const { remarked } = await send('--json')
    expect(JSON.parse(remarked).error).toMatchObject({
      code: 'unknown-field',
      status: 422,
      requestId: expect.any(String),
      retryable: false,
      attempts: 1,
      exit: 1,
    })
    const lenient = await send('--lenient')
    expect(lenient).toMatchObject({ exit: 0, printed: expect.stringContaining('Booked on lane') })
    expect(lenient.remarked).toBe('Warning: the service ignored unknown fields: custommer_rate')
    const asJson = await send('--lenient', '--json')
    expect(JSON.parse(asJson.printed)).toMatchObject({ status: 'ok', updated: true })
    expect(JSON.parse(asJson.remarked)).toEqual({ warning: { ignored: ['custommer_rate'] } })
  })
})

describe('errors', () => {
  const markup = (url: string, ...words: string[]) =>
    lanewise(['markup', ...dallas, '2000', '--url', url, ...words])

  test.each([
    ['ftp://lanewise.example.com', 2, 'it must start with http:// or https://'],
    ['lanewise.example.com', 2, 'it must start with http:// or https://'],
    ['http://', 2, 'it must be an address such as'],
    ['https://me:pw@lanewise.example.com', 2, 'it must have no user'],
  ])('at the address %s have a message of one line', hasOneLine)

  // Asks for the name five times, with pauses of seconds.
  test('at an address that cannot be resolved have a message of one line', { tags: 'long' }, () =>
    hasOneLine(
      'http://lanewise.invalid',
      5,
      'The host name lanewise.invalid cannot be resolved. Check --url',
    ),
  )

  async function hasOneLine(url: string, exit: number, line: string): Promise<void> {
    const failed = await markup(url)
    expect(failed).toMatchObject({ exit, printed: '' })
    expect(failed.remarked).toContain(line)
    expect(failed.remarked.split('\n')).toHaveLength(1)
    expect(JSON.parse((await markup(url, '--json')).remarked).error).toMatchObject({
      exit,
      attempts: exit === 5 ? 5 : 0,
    })
  }

  test('at an address with another service, or none, have a message of one line', async () => {
    const other = await scriptedServer()
    const port = new URL(other.url).port
    try {
      other.play({ status: 200, body: '<h1>Welcome</h1>' })
      const page = await markup(other.url)
      expect(page.remarked).toMatch(
        /^The response of http:\S+ is not from Lanewise \(status 200\).* \(not-json\)$/,
      )
      const tls = await markup(`https://127.0.0.1:${port}`)
      expect(tls.remarked).toMatch(
        /^127\.0\.0\.1:\d+ does not use HTTPS\. Did you mean http:\/\/127\.0\.0\.1:\d+\?.*$/,
      )
    } finally {
      await other.close()
    }
    expect((await markup(`http://127.0.0.1:${port}`)).remarked).toMatch(
      /^Nothing listens at 127\.0\.0\.1:\d+\. .*$/,
    )
    const path = await markup(`${app.url}/api/integrations`)
    expect(path.remarked).toMatch(
      /^The service has no addresses under \S+\. Remove the path \/api\/integrations: --url http:\S+ \(route.*\)$/,
    )
  })

  test('with a file have a message, never a stack trace', async () => {
    mkdirSync(join(folder, 'folder'))
    file('binary', Buffer.from([0x00, 0xff, 0xfe, 0x80]))
    const sign = ['--timestamp', '1772373600', '--signature', 'sha256=00']
    const failures = [
      [['shipment-update', '--body', 'none.json'], 2, 'none.json: there is no such file or folder.'],
      [['shipment-update', '--body', 'folder'], 2, 'folder: it is a folder, not a file.'],
      [['shipment-update', '--body', 'binary/x'], 2, 'binary/x: a part of its path is a file, not a folder.'],
      [['shipment-update', '--body', 'binary'], 1, 'malformed-json'],
      [['price', 'none.csv'], 2, 'none.csv: there is no such file or folder.'],
      [['price', 'binary'], 2, 'The file is not UTF-8'],
      [['import', 'folder'], 2, 'folder: it is a folder, not a file.'],
      [['export', 'lanes', '-o', 'none/out.csv'], 1, 'out.csv: there is no such file or folder.'],
      [['export', 'lanes', '-o', 'folder'], 1, 'folder: it is a folder, not a file.'],
      [['verify-signature', ...sign, '--body', 'folder'], 2, 'folder: it is a folder, not a file.'],
      [['verify-signature', ...sign, '--body', 'binary'], 7, 'The body is not UTF-8'],
      [
        ['verify-signature', ...sign, '--body', 'binary', '--secret-file', 'none'],
        2,
        'none: there is no such file',
      ],
    ] as const
    for (const [words, exit, expected] of failures) {
      const failed = await lanewise(words)
      expect(failed).toMatchObject({ exit, printed: '', remarked: expect.stringContaining(expected) })
      expect(failed.remarked).not.toMatch(/\n\s+at |Internal error/)
      const { error } = JSON.parse((await lanewise([...words, '--json'])).remarked)
      expect(error).toMatchObject({
        exit,
        message: expect.any(String),
        code: expect.any(String),
        retryable: false,
      })
    }
  })

  test('of the command line are JSON with --json', async () => {
    for (const [words, message] of [
      [['markp'], "unknown command 'markp'"],
      [['markup', 'Dallas, TX'], "missing required argument 'destination'"],
      [['markup', ...dallas, '2000', '--no-such'], "unknown option '--no-such'"],
      [['markup', ...dallas, 'much'], 'The rate must be an amount of dollars'],
    ] as const) {
      const failed = await lanewise([...words, '--json'])
      expect(failed).toMatchObject({ exit: 2, printed: '' })
      const { error } = JSON.parse(failed.remarked)
      expect(error).toMatchObject({ code: 'usage', status: null, requestId: null, attempts: 0, exit: 2 })
      expect(error.message).toContain(message)
    }
  })

  test('are separate from events and warnings, which are JSON lines with --json', async () => {
    const made = await lanewise(['secret', 'create', 'json', '--save', '--json', '--verbose'])
    const lines = made.remarked.split('\n').map((line) => JSON.parse(line))
    expect(lines.map((line) => Object.keys(line))).toEqual([['event'], ['event'], ['note'], ['note']])
    expect(lines[1].event).toMatchObject({ kind: 'answered', status: 201, replayed: false, ignored: [] })
  })
})

describe('the standard output', () => {
  test('receives a file byte for byte with -o -', async () => {
    await makeLane(app, integration.tenant)
    await lanewise(['export', 'lanes', '-o', 'out.csv'])
    expect((await lanewise(['export', 'lanes', '-o', '-'])).printed).toBe(read('out.csv'))
    expect((await lanewise(['export', 'lanes'])).printed).toBe(read('out.csv'))

    file('lanes.csv', 'Origin,Destination,Rate\n"Dallas, TX","Atlanta, GA",2000\n,"Atlanta, GA",2000\n')
    await lanewise(['price', 'lanes.csv', '-o', 'priced.csv'])
    const priced = await lanewise(['price', 'lanes.csv', '-o', '-'], { print: () => expect.unreachable() })
    expect(priced).toMatchObject({ exit: 6, remarked: '2 rows, 1 with an error.' })
    expect(priced.printed.replaceAll('\n\n', '\n')).toBe(read('priced.csv'))
    expect(existsSync(join(folder, '-'))).toBe(false)
  })
})

describe('help', () => {
  test('of each command has an example', async () => {
    const names = (words: readonly string[]) =>
      lanewise(['__complete', '--', ...words, '']).then(({ printed }) => printed.split('\n'))
    const commands = (await names([])).filter((name) => name !== 'help').map((name) => [name])
    for (const group of ['token', 'secret'])
      commands.push(...(await names([group])).map((name) => [group, name]))
    expect(commands.length).toBeGreaterThan(20)
    for (const words of commands) {
      const { exit, printed } = await lanewise([...words, '--help'])
      expect(exit).toBe(0)
      expect(printed).toMatch(
        words[0] === 'completion'
          ? /\nExamples:\n {2}in /
          : new RegExp(`\\nExamples?:\\n.*lanewise ${words.join(' ')}`),
      )
      expect((await lanewise(['help', ...words])).printed).toBe(printed)
    }
  })

  test('of token create describes the token, its single display and its expiry', async () => {
    const { printed } = await lanewise(['token', 'create', '--help'])
    const text = printed.replaceAll(/\s+/g, ' ')
    for (const part of [
      'is shown once',
      'expires after 365 days',
      ...Object.entries(tokenScopes).map(([name, { permits }]) => `${name} ${permits}`),
      'default integrations:write',
      'admin or owner',
      '--save',
    ])
      expect(text).toContain(part)
  })

  test('lists the first steps, the environment variables and every exit code', async () => {
    const { exit, printed } = await lanewise(['--help'])
    expect(exit).toBe(0)
    for (const [code, meaning] of Object.entries(exits))
      expect(printed).toContain(`${code.padEnd(4)} ${meaning}`)
    expect(printed).toContain('LANEWISE_TOKEN')
    const price = await lanewise(['price', '--help'])
    expect(price.printed).toContain('Example:')
    expect(price.printed).toContain('--json')
  })

  test('suggests a command after a typing error', async () => {
    expect(await lanewise(['markp'])).toMatchObject({ exit: 2, remarked: expect.stringContaining('markup') })
    expect((await lanewise(['markup', ...dallas])).exit).toBe(2)
    expect((await lanewise(['markup', ...dallas, 'x'])).exit).toBe(2)
    expect((await lanewise(['markup', ...dallas, '0'])).exit).toBe(1)
  })

  test('completes commands, subcommands and options', async () => {
    const offered = async (...words: string[]) =>
      (await lanewise(['__complete', '--', ...words])).printed.split('\n')
    expect(await offered('ma')).toEqual(['markup', 'market'])
    expect(await offered('token', '')).toEqual(['create', 'list', 'revoke'])
    expect(await offered('price', '--ins')).toEqual(['--insight'])
    expect(await offered('he')).toEqual(['help'])
    expect(await offered('help', 'tok')).toEqual(['token'])
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(await offered('outcome', '--reason', 'price', '7-1-1', 'w')).toEqual(['won'])
    expect(await offered('export', 'l')).toEqual(['lanes'])
    expect(await offered('token', 'create', '--scope', 'im')).toEqual(['imports:write'])
    for (const shell of ['bash', 'zsh', 'fish']) expect((await lanewise(['completion', shell])).exit).toBe(0)
    expect((await lanewise(['completion', 'csh'])).exit).toBe(2)
  })

  test('completes in bash', { tags: 'long' }, async () => {
    const main = join(import.meta.dirname, 'lanewise-main.ts')
    const { printed } = await lanewise(['completion', 'bash'])
    const complete = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `lanewise() { "$NODE" "$MAIN" "$@"; }\n${printed}\nCOMP_WORDS=(lanewise "$@"); COMP_CWORD=$#; _lanewise; printf '%s\\n' "\${COMPREPLY[@]}"`,
          'bash',
          ...words,
        ],
        { encoding: 'utf8', env: { ...process.env, ...env, NODE: process.execPath, MAIN: main } },
      ).trimEnd()
    expect(complete('token', '')).toBe('create\nlist\nrevoke')
    expect(complete('price', '--rest')).toBe('--restart')
  })
})
