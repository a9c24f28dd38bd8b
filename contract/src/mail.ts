import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { email, nullable, text, wholeNumber } from './fields.ts'
import { UserSummary } from './lane.ts'
import { eventTestsPerSecondMax, mailsKeptDays, mailsListedMax } from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const moment = Type.String({ format: 'date-time' })
const hostLengthMax = 253
const accessLengthMax = 500

export const mailStates = ['due', 'sent', 'failed', 'dropped'] as const

const Mail = Type.Object({
  id: Type.String({ description: 'The part of its Message-ID before the @' }),
  kind: Type.String({ description: 'Why it was written, such as test' }),
  to: UserSummary,
  to_address: {
    ...nullable(Type.String()),
    description:
      'For an answer to a customer, its address; then to is the person who sends it. null: to is the recipient',
  },
  subject: Type.String(),
  state: Type.Enum([...mailStates], {
    description:
      'due: it waits, for its first attempt or another one. sent: a mail server accepted it. failed: refused for good, or the last attempt failed. dropped: it was not to be sent any more, for example because the person left',
  }),
  attempts: Type.Integer(),
  created_at: moment,
  next_at: { ...nullable(moment), description: 'The next attempt; null unless it is due' },
  settled_at: nullable(moment),
  failure: { ...nullable(Type.String()), description: 'Why the last attempt failed, or why it was not sent' },
})

const answer = Type.Object({
  sends: Type.Enum(['brokerage', 'operator', 'nobody'], {
    description:
      'Whose mail server sends: that of the brokerage, which comes first; that of the operator of this installation; nobody: no mail is written, and everything is shown in the product',
  }),
  may_set: Type.Boolean({
    description: 'Whether the operator permits brokerages to set a mail server of their own',
  }),
  server: {
    ...nullable(
      Type.Object({
        host: Type.String(),
        port: Type.Integer(),
        user: nullable(Type.String()),
        from: Type.String(),
        set_at: moment,
      }),
    ),
    description: "The brokerage's own mail server, without its password",
  },
  waiting: Type.Integer({ description: 'Mails that wait for an attempt' }),
  failed: Type.Integer({ description: `Mails of the last ${mailsKeptDays} days that could not be sent` }),
  mails: Type.Array(Mail, { description: `The newest ${mailsListedMax}, newest first` }),
})

const exampleMail = {
  sends: 'brokerage',
  may_set: true,
  server: {
    host: 'mail.example.com',
    port: 587,
    user: 'lanewise',
    from: 'quotes@example.com',
    set_at: '2026-03-01T14:00:00.000Z',
  },
  waiting: 1,
  failed: 0,
  mails: [
    {
      id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c11',
      kind: 'test',
      to: { user_id: 1, name: 'Ana Ortiz' },
      to_address: null,
      subject: 'A test message of Lanewise',
      state: 'due',
      attempts: 1,
      created_at: '2026-03-01T14:02:00.000Z',
      next_at: '2026-03-01T14:02:05.000Z',
      settled_at: null,
      failure: 'The connection was refused.',
    },
  ],
} as const
const examples = { answer: exampleMail }

export const getMail = endpoint({
  name: 'get-mail',
  method: 'GET',
  path: '/api/mail',
  summary: 'Show the mail server, and the newest mails',
  description:
    'Who sends mail to the people of the brokerage, the newest mails, and why some could not be sent. The password is never shown.',
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const setMailServer = endpoint({
  name: 'set-mail-server',
  method: 'POST',
  path: '/api/mail/server',
  summary: "Set the brokerage's own mail server",
  description:
    'Stores an SMTP server, with its password encrypted, or replaces the stored one: the password is sent again with every change. On port 465, TLS begins at once; on others, the server must offer STARTTLS. The host must be on the public internet, unless the operator permits it.',
  tag: 'Mail',
  who: admin,
  body: Type.Object({
    host: text('The host of the SMTP server', hostLengthMax),
    port: wholeNumber('Its port, usually 587 or 465', 1, 65_535),
    user: Type.Optional(text('The user to sign in as', accessLengthMax)),
    password: Type.Optional(text('The password of the user', accessLengthMax)),
    from: email('The sender of the mails'),
  }),
  confirms: true,
  status: 200,
  answer,
  problems: ['state-conflict'],
  examples: {
    ...examples,
    body: {
      host: 'mail.example.com',
      port: 587,
      user: 'lanewise',
      password: 'example',
      from: 'quotes@example.com',
    },
  },
})

export const removeMailServer = endpoint({
  name: 'remove-mail-server',
  method: 'DELETE',
  path: '/api/mail/server',
  summary: "Remove the brokerage's own mail server",
  description:
    "Deletes it with its password. From then on the operator's server sends, if there is one. Without a stored server, nothing changes.",
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const testMail = endpoint({
  name: 'test-mail',
  method: 'POST',
  path: '/api/mail/test',
  summary: 'Send a test message to yourself',
  description: `Writes a message to your own address. The list of mails shows the result. At most ${eventTestsPerSecondMax} per second and brokerage.`,
  tag: 'Mail',
  who: admin,
  status: 202,
  answer,
  problems: ['state-conflict', 'too-many-attempts'],
  examples,
})

export const retryMail = endpoint({
  name: 'retry-mail',
  method: 'POST',
  path: '/api/mail/retry',
  summary: 'Try the mails again that could not be sent',
  description:
    'Makes all failed mails, and those that wait after a failed attempt, due now. They keep their Message-ID, so that a receiver recognizes one that it has.',
  tag: 'Mail',
  who: admin,
  status: 202,
  answer,
  examples,
})
