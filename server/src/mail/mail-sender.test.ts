import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { type MailReceiver, mailReceiver, type ReceivedMail, sendMailTo } from '#testing/mail-receiver.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { insertMails, type NewMail } from '../database/queries/index.ts'
import { tenantId } from '../database/session/index.ts'
import { resultOf } from './mail-sender.ts'
import { queueMails } from './queue-mails.ts'
import { handOver } from './smtp.ts'

const config = {
  mail: { operators: null, byBrokerage: true, allowPrivate: ['127.0.0.1'], publicUrl: null },
}
const quick = { everyMs: 20, holdMs: 20 }

let app: TestApp
let service: pg.Client
let receiver: MailReceiver
let tenant: MadeTenant

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
  app.now = Date.now()
  receiver = await mailReceiver()
  tenant = await makeTenant(app)
  await sendMailTo(app, tenant, receiver)
})
afterEach(() => receiver.close())

const sendTest = () => call(app, 'POST', '/api/mail/test', { token: tenant.owner })
const shown = async () => (await call(app, 'GET', '/api/mail', { token: tenant.owner })).body
const idsOf = (mails: readonly ReceivedMail[]) => mails.map((mail) => mail.header('Message-ID'))

/** Runs a query with the service's role, for the brokerage. */
async function ask<Row extends object>(question: string): Promise<Row[]> {
  await service.query(`set app.tenant_id = '${tenant.id}'`)
  return (await service.query<Row>(question)).rows
}
/** Makes mails that wait for another attempt due now. */
const hurry = () => ask(`update mails set next_at = clock_timestamp() where state = 'due'`)

/** Waits until the mails are in these states, the oldest first. */
async function become(...expected: string[]) {
  let mails: { state: string; failure: string | null; attempts: number }[] = []
  for (let tries = 0; tries < 1_500; tries++) {
    mails = (await shown()).mails.toReversed()
    if (mails.map(({ state }) => state).join() === expected.join()) return mails
    await new Promise((resume) => setTimeout(resume, 15))
  }
  const others = mails.filter(({ state }) => !expected.includes(state))
  expect(others, 'mails in other states').toEqual([])
  expect(mails.map(({ state }) => state)).toEqual(expected)
  return mails
}

/** Waits until so many mails are settled. */
async function settled(count: number) {
  for (let tries = 0; tries < 1_500; tries++) {
    const answer = await shown()
    if (answer.waiting === 0 && answer.mails.length === count) return answer
    await new Promise((resume) => setTimeout(resume, 15))
  }
  throw new Error(`Not ${count} mails were settled.`)
}

/** Waits until an attempt has failed and the mail waits for the next one. Returns why. */
async function failed(): Promise<string> {
  for (let tries = 0; tries < 1_500; tries++) {
    const [mail] = (await shown()).mails
    if (mail.state === 'due' && mail.failure !== null) return mail.failure
    await new Promise((resume) => setTimeout(resume, 15))
  }
  throw new Error('No attempt failed.')
}

type SomeMail = Partial<NewMail> & Pick<NewMail, 'userId' | 'about'>
/** Writes mails as the service does with a change. */
const queue = (...mails: readonly SomeMail[]) => queueFor(tenant, mails)
const queueFor = ({ id }: MadeTenant, mails: readonly SomeMail[], { database } = app) =>
  database.inTenant(tenantId(id), (transaction) =>
    queueMails(
      transaction,
      tenantId(id),
      mails.map((mail) => ({
        kind: 'news',
        subject: `About ${mail.about}`,
        body: 'Text.\n',
        endsAt: new Date(app.now + 86_400_000),
        ...mail,
      })),
      { config, now: app.now },
    ),
  )

