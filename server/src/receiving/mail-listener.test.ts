import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { createTransport, type SendMailOptions } from 'nodemailer'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { receivedBytesMax } from '#contract/limits.ts'
import { mails, people } from '#server/database/queries/index.ts'
import { type Database, tenantId } from '#server/database/session/index.ts'
import { call, type MadeTenant, makeTenant, requireStatus } from '#testing/make.ts'
import { type NameServer, nameServer } from '#testing/name-server.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { listenForMail, type MailListener } from './mail-listener.ts'

const domain = 'in.example.com'
const text = 'Please quote:\nDallas, TX to Atlanta, GA, dry van, 42,000 lbs, pickup 12/3'
const keys = generateKeyPairSync('rsa', {
  modulusLength: 1_024,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

let app: TestApp
let names: NameServer
let listener: MailListener
let tenant: MadeTenant
/** Thrown by every use of the database while it is set. */
let outage: Error | null = null

const listen = (mailsPerMinute?: number) =>
  listenForMail(
    {
      config: { trustProxy: [] },
      database: new Proxy(app.database, {
        get(database, name: keyof Database) {
          if (outage !== null) throw outage
          const value = database[name]
          return typeof value === 'function' ? value.bind(database) : value
        },
      }),
      clock: () => app.now,
      log: { info: () => {}, warn: () => {}, error: () => {} } as never,
    },
    { domain, port: 0, host: '127.0.0.1', tls: null, nameServers: [names.address] },
    mailsPerMinute === undefined ? {} : { mailsPerMinute },
  )

beforeAll(async () => {
  names = await nameServer()
  names.texts.set('_dmarc.acme.example', ['v=DMARC1; p=reject'])
  names.texts.set('s1._domainkey.acme.example', [`v=DKIM1; k=rsa; p=${keys.publicKey.toString('base64')}`])
  names.texts.set('_dmarc.evil.example', ['v=DMARC1; p=none'])
  names.texts.set('s1._domainkey.evil.example', [`v=DKIM1; k=rsa; p=${keys.publicKey.toString('base64')}`])
  app = await testApp()
  listener = await listen()
})
afterAll(async () => {
  await listener.close()
  await app.close()
  names.close()
})
beforeEach(async () => {
  outage = null
  app.now += 61_000
  tenant = await makeTenant(app)
})

const as = (of: MadeTenant, method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: of.owner, ...(body === undefined ? {} : { body }) })

async function addressOf(of: MadeTenant, body: Record<string, unknown> = {}): Promise<string> {
  const made = await as(of, 'POST', '/api/mail-address', body)
  requireStatus('making an address', made, 200)
  return made.body.forwarding.address
}

const mailsOf = async (of: MadeTenant) => (await as(of, 'GET', '/api/received-mails')).body.mails

/** Sends a mail, signed for a domain if one is named. Returns the last answer of the server; throws what it refuses. */
async function send(
  to: string | string[],
  {
    signs,
    at = listener,
    ...mail
  }: SendMailOptions & { readonly signs?: string; readonly at?: MailListener } = {},
): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: at.port,
    ignoreTLS: true,
    ...(signs === undefined
      ? {}
      : { dkim: { domainName: signs, keySelector: 's1', privateKey: keys.privateKey } }),
  })
  try {
    const { response } = await transport.sendMail({
      from: '"Ana Reyes" <ana@acme.example>',
      envelope: { from: 'forwarder@mail.example.net', to },
      subject: 'Two lanes',
      text,
      ...mail,
    })
    return response
  } finally {
    transport.close()
  }
}

const refusal = (sent: Promise<unknown>) =>
  sent.then(
    () => 'accepted',
    (error: { responseCode?: number }) => error.responseCode,
  )

