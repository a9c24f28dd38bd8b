import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { call, type MadeTenant, requireStatus } from './make.ts'
import type { TestApp } from './test-app.ts'

/** A message as a mail server received it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  /** The value of a header, unfolded; undefined if there is none. */
  header(name: string): string | undefined
}

/** Refuses with this status, or closes the connection after the message was read. Undefined accepts. */
export type MailFault = { readonly status: number; readonly text: string } | 'cut' | undefined

/** A mail server on this machine that records what it accepts, with faults to choose. */
export interface MailReceiver {
  readonly port: number
  /** Accepted messages, and those that were read before the connection was cut. */
  readonly received: ReceivedMail[]
  /** Recipients that were named, also in refused messages. */
  readonly asked: string[]
  atRecipient: () => MailFault
  atMessage: (mail: ReceivedMail) => MailFault | Promise<MailFault>
  /** Waits until `isEnough` returns true. Throws with the subjects so far after `patienceMs` milliseconds. */
  until(isEnough: (received: readonly ReceivedMail[]) => boolean, patienceMs?: number): Promise<void>
  close(): Promise<void>
}

function refusal(fault: MailFault): Error | null {
  if (fault === undefined || fault === 'cut') return null
  return Object.assign(new Error(fault.text), { responseCode: fault.status })
}

function readMail(from: string, to: readonly string[], raw: string): ReceivedMail {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ')
  const header = (name: string) =>
    head
      .split('\r\n')
      .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
      ?.slice(name.length + 1)
      .trim()
  return { from, to, raw, header }
}

export async function mailReceiver(port = 0): Promise<MailReceiver> {
  let onReceived: () => void = () => {}
  const sockets = new Map<string, Socket>()
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo(address, _session, done) {
      receiver.asked.push(address.address)
      done(refusal(receiver.atRecipient()))
    },
    onData(stream, session, done) {
      const read = text(stream).then(async (raw) => {
        const { mailFrom, rcptTo } = session.envelope
        const mail = readMail(
          mailFrom === false ? '' : mailFrom.address,
          rcptTo.map(({ address }) => address),
          raw,
        )
        const fault = await receiver.atMessage(mail)
        const refused = refusal(fault)
        if (refused === null) receiver.received.push(mail)
        onReceived()
        if (fault === 'cut') sockets.get(`${session.remoteAddress}:${session.remotePort}`)?.destroy()
        else done(refused)
      })
      // A sender that was stopped closes the connection within a message.
      read.catch(() => {})
    },
  })
  server.on('error', () => {})
  server.server.on('connection', (socket) =>
    sockets.set(`${socket.remoteAddress}:${socket.remotePort}`, socket),
  )
  const listener = server.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const receiver: MailReceiver = {
    port: (listener.address() as AddressInfo).port,
    received: [],
    asked: [],
    atRecipient: () => undefined,
    atMessage: () => undefined,
    until(isEnough, patienceMs = 10_000) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const deadline = setTimeout(() => {
        const subjects = receiver.received.map((mail) => mail.header('Subject'))
        reject(new Error(`Not received within ${patienceMs} ms; so far: ${JSON.stringify(subjects)}`))
      }, patienceMs)
      onReceived = () => {
        if (!isEnough(receiver.received)) return
        clearTimeout(deadline)
        resolve()
      }
      onReceived()
      return promise
    },
    async close() {
      for (const socket of sockets.values()) socket.destroy()
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(resolve)
      await promise
    },
  }
  return receiver
}

/** Has a brokerage send its mail through a receiver. */
export async function sendMailTo(app: TestApp, tenant: MadeTenant, { port }: MailReceiver): Promise<void> {
  const body = { host: '127.0.0.1', port, from: 'quotes@broker.example.com' }
  requireStatus(
    'setting a mail server',
    await call(app, 'POST', '/api/mail/server', { token: tenant.owner, body }),
    200,
  )
}
