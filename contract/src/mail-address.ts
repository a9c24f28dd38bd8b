import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, wholeNumber } from './fields.ts'
import { mailTextDaysDefault, mailTextDaysMax } from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const moment = Type.String({ format: 'date-time' })

const answer = Type.Object({
  may_have: Type.Boolean({ description: 'Whether this installation takes mails over SMTP' }),
  forwarding: {
    ...nullable(
      Type.Object({
        address: Type.String({ description: 'Anyone who knows it can send mail to the brokerage' }),
        kept_days: Type.Integer({ description: 'Days for which the text of a mail is kept' }),
        made_at: moment,
        received_at: { ...nullable(moment), description: 'When the last mail arrived' },
      }),
    ),
    description: 'The address to which the brokerage forwards mails',
  },
})

const examples = {
  answer: {
    may_have: true,
    forwarding: {
      address: 'quotes-12-mfzwizltoq2gk3tu@in.example.com',
      kept_days: 30,
      made_at: '2026-03-01T14:00:00.000Z',
      received_at: null,
    },
  },
} as const

export const getMailAddress = endpoint({
  name: 'get-mail-address',
  method: 'GET',
  path: '/api/mail-address',
  summary: 'Show the address for forwarded mails',
  description: 'The address to which mails can be forwarded, and when the last one arrived.',
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const setMailAddress = endpoint({
  name: 'set-mail-address',
  method: 'POST',
  path: '/api/mail-address',
  summary: 'Make an address for forwarded mails',
  description:
    'Makes an address, if there is none, or changes for how long the texts of its mails are kept. With `new_address`, another address replaces it, and mails to the former one are refused.',
  tag: 'Mail',
  who: admin,
  body: Type.Object({
    new_address: Type.Optional(
      Type.Boolean({ description: 'Whether to replace an address that became known to others' }),
    ),
    kept_days: Type.Optional(
      wholeNumber(
        `Days for which the text of a mail is kept; default: as before, or ${mailTextDaysDefault}`,
        1,
        mailTextDaysMax,
      ),
    ),
  }),
  status: 200,
  answer,
  problems: ['state-conflict'],
  examples: { ...examples, body: { kept_days: 30 } },
})

export const removeMailAddress = endpoint({
  name: 'remove-mail-address',
  method: 'DELETE',
  path: '/api/mail-address',
  summary: 'Take no more forwarded mails',
  description:
    'Deletes the address: mails to it are refused. Mails that arrived stay until their time is over. Without an address, nothing changes.',
  tag: 'Mail',
  who: admin,
  status: 200,
  answer,
  examples,
})
