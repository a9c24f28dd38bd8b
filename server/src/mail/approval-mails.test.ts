import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { type MailReceiver, mailReceiver, sendMailTo } from '#testing/mail-receiver.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { tenantId } from '../database/session/index.ts'

const config = {
  mail: {
    operators: null,
    byBrokerage: true,
    allowPrivate: ['127.0.0.1'],
    publicUrl: 'https://rates.example.com',
  },
}
const quick = { everyMs: 20, holdMs: 20, lateEveryMs: 20 }

type Person = Awaited<ReturnType<typeof makePerson>>

let app: TestApp
let receiver: MailReceiver
let tenant: MadeTenant
let rep: Person
let manager: Person

beforeAll(async () => {
  app = await testApp({ config, sendMail: quick })
})
afterAll(() => app.close())
beforeEach(async () => {
  app.now = Date.now()
  receiver = await mailReceiver()
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
  manager = await makePerson(app, tenant, 'admin')
  await sendMailTo(app, tenant, receiver)
  await post('/api/pricing-rules', {
    conditions: {},
    terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' },
  })
})
afterEach(() => receiver.close())

const post = (path: string, body: object, token = tenant.owner) => call(app, 'POST', path, { token, body })
async function ask(): Promise<number> {
  const { status, body } = await post(
    '/api/approvals',
    {
      customer_name: 'Harvest',
      lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1000 }],
    },
    rep.token,
  )
  expect(status).toBe(201)
  return body.approval_id
}
const decide = (id: number, body: object, token = manager.token) =>
  post(`/api/approvals/${id}/decision`, body, token)
const recipients = () => receiver.received.flatMap(({ to }) => to).sort()
const mailsNow = async () => (await call(app, 'GET', '/api/mail', { token: tenant.owner })).body.mails

describe('a request for approval', () => {
  test('is mailed once to everybody else who can decide it, with a link that only opens the page', async () => {
    const other = await appOn(app.testDatabase, { config, sendMail: quick, secretKeys: [app.secretKey] })
    try {
      const id = await ask()
      await receiver.until((all) => all.length === 2)
      expect(recipients()).toEqual([manager.email, tenant.email].sort())
      for (const mail of receiver.received) {
        expect(mail.header('Subject')).toBe(`Approval ${id} (waiting): Harvest, Dallas, TX to Atlanta, GA`)
        expect(mail.raw).toContain('A member asks for approval of a quote for Harvest.')
        expect(mail.raw.match(/https?:\S+/g)).toEqual(['https://rates.example.com/approvals'])
      }
      await decide(id, { decision: 'reject', note: 'Too low.' })
      await receiver.until((all) => all.length === 3)
    } finally {
      await other.close()
    }
    const answer = receiver.received.at(-1)
    expect(answer?.to).toEqual([rep.email])
    expect(answer?.raw).toContain('A admin rejected the quote of A member for Harvest.')
    expect(receiver.received).toHaveLength(3)
  })

  test('that is decided before its mail was sent is not mailed any more, and its answer is', async () => {
    const { port } = receiver
    await receiver.close()
    const id = await ask()
    await decide(id, { decision: 'reject' })
    receiver = await mailReceiver(port)
    await post('/api/mail/retry', {})
    await receiver.until((all) => all.length === 1)
    expect(recipients()).toEqual([rep.email])
    await expect
      .poll(async () =>
        (await mailsNow()).map(({ kind, state }: Record<string, string>) => `${kind} ${state}`).sort(),
      )
      .toEqual(['approval dropped', 'approval dropped', 'approval-answer sent'])
  })

  test('that nobody decided in time is told to the owners, once', async () => {
    const id = await ask()
    await receiver.until((all) => all.length === 2)
    receiver.received.length = 0
    const own = tenantId(tenant.id)
    await app.database.inTenant(own, (transaction) =>
      transaction
        .updateTable('approvals')
        .set({ escalate_at: new Date(0) })
        .where('tenant_id', '=', own)
        .where('approval_id', '=', id)
        .execute(),
    )
    await receiver.until((all) => all.length === 1)
    const [late] = receiver.received
    expect(late?.to).toEqual([tenant.email])
    expect(late?.header('Subject')).toMatch(/^Still waiting: Approval/)
    const { body } = await call(app, 'GET', '/api/inbox', { token: manager.token })
    expect(body.items[0]).toMatchObject({ kind: 'approval-to-decide', late: true })
    await decide(id, { decision: 'reject' })
    // The answer comes after whatever a second escalation would have sent.
    await receiver.until((all) => all.some(({ to }) => to[0] === rep.email))
    expect(recipients()).toEqual([rep.email, tenant.email].sort())
  })

  test('that nobody decided until it expired is mailed to the person who asked, once', async () => {
    const id = await ask()
    await receiver.until((all) => all.length === 2)
    receiver.received.length = 0
    const own = tenantId(tenant.id)
    await app.database.inTenant(own, (transaction) =>
      transaction
        .updateTable('approvals')
        .set({ expires_at: new Date(0), escalate_at: null })
        .where('tenant_id', '=', own)
        .where('approval_id', '=', id)
        .execute(),
    )
    await app.expireQuotes()
    await app.expireQuotes()
    await receiver.until((all) => all.length === 1)
    expect(receiver.received[0]?.to).toEqual([rep.email])
    expect(receiver.received[0]?.raw).toContain('Nobody decided the request of A member for Harvest in time.')
  })

  test('is escalated after the time of the brokerage, or never', async () => {
    const own = tenantId(tenant.id)
    const escalateAt = async () => {
      const id = await ask()
      const row = await app.database.inTenant(own, (transaction) =>
        transaction
          .selectFrom('approvals')
          .select('escalate_at')
          .where('tenant_id', '=', own)
          .where('approval_id', '=', id)
          .executeTakeFirstOrThrow(),
      )
      return row.escalate_at?.getTime() ?? null
    }
    expect(await escalateAt()).toBe(app.now + 15 * 60_000)
    const change = (minutes: number) =>
      call(app, 'PATCH', '/api/tenant', {
        token: tenant.owner,
        body: { reminders: { escalate_after_minutes: minutes } },
      })
    expect((await change(40)).body.reminders).toEqual({
      escalate_after_minutes: 40,
      follow_up_after_hours: 4,
      follow_up_before_end_minutes: 60,
    })
    expect(await escalateAt()).toBe(app.now + 40 * 60_000)
    expect((await change(0)).body.reminders.escalate_after_minutes).toBeNull()
    expect(await escalateAt()).toBeNull()
  })
})

test('the time to a decision is measured', async () => {
  const shown = async () =>
    (await call(app, 'GET', '/api/approvals', { token: rep.token })).body.time_to_decision
  expect(await shown()).toEqual({ decided: 0, median_minutes: null, expired: 0 })
  for (const minutes of [2, 6, 30]) {
    const id = await ask()
    app.now += minutes * 60_000
    await decide(id, { decision: 'reject' })
  }
  await ask()
  expect(await shown()).toEqual({ decided: 3, median_minutes: 6, expired: 0 })
})
