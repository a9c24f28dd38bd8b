import { randomUUID } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tenantId } from '#server/database/session/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type ImapServer, imapCertificate, imapHost, imapServer } from '#testing/imap-server.ts'
import { call, type MadeTenant, makeTenant, requireStatus } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { openMailbox } from './imap-mailbox.ts'

/** Opens a mailbox at the name of the certificate, which is this machine. */
const open: typeof openMailbox = (access, options) =>
  openMailbox(access, { ...options, lookUp: async () => ['127.0.0.1'] })

let app: TestApp
let server: ImapServer
let tenant: MadeTenant
let fetched: (uid: number) => Promise<void>

const options = {
  config: { mailboxes: { allowPrivate: [imapHost] } },
  readMailboxes: {
    everyMs: 20,
    pauses: [0],
    open,
    onFetched: (uid: number) => fetched(uid),
  },
}

beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates('bundled'), imapCertificate])
  app = await testApp(options)
})
afterAll(async () => {
  await app.close()
  setDefaultCACertificates(getCACertificates('bundled'))
})
beforeEach(async () => {
  fetched = async () => {}
  server = await imapServer()
  tenant = await makeTenant(app)
  return async () => {
    await call(app, 'DELETE', '/api/mailbox', { token: tenant.owner })
    await server.close()
  }
})

async function setMailbox(more: Record<string, unknown> = {}): Promise<void> {
  const body = {
    host: imapHost,
    port: server.port,
    user: server.user,
    password: 'the right password',
    ...more,
  }
  requireStatus(
    'setting a mailbox',
    await call(app, 'POST', '/api/mailbox', { token: tenant.owner, body }),
    200,
  )
}

const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
const listed = async () => (await get('/api/received-mails')).mails ?? []
const mailbox = async () => (await get('/api/mailbox')).mailbox ?? {}

