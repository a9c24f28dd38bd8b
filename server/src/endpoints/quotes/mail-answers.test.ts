import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerLengthMax, answersPerMailMax } from '#contract/limits.ts'
import { type MailReceiver, mailReceiver, sendMailTo } from '#testing/mail-receiver.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { storeMail } from '#testing/stored-mail.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const config = {
  mail: { operators: null, byBrokerage: true, allowPrivate: ['127.0.0.1'], publicUrl: null },
}
const messageId = 'rate-1@harvesttable.example'

let app: TestApp
let tenant: MadeTenant
let rep: Awaited<ReturnType<typeof makePerson>>
let receiver: MailReceiver

beforeAll(async () => {
  app = await testApp({ config, sendMail: { everyMs: 20, holdMs: 20 } })
})
afterAll(() => app.close())
beforeEach(async () => {
  receiver = await mailReceiver()
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
})
afterEach(() => receiver.close())

const as = (token: string, method: string, path: string, body?: object) =>
  call(app, method, path, { token, ...(body === undefined ? {} : { body }) })
const pathOf = (id: string) => `/api/received-mails/${id}`
const read = async (id: string) => (await as(rep.token, 'GET', pathOf(id))).body

/** A mail with a quote that was made from it. */
async function quotedMail({ rate = 2150 }: { rate?: number } = {}) {
  const id = await storeMail(app, tenant, { subject: 'Rate needed', messageId })
  const lane = await makeLane(app, tenant, { rate, customer: 'Harvest Table Foods' })
  const { status } = await as(rep.token, 'PATCH', pathOf(id), { state: 'done', lane_ref: lane.lane_ref })
  expect(status).toBe(200)
  return { id, lane }
}

describe('an answer', () => {
  test('goes to the sender in the thread, with replies to the person, and is listed as sent', async () => {
    await sendMailTo(app, tenant, receiver)
    const { id, lane } = await quotedMail()
    const before = await read(id)
    expect(before.answering).toEqual({
      to: 'dana@harvesttable.example',
      subject: 'Re: Rate needed',
      reply_to: [rep.email],
      obstacle: null,
    })
    const body = {
      text: 'Dallas to Atlanta: $2,150 all-in\nDana',
      lane_refs: [lane.lane_ref],
      draft_unchanged: true,
    }
    const answered = await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, body)
    expect(answered.status).toBe(201)
    expect(answered.body.mail.answered_at).toEqual(expect.any(String))
    await receiver.until((mails) => mails.length === 1)
    const [sent] = receiver.received
    expect(sent?.to).toEqual(['dana@harvesttable.example'])
    expect(sent?.from).toBe('quotes@broker.example.com')
    expect(sent?.header('In-Reply-To')).toBe(`<${messageId}>`)
    expect(sent?.header('References')).toBe(`<${messageId}>`)
    expect(sent?.header('Reply-To')).toBe(rep.email)
    expect(sent?.header('Subject')).toBe('Re: Rate needed')
    expect(sent?.header('From')).toContain('<quotes@broker.example.com>')
    expect(sent?.header('Auto-Submitted')).toBeUndefined()
    expect(sent?.raw).toContain('$2,150 all-in')
    await expect
      .poll(async () => (await read(id)).answers)
      .toMatchObject([
        {
          answers: id,
          by: { user_id: rep.id },
          to: 'dana@harvesttable.example',
          text: body.text,
          state: 'sent',
        },
      ])
    const { body: settings } = await as(tenant.owner, 'GET', '/api/mail')
    expect(settings.mails[0].to_address).toBe('dana@harvesttable.example')
  })

  test('with the same text is sent once', async () => {
    await sendMailTo(app, tenant, receiver)
    const { id } = await quotedMail()
    const send = () => as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Once' })
    await Promise.all([send(), send()])
    await send()
    await receiver.until((mails) => mails.length === 1)
    expect((await read(id)).answers).toHaveLength(1)
  })

  test('is not sent after a quote that it names has ended', async () => {
    const { id, lane } = await quotedMail()
    await sendMailTo(app, tenant, receiver)
    receiver.atMessage = () => ({ status: 451, text: 'later' })
    await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, {
      text: 'Quote',
      lane_refs: [lane.lane_ref],
    })
    await expect.poll(async () => (await read(id)).answers[0].failure).toContain('later')
    const [answer] = (await read(id)).answers
    expect(answer.state).toBe('due')
  })

  test('begins no other header, whatever the mail says', async () => {
    await sendMailTo(app, tenant, receiver)
    const id = await storeMail(app, tenant, {
      subject: 'Rates Bcc: eve@evil.example',
      messageId: 'a b\u0001@evil',
    })
    await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, {
      text: 'Subject: x\r\nBcc: eve@evil.example\r\n\r\nHello',
    })
    await receiver.until((mails) => mails.length === 1)
    expect(receiver.received[0]?.to).toEqual(['dana@harvesttable.example'])
    expect(receiver.received[0]?.header('Bcc')).toBeUndefined()
    expect(receiver.received[0]?.header('In-Reply-To')).toBeUndefined()
  })
})

