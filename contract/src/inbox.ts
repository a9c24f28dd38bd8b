import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { laneRef, nullable, oneOf, time } from './fields.ts'
import { inboxItemsMax, openMailsCountedMax } from './limits.ts'

const person = { kind: 'dashboard', role: 'viewer' } as const
const moment = Type.String({ format: 'date-time' })

export const inboxKinds = [
  'approval-to-decide',
  'approval-decided',
  'quote-ending',
  'follow-up',
  'booked-at-a-loss',
  'import-ended',
  'token-expiring',
  'new-sign-in',
  'moved',
  'mailbox-failing',
  'answer-not-sent',
] as const

export const InboxItem = Type.Object({
  item: Type.String({ description: 'The name of the item, for its marks' }),
  kind: Type.Enum([...inboxKinds], {
    description:
      'approval-to-decide: a request that you can decide. approval-decided: an answer to a request of yours. quote-ending: a pending quote of yours that ends within a day. follow-up: a pending quote of yours that a follow-up rule makes due. booked-at-a-loss: a booking that changed in the last 7 days, whose truck cost is above its rate. import-ended: an import of yours. token-expiring: a service token that expires within 14 days, for admins. new-sign-in: a sign-in from a new device or network that you have not confirmed. moved: something that you follow has moved. mailbox-failing: the mailbox of the brokerage cannot be read, for admins. answer-not-sent: an answer of yours to a mail did not reach its recipient',
  }),
  at: { ...moment, description: 'When it arose' },
  title: Type.String(),
  detail: nullable(Type.String()),
  due_at: { ...nullable(moment), description: 'Until when it matters' },
  late: Type.Boolean({ description: 'It waits for longer than the brokerage permits' }),
  seen: Type.Boolean({ description: 'The person has seen it' }),
  lane_ref: nullable(laneRef),
  approval_id: nullable(Type.Integer()),
  import_id: nullable(Type.Integer()),
  session_id: nullable(Type.String()),
  mail_id: { ...nullable(Type.String()), description: 'The received mail' },
})

const exampleItem = {
  item: 'approval-to-decide 12',
  kind: 'approval-to-decide',
  at: '2026-03-01T14:00:00.000Z',
  title: 'Approval for Harvest Table Foods',
  detail: 'Sam Reyes asks for Dallas, TX to Atlanta, GA at $1,900.',
  due_at: '2026-03-02T14:00:00.000Z',
  late: false,
  seen: false,
  lane_ref: null,
  approval_id: 12,
  import_id: null,
  session_id: null,
  mail_id: null,
} as const

const answer = Type.Object({
  items: Type.Array(InboxItem, {
    description: `At most ${inboxItemsMax}: what is late first, then the newest`,
  }),
  unseen: Type.Integer({ description: 'Items that the person has not seen: the number on the bell' }),
  open_mails: {
    ...nullable(Type.Integer()),
    description: `Received mails that are open, of those that the person sees, at most ${openMailsCountedMax}; null if the brokerage has no mailbox`,
  },
})
const examples = { answer: { items: [exampleItem], unseen: 1, open_mails: 3 } }

export const getInbox = endpoint({
  name: 'get-inbox',
  method: 'GET',
  path: '/api/inbox',
  summary: 'List what waits for you',
  description:
    'One list of what waits for the signed-in person. It follows from what is stored: an item is gone when its reason is, such as a decided approval or a booked quote, or when the person marked it as done. It never names a customer who is hidden from the person.',
  tag: 'Mail',
  who: person,
  status: 200,
  answer,
  examples,
})

export const markInbox = endpoint({
  name: 'mark-inbox',
  method: 'POST',
  path: '/api/inbox/marks',
  summary: 'Mark items of your inbox as seen or done, or snooze them',
  description:
    'Marks items for the signed-in person only. A request that you can decide, and a sign-in, stay until they are decided or confirmed, and can only be marked as seen. Names of items that are not in the inbox change nothing.',
  tag: 'Mail',
  who: person,
  body: Type.Object({
    items: Type.Array(Type.String({ minLength: 1, maxLength: 200, 'x-expected': 'the name of an item' }), {
      minItems: 1,
      maxItems: inboxItemsMax,
      'x-expected': `a list of 1 to ${inboxItemsMax} names of items`,
    }),
    mark: oneOf('What to mark them as', ['seen', 'done', 'snoozed']),
    until: Type.Optional(time('When a snoozed item comes back; required with snoozed')),
  }),
  status: 200,
  answer,
  examples: { ...examples, body: { items: ['approval-to-decide 12'], mark: 'seen' } },
})
