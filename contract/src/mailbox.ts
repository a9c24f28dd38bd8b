import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, text, wholeNumber } from './fields.ts'
import { mailTextDaysDefault, mailTextDaysMax } from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const moment = Type.String({ format: 'date-time' })
const hostLengthMax = 253
const accessLengthMax = 500

const answer = Type.Object({
  may_set: Type.Boolean({
    description: 'Whether the operator permits brokerages to have a mailbox read',
  }),
  mailbox: {
    ...nullable(
      Type.Object({
        host: Type.String(),
        port: Type.Integer(),
        user: Type.String(),
        checking_server: nullable(Type.String()),
        kept_days: Type.Integer({ description: 'Days for which the text of a mail is kept' }),
        set_at: moment,
        state: Type.Enum(['opening', 'reading', 'failing'], {
          description:
            'opening: it has not been read yet. reading: it is read. failing: the last attempt failed, and another one follows',
        }),
        read_at: { ...nullable(moment), description: 'When it was last found to have nothing unread' },
        failing_since: nullable(moment),
        failure: { ...nullable(Type.String()), description: 'Why the last attempt failed' },
        next_at: { ...nullable(moment), description: 'The next attempt; null unless it is failing' },
      }),
    ),
    description: "The brokerage's mailbox, without its password",
  },
})

const examples = {
  answer: {
    may_set: true,
    mailbox: {
      host: 'imap.example.com',
      port: 993,
      user: 'quotes@example.com',
      checking_server: 'mx.example.com',
      kept_days: 30,
      set_at: '2026-03-01T14:00:00.000Z',
      state: 'reading',
      read_at: '2026-03-01T14:02:00.000Z',
      failing_since: null,
      failure: null,
      next_at: null,
    },
  },
} as const

export const getMailbox = endpoint({
  name: 'get-mailbox',
  method: 'GET',
  path: '/api/mailbox',
  summary: 'Show the mailbox that is read',
  description: 'The IMAP mailbox whose mails are read, and whether that works. The password is never shown.',
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const setMailbox = endpoint({
  name: 'set-mailbox',
  method: 'POST',
  path: '/api/mailbox',
  summary: 'Set the mailbox to read',
  description: `Stores an IMAP mailbox, with its password encrypted, or replaces the stored one: the password is sent again with every change. Its inbox is read from now on, and older mails are not; the same mailbox is read on from where it was left. Nothing in it is changed: no mail is moved, deleted or marked as read. On port 993, TLS begins at once; on others, the server must offer STARTTLS. The host must be on the public internet, unless the operator permits it.`,
  tag: 'Mail',
  who: admin,
  body: Type.Object({
    host: text('The host of the IMAP server', hostLengthMax),
    port: wholeNumber('Its port, usually 993 or 143', 1, 65_535),
    user: text('The user to sign in as', accessLengthMax),
    password: text('The password of the user', accessLengthMax),
    checking_server: Type.Optional(
      text(
        'The name with which your mail provider begins the header Authentication-Results of mails, such as mx.google.com. If absent, it is not known whether a sender is who it says',
        hostLengthMax,
      ),
    ),
    kept_days: Type.Optional(
      wholeNumber(
        `Days for which the text of a mail is kept; default ${mailTextDaysDefault}`,
        1,
        mailTextDaysMax,
      ),
    ),
  }),
  confirms: true,
  status: 200,
  answer,
  problems: ['state-conflict'],
  examples: {
    ...examples,
    body: { host: 'imap.example.com', port: 993, user: 'quotes@example.com', password: 'example' },
  },
})

export const removeMailbox = endpoint({
  name: 'remove-mailbox',
  method: 'DELETE',
  path: '/api/mailbox',
  summary: 'Read the mailbox no more',
  description:
    'Deletes the access to the mailbox with its password. Mails that were read stay until their time is over. Without a mailbox, nothing changes.',
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})
