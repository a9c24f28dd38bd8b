import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, oneOf, recordId, text, time, wholeNumber } from './fields.ts'
import { exampleLane, Lane } from './lane.ts'
import { cursorLengthMax, pageSizeDefault, pageSizeMax } from './limits.ts'

export const performanceGroupings = ['lane', 'customer', 'rep', 'equipment', 'month'] as const

const performanceSorts = ['quotes', 'win_rate', 'margin', 'margin_pct', 'landed_vs_quoted'] as const

const selection = {
  from: Type.Optional(time('Only lanes quoted at or after this time')),
  to: Type.Optional(time('Only lanes quoted before this time')),
  equipment: Type.Optional(equipment('Only lanes of this equipment')),
  customer: Type.Optional(text('Only lanes of this customer, any case')),
  quoted_by: Type.Optional({ ...recordId, description: 'Only lanes that this user quoted' }),
}

const page = {
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the page before, of the same question',
      maxLength: cursorLengthMax,
      'x-expected': 'the next_cursor of the page before',
    }),
  ),
  limit: Type.Optional(wholeNumber(`Rows a page; ${pageSizeDefault} when absent`, 1, pageSizeMax)),
}

const period = {
  from: { ...nullable(Type.String({ format: 'date-time' })), description: 'As asked; null when open' },
  to: { ...nullable(Type.String({ format: 'date-time' })), description: 'As asked; null when open' },
}

const money = nullable(Type.Number())

export const WinRateInterval = Type.Object({ low_pct: Type.Number(), high_pct: Type.Number() })

/** What is counted and summed, for a row and for all of them. */
const figures = {
  quotes: Type.Integer(),
  won: Type.Integer(),
  lost: Type.Integer(),
  pending: Type.Integer(),
  decided: Type.Integer({ description: 'won plus lost' }),
  win_rate_pct: { ...money, description: 'won / decided x 100, one decimal; null while none is decided' },
  win_rate_interval: {
    ...nullable(WinRateInterval),
    description: 'Where the win rate would lie 4 times in 5 with this many decided quotes (Wilson)',
  },
  shipments: Type.Integer({ description: 'Lanes whose booked AR and AP are both known' }),
  customer_rate: { ...money, description: 'AR over the shipments; null without one' },
  truck_cost: { ...money, description: 'AP over the shipments; null without one' },
  margin: { ...money, description: 'AR minus AP over the shipments; null without one' },
  margin_pct: { ...money, description: 'margin / customer_rate x 100, one decimal' },
  comparable_shipments: Type.Integer({
    description: 'Shipments whose quoted rate and whose cost expected when quoted are known, too',
  }),
  quoted_margin: {
    ...money,
    description: 'Quoted rate minus the cost expected when quoted, over the comparable shipments',
  },
  landed_vs_quoted: {
    ...money,
    description: 'margin minus quoted_margin over the comparable shipments: below 0 less landed than quoted',
  },
}

/** What makes a lane one lane. */
export const LaneKey = Type.Object({
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
})

export const PerformanceRow = Type.Object({
  key: Type.String({ description: 'The row among those of the same `by`; for a rep the user id' }),
  label: Type.String({ description: 'The row as people call it' }),
  lane: {
    ...nullable(LaneKey),
    description: 'The lane, with by=lane',
  },
  ...figures,
})

const exampleFigures = {
  quotes: 34,
  won: 17,
  lost: 9,
  pending: 8,
  decided: 26,
  win_rate_pct: 65.4,
  win_rate_interval: { low_pct: 52.9, high_pct: 76 },
  shipments: 1,
  customer_rate: 2150,
  truck_cost: 1790.5,
  margin: 359.5,
  margin_pct: 16.7,
  comparable_shipments: 1,
  quoted_margin: 345,
  landed_vs_quoted: 14.5,
}

export const getPerformance = endpoint({
  name: 'get-performance',
  method: 'GET',
  path: '/api/performance',
  summary: 'Win rate and margin by lane, customer, rep, equipment or month',
  description:
    'Counts the lanes quoted in the period, and sums what was booked on them. A month is a month in UTC. The rows add up to the totals.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    by: oneOf('What makes a row', performanceGroupings),
    ...selection,
    sort: Type.Optional(
      oneOf('Order of the rows; when absent by quotes, and months by time', performanceSorts),
    ),
    order: Type.Optional(
      oneOf('desc (most, or newest, first) when absent; rows without the figure come last', ['desc', 'asc']),
    ),
    ...page,
  }),
  status: 200,
  answer: Type.Object({
    by: Type.Enum([...performanceGroupings]),
    ...period,
    rows: Type.Array(PerformanceRow),
    rows_total: Type.Integer({ description: 'Rows on all pages together' }),
    next_cursor: nullable(Type.String()),
    totals: Type.Object(figures),
  }),
  examples: {
    query: { by: 'lane' },
    answer: {
      by: 'lane',
      from: null,
      to: null,
      rows: [
        {
          key: 'Dallas, TX>Atlanta, GA>V',
          label: 'Dallas, TX to Atlanta, GA, V',
          lane: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
          ...exampleFigures,
        },
      ],
      rows_total: 1,
      next_cursor: null,
      totals: exampleFigures,
    },
  },
})

export const MarginGap = Type.Object({
  lane: Lane,
  quoted_margin: Type.Number({ description: 'Quoted rate minus the cost expected when it was quoted' }),
  margin: Type.Number({ description: 'What landed: AR minus AP' }),
  shortfall: Type.Number({ description: 'quoted_margin minus margin' }),
  because: Type.Enum(['rate', 'cost', 'both'], {
    description: 'rate: AR below the quoted rate; cost: AP above the expected cost; or both',
  }),
})

export const listMarginGaps = endpoint({
  name: 'list-margin-gaps',
  method: 'GET',
  path: '/api/performance/margin-gaps',
  summary: 'Shipments whose margin landed below the quoted margin',
  description: 'Lanes quoted in the period, biggest shortfall first, in pages.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ ...selection, ...page }),
  status: 200,
  answer: Type.Object({
    ...period,
    gaps: Type.Array(MarginGap),
    next_cursor: nullable(Type.String()),
    totals: Type.Object({
      shipments_compared: Type.Integer(),
      below: Type.Integer({ description: 'Shipments that landed below, on all pages together' }),
      shortfall: Type.Number({ description: 'Over those that landed below' }),
    }),
  }),
  examples: {
    answer: {
      from: null,
      to: null,
      gaps: [
        {
          lane: { ...exampleLane, truck_cost: 1900, margin: 250, margin_pct: 11.6 },
          quoted_margin: 345,
          margin: 250,
          shortfall: 95,
          because: 'cost',
        },
      ],
      next_cursor: null,
      totals: { shipments_compared: 1, below: 1, shortfall: 95 },
    },
  },
})
