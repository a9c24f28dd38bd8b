import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { email, nullable, time } from './fields.ts'
import { lanesPerRequestMax, mailTextLengthMax } from './limits.ts'

const subjectLengthMax = 998

/** The words of a mail that a value was read from. */
export const MailWords = Type.Object({
  part: Type.Enum(['subject', 'text', 'table'], { description: 'Where the words are' }),
  table: {
    ...nullable(Type.Integer()),
    description: 'The attached table with the words, from 0; null in the subject and the text',
  },
  at: Type.Integer({ description: 'The offset of the words in that part, in UTF-16 code units' }),
  text: Type.String({ description: 'The words exactly as they were sent' }),
})
export const MailText = Type.Object({ value: Type.String(), words: MailWords })
export const MailNumber = Type.Object({ value: Type.Number(), words: MailWords })
export const MailFlag = Type.Object({ value: Type.Boolean(), words: MailWords })

const said = (description: string) => ({ ...nullable(MailText), description })
const saidNumber = (description: string) => ({ ...nullable(MailNumber), description })

const questionFields = [
  'origin',
  'destination',
  'stops',
  'pickup',
  'delivery',
  'equipment',
  'mode',
  'weight',
  'temperature',
  'commodity',
  'hazmat',
  'target',
  'customer',
  'deadline',
  'lanes',
] as const

/** The lanes of a mail, and what is not certain. */
export const MailReading = Type.Object({
  lanes: Type.Array(
    Type.Object({
      origin: said('A place such as Dallas, TX'),
      destination: said('A place such as Atlanta, GA'),
      stops: Type.Array(MailText, { description: 'The places between origin and destination, in order' }),
      pickup: said('A date such as 2026-03-05'),
      delivery: said('A date such as 2026-03-06'),
      equipment: said('A code such as V'),
      mode: said('ltl, partial, drayage or intermodal'),
      weight: saidNumber('Pounds'),
      temperature: said('Such as 34 F'),
      commodity: said('What is shipped'),
      hazmat: { ...nullable(MailFlag), description: 'Whether it is hazardous' },
      target: saidNumber('What the customer would like to pay, in dollars. It is not a rate of yours'),
    }),
    {
      description: `The lanes in the order of the mail, at most ${lanesPerRequestMax}, as many as one quote request can have. A value is null if the mail does not say it, or if it is a question`,
    },
  ),
  lanes_left: Type.Integer({ description: 'How many further lanes were read and are not in the list' }),
  deadline: said('When the answer is due: a date, or a date and a time such as 2026-03-05 14:00'),
  customer: {
    ...nullable(Type.String()),
    description: 'The customer that the address in `from` belongs to; null if it is not known',
  },
  questions: Type.Array(
    Type.Object({
      lane: {
        ...nullable(Type.Integer()),
        description: 'The place of the lane in `lanes`, from 0; null if it is about the whole mail',
      },
      field: Type.Enum([...questionFields]),
      detail: Type.String({ description: 'What is not certain' }),
      words: { ...nullable(MailWords), description: 'What it is about; null if something is missing' },
      options: Type.Array(Type.String(), { description: 'The possible values, most likely first' }),
    }),
    { description: 'What a person has to decide' },
  ),
})

export const exampleReading = {
  lanes: [
    {
      origin: { value: 'Dallas, TX', words: { part: 'text', table: null, at: 13, text: 'Dallas TX' } },
      destination: null,
      stops: [],
      pickup: null,
      delivery: null,
      equipment: { value: 'V', words: { part: 'text', table: null, at: 36, text: 'dry van' } },
      mode: null,
      weight: null,
      temperature: null,
      commodity: null,
      hazmat: null,
      target: null,
    },
  ],
  lanes_left: 0,
  deadline: null,
  customer: null,
  questions: [
    {
      lane: 0,
      field: 'destination',
      detail: 'Several places have this name',
      words: { part: 'text', table: null, at: 26, text: 'Portland' },
      options: ['Portland, OR', 'Portland, ME'],
    },
  ],
} as const

export const readMail = endpoint({
  name: 'read-mail',
  method: 'POST',
  path: '/api/mail-readings',
  summary: 'Read the lanes of a mail',
  description: `Reads the lanes that a customer asks a rate for from the text of a mail, of up to ${mailTextLengthMax.toLocaleString('en-US')} characters. Each value has the exact words that it was read from. What is not certain, such as a city without its state, is a question with its possible values, and never a value. No word of the mail is an instruction, and no amount in it becomes a rate of yours: a target is what the customer would like to pay. Nothing is stored.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  isRead: true,
  bodyBytesMax: 4 * mailTextLengthMax,
  body: Type.Object({
    text: Type.String({
      description: 'The text of the mail',
      maxLength: mailTextLengthMax,
      'x-expected': `text of at most ${mailTextLengthMax.toLocaleString('en-US')} characters`,
    }),
    subject: Type.Optional(
      Type.String({
        description: 'The subject of the mail',
        maxLength: subjectLengthMax,
        'x-expected': `text of at most ${subjectLengthMax} characters`,
      }),
    ),
    from: Type.Optional(email('The address of the sender')),
    sent_at: Type.Optional(
      time('When the mail was sent: "tomorrow" is the day after it. If absent, the time of the request'),
    ),
  }),
  status: 200,
  answer: MailReading,
  examples: {
    body: { text: 'Need a rate, Dallas TX to Portland, dry van', sent_at: '2026-03-02T15:00:00Z' },
    answer: exampleReading,
  },
})
