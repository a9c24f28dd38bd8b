import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, oneOf, recordId, text, time, wholeNumber } from './fields.ts'
import { cursorLengthMax, pageSizeDefault, pageSizeMax } from './limits.ts'
import { performanceSorts } from './performance-sorts.ts'
import { exampleQuote, Quote } from './quote.ts'
import { ComparedBasis, exampleBasis } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'

export const performanceGroupings = ['lane', 'customer', 'rep', 'carrier', 'equipment', 'month'] as const

const selection = {
  from: Type.Optional(time('Only quotes made at or after this time')),
  to: Type.Optional(time('Only quotes made before this time')),
  equipment: Type.Optional(equipment('Only quotes with this equipment')),
  rate_type: ofRateType,
  customer: Type.Optional(text('Only quotes for this customer, any case')),
  quoted_by: Type.Optional({ ...recordId, description: 'Only quotes of this user' }),
}

export const performancePage = {
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the previous page, with the same parameters',
      maxLength: cursorLengthMax,
      'x-expected': 'the next_cursor of the previous page',
    }),
  ),
  limit: Type.Optional(wholeNumber(`Rows per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
}

const period = {
  from: {
    ...nullable(Type.String({ format: 'date-time' })),
    description: 'The parameter as sent; null if absent',
  },
  to: {
    ...nullable(Type.String({ format: 'date-time' })),
    description: 'The parameter as sent; null if absent',
  },
}

const money = nullable(Type.Number())

export const WinRateInterval = Type.Object({ low_pct: Type.Number(), high_pct: Type.Number() })

/** The figures of a row and of the totals. */
export const performanceFigures = {
  quotes: Type.Integer(),
  won: Type.Integer(),
  lost: Type.Integer(),
  pending: Type.Integer(),
  decided: Type.Integer({ description: 'won plus lost' }),
  win_rate_pct: { ...money, description: 'won / decided x 100, one decimal; null if no quote is decided' },
  win_rate_interval: {
    ...nullable(WinRateInterval),
    description: '80 % confidence interval of the win rate (Wilson score interval)',
  },
  shipments: Type.Integer({ description: 'Quotes whose booked AR and AP are both known' }),
  customer_rate: { ...money, description: 'Total AR of the shipments; null if there are none' },
  truck_cost: { ...money, description: 'Total AP of the shipments; null if there are none' },
  margin: { ...money, description: 'AR minus AP of the shipments; null if there are none' },
  margin_pct: { ...money, description: 'margin / customer_rate x 100, one decimal' },
  comparable_shipments: Type.Integer({
    description: 'Shipments whose quoted rate and expected cost at quote time are also known',
  }),
  quoted_margin: {
    ...money,
    description: 'Quoted rate minus expected cost at quote time, over the comparable shipments',
  },
  landed_vs_quoted: {
    ...money,
    description:
      'Actual margin minus quoted margin over the comparable shipments, which is gained minus lost_to_cost minus lost_to_rate. Negative: the actual margin is lower than quoted',
  },
  lost_to_cost: {
    ...money,
    description:
      'AP above the expected cost at quote time, added up over the comparable shipments where it was above',
  },
  lost_to_rate: {
    ...money,
    description: 'AR below the quoted rate, added up over the comparable shipments where it was below',
  },
  gained: {
    ...money,
    description: 'AP below the expected cost, and AR above the quoted rate, over the comparable shipments',
  },
  quotes_with_cost: Type.Integer({ description: 'Quotes with an expected cost at quote time' }),
  quoted_too_low: Type.Integer({
    description:
      'Quotes with a rate below the expected cost at quote time, or below the minimum of the pricing rule that applies to the quote: an estimate, because the cost was expected and the rules are those of today. Rules with a condition on the confidence are left out',
  }),
  quoted_too_low_won: Type.Integer({ description: 'Those of quoted_too_low that were won' }),
  quoted_too_low_amount: {
    ...money,
    description: 'The amount by which quoted_too_low_won were too low; null without an expected cost',
  },
}

export const PerformanceTotals = Type.Object(performanceFigures)

/** The fields that identify a lane. */
export const LaneKey = Type.Object({
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
})

export const PerformanceRow = Type.Object({
  key: Type.String({ description: 'Unique key of the row for the given `by`; the user id for a rep' }),
  label: Type.String({ description: 'Display name of the row' }),
  lane: {
    ...nullable(LaneKey),
    description: 'The lane, with by=lane',
  },
  ...performanceFigures,
})

export const exampleFigures = {
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
  lost_to_cost: 0,
  lost_to_rate: 0,
  gained: 14.5,
  quotes_with_cost: 30,
  quoted_too_low: 4,
  quoted_too_low_won: 3,
  quoted_too_low_amount: 212.5,
}

const grouping = oneOf('How quotes are grouped into rows', performanceGroupings)
const inOrder = {
  sort: Type.Optional(oneOf('Order of the rows. Default: by quotes; months by time', performanceSorts)),
  order: Type.Optional(
    oneOf('desc (the default) is highest or newest first. Rows without the figure are last', ['desc', 'asc']),
  ),
}

export const getPerformance = endpoint({
  name: 'get-performance',
  method: 'GET',
  path: '/api/performance',
  summary: 'Win rate and margin by lane, customer, rep, carrier, equipment or month',
  description:
    'Counts the quotes made in the period, and sums their bookings. Months are in the time zone of the brokerage. The rows add up to the totals.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    by: grouping,
    ...selection,
    ...inOrder,
    ...performancePage,
  }),
  status: 200,
  answer: Type.Object({
    by: Type.Enum([...performanceGroupings]),
    ...period,
    rows: Type.Array(PerformanceRow),
    rows_total: Type.Integer({ description: 'Number of rows on all pages' }),
    next_cursor: nullable(Type.String()),
    totals: PerformanceTotals,
    basis: ComparedBasis,
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
      basis: exampleBasis,
    },
  },
})

export const exportPerformance = endpoint({
  name: 'export-performance',
  method: 'GET',
  path: '/api/performance/export',
  summary: 'Win rate and margin as a CSV file',
  description: 'All rows of get-performance, in its order, without a limit.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ by: grouping, ...selection, ...inOrder }),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then one line per row; UTF-8 with a byte order mark' }),
  examples: {
    query: { by: 'carrier' },
    answer:
      '\uFEFFCarrier,Quotes,Won,Lost,Landed vs quoted,Lost to cost,Lost to rate\r\nBluebonnet Carriers,34,17,9,14.50,0.00,0.00\r\n',
  },
})

export const MarginGap = Type.Object({
  lane: Quote,
  quoted_margin: Type.Number({ description: 'Quoted rate minus expected cost at quote time' }),
  margin: Type.Number({ description: 'Actual margin: AR minus AP' }),
  shortfall: Type.Number({ description: 'quoted_margin minus margin' }),
  compared: Type.Object(
    {
      quoted_rate: Type.Number(),
      expected_cost: Type.Number(),
      customer_rate: Type.Number(),
      truck_cost: Type.Number(),
    },
    { description: 'The four amounts in US dollars on the default basis. `lane` has them as they were sent' },
  ),
  because: Type.Enum(['rate', 'cost', 'both'], {
    description: 'rate: AR below the quoted rate; cost: AP above the expected cost; or both',
  }),
})

export const listMarginGaps = endpoint({
  name: 'list-margin-gaps',
  method: 'GET',
  path: '/api/performance/margin-gaps',
  summary: 'Shipments whose actual margin is below the quoted margin',
  description: 'Quotes made in the period, largest shortfall first, in pages.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ ...selection, ...performancePage }),
  status: 200,
  answer: Type.Object({
    ...period,
    gaps: Type.Array(MarginGap),
    next_cursor: nullable(Type.String()),
    totals: Type.Object({
      shipments_compared: Type.Integer(),
      below: Type.Integer({ description: 'Number of shipments below the quoted margin, on all pages' }),
      shortfall: Type.Number({ description: 'Total shortfall of the shipments below the quoted margin' }),
    }),
    basis: ComparedBasis,
  }),
  examples: {
    answer: {
      from: null,
      to: null,
      gaps: [
        {
          lane: { ...exampleQuote, truck_cost: 1900, margin: 250, margin_pct: 11.6 },
          quoted_margin: 345,
          margin: 250,
          shortfall: 95,
          compared: { quoted_rate: 2150, expected_cost: 1805, customer_rate: 2150, truck_cost: 1900 },
          because: 'cost',
        },
      ],
      next_cursor: null,
      totals: { shipments_compared: 1, below: 1, shortfall: 95 },
      basis: exampleBasis,
    },
  },
})