/** A connection over which a test speaks SMTP. `say` returns the last line of the answer. */
async function talk(to = listener) {
  const socket = connect(to.port, '127.0.0.1')
  const answer = () =>
    new Promise<string>((resolve) => {
      let said = ''
      const read = (chunk: Buffer) => {
        said += chunk.toString()
        const [last] = /^\d{3} .*\r\n$/m.exec(said) ?? []
        if (last === undefined) return
        socket.off('data', read)
        resolve(last)
      }
      socket.on('data', read)
    })
  await answer()
  const say = (line: string) => {
    const answered = answer()
    socket.write(`${line}\r\n`)
    return answered
  }
  return { socket, say }
}

describe('a mail that is forwarded to the address of a brokerage', () => {
  test('is listed with its lanes, and acknowledged when it is stored', async () => {
    const address = await addressOf(tenant, { kept_days: 7 })
    expect(await send(address.toUpperCase())).toContain('250')
    expect(await mailsOf(tenant)).toMatchObject([
      {
        from: { name: 'Ana Reyes', address: 'ana@acme.example' },
        subject: 'Two lanes',
        lanes: 1,
        sender_check: 'unknown',
      },
    ])
    const { forwarding } = (await as(tenant, 'GET', '/api/mail-address')).body
    expect(forwarding).toMatchObject({ kept_days: 7, received_at: new Date(app.now).toISOString() })
    expect((await as(tenant, 'GET', '/api/inbox')).body.open_mails).toBe(1)
  })

  test('is stored once, however often it is sent, and by two names of its recipient', async () => {
    const address = await addressOf(tenant)
    const messageId = `<${randomUUID()}@acme.example>`
    await send(address, { messageId })
    await send([address, address.toUpperCase()], { messageId })
    expect(await mailsOf(tenant)).toHaveLength(1)
  })

  test('is not taken for one that somebody sent before with its Message-ID', async () => {
    const address = await addressOf(tenant)
    const messageId = '<predictable-4711@acme.example>'
    await send(address, { messageId, text: 'Have a nice day.' })
    await send(address, { messageId })
    expect((await mailsOf(tenant)).map(({ lanes }: { lanes: number }) => lanes).toSorted()).toEqual([0, 1])
  })

  test('for two brokerages is stored for each, and seen by nobody else', async () => {
    const [other, third] = [await makeTenant(app), await makeTenant(app)]
    await addressOf(third)
    await send([await addressOf(tenant), await addressOf(other)])
    expect(await mailsOf(tenant)).toHaveLength(1)
    expect(await mailsOf(other)).toHaveLength(1)
    expect(await mailsOf(third)).toEqual([])
  })
})