describe('a message', () => {
  test('is sent to the person, from the address of the brokerage, and asks for no automatic answer', async () => {
    expect((await sendTest()).status).toBe(202)
    await receiver.until((all) => all.length === 1)
    const [mail] = await become('sent')
    expect(mail).toMatchObject({ kind: 'test', attempts: 1, failure: null, next_at: null })
    const [received] = receiver.received
    expect(received).toMatchObject({ from: 'quotes@broker.example.com', to: [tenant.email] })
    expect(received?.header('Message-ID')).toBe(
      `<${(mail as unknown as { id: string }).id}@broker.example.com>`,
    )
    expect(received?.header('To')).toBe(`Olive Quay <${tenant.email}>`)
    expect(received?.header('Auto-Submitted')).toBe('auto-generated')
    expect(received?.raw).toContain('Lanewise can send mail to the people of Test Brokers.')
  })

  test('about one fact is written once for a person', async () => {
    await queue({ userId: 1, about: 'approval 1' }, { userId: 1, about: 'approval 1' })
    await queue({ userId: 1, about: 'approval 1' })
    await queue({ userId: 1, about: 'approval 2' })
    await receiver.until((all) => all.length === 2)
    await become('sent', 'sent')
    expect(receiver.received).toHaveLength(2)
  })

  test('is not written while there is no mail server, so that none is sent late', async () => {
    await call(app, 'DELETE', '/api/mail/server', { token: tenant.owner })
    await queue({ userId: 1, about: 'approval 1' })
    expect(await shown()).toMatchObject({ sends: 'nobody', mails: [] })
    expect((await sendTest()).status).toBe(409)
  })
})

describe('a mail server', () => {
  test('that refuses for now is asked again, with the same message', async () => {
    receiver.atMessage = () => ({ status: 451, text: 'Try again later' })
    await sendTest()
    expect(await failed()).toBe('The server did not accept the message. The server said: 451 Try again later')
    expect(receiver.received).toEqual([])
    receiver.atMessage = () => undefined
    await hurry()
    const [mail] = await become('sent')
    expect(mail?.attempts).toBe(2)
    expect(receiver.received).toHaveLength(1)
  })

  test('that refuses for good is not asked again until a person wants it', async () => {
    receiver.atRecipient = () => ({ status: 550, text: 'No such user here' })
    await sendTest()
    const [mail] = await become('failed')
    expect(mail).toMatchObject({ attempts: 1 })
    expect(mail?.failure).toContain('550 No such user here')
    expect(await shown()).toMatchObject({ waiting: 0, failed: 1 })
    receiver.atRecipient = () => undefined
    expect((await call(app, 'POST', '/api/mail/retry', { token: tenant.owner })).status).toBe(202)
    await become('sent')
    expect(receiver.asked).toHaveLength(2)
  })

  test('that is cut off after the message gets it again under the same Message-ID', async () => {
    receiver.atMessage = () => (receiver.received.length === 0 ? 'cut' : undefined)
    await sendTest()
    expect(await failed()).toMatch(/^The connection was closed/)
    await hurry()
    await become('sent')
    expect(receiver.received).toHaveLength(2)
    expect(new Set(idsOf(receiver.received)).size).toBe(1)
    const [first, again] = receiver.received
    expect(again?.raw).toBe(first?.raw)
  })

  test('that is away loses nothing: all mails arrive once when it is back', async () => {
    const { port } = receiver
    await receiver.close()
    await queue(...[1, 2, 3].map((number) => ({ userId: 1, about: `approval ${number}` })))
    expect(await failed()).toBe('The connection was refused.')
    expect((await shown()).waiting).toBe(3)
    receiver = await mailReceiver(port)
    await hurry()
    await become('sent', 'sent', 'sent')
    expect(receiver.received.map((mail) => mail.header('Subject')).sort()).toEqual(
      [1, 2, 3].map((number) => `About approval ${number}`),
    )
  })

  test('of the operator sends for a brokerage without one', async () => {
    const operators = {
      host: '127.0.0.1',
      port: receiver.port,
      isTls: false,
      user: null,
      password: null,
      from: 'lanewise@operator.example.com',
    }
    const other = await testApp({
      config: { mail: { operators, byBrokerage: false, allowPrivate: [], publicUrl: null } },
      sendMail: quick,
    })
    try {
      const { owner } = await makeTenant(other)
      const answer = await call(other, 'POST', '/api/mail/test', { token: owner })
      expect(answer.body).toMatchObject({ sends: 'operator', may_set: false, server: null })
      await receiver.until((all) => all.length === 1)
    } finally {
      await other.close()
    }
    expect(receiver.received[0]?.from).toBe('lanewise@operator.example.com')
  })
})