describe('an answer is refused with 409, and nothing is sent', () => {
  test('without a mail server, with what to do', async () => {
    const { id } = await quotedMail()
    expect((await read(id)).answering.obstacle).toContain('No mail server is set')
    const refused = await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Hello' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'state-conflict' } })
    expect((await read(id)).mail.answered_at).toBeNull()
  })

  test('to a mail without a sender', async () => {
    await sendMailTo(app, tenant, receiver)
    const id = await storeMail(app, tenant, { subject: 'Nobody', from: '' })
    expect((await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Hello' })).status).toBe(
      409,
    )
  })

  test('for a quote that is won, void, superseded, or of no mail of the thread', async () => {
    await sendMailTo(app, tenant, receiver)
    const { id, lane } = await quotedMail()
    const other = await makeLane(app, tenant)
    const send = (ref: string) =>
      as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Hello', lane_refs: [ref] })
    expect((await send(other.lane_ref)).body.detail).toContain('not a quote that was made from a mail')
    const lanePath = `/api/lanes/${lane.lane_ref}`
    await as(rep.token, 'POST', `${lanePath}/outcome`, { outcome: 'won' })
    expect((await send(lane.lane_ref)).body.detail).toContain('is won, not pending')
    await as(rep.token, 'POST', `${lanePath}/outcome`, { outcome: 'pending' })
    const requoted = await as(rep.token, 'POST', `${lanePath}/requote`, { quoted_rate: 2100 })
    expect(requoted.status).toBe(201)
    expect((await send(lane.lane_ref)).body.detail).toContain('another offer superseded')
    expect((await send(requoted.body.lane_ref)).status).toBe(201)
  })

  test(`after ${answersPerMailMax} answers`, async () => {
    await sendMailTo(app, tenant, receiver)
    const { id } = await quotedMail()
    for (let nth = 0; nth < answersPerMailMax; nth++) {
      expect(
        (await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: `Answer ${nth}` })).status,
      ).toBe(201)
    }
    expect(
      (await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'One more' })).status,
    ).toBe(409)
  })
})

test.each([
  [{}, '/text'],
  [{ text: '' }, '/text'],
  [{ text: ' \n' }, '/text'],
  [{ text: 'a\u0000b' }, '/text'],
  [{ text: 'x'.repeat(answerLengthMax + 1) }, '/text'],
  [{ text: 'Hi', lane_refs: 'all' }, '/lane_refs'],
])('422: %j is no answer', async (body, pointer) => {
  await sendMailTo(app, tenant, receiver)
  const { id } = await quotedMail()
  const refused = await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, body)
  expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([422, pointer])
  expect((await read(id)).answers).toEqual([])
})

