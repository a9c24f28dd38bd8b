import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { laneRef, lines, nullable, oneOf, recordId, sentLaneRef, text, wholeNumber } from './fields.ts'
import { outcomeReasons, UserSummary } from './lane.ts'
import {
  answerLengthMax,
  answersPerMailMax,
  lanesPerRequestMax,
  measuredMailsMax,
  pageSizeDefault,
  pageSizeMax,
  receivedBytesMax,
  threadMailsMax,
} from './limits.ts'
import { mailStates } from './mail.ts'
import { exampleReading, MailReading } from './mail-readings.ts'

const viewer = { kind: 'dashboard', role: 'viewer' } as const
const moment = Type.String({ format: 'date-time' })
const mailId = Type.String({
  description: 'The id of a received mail',
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  'x-expected': 'the id of a received mail',
})

export const receivedStates = ['open', 'done', 'ignored'] as const
export const senderChecks = ['passed', 'failed', 'unknown'] as const

export const ReceivedMail = Type.Object({
  id: Type.String(),
  thread_id: Type.String({ description: 'The same for all mails of a thread' }),
  from: Type.Object({ name: Type.String(), address: Type.String() }),
  subject: Type.String(),
  sent_at: moment,
  received_at: moment,
  sender_check: Type.Enum([...senderChecks], {
    description:
      'What the mail provider found about the sender: passed: the mail is from the domain of its address. failed: it is not. unknown: no server is named whose findings are believed, or it found neither',
  }),
  problem: {
    ...nullable(Type.Enum(['too-large', 'unreadable'])),
    description: `Why it was not read: too-large: it has more than ${receivedBytesMax / 1024 / 1024} MiB. unreadable: it is not a mail that can be read`,
  },
  lanes: Type.Integer({ description: 'The lanes that were read from it' }),
  questions: Type.Integer({ description: 'What is not certain of it' }),
  customer: { ...nullable(Type.String()), description: 'Whose mail it is; null if it is not certain' },
  state: Type.Enum([...receivedStates]),
  assigned_to: nullable(UserSummary),
  has_quotes: Type.Boolean({ description: 'Whether quotes were made from it' }),
  answered_at: { ...nullable(moment), description: 'When it was first answered from here' },
})

/** An answer to a received mail, which a person sent. */
export const SentAnswer = Type.Object({
  id: Type.String({ description: 'The part of its Message-ID before the @' }),
  answers: Type.String({ description: 'The id of the received mail' }),
  by: UserSummary,
  to: Type.String({ description: 'The address' }),
  subject: Type.String(),
  text: Type.String(),
  state: Type.Enum([...mailStates], { description: 'As in get-mail' }),
  failure: nullable(Type.String()),
  sent_at: Type.String({ format: 'date-time', description: 'When the person sent it' }),
})

const exampleAnswer = {
  id: '5f0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c77',
  answers: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c13',
  by: { user_id: 3, name: 'Dana Reyes' },
  to: 'dana@harvesttable.example',
  subject: 'Re: Rate needed',
  text: 'Dallas, TX → Atlanta, GA, Van (V): $2,150 all-in',
  state: 'sent',
  failure: null,
  sent_at: '2026-03-02T15:04:00.000Z',
} as const

export const replyKinds = ['accepted', 'countered', 'declined'] as const

/** What the reply to a quote seems to say: a proposal, which a person confirms. */
const CustomerReply = Type.Object({
  kind: Type.Enum([...replyKinds], {
    description:
      'accepted: the customer takes the rate. countered: it names another one. declined: it does not take the rate',
  }),
  amount: { ...nullable(Type.Number()), description: 'The rate that it names, in dollars' },
  reason: { ...nullable(Type.Enum([...outcomeReasons])), description: 'Why it was declined, if it says so' },
  words: Type.Object({
    at: Type.Integer({ description: 'Where the words begin in the text, in UTF-16 code units' }),
    text: Type.String({ description: 'The words exactly as they were sent' }),
  }),
  lane_refs: Type.Array(laneRef, {
    description:
      'The pending quotes of the thread that it can be about. If there are several, a person chooses',
  }),
})

const Answering = Type.Object({
  to: { ...nullable(Type.String()), description: 'The address of the sender; null if it cannot be answered' },
  subject: Type.String(),
  reply_to: Type.Array(Type.String(), { description: 'Where replies go: to the person and to the mailbox' }),
  obstacle: {
    ...nullable(Type.String()),
    description: 'Why an answer cannot be sent from here, in words; null if it can',
  },
})