test('slow mail servers of some brokerages let others have a turn after a mail', async () => {
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  const waiting: (() => void)[] = []
  const { promise: areAllBusy, resolve: noteBusy } = Promise.withResolvers<void>()
  const busy = await testApp({
    config,
    sendMail: {
      ...quick,
      placeMs: 0,
      handOver: async (_, { to }) => {
        if (to.address === quickOne.email) tell()
        else {
          const { promise: accepted, resolve: accept } = Promise.withResolvers<void>()
          waiting.push(accept)
          if (waiting.length === 8) noteBusy()
          await accepted
        }
        return { kind: 'accepted' }
      },
    },
  })
  const made = await Promise.all(Array.from({ length: 9 }, () => makeTenant(busy)))
  const [quickOne, ...slow] = made as [MadeTenant, ...MadeTenant[]]
  try {
    await Promise.all(made.map((one) => sendMailTo(busy, one, receiver)))
    const two = ['approval 1', 'approval 2'].map((about) => ({ userId: 1, about }))
    await Promise.all(slow.map((one) => queueFor(one, two, busy)))
    await areAllBusy
    await queueFor(quickOne, two.slice(0, 1), busy)
    waiting[0]?.()
    await told
  } finally {
    for (const accept of waiting) accept()
    waiting.push = (accept) => {
      accept?.()
      return 0
    }
    await busy.close()
  }
}, 20_000)

describe('several instances', () => {
  test('send each of forty mails once', async () => {
    const others = await Promise.all(
      [1, 2].map(() => appOn(app.testDatabase, { config, sendMail: quick, secretKeys: [app.secretKey] })),
    )
    try {
      await queue(...Array.from({ length: 40 }, (_, number) => ({ userId: 1, about: `approval ${number}` })))
      await become(...Array<string>(40).fill('sent'))
    } finally {
      await Promise.all(others.map((other) => other.close()))
    }
    expect(receiver.received).toHaveLength(40)
    expect(new Set(idsOf(receiver.received)).size).toBe(40)
  }, 60_000)

  test('of which one is killed after the acceptance: another sends the same message again, and only its result counts', async () => {
    const quiet = await testApp({ config })
    const id = tenantId((await ownBrokerage(quiet)).id)
    const { promise: accepted, resolve: noteAccepted } = Promise.withResolvers<void>()
    const { promise: revived, resolve: revive } = Promise.withResolvers<void>()
    const killed = await appOn(quiet.testDatabase, {
      config,
      secretKeys: [quiet.secretKey],
      sendMail: {
        ...quick,
        // A killed process records no result. This one tries to when it is far too late.
        handOver: async (...given) => {
          const handed = await handOver(...given)
          noteAccepted()
          await revived
          return handed
        },
      },
    })
    const stored = () =>
      quiet.database.inTenant(id, (transaction) =>
        transaction.selectFrom('mails').select(['state', 'attempts']).where('tenant_id', '=', id).execute(),
      )
    await call(quiet, 'POST', '/api/mail/test', { token: tenant.owner })
    await accepted
    expect(await stored()).toEqual([{ state: 'due', attempts: 1 }])
    const another = await appOn(quiet.testDatabase, {
      config,
      sendMail: quick,
      secretKeys: [quiet.secretKey],
    })
    // The lease of the killed process ends.
    await quiet.database.inTenant(id, (transaction) =>
      transaction
        .updateTable('mails')
        .set({ next_at: new Date(0) })
        .where('tenant_id', '=', id)
        .execute(),
    )
    await receiver.until((all) => all.length === 2)
    // Closing waits for the results.
    await another.close()
    expect(await stored()).toEqual([{ state: 'sent', attempts: 2 }])
    revive()
    await killed.close()
    expect(await stored()).toEqual([{ state: 'sent', attempts: 2 }])
    expect(new Set(idsOf(receiver.received)).size).toBe(1)
    await quiet.close()
  })

  /** A brokerage of another service that sends through the receiver. */
  async function ownBrokerage(of: TestApp): Promise<MadeTenant> {
    tenant = await makeTenant(of)
    await sendMailTo(of, tenant, receiver)
    return tenant
  }
})

