import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Integration, makeIntegration, makeQuote, makeServiceToken } from '#testing/make.ts'
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
  integration = await makeIntegration(app, 'integrations:write quotes:write read')
})
afterAll(() => app.close())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-cli-'))
  const { token, secret } = integration
  env = {
    LANEWISE_URL: app.url,
    LANEWISE_TOKEN: token,
    LANEWISE_SECRET: secret,
  }
  return () => rmSync(folder, { recursive: true })
})

const lanewise = (words: readonly string[], more: Partial<Surroundings> & { stdin?: string } = {}) =>
  runCommandLine(words, { env, folder, now: () => app.now, ...more })

const file = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const dallas = ['Dallas, TX', 'Atlanta, GA']

describe('from a quote to its margin', () => {
  test('quote, shipment-update, markup, lane, outcome', async () => {
    const quote = (rate: string, ...more: string[]) =>
      lanewise([
        ...['quote', 'Reno, NV', 'Boise, ID', 'V', rate, '--external-id', 'CLI-1'],
        ...['--customer', 'Harvest Table Foods', '--rep-name', 'Dana Reyes', ...more],
      ])
    const quoted = await quote('$1,450')
    expect(quoted).toMatchObject({ exit: 0, printed: expect.stringMatching(/^\d+-1-1$/), remarked: '' })
    const laneRef = quoted.printed
    expect(JSON.parse((await quote('1450', '--json')).printed)).toMatchObject({
      result: 'unchanged',
      lane_ref: laneRef,
    })
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
    const { lane_ref: other } = await makeQuote(app, integration.tenant)
    expect((await lanewise(['outcome', other, 'lost', '--reason', 'service'])).printed).toBe(
      `${other}: lost, updated`,
    )
    expect(await lanewise(['outcome', '1-1-1', 'won'])).toMatchObject({ exit: 4, printed: '' })
    expect((await lanewise(['outcome', other, 'maybe'])).exit).toBe(2)
    expect((await lanewise(['outcome', other, 'lost', '--reason', 'luck'])).exit).toBe(2)
  })

  test('a quote that the service refuses names the field, and an unknown place is reported', async () => {
    const quote = (from: string, ...more: string[]) =>
      lanewise(['quote', from, 'Boise, ID', 'V', '1450', '--external-id', 'CLI-2', ...more])
    expect(await quote('Reno, NV')).toMatchObject({
      exit: 2,
      remarked: expect.stringContaining('--customer <name>'),
    })
    const customer = ['--customer', 'Harvest']
    expect(await quote('Reno, NV', ...customer, '--rate-type', 'often')).toMatchObject({
      exit: 1,
      printed: '',
      remarked: expect.stringContaining('rate_type'),
    })
    expect(await quote('Dalas, TX', ...customer)).toMatchObject({
      exit: 0,
      remarked: 'The origin "Dalas, TX" is not a known place. Did you mean Dallas, TX?',
    })
  })

  test('a booking is cancelled, a repeat changes nothing, and an unknown lane_ref is an error', async () => {
    const { lane_ref } = await makeQuote(app, integration.tenant)
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
    const { lane_ref } = await makeQuote(app, integration.tenant)
    file('body.json', `{ "lane_ref": "${lane_ref}",\n "truck_cost": 1500.50 }\n`)
    expect(await lanewise(['shipment-update', '--body', 'body.json'])).toMatchObject({ exit: 0 })
    expect((await lanewise(['shipment-update', '--body', 'none.json'])).exit).toBe(2)
    const both = await lanewise(['shipment-update', '1-1-1', '--body', 'body.json'])
    expect(both).toMatchObject({ exit: 2, remarked: expect.stringContaining('remove the lane_ref') })
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1.500,50'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '-5'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1500.505'])).exit).toBe(1)
  })

  test('import reports the imported rows, the rows with errors, and a missing scope', async () => {
    file(
      'past.csv',
      'Origin,Destination,Equipment,Quoted Rate,Quoted At,Outcome\nReno,"Boise, ID",V,1,1/1/2026,won\n"Reno, NV","Boise, ID",V,1400,1/2/2026,won\n',
    )
    const { owner } = integration.tenant
    env.LANEWISE_TOKEN = await makeServiceToken(app, owner, 'imports:write')
    const done = await lanewise(['import', 'past.csv', '--dry-run'])
    expect(done.printed).toMatch(/rows read +2\nwould be added +1/)
    expect(done.printed).toContain('line 2')
    expect(done.printed).toContain(
      'Quoted At: month first, so 1/2/2026 is January 2, 2026.\n  --map dates=day_first: Day first',
    )
    expect(done.exit).toBe(6)
    env.LANEWISE_TOKEN = await makeServiceToken(app, owner, 'read')
    expect(await lanewise(['import', 'past.csv'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('this token has read'),
    })
  })

  test('a missing token and a missing secret are named', async () => {
    env.LANEWISE_SECRET = ' '
    expect(await lanewise(['cancel-booking', '1-1-1'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('set LANEWISE_SECRET'),
    })
    delete env.LANEWISE_TOKEN
    expect(await lanewise(['markup', ...dallas, '2000'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('set LANEWISE_TOKEN'),
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
    await makeQuote(app, integration.tenant, { rate: 2000, outcome: 'won' })
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
    await makeQuote(app, integration.tenant, { rate: 2000, outcome: 'won' })
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
    await makeQuote(app, integration.tenant, { rate: 2000, outcome: 'won' })
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
    const { lane_ref } = await makeQuote(app, integration.tenant)
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
    expect(lenient).toMatchObject({ exit: 0, printed: expect.stringContaining('Booked (lane_id') })
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

  // Looks the name up five times, with pauses of seconds.
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
    file('lanes.csv', 'From,To,Rate\n"Dallas, TX","Atlanta, GA",2000\n')
    const sign = ['--timestamp', '1772373600', '--signature', 'sha256=00']
    const failures = [
      [['shipment-update', '--body', 'none.json'], 2, 'none.json: there is no such file or folder.'],
      [['shipment-update', '--body', 'folder'], 2, 'folder: it is a folder, not a file.'],
      [['shipment-update', '--body', 'binary/x'], 2, 'binary/x: a part of its path is a file, not a folder.'],
      [['shipment-update', '--body', 'binary'], 1, 'malformed-json'],
      [['price', 'none.csv'], 2, 'none.csv: there is no such file or folder.'],
      [['price', 'binary'], 2, 'The file is not UTF-8'],
      [['import', 'folder'], 2, 'folder: it is a folder, not a file.'],
      [['price', 'lanes.csv', '-o', 'none/out.csv'], 1, 'out.csv.part: there is no such file or folder.'],
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
    const words = ['quote', 'Dalas, TX', 'Atlanta, GA', 'V', '2000', '--external-id', 'CLI-3']
    const made = await lanewise([...words, '--customer', 'Harvest', '--json', '--verbose'])
    const lines = made.remarked.split('\n').map((line) => JSON.parse(line))
    expect(lines.map((line) => Object.keys(line))).toEqual([['event'], ['event'], ['note']])
    expect(lines[1].event).toMatchObject({ kind: 'answered', status: 200, replayed: false, ignored: [] })
  })
})

describe('the standard output', () => {
  test('receives a file byte for byte with -o -', async () => {
    await makeQuote(app, integration.tenant)
    file('lanes.csv', 'Origin,Destination,Rate\n"Dallas, TX","Atlanta, GA",2000\n,"Atlanta, GA",2000\n')
    await lanewise(['price', 'lanes.csv', '-o', 'priced.csv'])
    const priced = await lanewise(['price', 'lanes.csv', '-o', '-'], { print: () => expect.unreachable() })
    expect(priced).toMatchObject({ exit: 6, remarked: '2 rows, 1 with an error.' })
    expect(priced.printed.replaceAll('\n\n', '\n')).toBe(read('priced.csv'))
    expect(existsSync(join(folder, '-'))).toBe(false)
  })
})

describe('help', () => {
  test.each([
    'markup',
    'lane',
    'shipment-update',
    'cancel-booking',
    'verify-signature',
    'quote',
    'outcome',
    'import',
    'quotes push',
    'price',
  ])('of %s has an example', async (name) => {
    const words = name.split(' ')
    const { exit, printed } = await lanewise([...words, '--help'])
    expect(exit).toBe(0)
    expect(printed).toMatch(new RegExp(`\\nExamples?:\\n.*lanewise ${name}`))
    expect((await lanewise(['help', ...words])).printed).toBe(printed)
    expect((await lanewise(['--help'])).printed).toContain(`\n  ${words[0]} `)
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
})
