import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, label, oneOf, place, positiveDollars } from './fields.ts'
import { commonExtras } from './insight-extras.ts'
import { laneInsight } from './lane-insight.ts'
import {
  batchBytesMax,
  batchLanesMax,
  batchLanesPerRequest,
  batchSecondsMax,
  tenantRequestsPerWindowMax,
} from './limits.ts'
import { markup, markupOfBatch } from './markup.ts'
import { askedPool } from './rate-types.ts'

/** The results that can be requested for each lane of a batch, as in the two single-lane reads. */
export const batchAnswers = ['markup', 'lane'] as const

const lane = Type.Object({
  id: Type.Optional(label('Your own id for this lane, such as a row number. It is returned unchanged')),
  origin: place('Pickup city and state'),
  destination: place('Delivery city and state'),
  equipment: Type.Optional(equipment('Equipment code; all types if absent')),
  rate_type: askedPool,
  proposed_rate: Type.Optional(
    positiveDollars(
      'The rate in dollars being considered. If absent, the suggested rate is used, else the median. The query in the result contains the rate used',
    ),
  ),
  market_rate: Type.Optional(
    positiveDollars('External market rate. If given, it is the reference of markup_pct'),
  ),
})

/** An error in a field of one item of a list. */
export const ItemFieldError = Type.Object({
  pointer: Type.String({ description: 'JSON pointer into this item' }),
  code: Type.String(),
  detail: Type.String(),
  suggestions: Type.Optional(Type.Array(Type.String())),
})

export const insightBatch = endpoint({
  name: 'insight-batch',
  method: 'POST',
  path: '/api/integrations/insights/batch',
  summary: 'Markup and insight for many lanes at once',
  description: `Returns results for 1 to ${batchLanesMax.toLocaleString('en-US')} lanes in one call, in the order of the request, equal to those of the two single-lane reads. An invalid lane does not affect the others: its result has status 422 and explains the error. The call only reads, so it is not signed. Every ${batchLanesPerRequest} lanes, or a part of them, count as one request against the brokerage's limit of ${tenantRequestsPerWindowMax} per second. The first of these requests is admitted or refused like any request. For the others the batch waits, and it leaves half of the limit to other callers, so ${batchLanesMax.toLocaleString('en-US')} lanes take about a second. Lanes that are not reached within ${batchSecondsMax} seconds have status 503: send these lanes again.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  bodyBytesMax: batchBytesMax,
  body: Type.Object({
    lanes: Type.Array(lane, {
      minItems: 1,
      maxItems: batchLanesMax,
      'x-expected': `a list of 1 to ${batchLanesMax.toLocaleString('en-US')} lanes`,
    }),
    answers: Type.Optional(
      Type.Array(oneOf('A result requested for each lane', [...batchAnswers]), {
        minItems: 1,
        maxItems: batchAnswers.length,
        uniqueItems: true,
        description: 'markup (the default), lane, or both',
        'x-expected': `a list of ${batchAnswers.join(' and ')}, or one of them`,
      }),
    ),
    include: Type.Optional(
      Type.Array(oneOf('An addition to each result', [...commonExtras]), {
        minItems: 1,
        maxItems: commonExtras.length,
        uniqueItems: true,
        description: 'Additions to each result: basis, places, or both. Without them, none',
        'x-expected': `a list of ${commonExtras.join(' and ')}, or one of them`,
      }),
    ),
  }),
  itemsOf: 'lanes',
  isRead: true,
  status: 200,
  answer: Type.Object({
    count: Type.Integer({ description: 'Number of lanes with status 200' }),
    results: Type.Array(
      Type.Union([
        Type.Object({
          index: Type.Integer({ description: 'Index of the lane in the request, from 0' }),
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
          errors: Type.Optional(Type.Array(ItemFieldError)),
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

/** One lane of a batch. Each lane is validated separately. */
export const batchLane = lane