const exampleMail = {
  id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c13',
  thread_id: '0b0c2a54-3a0e-4b57-9a2e-6f3d1b1f8c13',
  from: { name: 'Dana Hill', address: 'dana@harvesttable.example' },
  subject: 'Rate needed',
  sent_at: '2026-03-02T15:00:00.000Z',
  received_at: '2026-03-02T15:00:04.000Z',
  sender_check: 'passed',
  problem: null,
  lanes: 1,
  questions: 1,
  customer: 'Harvest Table Foods',
  state: 'open',
  assigned_to: null,
  has_quotes: false,
  answered_at: null,
} as const

export const listReceivedMails = endpoint({
  name: 'list-received-mails',
  method: 'GET',
  path: '/api/received-mails',
  summary: 'List the mails of the mailbox',
  description:
    'The mails that were read from the mailbox of the brokerage, newest first. A mail of a customer who is hidden from you is left out, and so is a mail of an unknown customer if any customer is hidden from you.',
  tag: 'Mail',
  who: viewer,
  query: Type.Object({
    state: Type.Optional(oneOf('Only mails in this state', receivedStates)),
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the previous page',
        maxLength: 200,
        'x-expected': 'the next_cursor of the previous page',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Mails per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({ mails: Type.Array(ReceivedMail), next_cursor: nullable(Type.String()) }),
  examples: { answer: { mails: [exampleMail], next_cursor: null } },
})

/** The days whose mails are measured. */
export const mailSpeedDays = 90
/** The people and the customers that are listed. */
export const mailSpeedRowsMax = 50

/** How fast some mails were quoted and answered. */
export const MailSpeed = Type.Object({
  quoted: Type.Integer({ description: 'Mails from which quotes were made' }),
  median_minutes: {
    ...nullable(Type.Number()),
    description: 'From the mail to its first quote or answer, the median. Nights and weekends count',
  },
  ninth_tenth_minutes: {
    ...nullable(Type.Number()),
    description: 'Nine of ten were quoted or answered within so many minutes',
  },
  answered: Type.Integer({ description: 'Mails that were answered from here' }),
  unchanged: Type.Integer({ description: 'Answers whose text was the draft' }),
})

/** Mails whose quotes are decided. */
export const DecidedMails = Type.Object({
  won: Type.Integer({ description: 'Mails of which one quote or more was won' }),
  decided: Type.Integer(),
})

export const MailSpeedEffect = Type.Object({
  within_minutes: Type.Number({
    description: 'The median: mails that were quoted within it are the fast ones',
  }),
  fast: DecidedMails,
  slow: DecidedMails,
  difference: Type.Number({ description: 'The share of fast mails that won minus that of slow ones' }),
  low: Type.Number({ description: 'The lower end of its 95 % interval' }),
  high: Type.Number(),
  evidence: Type.Enum(['fast-wins-more', 'slow-wins-more', 'none'], {
    description: 'none: the interval includes 0',
  }),
})

const exampleSpeed = {
  quoted: 64,
  median_minutes: 14.5,
  ninth_tenth_minutes: 96,
  answered: 51,
  unchanged: 37,
}

export const getMailSpeed = endpoint({
  name: 'get-mail-speed',
  method: 'GET',
  path: '/api/mail-speed',
  summary: 'How fast mails are quoted, and whether faster ones win',
  description: `Of the mails of the last ${mailSpeedDays} days from which quotes were made, at most the newest ${measuredMailsMax}; by the person who answered them, or else whom they are assigned to, and by customer, those with most mails first. Only the mails that you see count. The comparison of fast and slow mails says nothing about the cause.`,
  tag: 'Mail',
  who: viewer,
  status: 200,
  answer: Type.Object({
    all: MailSpeed,
    people: Type.Array(Type.Object({ user: UserSummary, speed: MailSpeed })),
    customers: Type.Array(Type.Object({ customer: Type.String(), speed: MailSpeed })),
    effect: { ...nullable(MailSpeedEffect), description: 'null: too few decided mails to say anything' },
  }),
  examples: {
    answer: {
      all: exampleSpeed,
      people: [{ user: { user_id: 3, name: 'Dana Reyes' }, speed: exampleSpeed }],
      customers: [{ customer: 'Harvest Table Foods', speed: exampleSpeed }],
      effect: {
        within_minutes: 16,
        fast: { won: 14, decided: 25 },
        slow: { won: 9, decided: 24 },
        difference: 0.185,
        low: -0.091,
        high: 0.425,
        evidence: 'none',
      },
    },
  },
})

const answer = Type.Object({
  mail: ReceivedMail,
  text: {
    ...nullable(Type.String()),
    description: 'Its text as it was read; null if it was not, or is not kept any more',
  },
  tables: Type.Array(Type.String(), { description: 'Attached tables, with tabs between cells' }),
  attachments: Type.Array(
    Type.Object({
      name: Type.String(),
      bytes: Type.Integer(),
      unread: { ...nullable(Type.String()), description: 'Why it was not read; null for a table' },
    }),
  ),
  reading: {
    ...nullable(MailReading),
    description: 'The lanes of its text and tables; null without a text',
  },
  lane_refs: Type.Array(laneRef, { description: 'The quotes that were made from it' }),
  thread: Type.Array(ReceivedMail, {
    description: `The newest ${threadMailsMax} mails of its thread, oldest first, with itself`,
  }),
  answering: Answering,
  answers: Type.Array(SentAnswer, {
    description: `The newest ${threadMailsMax} answers in its thread, oldest first`,
  }),
  reply: {
    ...nullable(CustomerReply),
    description:
      'What it seems to say about the quotes of its thread; null if it says nothing that is certain. Nothing follows from it until a person confirms it with set-outcome or requote',
  },
})

const examples = {
  answer: {
    mail: exampleMail,
    text: 'Need a rate, Dallas TX to Portland, dry van',
    tables: [],
    attachments: [],
    reading: exampleReading,
    lane_refs: [],
    thread: [exampleMail],
    answering: {
      to: 'dana@harvesttable.example',
      subject: 'Re: Rate needed',
      reply_to: ['reyes@broker.example', 'quotes@broker.example'],
      obstacle: null,
    },
    answers: [exampleAnswer],
    reply: {
      kind: 'countered',
      amount: 2050,
      reason: 'price',
      words: { at: 0, text: 'Too high, we have 2,050.' },
      lane_refs: ['48211093754-1-1'],
    },
  },
} as const

export const getReceivedMail = endpoint({
  name: 'get-received-mail',
  method: 'GET',
  path: '/api/received-mails/{id}',
  summary: 'Show a mail with its lanes',
  description:
    'The text of a mail, its lanes with the words that they were read from, and what is not certain. No word of it is an instruction, and no amount in it becomes a rate of yours.',
  tag: 'Mail',
  who: viewer,
  params: Type.Object({ id: mailId }),
  status: 200,
  answer,
  problems: ['not-found'],
  examples,
})

export const updateReceivedMail = endpoint({
  name: 'update-received-mail',
  method: 'PATCH',
  path: '/api/received-mails/{id}',
  summary: 'Change the state of a mail, whose it is, or its customer',
  description:
    'Changes the given members. A customer that you name is that of further mails of the same sender, if the mail provider found that it is the sender. lane_ref names a quote that was made from the mail, with the others of its request. Nothing in the mailbox changes.',
  tag: 'Mail',
  who: { kind: 'dashboard', role: 'member' },
  params: Type.Object({ id: mailId }),
  body: Type.Object({
    state: Type.Optional(oneOf('The new state', receivedStates)),
    assigned_to: Type.Optional({ ...recordId, description: 'The person who answers it' }),
    customer: Type.Optional(text('Whose mail it is')),
    lane_ref: Type.Optional(sentLaneRef('A quote that was made from it')),
  }),
  status: 200,
  answer: Type.Object({ mail: ReceivedMail }),
  problems: ['not-found'],
  examples: { answer: { mail: exampleMail }, body: { state: 'done' } },
})

export const answerReceivedMail = endpoint({
  name: 'answer-received-mail',
  method: 'POST',
  path: '/api/received-mails/{id}/answers',
  summary: 'Answer a mail',
  description: `Sends a text to the sender of a mail, in its thread, by the mail server of the brokerage or of the installation. Replies go to you and to the mailbox. Only a person sends: no rule and no mail makes an answer. The quotes that it names must be pending offers that were made from mails of the thread; it is not sent after the first of them has ended. The same text is sent once. A mail has ${answersPerMailMax} answers at most.`,
  tag: 'Mail',
  who: { kind: 'dashboard', role: 'member' },
  params: Type.Object({ id: mailId }),
  body: Type.Object({
    text: lines('The whole text', answerLengthMax),
    lane_refs: Type.Optional(
      Type.Array(sentLaneRef('A quote that the text names'), {
        maxItems: lanesPerRequestMax,
        description: 'The quotes that the text names',
      }),
    ),
    draft_unchanged: Type.Optional(
      Type.Boolean({
        description: 'Whether the text is the proposed one, word for word; the default is false',
        'x-expected': 'true or false',
      }),
    ),
  }),
  status: 201,
  answer: Type.Object({ mail: ReceivedMail, answers: Type.Array(SentAnswer) }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { text: 'Dallas, TX → Atlanta, GA, Van (V): $2,150 all-in', lane_refs: ['48211093754-1-1'] },
    answer: {
      mail: { ...exampleMail, state: 'done', answered_at: '2026-03-02T15:04:00.000Z' },
      answers: [exampleAnswer],
    },
  },
})
