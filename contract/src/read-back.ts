import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, sentLaneRef, time } from './fields.ts'
import { changesPageDefault, changesPageMax, cursorLengthMax } from './limits.ts'
import { externalId } from './push-items.ts'
import { exampleQuote, openQuote, Quote } from './quote.ts'

const changesQuery = Type.Object({
  updated_since: Type.Optional(
    time('Only what changed at or after this time. Without cursor; with one, it has no effect'),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the previous page: what changed after it',
      maxLength: cursorLengthMax,
      'x-expected': 'the next_cursor of an earlier answer',
    }),
  ),
  lane_ref: Type.Optional(sentLaneRef('Only this quote')),
  external_id: Type.Optional(externalId('Only the quote with this id of yours')),
  limit: Type.Optional(
    Type.Integer({
      description: 'Quotes per page. A page has fewer only at the end of the changes',
      minimum: 1,
      maximum: changesPageMax,
      default: changesPageDefault,
      'x-expected': `a whole number from 1 to ${changesPageMax}`,
    }),
  ),
})

const version = Type.Integer({
  description: 'Grows with every change in the brokerage. A quote with the same version is the same',
})

/** The newest state of a quote that changed. */
export const ChangedQuote = Type.Object({ version, removed: Type.Literal(false), lane: Quote })

/** A quote that was deleted; among shipments, also one that has no booking any more. */
export const RemovedQuote = Type.Object({
  version,
  removed: Type.Literal(true),
  lane_id: Type.Integer(),
  lane_ref: nullable(Type.String({ description: 'Null if an earlier version of the service deleted it' })),
  external_id: nullable(Type.String({ description: 'Your id of the quote, if it had one' })),
})

const changedQuotes = Type.Array(Type.Union([ChangedQuote, RemovedQuote]))

const pageEnd = {
  next_cursor: Type.String({
    description: 'Send it to get what changes after this page. Save it once you have saved the page',
  }),
  more: Type.Boolean({ description: 'Whether there is more now. If not, ask again later' }),
}

const follow =
  'Returns the newest state of each quote once, in the order in which the quotes changed last. If you follow next_cursor while others write, you end with exactly the state of the service, and receive no version of a quote twice.'

export const readQuotes = endpoint({
  name: 'read-quotes',
  method: 'GET',
  path: '/api/integrations/quotes',
  summary: 'Read quotes back, and follow their changes',
  description: `${follow} A quote that was deleted, because its import was undone, is reported as removed.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  query: changesQuery,
  status: 200,
  answer: Type.Object({ quotes: changedQuotes, ...pageEnd }),
  examples: {
    query: { updated_since: '2026-02-27T00:00:00Z' },
    answer: {
      quotes: [
        { version: 412, removed: false, lane: openQuote },
        {
          version: 413,
          removed: true,
          lane_id: 31877214065,
          lane_ref: '48211093999-1-1',
          external_id: null,
        },
      ],
      next_cursor: 'WzQxMywzMTg3NzIxNDA2NV0',
      more: false,
    },
  },
})

export const readShipments = endpoint({
  name: 'read-shipments',
  method: 'GET',
  path: '/api/integrations/shipments',
  summary: 'Read bookings back, and follow their changes',
  description: `Like ${readQuotes.path}, for quotes that have a booking, also a cancelled one. ${follow} A quote that no longer has a booking, because a person rolled it back, is reported as removed.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  query: changesQuery,
  status: 200,
  answer: Type.Object({
    shipments: changedQuotes,
    ...pageEnd,
  }),
  examples: {
    query: { updated_since: '2026-02-27T00:00:00Z' },
    answer: {
      shipments: [{ version: 412, removed: false, lane: exampleQuote }],
      next_cursor: 'WzQxMiw1Mjg0MDkxNzIzM10',
      more: false,
    },
  },
})
