import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import {
  dollars,
  equipment,
  loadedMiles,
  nullable,
  oneOf,
  place,
  positiveDollars,
  recordId,
  requestKey,
  text,
  time,
  wholeNumber,
} from './fields.ts'
import {
  cursorLengthMax,
  pageSizeDefault,
  pageSizeMax,
  pendingDaysMax,
  quoteRequestBytesMax,
  quotesPerRequestMax,
} from './limits.ts'
import { ofMode, sentStops } from './load-modes.ts'
import { Change, decisions, exampleQuote, openQuote, outcomeReasons, outcomes, Quote } from './quote.ts'
import { quotedAdvice, quotedDetails, quotedValidity } from './quoted-details.ts'
import { ComparedBasis, exampleBasis, quotedCharges } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'
import { RateWarnings } from './rate-warnings.ts'

export const QuoteRequest = Type.Object({
  request_id: Type.Integer(),
  customer_name: Type.String(),
  reference: nullable(Type.String()),
  created_at: Type.String({ format: 'date-time' }),
  lanes: Type.Array(Quote),
})

/** A new quote, with warnings about its rate. */
export const QuoteWithWarnings = Type.Object({ ...Quote.properties, warnings: RateWarnings })

export const laneRefParams = Type.Object({ lane_ref: Type.String() })

const exampleRequest = {
  request_id: openQuote.request_id,
  customer_name: openQuote.customer_name,
  reference: openQuote.reference,
  created_at: openQuote.created_at,
  lanes: [openQuote],
}

const quotedExample = {
  ...openQuote,
  warnings: [
    {
      code: 'below_cost' as const,
      field: 'quoted_rate' as const,
      detail: '$250 is $1,555 below the expected cost of $1,805.',
    },
  ],
}

/** The members of a quote in a quote request. */
export const quoteToMake = Type.Object({
  origin: place('Pickup city and state'),
  destination: place('Delivery city and state'),
  stops: sentStops,
  equipment: equipment('Equipment code'),
  quoted_rate: positiveDollars('The rate quoted to the customer'),
  estimated_cost: Type.Optional(dollars('The expected truck cost')),
  ...quotedCharges,
  market_rate: Type.Optional(positiveDollars('External market rate at quote time')),
  miles: Type.Optional(
    loadedMiles(
      'Loaded miles. Costs and pricing rules use them if they are within 25 % of the distance that the service measures, or if it measures none',
    ),
  ),
  ...quotedDetails,
  ...quotedValidity,
})

export const createQuoteRequest = endpoint({
  name: 'create-quote-request',
  method: 'POST',
  path: '/api/quote-requests',
  summary: 'Make one or more quotes',
  description:
    'Creates a quote request with 1 to 100 pending quotes, and returns the lane_ref of each. warnings lists the reasons to check a rate that is below the cost or far from the going rate. Such a rate is saved, too.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  bodyBytesMax: quoteRequestBytesMax,
  body: Type.Object({
    customer_name: text('The shipper that the quote is for'),
    reference: Type.Optional(text("The shipper's own reference")),
    request_key: Type.Optional(requestKey),
    accept_unknown_places: Type.Optional(
      Type.Boolean({
        description: 'true accepts an unknown city whose spelling is close to that of a known city',
        'x-expected': 'true or false',
      }),
    ),
    lanes: Type.Array(Type.Object({ ...quoteToMake.properties, ...quotedAdvice }), {
      minItems: 1,
      maxItems: quotesPerRequestMax,
      'x-expected': `a list of 1 to ${quotesPerRequestMax} quotes`,
    }),
  }),
  status: 201,
  answer: Type.Object({ ...QuoteRequest.properties, lanes: Type.Array(QuoteWithWarnings) }),
  problems: ['customer-hidden', 'request-key-reused', 'state-conflict'],
  examples: {
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: [
        {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: 2150,
          estimated_cost: 1800,
        },
      ],
    },
    answer: { ...exampleRequest, lanes: [quotedExample] },
  },
})

