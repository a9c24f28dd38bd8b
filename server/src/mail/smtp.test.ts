import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type MailReceiver, mailReceiver } from '#testing/mail-receiver.ts'
import { allowedPrivate } from '../security/index.ts'
import { handOver, type Letter, type MailServer } from './smtp.ts'

let receiver: MailReceiver
beforeAll(async () => {
  receiver = await mailReceiver()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.atMessage = () => undefined
})
afterAll(() => receiver.close())

const loopback = allowedPrivate(['127.0.0.1'])
const none = allowedPrivate([])
const server = (): MailServer => ({
  host: '127.0.0.1',
  port: receiver.port,
  isTls: false,
  user: null,
  password: null,
  from: 'quotes@example.com',
  isOperators: false,
})
const letter: Letter = {
  to: { name: 'Ana Ortiz', address: 'ana@example.com' },
  subject: 'Approval 12',
  text: 'Text.\n',
  messageId: 'm1@example.com',
  date: new Date('2026-03-01T14:00:00Z'),
}

describe('an attempt', () => {
  test('at a slow server ends at the time limit', async () => {
    receiver.atMessage = () => new Promise(() => {})
    expect(await handOver(server(), letter, { allowed: loopback, patienceMs: 80 })).toEqual({
      kind: 'later',
      reason: 'No answer within 0.08 seconds.',
      isAway: true,
    })
  })

  test('ends when the service stops', async () => {
    receiver.atMessage = () => new Promise(() => {})
    const stop = new AbortController()
    const handing = handOver(server(), letter, { allowed: loopback, stop: stop.signal })
    stop.abort()
    expect(await handing).toMatchObject({ reason: 'The service was stopped before an answer came.' })
  })

  test('with a password, or at a public host, needs TLS: nothing is sent in the clear', async () => {
    const withPassword = { ...server(), user: 'ana', password: 'secret' }
    const publicName = { ...server(), host: 'mail.example.org' }
    for (const one of [withPassword, publicName]) {
      const handed = await handOver(one, letter, {
        allowed: allowedPrivate(['127.0.0.1/32']),
        lookUp: async () => ['127.0.0.1'],
      })
      expect(handed).toMatchObject({ kind: 'later', isAway: true })
    }
    expect(receiver.received).toEqual([])
  })
})

describe('a header', () => {
  const spoiled: readonly [string, MailServer | null, Partial<Letter>][] = [
    ['the subject', null, { subject: 'Hello\r\nBcc: eve@example.com' }],
    ['the subject with a bare line feed', null, { subject: 'Hello\nBcc: eve@example.com' }],
    ['the name', null, { to: { name: 'Ana\r\nBcc: eve@example.com', address: 'ana@example.com' } }],
    ['the recipient', null, { to: { name: 'Ana', address: 'ana@example.com\r\nRCPT TO:<eve@example.com>' } }],
    ['two recipients', null, { to: { name: 'Ana', address: 'ana@example.com,eve@example.com' } }],
    ['angle brackets', null, { to: { name: 'Ana', address: 'ana@example.com>, <eve@example.com' } }],
  ]
  test.each(spoiled)(
    'cannot be added by %s: the message is refused before a connection',
    async (_name, _, more) => {
      const asked = receiver.asked.length
      await expect(handOver(server(), { ...letter, ...more }, { allowed: loopback })).rejects.toThrow(
        /is not one address|has a control character/,
      )
      expect(receiver.asked).toHaveLength(asked)
    },
  )

  test('cannot be added by the sender', async () => {
    const from = 'quotes@example.com\r\nBcc: eve@example.com'
    await expect(handOver({ ...server(), from }, letter, { allowed: loopback })).rejects.toThrow(
      'A mail address is not one address.',
    )
  })
})

describe('a host of the private network', () => {
  test('is not connected to, by address or by name', async () => {
    expect(await handOver(server(), letter, { allowed: none })).toMatchObject({
      kind: 'later',
      reason: expect.stringMatching(/^The host must be on the public internet/),
    })
    const named = { ...server(), host: 'mail.example.org' }
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['::1']]) {
      expect(await handOver(named, letter, { allowed: none, lookUp: async () => addresses })).toMatchObject({
        reason: 'The host name resolves to an address that is not on the public internet.',
      })
    }
    expect(receiver.received).toEqual([])
  })

  test('is connected to if the operator set it', async () => {
    const handed = await handOver({ ...server(), isOperators: true }, letter, { allowed: none })
    expect(handed).toEqual({ kind: 'accepted' })
    expect(receiver.received).toHaveLength(1)
  })
})
