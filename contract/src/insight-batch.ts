import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, label, oneOf, place, positiveDollars } from './fields.ts'
import { laneInsight } from './lane-insight.ts'
import {
  batchBytesMax,
  batchKeysMax,
  batchLanesMax,
  batchLanesPerRequest,
  batchSecondsMax,
  tenantRequestsPerWindowMax,
} from './limits.ts'
import { markup, markupOfBatch } from './markup.ts'

/** What may be asked of each lane of a batch: the answers of the two reads. */
export const batchAnswers = ['markup', 'lane'] as const

const lane = Type.Object({
  id: Type.Optional(
    label('Your own name for this lane, such as the row it stands in; it comes back as it is'),
  ),
  origin: place('Pickup city and state'),
  destination: place('Delivery city and state'),
  equipment: Type.Optional(equipment('Equipment code; all types when absent')),
  proposed_rate: Type.Optional(
    positiveDollars(
      'The rate in dollars being considered. When absent the suggested rate is, or else the median; the query of the answer says which',
    ),
  ),
  market_rate: Type.Optional(positiveDollars('External market rate; the reference of markup_pct when given')),
})

const FieldErrors = Type.Array(
  Type.Object({
    pointer: Type.String({ description: 'Into this lane' }),
    code: Type.String(),
    detail: Type.String(),
    suggestions: Type.Optional(Type.Array(Type.String())),
  }),
)

export const insightBatch = endpoint({
  name: 'insight-batch',
  method: 'POST',
  path: '/api/integrations/insights/batch',
  summary: 'Markup and insight for many lanes at once',
  description: `Answers for 1 to ${batchLanesMax.toLocaleString('en-US')} lanes in one call, in the order in which they were sent, each the same as from the two reads. A lane that is wrong does not spoil the others: its result has status 422 and says why. It only reads, so it is not signed. Each ${batchLanesPerRequest} lanes, or a part of them, count as one request of the brokerage's ${tenantRequestsPerWindowMax} a second. The first is admitted or refused as a request is; for the others the batch waits, and leaves half of the limit to others, so ${batchLanesMax.toLocaleString('en-US')} lanes take about a second. Lanes that it does not reach within ${batchSecondsMax} seconds have status 503: send those again.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false },
  bodyBytesMax: batchBytesMax,
  bodyKeysMax: batchKeysMax,
  body: Type.Object({
    lanes: Type.Array(lane, {
      minItems: 1,
      maxItems: batchLanesMax,
      'x-expected': `a list of 1 to ${batchLanesMax.toLocaleString('en-US')} lanes`,
    }),
    answers: Type.Optional(
      Type.Array(oneOf('What is asked of each lane', [...batchAnswers]), {
        minItems: 1,
        maxItems: batchAnswers.length,
        uniqueItems: true,
        description: 'markup (when absent), lane, or both',
        'x-expected': `a list of ${batchAnswers.join(' and ')}, or one of them`,
      }),
    ),
  }),
  itemsOf: 'lanes',
  isRead: true,
  status: 200,
  answer: Type.Object({
    count: Type.Integer({ description: 'How many lanes were answered, of those that were sent' }),
    results: Type.Array(
      Type.Union([
        Type.Object({
          index: Type.Integer({ description: 'Which of the lanes that were sent, from 0' }),
          id: Type.Optional(Type.String()),
          status: Type.Literal(200),
          markup: Type.Optional(markupOfBatch),
          lane: Type.Optional(laneInsight.answer),
        }),
        Type.Object({
          index: Type.Integer(),
          id: Type.Optional(Type.String()),
          status: Type.Union([Type.Literal(422), Type.Literal(503)]),
          detail: Type.String(),
          errors: Type.Optional(FieldErrors),
        }),
      ]),
    ),
  }),
  examples: {
    body: {
      lanes: [
        {
          id: 'row 1',
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          proposed_rate: 2150,
        },
        { id: 'row 2', origin: 'Chicago, XX', destination: 'Memphis, TN' },
      ],
    },
    answer: {
      count: 1,
      results: [
        { index: 0, id: 'row 1', status: 200, markup: markup.examples.answer },
        {
          index: 1,
          id: 'row 2',
          status: 422,
          detail:
            'origin must be a city and a state of the US, Canada or Mexico, such as "Dallas, TX"; it is "Chicago, XX".',
          errors: [
            {
              pointer: '/origin',
              code: 'invalid',
              detail:
                'origin must be a city and a state of the US, Canada or Mexico, such as "Dallas, TX"; it is "Chicago, XX".',
            },
          ],
        },
      ],
    },
  },
})

/** One lane of a batch, checked by itself: its error is its own. */
export const batchLane = lane