export const getQuoteRequest = endpoint({
  name: 'get-quote-request',
  method: 'GET',
  path: '/api/quote-requests/{request_id}',
  summary: 'A quote request with all its quotes',
  description: 'All quotes and requotes of the request, ordered by lane_ref.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: Type.Object({
    request_id: wholeNumber('The quote request', 0, Number.MAX_SAFE_INTEGER),
  }),
  status: 200,
  answer: QuoteRequest,
  problems: ['not-found'],
  examples: { answer: exampleRequest },
})

const quoteSorts = [
  'newest',
  'oldest',
  'updated',
  'rate_high',
  'rate_low',
  'margin_high',
  'margin_low',
  'customer',
] as const
const shipmentSorts = [...quoteSorts, 'booked'] as const

const sortedBy =
  'the default is newest, by quote time. rate is the booked customer rate, else the quoted rate. The orders by rate and by margin compare amounts as they were sent, whatever their basis and currency; quotes whose AR and AP are on two bases or in two currencies are last by margin. Quotes without a margin or a booking time are last.'

const page = {
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the previous page, with the same sort',
      maxLength: cursorLengthMax,
      'x-expected': 'the next_cursor of the previous page',
    }),
  ),
  limit: Type.Optional(wholeNumber(`Quotes per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
}

const quoteFindings = [
  'lost_to_cost',
  'lost_to_rate',
  'landed_vs_quoted',
  'quoted_too_low',
  'booked_at_a_loss',
] as const

const quoteFilters = {
  offers: Type.Optional(
    oneOf(
      'last: only the offer that counts for its load, as statistics count quotes; superseded: only the others. Without it, all offers',
      ['last', 'superseded'] as const,
    ),
  ),
  origin: Type.Optional(place('Only quotes from this place')),
  destination: Type.Optional(place('Only quotes to this place')),
  equipment: Type.Optional(equipment('Only quotes with this equipment')),
  rate_type: ofRateType,
  mode: ofMode,
  customer: Type.Optional(text('Only quotes for this customer, any case')),
  quoted_by: Type.Optional({ ...recordId, description: 'Only quotes of this user' }),
  carrier: Type.Optional(text('Only quotes with this carrier, any case')),
  finding: Type.Optional(
    oneOf(
      'Only quotes that count in this figure of get-performance, or whose AP is above their AR (booked_at_a_loss)',
      quoteFindings,
    ),
  ),
  reason: Type.Optional(oneOf('Only quotes lost for this reason', outcomeReasons)),
  q: Type.Optional(
    text('Words found in lane_ref, external_id, reference, customer, carrier, origin or destination'),
  ),
  from: Type.Optional(time('Only quotes made at or after this time')),
  to: Type.Optional(time('Only quotes made before this time')),
}

const quotePage = {
  lanes: Type.Array(Quote),
  next_cursor: nullable(Type.String()),
  total: {
    ...nullable(Type.Integer()),
    description: 'Number of matching quotes. Only on the first page; null on later pages',
  },
  loads: {
    ...nullable(Type.Integer()),
    description: 'Of total, those that are the last offer for their load, as statistics count quotes',
  },
}

const listed = [...outcomes, 'void'] as const
const outcomeFilters = {
  outcome: Type.Optional(
    oneOf(
      'Only quotes with this outcome, superseded ones too (see offers); void: only voided quotes, which are in no other list',
      listed,
    ),
  ),
  pending_days: Type.Optional(
    wholeNumber(
      'Only pending quotes that were made at least this many days ago, without superseded ones',
      1,
      pendingDaysMax,
    ),
  ),
}

export const listQuotes = endpoint({
  name: 'list-quotes',
  method: 'GET',
  path: '/api/lanes',
  summary: 'List quotes',
  description:
    'Returns pages. For the next page, pass next_cursor as cursor, with the same sort and filters.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    ...outcomeFilters,
    ...quoteFilters,
    sort: Type.Optional(oneOf(`Order; ${sortedBy}`, quoteSorts)),
    ...page,
  }),
  status: 200,
  answer: Type.Object(quotePage),
  examples: { answer: { lanes: [openQuote], next_cursor: null, total: 1, loads: 1 } },
})

export const exportQuotes = endpoint({
  name: 'export-quotes',
  method: 'GET',
  path: '/api/lanes/export',
  summary: 'Quotes as a CSV file',
  description:
    'All matching quotes, newest first, without a limit. A cell that a spreadsheet would interpret as a formula starts with an apostrophe. The file can be edited and imported again: in the same brokerage, edited cells change their quote, and unedited rows change nothing; in another one, the rows are new quotes, without superseded and void ones.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ ...outcomeFilters, ...quoteFilters }),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per quote; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFQuote ID,Quoted at,Customer,Origin,Destination,Equipment,Quoted rate,Outcome\r\n48211093754-1-1,2026-02-27T16:12:09.000Z,Harvest Table Foods,"Dallas, TX","Atlanta, GA",V,2150.00,pending\r\n',
  },
})

export const getQuote = endpoint({
  name: 'get-quote',
  method: 'GET',
  path: '/api/lanes/{lane_ref}',
  summary: 'One quote',
  description: 'The quote with its booking, if it has one.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: laneRefParams,
  status: 200,
  answer: Quote,
  problems: ['lane-not-found'],
  examples: { answer: exampleQuote },
})

export const listShipments = endpoint({
  name: 'list-shipments',
  method: 'GET',
  path: '/api/shipments',
  summary: 'List shipments',
  description:
    'Quotes that have a booking, in pages, with totals over all matching quotes. One with a cancelled booking is listed with cancelled_at and is excluded from the totals.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    ...quoteFilters,
    sort: Type.Optional(oneOf(`Order; ${sortedBy}`, shipmentSorts)),
    ...page,
  }),
  status: 200,
  answer: Type.Object({
    ...quotePage,
    totals: Type.Object({
      shipments: Type.Integer({
        description: 'Matching shipments whose booking was not cancelled, without those of kept_apart',
      }),
      cancelled: Type.Integer({
        description: 'Matching quotes whose booking was cancelled. They are excluded from all other figures',
      }),
      customer_rate: Type.Number({ description: 'Total AR of the shipments with a known AR' }),
      truck_cost: Type.Number({ description: 'Total AP of the shipments with a known AP' }),
      margin: Type.Number({ description: 'AR minus AP over the shipments where both are known' }),
      margin_pct: nullable(Type.Number()),
      shipments_with_margin: Type.Integer({ description: 'Shipments whose AR and AP are both known' }),
      quoted_margin: Type.Number({
        description:
          'Quoted rate minus expected truck cost at quote time, over the shipments where both are known',
      }),
      shipments_with_quoted_margin: Type.Integer(),
      landed_vs_quoted: Type.Number({
        description: 'Actual margin minus quoted margin, over the shipments where both are known',
      }),
      comparable_shipments: Type.Integer({
        description: 'Shipments where margin and quoted margin are both known',
      }),
    }),
    basis: ComparedBasis,
  }),
  examples: {
    answer: {
      lanes: [exampleQuote],
      next_cursor: null,
      total: 1,
      loads: 1,
      totals: {
        shipments: 1,
        cancelled: 0,
        customer_rate: 2150,
        truck_cost: 1790.5,
        margin: 359.5,
        margin_pct: 16.7,
        shipments_with_margin: 1,
        quoted_margin: 345,
        shipments_with_quoted_margin: 1,
        landed_vs_quoted: 14.5,
        comparable_shipments: 1,
      },
      basis: exampleBasis,
    },
  },
})

/** The list of shipments for a service token, with the filters that AI agents use. */
export const searchShipments = endpoint({
  ...listShipments,
  name: 'search-shipments',
  path: '/api/integrations/shipments/search',
  summary: 'Search shipments, with totals',
  description: `The same response as ${listShipments.path}, for a service token. ${listShipments.description}`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
})

export const exportShipments = endpoint({
  name: 'export-shipments',
  method: 'GET',
  path: '/api/shipments/export',
  summary: 'Shipments as a CSV file',
  description: 'All matching quotes that have a booking, newest first, in the format of export-quotes.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(quoteFilters),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per shipment; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFQuote ID,Customer,Origin,Destination,Equipment,Customer rate,Truck cost,Margin\r\n48211093754-1-1,Harvest Table Foods,"Dallas, TX","Atlanta, GA",V,2150.00,1790.50,359.50\r\n',
  },
})

export const requote = endpoint({
  name: 'requote',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/requote',
  summary: 'Quote a load again',
  description:
    'Makes another quote for the same load, with the next COUNT. It supersedes the earlier ones (superseded_by): they keep their outcome, but no statistic counts them. counter_rate is the lower rate that the customer named: it is saved with the earlier quote, which is lost for its price if it was undecided. To decline a counter-offer, set the outcome lost with counter_rate. POST /api/advice/lanes with counter_offer advises. 409 if a quote for the load is won: a load is won once. warnings lists the reasons to check the rate.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRefParams,
  body: Type.Object({
    quoted_rate: positiveDollars('The new rate'),
    counter_rate: Type.Optional(
      positiveDollars(
        'The rate that the customer named instead of the earlier quote, below it, in its currency and on its basis. If quoted_rate is equal, you agree to it, and the new quote is won; if it is higher, the new quote is pending',
      ),
    ),
    estimated_cost: Type.Optional(dollars('The currently expected truck cost')),
    ...quotedCharges,
    market_rate: Type.Optional(positiveDollars('Current external market rate')),
    ...quotedDetails,
    ...quotedValidity,
    ...quotedAdvice,
  }),
  status: 201,
  answer: QuoteWithWarnings,
  problems: ['lane-not-found', 'outside-rules', 'state-conflict'],
  examples: {
    body: { quoted_rate: 2075 },
    answer: {
      ...openQuote,
      lane_ref: '48211093754-1-2',
      lane_id: 52840917234,
      quoted_rate: 2075,
      warnings: [],
    },
  },
})

export const setOutcome = endpoint({
  name: 'set-outcome',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/outcome',
  summary: 'Mark a quote won, lost or pending',
  description:
    'Updates from the TMS do not change an outcome that a person sets after a booking. A member cannot reopen a closed quote, or win a lost or expired one, at a rate that the pricing rules refuse today, unless it was pending in the last 24 hours. Of the quotes for one load, only the last can be won: 409 for a superseded one.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRefParams,
  body: Type.Object({
    outcome: oneOf('The outcome of the quote', decisions),
    reason: Type.Optional(oneOf('Why the quote was lost', outcomeReasons)),
    counter_rate: Type.Optional(positiveDollars('With outcome lost: the lower rate that the customer named')),
  }),
  status: 200,
  answer: Quote,
  problems: ['lane-not-found', 'outside-rules', 'state-conflict'],
  examples: {
    body: { outcome: 'lost', reason: 'price' },
    answer: {
      ...openQuote,
      outcome: 'lost',
      outcome_reason: 'price',
      outcome_source: 'dashboard',
      decided_at: '2026-03-01T14:00:00.000Z',
      updated_at: '2026-03-01T14:00:00.000Z',
    },
  },
})

export const listChanges = endpoint({
  name: 'list-changes',
  method: 'GET',
  path: '/api/lanes/{lane_ref}/changes',
  summary: 'The history of a quote',
  description:
    'All changes, newest first: values before and after, source, person and time. A change of the outcome by a rule names the rule.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: laneRefParams,
  status: 200,
  answer: Type.Object({ changes: Type.Array(Change) }),
  problems: ['lane-not-found'],
  examples: {
    answer: {
      changes: [
        {
          change_id: 1,
          source: 'tms',
          changed_by: null,
          changed_at: '2026-03-01T14:00:00.000Z',
          before: { customer_rate: null, truck_cost: null, outcome: 'pending' },
          after: { customer_rate: 2150, truck_cost: 1790.5, outcome: 'won' },
          rule: 'booking_is_a_win',
          rolled_back_change_id: null,
        },
      ],
    },
  },
})

export const rollback = endpoint({
  name: 'rollback',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/rollback',
  summary: 'Undo a change of a quote',
  description: 'Restores the values from before a change, as a new change. The history is never rewritten.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  params: laneRefParams,
  body: Type.Object({ change_id: wholeNumber('The change to undo', 1, 2_147_483_647) }),
  status: 200,
  answer: Quote,
  problems: ['lane-not-found', 'not-found'],
  examples: { body: { change_id: 1 }, answer: openQuote },
})