describe('the sender of a forwarded mail', () => {
  test.each([
    ['has signed it', { signs: 'acme.example' }, 'passed'],
    ['has not signed it', {}, 'unknown'],
    ['is somebody else who signed it', { signs: 'evil.example' }, 'unknown'],
    ['has no domain that says anything', { from: 'bo@plain.example' }, 'unknown'],
    [
      'is two, of whom one signed',
      { signs: 'evil.example', from: ['eve@evil.example', 'ana@acme.example'].join(', ') },
      'unknown',
    ],
  ])('%s', async (_, mail, check) => {
    await send(await addressOf(tenant), mail)
    expect((await mailsOf(tenant))[0].sender_check).toBe(check)
  })

  test('is not proven by the server that sent it: forwarders send for many', async () => {
    names.texts.set('acme.example', ['v=spf1 ip4:127.0.0.1 -all'])
    const address = await addressOf(tenant)
    try {
      await send(address, { envelope: { from: 'ana@acme.example', to: address } })
    } finally {
      names.texts.delete('acme.example')
    }
    expect((await mailsOf(tenant))[0].sender_check).toBe('unknown')
  })

  /** A mail as the signer of a domain sends it. */
  async function signedMail(domainName = 'acme.example', headerFieldNames?: string): Promise<string> {
    const transport = createTransport({
      streamTransport: true,
      buffer: true,
      newline: 'windows',
      dkim: {
        domainName,
        keySelector: 's1',
        privateKey: keys.privateKey,
        ...(headerFieldNames === undefined ? {} : { headerFieldNames }),
      },
    })
    const mail = { from: 'ana@acme.example', to: 'forwarder@mail.example.net', subject: 'Two lanes', text }
    const { message } = await transport.sendMail(mail)
    return String(message)
  }

  test.each([
    ['as it was signed', (raw: string) => raw, 'passed'],
    ['that was changed', (raw: string) => raw.replace('42,000', '12,000'), 'failed'],
    ['with another subject above it', (raw: string) => `Subject: Other\r\n${raw}`, 'unknown'],
    ['with another type above it', (raw: string) => `Content-Type: text/html\r\n${raw}`, 'unknown'],
    ['with another From above it', (raw: string) => `From: eve@evil.example\r\n${raw}`, 'unknown'],
    [
      'below hundreds of signatures',
      (raw: string) =>
        `${'DKIM-Signature: v=1; a=rsa-sha256; d=evil.example; s=s1; b=aa\r\n'.repeat(400)}${raw}`,
      'unknown',
    ],
    ['below thousands of lines', (raw: string) => `X-Long: a\r\n${' a\r\n'.repeat(5_000)}${raw}`, 'unknown'],
  ])('of a signed mail %s', async (_, change, check) => {
    await send(await addressOf(tenant), { raw: change(await signedMail()) })
    expect((await mailsOf(tenant))[0].sender_check).toBe(check)
  })

  test('of a mail whose signature leaves the subject out is not proven', async () => {
    await send(await addressOf(tenant), { raw: await signedMail('acme.example', 'from:date:message-id') })
    expect((await mailsOf(tenant))[0].sender_check).toBe('unknown')
  })

  test('is not known while no name server answers', async () => {
    names.isSilent = true
    try {
      await send(await addressOf(tenant), { signs: 'acme.example' })
    } finally {
      names.isSilent = false
    }
    expect((await mailsOf(tenant))[0].sender_check).toBe('unknown')
  })

  test('with a customer that people named is that customer only if it is proven', async () => {
    const address = await addressOf(tenant)
    await send(address, { signs: 'acme.example', subject: 'First' })
    const [first] = await mailsOf(tenant)
    requireStatus(
      'naming the customer',
      await as(tenant, 'PATCH', `/api/received-mails/${first.id}`, { customer: 'Acme Foods' }),
      200,
    )
    await send(address, { signs: 'acme.example', subject: 'Second' })
    await send(address, { subject: 'Spoofed' })
    const found = (await mailsOf(tenant)).map(
      ({ subject, customer }: Record<string, string | null>) => `${subject}: ${customer}`,
    )
    expect(found.toSorted()).toEqual(['First: Acme Foods', 'Second: Acme Foods', 'Spoofed: null'])
  })
})

