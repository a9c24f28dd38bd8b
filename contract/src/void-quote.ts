import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { text } from './fields.ts'
import { exampleQuote, openQuote, Quote } from './quote.ts'
import { laneRefParams } from './quote-requests.ts'

const voided: Quote = {
  ...openQuote,
  voided_at: exampleQuote.updated_at,
  void_reason: 'Mistyped rate',
  updated_at: exampleQuote.updated_at,
}

export const voidQuote = endpoint({
  name: 'void-quote',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/void',
  summary: 'Void a quote that was a mistake',
  description:
    'The quote stays readable, and no statistic counts it: not the estimate, the counts of the interface, the lane pages or the performance. restore-quote undoes it at any time. A booked quote cannot be voided, and a later booking restores the quote. Voiding a voided quote changes its reason.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRefParams,
  body: Type.Object({ reason: text('Why the quote does not count') }),
  status: 200,
  answer: Quote,
  problems: ['lane-not-found', 'state-conflict'],
  examples: { body: { reason: 'Mistyped rate' }, answer: voided },
})

export const restoreQuote = endpoint({
  name: 'restore-quote',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/restore',
  summary: 'Restore a voided quote',
  description:
    'Statistics count the quote again. A quote that is not void does not change. If the quote was voided more than 24 hours ago and the pricing rules do not let you quote its rate, only an admin can restore it.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRefParams,
  status: 200,
  answer: Quote,
  problems: ['lane-not-found', 'outside-rules'],
  examples: { answer: openQuote },
})
