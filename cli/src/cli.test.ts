import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Integration, makeIntegration, makeLane, makePerson } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { exits } from './exits.ts'
import { runProgram } from './program.ts'
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

/** Runs a command line as a person would, and gives what it printed, what it remarked and its exit code. */
async function lanewise(words: readonly string[], more: Partial<Surroundings> & { stdin?: string } = {}) {
  const printed: string[] = []
  const remarked: string[] = []
  const exit = await runProgram(words, {
    env,
    home: folder,
    folder,
    now: () => app.now,
    print: (text) => printed.push(text),
    write: (text) => printed.push(text),
    remark: (text) => remarked.push(text),
    input: async () => Buffer.from(more.stdin ?? ''),
    ask: null,
    terminal: null,
    signal: new AbortController().signal,
    ...more,
  })
  return { exit, printed: printed.join('\n'), remarked: remarked.join('\n') }
}

const file = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const dallas = ['Dallas, TX', 'Atlanta, GA']

describe('signing in', () => {
  test('keeps the session, and credentials made with it, where nobody else can read them', async () => {
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

    // What is kept for one service is not sent to another.
    const elsewhere = await lanewise(['markup', ...dallas, '2000', '--url', 'http://127.0.0.1:1'])
    expect(elsewhere).toMatchObject({ exit: 3, printed: '' })
    const status = JSON.parse((await lanewise(['status', '--json'])).printed)
    expect(status).toMatchObject({ signed_in_as: email, service_token: 'kept', signing_secret: 'kept' })
    await lanewise(['sign-out'])
    expect((await lanewise(['export', 'lanes'])).exit).toBe(3)
  })

  test('tells a wrong password, and where there is nobody to ask', async () => {
    const wrong = await lanewise(['sign-in', '--email', integration.tenant.email, '--password-stdin'], {
      stdin: 'no',
    })
    expect(wrong).toMatchObject({ exit: 3, remarked: expect.stringContaining('sign-in-failed') })
    const asked = await lanewise(['sign-in', '--email', 'x@example.com'])
    expect(asked).toMatchObject({ exit: 2, remarked: expect.stringContaining('LANEWISE_PASSWORD') })
  })

  test('refuses a file of settings that others can read', async () => {
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

  test('an update from a file goes byte for byte', async () => {
    const { lane_ref } = await makeLane(app, integration.tenant)
    file('body.json', `{ "lane_ref": "${lane_ref}",\n "truck_cost": 1500.50 }\n`)
    expect(await lanewise(['shipment-update', '--body', 'body.json'])).toMatchObject({ exit: 0 })
    expect((await lanewise(['shipment-update', '--body', 'none.json'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1.500,50'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '-5'])).exit).toBe(2)
    expect((await lanewise(['shipment-update', lane_ref, '--truck-cost', '1500.505'])).exit).toBe(1)
  })

  test('import tells what it took in, and which rows it did not', async () => {
    file(
      'past.csv',
      'Origin,Destination,Equipment,Quoted Rate,Quoted At,Outcome\nReno NV,"Boise, ID",V,1,2026-01-01,won\n"Reno, NV","Boise, ID",V,1400,2026-01-02,won\n',
    )
    const done = await lanewise(['import', 'past.csv', '--dry-run'])
    expect(done.printed).toMatch(/rows read +2\nwould be added +1/)
    expect(done.printed).toContain('line 2')
    expect(done.exit).toBe(6)
  })

  test('who may not is told so', async () => {
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

  test('says that a right one is right', async () => {
    expect(await verify()).toMatchObject({
      exit: 0,
      printed: expect.stringContaining('is right for these 71 bytes'),
    })
  })

  test.each([
    ['the bytes', { body: `${vector.body}\n` }, '!  body'],
    ['the clock', { timestamp: '1772373600000' }, '!  timestamp'],
    ['the form', { signature: vector.signature.replace('sha256=', '') }, 'it lacks "sha256="'],
    ['the prefix of the secret', { secret: vector.secret.slice(6) }, 'with the prefix lwsec_'],
  ])('says that it is %s', async (_name, change, told) => {
    expect(await verify(change)).toMatchObject({ printed: expect.stringContaining(told) })
  })

  test('looks at the clock of now, where nothing else is said', async () => {
    expect(await verify({}, [])).toMatchObject({
      exit: 7,
      printed: expect.stringContaining('behind the server clock'),
    })
  })
})

describe('price', () => {
  const lanes = [
    '"Dallas, TX";"Atlanta, GA";V;2000',
    '"Reno, NV";"Boise, ID";V;1400',
    ';"Boise, ID";V;1400',
    '"Dallas, TX";"Atlanta, GA";V;free',
    '"Reno NV";"Boise, ID";V;1400',
  ]
  const columns = 'Origin;Destination;Equip;Rate;Note'

  test('gives 10,000 rows back in their order with columns added, errors by row, and nothing that a spreadsheet runs', async () => {
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
    expect(out[10_000]).toMatch(/origin must be a city and state/)
    for (const [at, line] of out.slice(1, -1).entries()) {
      const note = at % 2 === 0 ? `"'=cmd|x"` : String(at)
      if (!line.includes(`;${note};`)) throw new Error(`Row ${at} is not where it was: ${line}`)
    }
  })

  test('prices a file without rates at the suggested ones, and says which they are', async () => {
    await makeLane(app, integration.tenant, { rate: 2000, outcome: 'won' })
    file('list.csv', 'From,To,Equip\n"Dallas, TX","Atlanta, GA",V\n"Fargo, ND","Bangor, ME",V\n')
    const done = await lanewise(['price', 'list.csv', '-o', 'priced.csv', '--insight'])
    expect(done).toMatchObject({
      exit: 0,
      remarked: expect.stringContaining('No column is known as the rate'),
    })
    const [head = '', known = '', strange = ''] = read('priced.csv').split('\n')
    const cellsOf = (line: string) =>
      Object.fromEntries(head.split(',').map((name, at) => [name, Papa.parse<string[]>(line).data[0]?.[at]]))
    const [priced, nothing] = [cellsOf(known), cellsOf(strange)]
    expect(priced.lanewise_rate).toBe(priced.lanewise_suggested_rate)
    expect(Number(priced.lanewise_rate)).toBeGreaterThan(0)
    expect(nothing).toMatchObject({ lanewise_rate: '', lanewise_confidence: 'none', lanewise_error: '' })
    expect(nothing.lanewise_verdict).toBe('Nothing was quoted on this lane yet.')
  })

  test('goes on where it was stopped, and asks for nothing twice', async () => {
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
    // A row that was written by half when the machine stopped is written anew.
    file('out.tsv.part', `${read('out.tsv.part')}"Reno, N`)
    const done = await lanewise(['price', 'lanes.tsv', '-o', 'out.tsv'])
    expect(done).toMatchObject({ exit: 0, remarked: expect.stringContaining('Going on behind row 1000') })
    const numbers = read('out.tsv')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => Number(line.split('\t')[4]))
    expect(numbers).toEqual(rows.map((_, at) => at))
  })

  test('says what is wrong with a file, before anything is asked', async () => {
    file('a.csv', 'Somewhere,To,Rate\nx,y,1\n')
    expect(await lanewise(['price', 'a.csv'])).toMatchObject({
      exit: 2,
      remarked: expect.stringContaining('No column is known as the origin'),
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

  test('stops with what is done when the service is away, and says how to go on', async () => {
    file('lanes.csv', `${columns}\n${lanes[0]};1\n`)
    env.LANEWISE_URL = 'http://127.0.0.1:1'
    const stop = new AbortController()
    const away = lanewise(['price', 'lanes.csv'], { signal: stop.signal })
    setTimeout(() => stop.abort(), 50)
    expect(await away).toMatchObject({ exit: 130, remarked: expect.stringContaining('goes on from there') })
  })
})

describe('help', () => {
  test('teaches: the first steps, the environment and every exit code', async () => {
    const { exit, printed } = await lanewise(['--help'])
    expect(exit).toBe(0)
    for (const [code, meaning] of Object.entries(exits))
      expect(printed).toContain(`${code.padEnd(4)} ${meaning}`)
    expect(printed).toContain('LANEWISE_TOKEN')
    const price = await lanewise(['price', '--help'])
    expect(price.printed).toContain('Example:')
    expect(price.printed).toContain('--json')
  })

  test('tells a slip of the keyboard', async () => {
    expect(await lanewise(['markp'])).toMatchObject({ exit: 2, remarked: expect.stringContaining('markup') })
    expect((await lanewise(['markup', ...dallas])).exit).toBe(2)
    expect((await lanewise(['markup', ...dallas, 'x'])).exit).toBe(2)
    expect((await lanewise(['markup', ...dallas, '0'])).exit).toBe(1)
  })

  test('completes commands, their commands and their options', async () => {
    const offered = async (...words: string[]) =>
      (await lanewise(['__complete', '--', ...words])).printed.split('\n')
    expect(await offered('ma')).toEqual(['markup'])
    expect(await offered('token', '')).toEqual(['create', 'list', 'revoke'])
    expect(await offered('price', '--ins')).toEqual(['--insight'])
    for (const shell of ['bash', 'zsh', 'fish']) expect((await lanewise(['completion', shell])).exit).toBe(0)
    expect((await lanewise(['completion', 'csh'])).exit).toBe(2)
  })
})