test('403: a viewer sends nothing', async () => {
  const { id } = await quotedMail()
  const viewer = await makePerson(app, tenant, 'viewer')
  expect(
    (await as(viewer.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Hello' })).status,
  ).toBe(403)
})

describe('a reply to quotes', () => {
  const replied = (text: string, minute = 5) =>
    storeMail(app, tenant, { subject: `Re: Rate needed ${minute}`, text, references: [messageId], minute })

  test('that names another rate is a counter-offer for a person to confirm', async () => {
    const { lane } = await quotedMail()
    const id = await replied('Too high, we have 2,050.\n\n> $2,150 all-in')
    expect((await read(id)).reply).toEqual({
      kind: 'countered',
      amount: 2050,
      reason: 'price',
      words: { at: 0, text: 'Too high, we have 2,050.' },
      lane_refs: [lane.lane_ref],
    })
    // Nothing has followed from it.
    expect((await as(rep.token, 'GET', `/api/lanes/${lane.lane_ref}`)).body).toMatchObject({
      outcome: 'pending',
      counter_rate: null,
    })
  })

  test('that takes the rate is proposed as won; one that takes another rate, as a counter-offer', async () => {
    const { lane } = await quotedMail()
    expect((await read(await replied('Go ahead and book it.'))).reply).toMatchObject({
      kind: 'accepted',
      lane_refs: [lane.lane_ref],
    })
    expect((await read(await replied('Book it at $2,150', 6))).reply).toMatchObject({ kind: 'accepted' })
    expect((await read(await replied('Book it at $2,000', 7))).reply).toMatchObject({
      kind: 'countered',
      amount: 2000,
    })
    // Nobody pays more than the quoted rate.
    expect((await read(await replied('Book it at $9,000', 8))).reply).toBeNull()
  })

  test('joins the thread by the Message-ID of our answer alone, and of no other brokerage', async () => {
    await sendMailTo(app, tenant, receiver)
    const { id } = await quotedMail()
    const { body } = await as(rep.token, 'POST', `/api/received-mails/${id}/answers`, { text: 'Our rate' })
    const references = [`${body.answers[0].id}@broker.example.com`]
    const reply = await storeMail(app, tenant, {
      subject: 'Re: Yours',
      text: 'Booked.',
      references,
      minute: 9,
    })
    expect(await read(reply)).toMatchObject({ mail: { thread_id: id }, reply: { kind: 'accepted' } })
    const foreign = await makeTenant(app)
    const alien = await storeMail(app, foreign, { subject: 'Re: Mine', text: 'Booked.', references })
    const { body: shown } = await as(foreign.owner, 'GET', pathOf(alien))
    expect(shown).toMatchObject({ mail: { thread_id: alien }, answers: [], reply: null })
  })

  test('says nothing about quotes that are not pending, or in a thread without quotes', async () => {
    const { lane } = await quotedMail()
    const id = await replied('Booked.')
    await as(rep.token, 'POST', `/api/lanes/${lane.lane_ref}/outcome`, { outcome: 'lost' })
    expect((await read(id)).reply).toBeNull()
    const first = await storeMail(app, tenant, { subject: 'No quotes', text: 'Booked.', minute: 20 })
    expect((await read(first)).reply).toBeNull()
  })
})

describe('the template of answers', () => {
  test('is a setting that admins change, and contains the quotes', async () => {
    const change = (answer_template: string) => as(tenant.owner, 'PATCH', '/api/tenant', { answer_template })
    const template = 'Hello {name},\n\n{quotes}\n\n{rep}'
    expect((await change(template)).body.answer_template).toBe(template)
    expect((await as(rep.token, 'GET', '/api/me')).body.tenant.answer_template).toBe(template)
    expect((await change('Hello')).body.errors[0].pointer).toBe('/answer_template')
    expect((await change('')).body.answer_template).toBeNull()
    expect((await as(rep.token, 'PATCH', '/api/tenant', { answer_template: template })).status).toBe(403)
  })
})