describe('a report that an answer came back', () => {
  /** A report of the recipient's server, as Postfix writes it. */
  const report = (mailId: string, action = 'failed') =>
    [
      'From: MAILER-DAEMON@mail.example.net (Mail Delivery System)',
      'Subject: Undelivered Mail Returned to Sender',
      `Message-ID: <${randomUUID()}@mail.example.net>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status;',
      '\tboundary="b1"',
      '',
      '--b1',
      'Content-Type: text/plain',
      '',
      'I am sorry to inform you that your message could not be delivered.',
      '--b1',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mail.example.net',
      '',
      'Final-Recipient: rfc822; ana@acme.example',
      `Action: ${action}`,
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 <ana@acme.example>: Recipient',
      '    address rejected',
      '--b1',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: <${mailId}@broker.example.com>`,
      'Subject: Re: Two lanes',
      '--b1--',
      '',
    ].join('\r\n')

  /** An answer to the newest mail, which a mail server accepted. Returns its id. */
  async function sentAnswer(of: MadeTenant): Promise<string> {
    const [{ id: received }] = await mailsOf(of)
    const tenantNumber = tenantId(of.id)
    return app.database.inTenant(tenantNumber, async (transaction) => {
      const now = new Date(app.now)
      const [owner] = await people.listUsers(transaction, tenantNumber)
      if (owner === undefined) throw new Error('No owner.')
      const to = { name: 'Ana Reyes', address: 'ana@acme.example' }
      const answer = { mailId: received, to, replyTo: [], inReplyTo: null }
      const about = { userId: owner.user_id, kind: 'answer', about: received, subject: 'Re', body: 'Hi' }
      const endsAt = new Date(app.now + 3_600_000)
      await mails.insertMails(transaction, tenantNumber, [{ ...about, endsAt, answer }], now)
      const mail = await mails.claimMail(transaction, tenantNumber, 60)
      if (mail === null) throw new Error('No mail is due.')
      await mails.settleMail(transaction, tenantNumber, mail, { state: 'sent' })
      return mail.mail_id
    })
  }
  const notSentOf = async (of: MadeTenant) =>
    (await as(of, 'GET', '/api/inbox')).body.items.filter(
      ({ kind }: { kind: string }) => kind === 'answer-not-sent',
    )

  test('is shown to the person who sent it, with the words of the server, and asks for nothing', async () => {
    const address = await addressOf(tenant)
    await send(address)
    const mailId = await sentAnswer(tenant)
    await send(address, { raw: report(mailId, 'delayed') })
    expect(await notSentOf(tenant)).toEqual([])
    await send(address, { raw: report(mailId) })
    const [received] = (await mailsOf(tenant)).filter(
      ({ subject }: { subject: string }) => subject === 'Two lanes',
    )
    expect(await notSentOf(tenant)).toMatchObject([
      {
        title: 'Your answer to ana@acme.example was not delivered',
        detail: 'A report says that it came back: 550 5.1.1 <ana@acme.example>: Recipient address rejected',
        mail_id: received.id,
      },
    ])
    const states = (await mailsOf(tenant)).map(({ state }: { state: string }) => state)
    expect(states.toSorted()).toEqual(['done', 'open', 'open'])
  })

  test('of another recipient changes nothing', async () => {
    const address = await addressOf(tenant)
    await send(address)
    const mailId = await sentAnswer(tenant)
    await send(address, { raw: report(mailId).replace('rfc822; ana@', 'rfc822; bo@') })
    expect(await notSentOf(tenant)).toEqual([])
  })

  test('to another brokerage changes nothing', async () => {
    await send(await addressOf(tenant))
    const mailId = await sentAnswer(tenant)
    const other = await makeTenant(app)
    await send(await addressOf(other), { raw: report(mailId) })
    expect(await notSentOf(tenant)).toEqual([])
    expect((await mailsOf(other))[0].state).toBe('open')
  })
})