describe('a person who', () => {
  test('left gets nothing more', async () => {
    const member = await makePerson(app, tenant, 'member')
    await ask(`update users set status = 'removed' where user_id = ${member.id}`)
    await queue({ userId: member.id, about: 'approval 1' })
    const [mail] = await become('dropped')
    expect(mail?.failure).toBe('The person is not in the brokerage any more.')
  })

  test('lost the role, or sees the customer no more, gets nothing more', async () => {
    const [inside, outside] = [
      await makePerson(app, tenant, 'member'),
      await makePerson(app, tenant, 'member'),
    ]
    const customer = 'Secret Shipper'
    await makeLane(app, tenant, { customer })
    const team = { name: 'Produce', members: [inside.id], customers: [customer] }
    expect((await call(app, 'POST', '/api/teams', { token: tenant.owner, body: team })).status).toBe(201)
    await queue(
      { userId: inside.id, about: 'approval 1', needsRole: 'admin' },
      { userId: outside.id, about: 'approval 2', customerName: 'secret shipper' },
      { userId: inside.id, about: 'approval 3', customerName: customer },
      { userId: 1, about: 'approval 4', customerName: customer, needsRole: 'admin' },
    )
    await receiver.until((all) => all.length === 2)
    const { mails } = await settled(4)
    expect(
      mails.map((mail: { subject: string; failure: string | null }) => [mail.subject, mail.failure]).sort(),
    ).toEqual([
      ['About approval 1', 'The person may not decide this any more.'],
      ['About approval 2', 'The person does not see the customer any more.'],
      ['About approval 3', null],
      ['About approval 4', null],
    ])
    expect(receiver.received.flatMap(({ to }) => to).sort()).toEqual([inside.email, tenant.email].sort())
  })

  test('would be told too late gets nothing', async () => {
    await queue({ userId: 1, about: 'approval 1', endsAt: new Date(app.now - 1) })
    const [mail] = await become('dropped')
    expect(mail?.failure).toBe('It was not sent in time.')
  })
})

describe('a name or customer with line breaks', () => {
  test('adds no header and no recipient', async () => {
    await queue({
      userId: 1,
      about: 'approval 1',
      subject: 'Approval for Harvest\r\nBcc: eve@example.com\r\n\r\nHello',
    })
    await receiver.until((all) => all.length === 1)
    const [mail] = receiver.received
    expect(mail?.header('Bcc')).toBeUndefined()
    expect(mail?.header('Subject')).toBe('Approval for Harvest Bcc: eve@example.com Hello')
    expect(mail?.to).toEqual([tenant.email])
    await become('sent')
  })

  test('is refused by the database, too', async () => {
    const insert = app.database.inTenant(tenantId(tenant.id), (transaction) =>
      insertMails(
        transaction,
        tenantId(tenant.id),
        [{ userId: 1, kind: 'news', about: 'a', subject: 'a\r\nBcc: b', body: '', endsAt: new Date() }],
        new Date(),
      ),
    )
    await expect(insert).rejects.toThrow(/mails_subject_check/)
  })
})

test('waits grow from seconds to a day, and then the mail has failed', () => {
  const away = { kind: 'later', reason: 'Away.', isAway: true } as const
  const waits = Array.from({ length: 10 }, (_, index) => resultOf(index + 1, away, 0.5))
  expect(waits.map((result) => (result.state === 'due' ? result.retrySeconds : result.state))).toEqual([
    5,
    300,
    1_800,
    7_200,
    18_000,
    36_000,
    50_400,
    72_000,
    86_400,
    'failed',
  ])
})