/** Waits for a state of the service, which works in the background. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await isSo()) return
    await new Promise((resume) => setTimeout(resume, 100))
  }
  const state = { mailbox: await mailbox(), commands: server.commands.slice(-12) }
  throw new Error(`Not so: ${what}; ${JSON.stringify(state)}`)
}

const untilMails = (count: number) => until(`${count} mails`, async () => (await listed()).length === count)
const untilReading = () => until('the mailbox is read', async () => (await mailbox()).state === 'reading')

const mailWith = (subject: string, text: string, headers: readonly string[] = []) =>
  [
    'From: Dana Hill <dana@harvesttable.example>',
    'To: quotes@broker.example.com',
    `Subject: ${subject}`,
    ...(headers.some((one) => one.startsWith('Message-ID')) ? [] : [`Message-ID: <${randomUUID()}@example>`]),
    ...headers,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '',
  ].join('\n')
const laneText = 'Need a rate, Dallas, TX to Atlanta, GA, dry van, 42,000 lbs'

describe('a mailbox', () => {
  test('is read from now on, as soon as a mail arrives, and nothing in it is changed', async () => {
    server.pretendOld(100_000)
    server.deliver(mailWith('Old', laneText))
    await setMailbox()
    await untilReading()
    server.deliver(mailWith('Rate needed', laneText))
    await untilMails(1)
    const [mail] = await listed()
    expect(mail).toMatchObject({
      subject: 'Rate needed',
      from: { name: 'Dana Hill', address: 'dana@harvesttable.example' },
      lanes: 1,
      sender_check: 'unknown',
      customer: null,
      state: 'open',
    })
    const one = await get(`/api/received-mails/${mail.id}`)
    expect(one.text.trim()).toBe(laneText)
    expect(one.reading.lanes[0]).toMatchObject({
      origin: { value: 'Dallas, TX', words: { part: 'text', table: null, at: 13, text: 'Dallas, TX' } },
      destination: { value: 'Atlanta, GA' },
      weight: { value: 42_000 },
    })
    expect(server.sent).toEqual([100_002])
    expect(server.commands).not.toContain('SELECT')
    expect(server.commands).not.toContain('UID STORE')
  })

  test('has its attached tables read, and names the files that are not', async () => {
    await setMailbox()
    await untilReading()
    const boundary = 'b1'
    server.deliver(
      [
        'From: dana@harvesttable.example',
        'Subject: Three lanes',
        'Message-ID: <tables@example>',
        'MIME-Version: 1.0',
        `Content-Type: multipart/mixed; boundary=${boundary}`,
        '',
        `--${boundary}`,
        'Content-Type: text/plain',
        '',
        'Please quote the attached.',
        `--${boundary}`,
        'Content-Type: text/csv; name=lanes.csv',
        'Content-Disposition: attachment; filename=lanes.csv',
        '',
        'Origin,Destination,Equipment',
        '"Dallas, TX","Atlanta, GA",Van',
        '"Chicago, IL","Denver, CO",Reefer',
        `--${boundary}`,
        'Content-Type: application/ms-tnef; name=winmail.dat',
        'Content-Disposition: attachment; filename=winmail.dat',
        '',
        'x',
        `--${boundary}--`,
        '',
      ].join('\n'),
    )
    await untilMails(1)
    const [{ id, lanes }] = await listed()
    expect(lanes).toBe(2)
    const one = await get(`/api/received-mails/${id}`)
    expect(one.attachments).toEqual([
      { name: 'lanes.csv', bytes: expect.any(Number), unread: null },
      { name: 'winmail.dat', bytes: expect.any(Number), unread: 'Outlook packed its files into it.' },
    ])
    const { words } = one.reading.lanes[1].origin
    expect(words).toMatchObject({ part: 'table', table: 0 })
    expect(one.tables[0].slice(words.at, words.at + words.text.length)).toBe(words.text)
  })

  test('that is too large for one mail lists it, and reads the next', async () => {
    await setMailbox()
    await untilReading()
    const large = Buffer.from(mailWith('Large', 'x'.repeat(10 * 1024 * 1024)).replaceAll('\n', '\r\n'))
    server.deliver(large)
    server.deliver(mailWith('Small', laneText))
    await untilMails(2)
    const mails = await listed()
    expect(mails.map(({ subject, problem }: Record<string, unknown>) => [subject, problem]).sort()).toEqual([
      ['Large', 'too-large'],
      ['Small', null],
    ])
    expect(server.sent).toHaveLength(1)
  })

  test('with mails in mails reads them as far as a person would, and lists the rest', async () => {
    await setMailbox()
    await untilReading()
    let nested = mailWith('Inner', laneText)
    for (let depth = 0; depth < 60; depth++) {
      nested = `Subject: Level ${depth}\nMessage-ID: <deep-${depth}@example>\nFrom: a@b.example\nContent-Type: message/rfc822\n\n${nested}`
    }
    server.deliver(nested)
    let parts = 'Content-Type: text/plain\n\nThe end\n'
    for (let depth = 0; depth < 300; depth++) {
      parts = `Content-Type: multipart/mixed; boundary=b${depth}x\n\n--b${depth}x\n${parts}\n--b${depth}x--\n`
    }
    server.deliver(`Subject: Parts\nMessage-ID: <parts@example>\nFrom: a@b.example\n${parts}`)
    server.deliver(mailWith('After it', laneText))
    await untilMails(3)
    const mails = await listed()
    const problems = new Map(mails.map(({ subject, problem }: Record<string, unknown>) => [subject, problem]))
    expect(problems.get('Parts')).toBe('unreadable')
    expect(problems.get('After it')).toBeNull()
  })
})

describe('each mail is stored once', () => {
  test('when the connection is cut in the middle of it', async () => {
    await setMailbox()
    await untilReading()
    let cuts = 0
    server.cutsWithin = () => cuts++ < 2
    server.deliver(mailWith('Cut', laneText))
    await untilMails(1)
    await untilReading()
    expect((await listed())[0]).toMatchObject({ subject: 'Cut', lanes: 1, problem: null })
    expect(server.sent).toHaveLength(3)
  })

  test('when the process dies between reading and storing it, and three others wait', async () => {
    const others = await Promise.all([1, 2, 3].map(() => testAppOn()))
    await setMailbox()
    await untilReading()
    let deaths = 0
    fetched = async () => {
      if (deaths++ < 2) {
        // As after a kill: nothing more is written, and the lease ends by itself.
        await endLease()
        throw new Error('killed')
      }
    }
    server.deliver(mailWith('Once', laneText))
    await untilMails(1)
    fetched = async () => {}
    server.deliver(mailWith('Twice', laneText))
    await untilMails(2)
    expect(server.connections()).toBe(1)
    for (const other of others) await other.close()
  })

  test('when the server numbers all mails anew', async () => {
    await setMailbox()
    await untilReading()
    server.deliver(mailWith('First', laneText))
    server.deliver(mailWith('Second', laneText))
    await untilMails(2)
    server.renumber()
    server.deliver(mailWith('Third', laneText))
    await untilMails(3)
    expect((await listed()).map(({ subject }: { subject: string }) => subject).sort()).toEqual([
      'First',
      'Second',
      'Third',
    ])
  })

  test('when it is delivered twice', async () => {
    await setMailbox()
    await untilReading()
    const twice = mailWith('Twice', laneText, ['Message-ID: <twice@example>'])
    server.deliver(twice)
    server.deliver(twice)
    server.deliver(mailWith('Other', laneText, ['Message-ID: <twice@example>']))
    await untilMails(2)
    expect((await listed()).map(({ subject }: { subject: string }) => subject).sort()).toEqual([
      'Other',
      'Twice',
    ])
  })
})

describe('a password that is refused', () => {
  test('is shown, told to admins, and not tried again at once', async () => {
    await setMailbox()
    await untilReading()
    server.password = 'another one'
    const before = server.signIns()
    server.renumber()
    await until('the password is refused', async () => /password/.test((await mailbox()).failure))
    expect(await mailbox()).toMatchObject({
      state: 'failing',
      failure: 'The user or the password was refused. The server said: Invalid credentials',
      failing_since: expect.any(String),
    })
    const { items } = await get('/api/inbox')
    expect(items).toContainEqual(
      expect.objectContaining({
        kind: 'mailbox-failing',
        title: `The mailbox ${server.user} cannot be read`,
      }),
    )
    expect(Date.parse((await mailbox()).next_at) - Date.now()).toBeGreaterThan(60_000)
    expect(server.signIns() - before).toBe(1)
  })

  test('is corrected by setting the mailbox again, which goes on where it was left', async () => {
    await setMailbox({ password: 'a wrong one' })
    await until('the mailbox fails', async () => (await mailbox()).state === 'failing')
    await setMailbox()
    await untilReading()
    server.password = 'changed'
    server.renumber()
    await until('the mailbox fails', async () => (await mailbox()).state === 'failing')
    server.deliver(mailWith('Meanwhile', laneText))
    await setMailbox({ password: 'changed' })
    await untilMails(1)
    expect((await get('/api/inbox')).items).toEqual([])
  })
})

describe('a thread', () => {
  test('has the replies of the brokerage, and none of another one', async () => {
    await setMailbox()
    await untilReading()
    server.deliver(mailWith('Rate needed', laneText, ['Message-ID: <begin@example>']))
    server.deliver(mailWith('Re: Rate needed', 'Any news?', ['References: <begin@example>']))
    await untilMails(2)
    const [first, second] = await listed()
    expect(first.thread_id).toBe(second.thread_id)
    expect((await get(`/api/received-mails/${first.id}`)).thread).toHaveLength(2)
    const owner = tenant.owner
    tenant = await makeTenant(app)
    await setMailbox()
    await untilReading()
    server.deliver(mailWith('Re: Rate needed', 'And I?', ['In-Reply-To: <begin@example>']))
    await untilMails(1)
    const [foreign] = await listed()
    expect(foreign.thread_id).toBe(foreign.id)
    expect((await get(`/api/received-mails/${foreign.id}`)).thread).toHaveLength(1)
    await call(app, 'DELETE', '/api/mailbox', { token: owner })
  })
})

describe('the customer of a sender', () => {
  const passed = 'Authentication-Results: mx.broker.example; dmarc=pass header.from=harvesttable.example'
  test('is known once a person said it, if the mail provider found that the sender is who it says', async () => {
    await setMailbox({ checking_server: 'mx.broker.example' })
    await untilReading()
    server.deliver(mailWith('First', laneText, [passed]))
    await untilMails(1)
    const [{ id }] = await listed()
    const body = { customer: 'Harvest Table Foods', state: 'done' }
    const changed = await call(app, 'PATCH', `/api/received-mails/${id}`, { token: tenant.owner, body })
    expect(changed).toMatchObject({ status: 200, body: { mail: { customer: body.customer, state: 'done' } } })
    server.deliver(mailWith('Proven', laneText, [passed]))
    server.deliver(mailWith('Spoofed', laneText, [passed.replace('mx.broker', 'mx.other')]))
    await untilMails(3)
    const of = new Map((await listed()).map((mail: Record<string, unknown>) => [mail.subject, mail]))
    expect(of.get('Proven')).toMatchObject({ customer: 'Harvest Table Foods', sender_check: 'passed' })
    expect(of.get('Spoofed')).toMatchObject({ customer: null, sender_check: 'unknown' })
    const spoofed = await get(`/api/received-mails/${(of.get('Spoofed') as { id: string }).id}`)
    expect(spoofed.reading.questions).toContainEqual(
      expect.objectContaining({ field: 'customer', options: ['Harvest Table Foods'] }),
    )
  })
})

describe('a text', () => {
  test('is deleted when its time is over, and the mail stays in the list', async () => {
    await setMailbox({ kept_days: 1 })
    await untilReading()
    server.deliver(mailWith('Rate needed', laneText))
    await untilMails(1)
    const [{ id }] = await listed()
    await app.pruneMails()
    expect((await get(`/api/received-mails/${id}`)).text).not.toBeNull()
    const before = app.now
    app.now += 2 * 86_400_000
    await app.pruneMails()
    app.now = before
    expect(await get(`/api/received-mails/${id}`)).toMatchObject({
      text: null,
      tables: [],
      reading: null,
      mail: { subject: 'Rate needed', lanes: 1 },
    })
  })
})

async function testAppOn(): Promise<TestApp> {
  return appOn(app.testDatabase, { ...options, secretKeys: [app.secretKey] })
}

async function endLease(): Promise<void> {
  await app.database.inTenant(tenantId(tenant.id), (transaction) =>
    transaction
      .updateTable('mailboxes')
      .set({ lease_until: new Date(0) })
      .where('tenant_id', '=', tenant.id)
      .execute(),
  )
}
