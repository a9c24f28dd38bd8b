import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { storeMail } from '#testing/stored-mail.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let tenant: MadeTenant
beforeAll(async () => {
  app = await testApp()
  tenant = await makeTenant(app)
})
afterAll(() => app.close())

const as = (token: string, method: string, path: string, body?: unknown) =>
  call(app, method, path, { token, ...(body === undefined ? {} : { body }) })

const access = {
  host: 'imap.example.com',
  port: 993,
  user: 'quotes@example.com',
  password: 'a secret password',
}

describe('a mailbox', () => {
  test('is set, shown without its password, and removed', async () => {
    expect((await as(tenant.owner, 'GET', '/api/mailbox')).body).toEqual({ may_set: true, mailbox: null })
    expect((await as(tenant.owner, 'GET', '/api/inbox')).body.open_mails).toBeNull()
    const set = await as(tenant.owner, 'POST', '/api/mailbox', { ...access, kept_days: 7 })
    expect(set).toMatchObject({
      status: 200,
      body: {
        mailbox: {
          host: access.host,
          port: 993,
          user: access.user,
          kept_days: 7,
          state: 'opening',
          failure: null,
        },
      },
    })
    expect(JSON.stringify(set.body)).not.toContain(access.password)
    expect((await as(tenant.owner, 'GET', '/api/inbox')).body.open_mails).toBe(0)
    const removed = await as(tenant.owner, 'DELETE', '/api/mailbox')
    expect(removed).toMatchObject({ status: 200, body: { mailbox: null } })
  })

  test.each([
    ['10.0.0.5', '/host'],
    ['localhost', '/host'],
    ['imap.example.com/path', '/host'],
    ['user@imap.example.com', '/host'],
  ])('of the private network, or no host (%s), is refused', async (host, pointer) => {
    const refused = await as(tenant.owner, 'POST', '/api/mailbox', { ...access, host })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].pointer).toBe(pointer)
    expect((await as(tenant.owner, 'GET', '/api/mailbox')).body.mailbox).toBeNull()
  })

  test('is refused, and not looked for, unless the operator permits it', async () => {
    const closed = await testApp({ config: { mailboxes: readConfig({}).mailboxes } })
    const other = await makeTenant(closed)
    const refused = await call(closed, 'POST', '/api/mailbox', { token: other.owner, body: access })
    expect(refused).toMatchObject({ status: 409, body: { code: 'state-conflict' } })
    const { body } = await call(closed, 'GET', '/api/mailbox', { token: other.owner })
    expect(body).toEqual({ may_set: false, mailbox: null })
    await closed.close()
  })
})

describe('received mails', () => {
  test('are listed newest first, page by page, and by state', async () => {
    const own = await makeTenant(app)
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth++)
      ids.push(await storeMail(app, own, { subject: `Mail ${nth}`, minute: nth }))
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await as(own.owner, 'GET', `/api/received-mails?limit=2${cursor}`)
      seen.push(...body.mails.map((mail: { id: string }) => mail.id))
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual(ids.toReversed())
    expect((await as(own.owner, 'GET', '/api/received-mails?cursor=x')).status).toBe(422)
    await as(own.owner, 'PATCH', `/api/received-mails/${ids[0]}`, { state: 'ignored' })
    const { body } = await as(own.owner, 'GET', '/api/received-mails?state=ignored')
    expect(body.mails).toHaveLength(1)
  })

  test('change their state, person, customer and quotes', async () => {
    const id = await storeMail(app, tenant, { subject: 'To be changed' })
    const path = `/api/received-mails/${id}`
    const member = await makePerson(app, tenant, 'member')
    const lane = await makeLane(app, tenant)
    const change = {
      state: 'done',
      customer: 'Harvest Table Foods',
      assigned_to: member.id,
      lane_ref: lane.lane_ref,
    }
    expect((await as(member.token, 'PATCH', path, change)).body.mail).toMatchObject({
      state: 'done',
      customer: 'Harvest Table Foods',
      assigned_to: { user_id: member.id },
      has_quotes: true,
    })
    expect((await as(tenant.owner, 'GET', path)).body.lane_refs).toContain(lane.lane_ref)
  })

  test.each([
    [{ assigned_to: 2_000_000_000 }, '/assigned_to'],
    [{ lane_ref: '1-1-1' }, '/lane_ref'],
    [{ state: 'lost' }, '/state'],
  ])('refuse %j, and do not change', async (change, pointer) => {
    const id = await storeMail(app, tenant, { subject: `Refused ${pointer}` })
    const refused = await as(tenant.owner, 'PATCH', `/api/received-mails/${id}`, change)
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].pointer).toBe(pointer)
    const { body } = await as(tenant.owner, 'GET', `/api/received-mails/${id}`)
    expect(body.mail).toMatchObject({ state: 'open', assigned_to: null, has_quotes: false })
  })

  test('of a hidden customer, and of an unknown one, are hidden from people who do not see the customer', async () => {
    const own = await makeTenant(app)
    await makeLane(app, own, { customer: 'Hidden Foods' })
    await makeLane(app, own, { customer: 'Seen Foods' })
    const [member, insider] = [await makePerson(app, own, 'member'), await makePerson(app, own, 'member')]
    const team = { name: 'Insiders', members: [insider.id], customers: ['Hidden Foods'] }
    expect((await as(own.owner, 'POST', '/api/teams', team)).status).toBe(201)
    const hidden = await storeMail(app, own, { subject: 'Hidden', customer: 'Hidden Foods' })
    const unknown = await storeMail(app, own, { subject: 'Unknown' })
    const seen = await storeMail(app, own, { subject: 'Seen', customer: 'Seen Foods' })
    const listedBy = async (token: string) =>
      (await as(token, 'GET', '/api/received-mails')).body.mails.map((mail: { id: string }) => mail.id).sort()
    expect(await listedBy(own.owner)).toEqual([hidden, unknown, seen].sort())
    expect(await listedBy(insider.token)).toEqual([hidden, unknown, seen].sort())
    expect(await listedBy(member.token)).toEqual([seen])
    for (const id of [hidden, unknown]) {
      expect((await as(member.token, 'GET', `/api/received-mails/${id}`)).status).toBe(404)
      expect((await as(member.token, 'PATCH', `/api/received-mails/${id}`, { state: 'done' })).status).toBe(
        404,
      )
    }
    const named = await as(member.token, 'PATCH', `/api/received-mails/${seen}`, { customer: 'Hidden Foods' })
    expect(named.status).toBe(403)
    await as(own.owner, 'POST', '/api/mailbox', access)
    expect((await as(member.token, 'GET', '/api/inbox')).body.open_mails).toBe(1)
    expect((await as(own.owner, 'GET', '/api/inbox')).body.open_mails).toBe(3)
    await as(own.owner, 'DELETE', '/api/mailbox')
  })

  test('of another brokerage are not found', async () => {
    const id = await storeMail(app, tenant, { subject: 'Not yours' })
    const other = await makeTenant(app)
    expect((await as(other.owner, 'GET', `/api/received-mails/${id}`)).status).toBe(404)
    expect((await as(other.owner, 'GET', '/api/received-mails')).body.mails).toEqual([])
  })
})