describe('the port refuses', () => {
  test('addresses that nobody has, and those of other domains: it is no relay', async () => {
    const address = await addressOf(tenant)
    const [name] = address.split('@')
    for (const wrong of [
      `quotes-${tenant.id}-aaaaaaaaaaaaaaaa@${domain}`,
      `quotes-2147483647-aaaaaaaaaaaaaaaa@${domain}`,
      `quotes-99999999999-aaaaaaaaaaaaaaaa@${domain}`,
      `postmaster@${domain}`,
      `${name}@elsewhere.example`,
      'ana@acme.example',
    ]) {
      expect([wrong, await refusal(send(wrong))]).toEqual([wrong, 550])
    }
    expect(await mailsOf(tenant)).toEqual([])
  })

  test('an address that was replaced or removed, and that of a suspended brokerage', async () => {
    const former = await addressOf(tenant)
    const now = await addressOf(tenant, { new_address: true })
    expect(now).not.toBe(former)
    expect(await refusal(send(former))).toBe(550)
    await send(now)
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    await owner.query(`set app.tenant_id = ${tenant.id}`)
    const setStatus = (status: 'active' | 'suspended') =>
      owner.query('update tenants set status = $1 where tenant_id = $2', [status, tenant.id])
    await setStatus('suspended')
    expect(await refusal(send(now))).toBe(550)
    await setStatus('active')
    await owner.end()
    await as(tenant, 'DELETE', '/api/mail-address')
    expect(await refusal(send(now))).toBe(550)
    expect(await mailsOf(tenant)).toHaveLength(1)
  })

  test('a mail that is too large, for good', async () => {
    const address = await addressOf(tenant)
    const attachments = [{ filename: 'map.pdf', content: Buffer.alloc(receivedBytesMax) }]
    expect(await refusal(send(address, { attachments }))).toBe(552)
    expect(await mailsOf(tenant)).toEqual([])
  })

  test('more mails in a minute than its limit, for a while, and those of others not', async () => {
    const [address, other] = [await addressOf(tenant), await makeTenant(app)]
    const slow = await listen(2)
    // Recipients without a mail do not count.
    const { socket, say } = await talk(slow)
    await say('EHLO there')
    for (let nth = 0; nth < 5; nth++) {
      await say('MAIL FROM:<a@acme.example>')
      expect(await say(`RCPT TO:<${address}>`)).toMatch(/^250 /)
      await say('RSET')
    }
    socket.destroy()
    await send(address, { at: slow })
    await send(address, { at: slow, subject: 'Another' })
    expect(await refusal(send(address, { at: slow }))).toBe(451)
    await send(await addressOf(other), { at: slow })
    app.now += 60_000
    await send(address, { at: slow })
    await slow.close()
  })

  test('guesses of addresses, and closes connections that guess; a correct address still works', async () => {
    const address = await addressOf(tenant)
    const guess = (letter: string) => refusal(send(`quotes-${tenant.id}-${letter.repeat(16)}@${domain}`))
    for (let nth = 0; nth < 30; nth++) expect(await guess('b')).toBe(550)
    expect(await guess('c')).toBeUndefined()
    await send(address)
  })

  test.each([
    ['millions of empty lines', () => '\r\n'.repeat(4_900_000)],
    ['a text of NULs', () => '\0'.repeat(100_000)],
    ['deep HTML', () => `${'<table><tr><td><b>'.repeat(5_000)}Dallas`],
  ])('no mail of %s, or stores it; the service goes on', { timeout: 120_000 }, async (_, body) => {
    const address = await addressOf(tenant)
    const type = 'Content-Type: text/html'
    const head = `From: a@plain.example\r\nMessage-ID: <=?utf-8?q?a=00b?=@x>\r\nReferences: <a\0b@x>\r\n${type}`
    expect(['accepted', 451, 554]).toContain(
      await refusal(send(address, { raw: `${head}\r\n\r\n${body()}` })),
    )
    await send(address)
    expect((await mailsOf(tenant)).map(({ subject }: { subject: string }) => subject)).toContain('Two lanes')
  })
})

test('while the database is away, senders are asked to try again, and nothing is lost', async () => {
  const address = await addressOf(tenant)
  outage = new Error('The database is away.')
  expect(await refusal(send(address))).toBe(451)
  outage = null
  await send(address)
  expect(await mailsOf(tenant)).toHaveLength(1)
})

test('a connection that ends within a mail leaves nothing, and the port goes on', async () => {
  const address = await addressOf(tenant)
  const { socket, say } = await talk()
  await say('EHLO there')
  await say('MAIL FROM:<a@acme.example>')
  await say(`RCPT TO:<${address}>`)
  expect(await say('DATA')).toMatch(/^354 /)
  socket.write('Subject: Half a mail\r\n')
  socket.destroy()
  await send(address)
  expect((await mailsOf(tenant)).map(({ subject }: { subject: string }) => subject)).toEqual(['Two lanes'])
})

test('a port that closes takes no more mails', async () => {
  const other = await listen()
  const address = await addressOf(tenant)
  await send(address, { at: other })
  await other.close()
  await expect(send(address, { at: other })).rejects.toThrow('ECONNREFUSED')
  expect(await mailsOf(tenant)).toHaveLength(1)
})
