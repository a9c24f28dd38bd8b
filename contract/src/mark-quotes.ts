import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { laneRef, oneOf, sentLaneRef } from './fields.ts'
import { pageSizeMax } from './limits.ts'
import { decisions, openQuote, outcomeReasons, outcomes, Quote } from './quote.ts'

/** A quote that was marked, or that already had the outcome. */
const Marked = Type.Object({ index: Type.Integer(), status: Type.Literal(200), lane: Quote })

/** A quote that was not marked. */
const NotMarked = Type.Object({
  index: Type.Integer(),
  status: Type.Union([Type.Literal(404), Type.Literal(409)]),
  lane_ref: laneRef,
  detail: Type.String({ description: 'Why the quote was not marked, as one sentence' }),
  lane: Type.Optional({ ...Quote, description: 'With status 409: the quote as it is now' }),
})

const wonQuote = {
  ...openQuote,
  outcome: 'won' as const,
  outcome_source: 'dashboard' as const,
  decided_at: '2026-03-01T14:00:00.000Z',
  updated_at: '2026-03-01T14:00:00.000Z',
}

export const markQuotes = endpoint({
  name: 'mark-quotes',
  method: 'POST',
  path: '/api/lane-outcomes',
  summary: 'Mark several quotes won, lost or pending',
  description:
    'Each quote has its own result. expected_outcome protects the mark of another person: the quote is marked only if it still has this outcome, otherwise its result has status 409 with the current quote. A voided quote has status 409, too, and so has one that set-outcome would refuse because of the pricing rules. A request that is not valid marks no quote.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  body: Type.Object({
    lanes: Type.Array(
      Type.Object({
        lane_ref: sentLaneRef('The quote. Each may be sent once'),
        outcome: oneOf('The outcome of the quote', decisions),
        reason: Type.Optional(oneOf('Why the quote was lost', outcomeReasons)),
        expected_outcome: Type.Optional(
          oneOf('The outcome that the quote must still have to be marked', outcomes),
        ),
      }),
      {
        minItems: 1,
        maxItems: pageSizeMax,
        'x-expected': `a list of 1 to ${pageSizeMax} quotes`,
      },
    ),
  }),
  status: 200,
  answer: Type.Object({
    results: Type.Array(Type.Union([Marked, NotMarked]), {
      description: 'One result per quote, in the order sent',
    }),
    marked: Type.Integer({ description: 'Quotes with status 200' }),
    failed: Type.Integer({ description: 'Quotes with status 404 or 409' }),
  }),
  examples: {
    body: {
      lanes: [
        { lane_ref: openQuote.lane_ref, outcome: 'won', expected_outcome: 'pending' },
        { lane_ref: '48211093754-2-1', outcome: 'won', expected_outcome: 'pending' },
      ],
    },
    answer: {
      results: [
        { index: 0, status: 200, lane: wonQuote },
        {
          index: 1,
          status: 404,
          lane_ref: '48211093754-2-1',
          detail: 'No lane was found for lane_ref "48211093754-2-1".',
        },
      ],
      marked: 1,
      failed: 1,
    },
  },
})
