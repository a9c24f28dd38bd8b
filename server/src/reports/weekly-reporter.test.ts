import { inflateSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { type MailReceiver, mailReceiver, sendMailTo } from '#testing/mail-receiver.ts'
import { call, type Integration, makeIntegration, makePerson, password, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { barPicture } from './bar-picture.ts'

const config = {
  mail: {
    operators: null,
    byBrokerage: true,
    allowPrivate: ['127.0.0.1'],
    publicUrl: 'https://rates.example.com',
  },
}
const quick = { everyMs: 20, holdMs: 20 }
const hourMs = 3_600_000
const dayMs = 24 * hourMs

let app: TestApp
let service: pg.Client
let receiver: MailReceiver
let ours: Integration
/** Of a session of the owner that lasts for weeks. */
let token: string

beforeAll(async () => {
  app = await testApp({ config, sendMail: quick })
  service = new pg.Client(app.testDatabase.service)
  await service.connect()
})
afterAll(async () => {
  await service.end()
  await app.close()
})
beforeEach(async () => {
  // A Wednesday, so that what is quoted now is in the week of the next report.
  app.now = Math.floor((Date.now() - 4 * dayMs) / (7 * dayMs)) * 7 * dayMs + 6 * dayMs + 18 * hourMs
  receiver = await mailReceiver()
  ours = await makeIntegration(app)
  token = ours.tenant.owner
  await sendMailTo(app, ours.tenant, receiver)
  await change({ time_zone: 'America/Chicago', session_limits: { hours: 744 } })
  const { body } = await call(app, 'POST', '/api/auth/sign-in', {
    body: { email: ours.tenant.email, password },
  })
  token = body.token
})
afterEach(() => receiver.close())

const change = (body: object) => call(app, 'PATCH', '/api/tenant', { token, body })
const shown = async (by = token) => (await call(app, 'GET', '/api/weekly-report', { token: by })).body

/** Runs a query with the service's role, for the brokerage. */
async function ask<Row extends object>(question: string): Promise<Row[]> {
  await service.query(`set app.tenant_id = '${ours.tenant.id}'`)
  return (await service.query<Row>(question)).rows
}

/** A quote of this week that was booked. */
async function booked(
  {
    rate,
    cost,
    customer = 'Harvest',
    destination = 'Atlanta, GA',
  }: {
    readonly rate: number
    readonly cost: number
    readonly customer?: string
    readonly destination?: string
  },
  integration = ours,
): Promise<string> {
  const { body } = await call(app, 'POST', '/api/quote-requests', {
    token,
    body: {
      customer_name: customer,
      lanes: [
        { origin: 'Dallas, TX', destination, equipment: 'V', quoted_rate: rate, estimated_cost: cost - 100 },
      ],
    },
  })
  const ref = body.lanes[0].lane_ref
  await pushUpdate(app, integration, { lane_ref: ref, customer_rate: rate, truck_cost: cost })
  return ref
}

/** Goes to the moment at which the next report is due, and writes what is due. */
async function onMonday(): Promise<void> {
  await app.writeReports()
  app.now = Date.parse((await shown()).next_at)
  await app.writeReports()
}

/** The text part of a mail, decoded. */
function textOf(raw: string, type: 'plain' | 'html'): string {
  const part = raw.slice(raw.indexOf(`Content-Type: text/${type}`))
  const start = part.indexOf('\r\n\r\n') + 4
  const body = part.slice(start, part.indexOf('\r\n--', start))
  if (/base64/i.test(part.slice(0, start))) return Buffer.from(body, 'base64').toString()
  const soft = body.replaceAll('=\r\n', '')
  return Buffer.from(
    soft.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()
}

describe('the weekly report', () => {
  test('is mailed at 07:00 on Monday, not before, with the figures of the page Results to the cent', async () => {
    await booked({ rate: 2000.5, cost: 1700.25 })
    await booked({ rate: 1500, cost: 1550.75, destination: 'Chicago, IL' })
    const { next_at: due } = await shown()
    expect(
      new Date(due).toLocaleString('en-US', {
        timeZone: 'America/Chicago',
        weekday: 'short',
        timeStyle: undefined,
        hour: 'numeric',
        minute: 'numeric',
      }),
    ).toMatch(/Mon.*7:00/)
    await app.writeReports()
    app.now = Date.parse(due) - 1
    await app.writeReports()
    expect(receiver.received).toEqual([])
    app.now = Date.parse(due)
    await app.writeReports()
    await receiver.until((all) => all.length === 1)
    const report = await shown()
    const range = { from: '', to: '' }
    {
      const [row] = await ask<{ a: Date; b: Date }>(
        `select ('${report.first_day} 00:00'::timestamp at time zone 'America/Chicago') as a,
          (('${report.last_day}'::date + 1)::timestamp at time zone 'America/Chicago') as b`,
      )
      range.from = row?.a.toISOString() ?? ''
      range.to = row?.b.toISOString() ?? ''
    }
    const results = await call(app, 'GET', `/api/performance?by=lane&from=${range.from}&to=${range.to}`, {
      token,
    })
    const { quotes, win_rate_pct, margin, margin_pct } = results.body.totals
    expect(quotes).toBe(2)
    expect(margin).toBe(249.5)
    expect(report.week).toEqual({ quotes, win_rate_pct, margin, margin_pct })
    const [mail] = receiver.received
    expect(mail?.to).toEqual([ours.tenant.email])
    for (const type of ['plain', 'html'] as const) {
      const words = textOf(mail?.raw ?? '', type)
      expect(words).toContain('$249.50')
      expect(words).toContain('Dallas, TX to Chicago, IL, V')
      expect(words).toContain(`${margin_pct.toFixed(1)}%`)
    }
    expect(mail?.header('Subject')).toContain('margin $249.50, win rate 100.0%')
  })

  test('is written once for a person and a week: over instances at once, after a kill, and after a change of zone', async () => {
    await booked({ rate: 2000, cost: 1700 })
    await app.writeReports()
    app.now = Date.parse((await shown()).next_at)
    const others = await Promise.all(
      [1, 2].map(() =>
        appOn(app.testDatabase, { config, now: app.now, sendMail: quick, secretKeys: [app.secretKey] }),
      ),
    )
    const three = [app, ...others]
    try {
      await Promise.all(three.map((one) => one.writeReports()))
      await receiver.until((all) => all.length === 1)
      // A process that was killed before it set the next date: the lease has ended, and another one begins again.
      const due = new Date(app.now).toISOString()
      await ask(
        `update tenants set weekly_report_at = '${due}', weekly_report_try_at = '${due}' where tenant_id = ${ours.tenant.id}`,
      )
      await Promise.all(three.map((one) => one.writeReports()))
      await change({ time_zone: 'Pacific/Honolulu' })
      await app.writeReports()
      for (const one of three) one.now = Date.parse((await shown()).next_at)
      const [row] = await ask<{ week: string }>(
        `select about as week from mails where kind = 'weekly-report'`,
      )
      await Promise.all(three.map((one) => one.writeReports()))
      const rows = await ask<{ about: string }>(`select about from mails where kind = 'weekly-report'`)
      expect(rows).toEqual([{ about: row?.week }])
    } finally {
      await Promise.all(others.map((one) => one.close()))
    }
    expect(receiver.received).toHaveLength(1)
  })

  test('goes to owners and admins until they say no, and to others when they say yes', async () => {
    const manager = await makePerson(app, ours.tenant, 'admin')
    const rep = await makePerson(app, ours.tenant, 'member')
    const viewer = await makePerson(app, ours.tenant, 'viewer')
    const choose = (by: string, mail: boolean) =>
      call(app, 'PATCH', '/api/weekly-report', { token: by, body: { mail } })
    expect((await shown(rep.token)).mail).toBe(false)
    expect((await shown(manager.token)).mail).toBe(true)
    expect((await choose(manager.token, false)).body.mail).toBe(false)
    expect((await choose(viewer.token, true)).body.mail).toBe(true)
    await onMonday()
    await receiver.until((all) => all.length === 2)
    expect(receiver.received.flatMap(({ to }) => to).sort()).toEqual([ours.tenant.email, viewer.email].sort())
  })

  test('of a member never counts a hidden customer, and is not sent if one is hidden after it was written', async () => {
    const rep = await makePerson(app, ours.tenant, 'member')
    await call(app, 'PATCH', '/api/weekly-report', { token: rep.token, body: { mail: true } })
    await booked({ rate: 2000, cost: 1700, customer: 'Open Foods' })
    await booked({ rate: 9000, cost: 1000, customer: 'Secret Metals', destination: 'Reno, NV' })
    const hide = (...customers: string[]) =>
      call(app, 'POST', '/api/teams', {
        token,
        body: { name: `Team ${customers}`, members: [], customers },
      })
    expect((await hide('Secret Metals')).status).toBe(201)
    await onMonday()
    await receiver.until((all) => all.length === 2)
    const [own, whole] = [rep.email, ours.tenant.email].map(
      (address) => receiver.received.find(({ to }) => to[0] === address)?.raw ?? '',
    )
    expect(textOf(whole ?? '', 'plain')).toContain('Reno, NV')
    expect(own).not.toContain('Reno')
    expect(textOf(own ?? '', 'plain')).toContain('Margin: $300 ')
    expect(textOf(own ?? '', 'html')).not.toContain('Reno')
    const { port } = receiver
    await receiver.close()
    await onMonday()
    expect((await hide('Open Foods')).status).toBe(201)
    receiver = await mailReceiver(port)
    await call(app, 'POST', '/api/mail/retry', { token })
    await receiver.until((all) => all.length === 1)
    expect(receiver.received[0]?.to).toEqual([ours.tenant.email])
    await expect
      .poll(() => ask(`select user_id, failure from mails where state = 'dropped'`))
      .toEqual([
        { user_id: rep.id, failure: 'What the person may see may have changed since it was written.' },
      ])
  })

  test('contains no name as code, adds no header, and its links only open pages', async () => {
    const name = 'Ann <script>alert(1)</script> & "Co"'
    expect((await change({ name })).status).toBe(200)
    await booked({ rate: 2000, cost: 2100 })
    await onMonday()
    await receiver.until((all) => all.length === 1)
    const raw = receiver.received[0]?.raw ?? ''
    const html = textOf(raw, 'html')
    expect(html).not.toContain('<script')
    expect(html).toContain('Ann &lt;script&gt;')
    expect(receiver.received[0]?.to).toEqual([ours.tenant.email])
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, address]) => address ?? '')
    expect(links.length).toBeGreaterThan(2)
    for (const link of links)
      expect(link).toMatch(/^https:\/\/rates\.example\.com\/(results|quotes|settings)/)
    expect(raw).toMatch(/^Content-ID: <picture>/im)
  })

  test('of a service that was away for long is not written, and the next one is', async () => {
    await booked({ rate: 2000, cost: 1700 })
    await app.writeReports()
    app.now = Date.parse((await shown()).next_at) + 3 * dayMs
    await app.writeReports()
    expect(await ask(`select from mails where kind = 'weekly-report'`)).toEqual([])
    await onMonday()
    await receiver.until((all) => all.length === 1)
  })

  test('compares with the week before, and names the largest leak and the lanes that moved', async () => {
    await app.writeReports()
    const due = (await shown()).next_at
    await booked({ rate: 2000, cost: 1900, destination: 'Reno, NV' })
    await booked({ rate: 2000, cost: 1500 })
    app.now = Date.parse(due)
    const report = await shown()
    expect(report.week_before).toEqual({ quotes: 0, win_rate_pct: null, margin: null, margin_pct: null })
    expect(report.leak).toEqual({
      lane: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
      lost: 100,
    })
    expect(
      report.lanes.map(({ lane, margin }: { lane: { destination: string }; margin: number }) => [
        lane.destination,
        margin,
      ]),
    ).toEqual([
      ['Atlanta, GA', 500],
      ['Reno, NV', 100],
    ])
    expect(report.margins).toEqual([null, null, null, null, null, null, null, 600])
  })
})

test('the picture is a PNG file of bars, with losses below the line', () => {
  const file = barPicture([100, null, -50, 200])
  expect(file.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
  const at = file.indexOf('IDAT')
  const pixels = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)))
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  expect(pixels).toHaveLength((width + 1) * height)
  const column = (share: number) =>
    new Set(Array.from({ length: height }, (_, y) => pixels[y * (width + 1) + 1 + Math.floor(share * width)]))
  expect([1 / 8, 3 / 8, 5 / 8, 7 / 8].map((share) => [...column(share)].sort().join())).toEqual([
    '0,1,4',
    '0,4',
    '0,3,4',
    '0,2,4',
  ])
})
