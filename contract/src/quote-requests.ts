import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import {
  day,
  dollars,
  equipment,
  nullable,
  oneOf,
  place,
  positiveDollars,
  recordId,
  text,
  time,
  wholeNumber,
} from './fields.ts'
import {
  changeSources,
  exampleLane,
  Lane,
  openLane,
  outcomeReasons,
  outcomeRule,
  outcomes,
  UserSummary,
} from './lane.ts'
import {
  cursorLengthMax,
  lanesPerRequestMax,
  pageSizeDefault,
  pageSizeMax,
  quoteRequestBytesMax,
  quoteRequestKeysMax,
} from './limits.ts'

export const QuoteRequest = Type.Object({
  request_id: Type.Integer(),
  customer_name: Type.String(),
  reference: nullable(Type.String()),
  created_at: Type.String({ format: 'date-time' }),
  lanes: Type.Array(Lane),
})

const laneRef = Type.Object({ lane_ref: Type.String() })

const exampleRequest = {
  request_id: openLane.request_id,
  customer_name: openLane.customer_name,
  reference: openLane.reference,
  created_at: openLane.created_at,
  lanes: [openLane],
}

export const createQuoteRequest = endpoint({
  name: 'create-quote-request',
  method: 'POST',
  path: '/api/quote-requests',
  summary: 'Quote one or more lanes',
  description: 'Makes a quote request of 1 to 100 lanes, each pending, and answers the lane_ref of each.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  bodyBytesMax: quoteRequestBytesMax,
  bodyKeysMax: quoteRequestKeysMax,
  body: Type.Object({
    customer_name: text('The shipper the quote is for'),
    reference: Type.Optional(text("The shipper's own reference")),
    request_key: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
        description:
          'A UUID of your own for this request. The same body sent again with the same key makes nothing new: the answer is the request that the first one made. Another body with the same key is a 422, request-key-reused',
        examples: ['6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44'],
        'x-expected': 'a UUID in lower case, such as 6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44',
      }),
    ),
    accept_unknown_places: Type.Optional(
      Type.Boolean({
        description: 'true takes a city that is not known but spelled much like one that is',
        'x-expected': 'true or false',
      }),
    ),
    lanes: Type.Array(
      Type.Object({
        origin: place('Pickup city and state'),
        destination: place('Delivery city and state'),
        equipment: equipment('Equipment code'),
        quoted_rate: positiveDollars('The rate quoted to the customer'),
        estimated_cost: Type.Optional(dollars('What the truck is expected to cost')),
        market_rate: Type.Optional(positiveDollars('External market rate at the time')),
        miles: Type.Optional(
          Type.Number({
            description: 'Loaded miles; wins over our own estimate',
            exclusiveMinimum: 0,
            maximum: 10_000,
            'x-expected': 'a number of miles greater than 0 and up to 10,000',
          }),
        ),
        pickup_date: Type.Optional(day('Day of pickup')),
      }),
      {
        minItems: 1,
        maxItems: lanesPerRequestMax,
        'x-expected': `a list of 1 to ${lanesPerRequestMax} lanes`,
      },
    ),
  }),
  status: 201,
  answer: QuoteRequest,
  problems: ['request-key-reused'],
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
    answer: exampleRequest,
  },
})

export const getQuoteRequest = endpoint({
  name: 'get-quote-request',
  method: 'GET',
  path: '/api/quote-requests/{request_id}',
  summary: 'A quote request with all its lanes',
  description: 'Every lane and requote of the request, in the order of their lane_ref.',
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

const laneSorts = [
  'newest',
  'oldest',
  'updated',
  'rate_high',
  'rate_low',
  'margin_high',
  'margin_low',
  'customer',
] as const
const shipmentSorts = [...laneSorts, 'booked'] as const

const sortedBy =
  'newest (by the time of the quote) when absent. rate: the booked customer rate, else the quoted one. Lanes without a margin or a booking time come last.'

const page = {
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the page before, of the same sort',
      maxLength: cursorLengthMax,
      'x-expected': 'the next_cursor of the page before',
    }),
  ),
  limit: Type.Optional(wholeNumber(`Lanes a page; ${pageSizeDefault} when absent`, 1, pageSizeMax)),
}

const laneFilters = {
  origin: Type.Optional(place('Only lanes from this place')),
  destination: Type.Optional(place('Only lanes to this place')),
  equipment: Type.Optional(equipment('Only lanes of this equipment')),
  customer: Type.Optional(text('Only lanes of this customer, any case')),
  quoted_by: Type.Optional({ ...recordId, description: 'Only lanes that this user quoted' }),
  reason: Type.Optional(oneOf('Only lanes lost for this reason', outcomeReasons)),
  q: Type.Optional(text('Words found in lane_ref, customer, carrier, origin or destination')),
  from: Type.Optional(time('Only lanes quoted at or after this time')),
  to: Type.Optional(time('Only lanes quoted before this time')),
}

const lanePage = {
  lanes: Type.Array(Lane),
  next_cursor: nullable(Type.String()),
  total: {
    ...nullable(Type.Integer()),
    description: 'Lanes of the whole selection: on the first page, null on those after it',
  },
}

const outcomeFilter = { outcome: Type.Optional(oneOf('Only lanes with this outcome', outcomes)) }

export const listLanes = endpoint({
  name: 'list-lanes',
  method: 'GET',
  path: '/api/lanes',
  summary: 'List lanes',
  description: 'In pages: pass next_cursor as cursor, with the same sort and filters, to go on.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    ...outcomeFilter,
    ...laneFilters,
    sort: Type.Optional(oneOf(`Order; ${sortedBy}`, laneSorts)),
    ...page,
  }),
  status: 200,
  answer: Type.Object(lanePage),
  examples: { answer: { lanes: [openLane], next_cursor: null, total: 1 } },
})

export const exportLanes = endpoint({
  name: 'export-lanes',
  method: 'GET',
  path: '/api/lanes/export',
  summary: 'Lanes as a CSV file',
  description:
    'All lanes of the selection, newest first, however many. A cell that a spreadsheet would read as a formula begins with an apostrophe. The import takes the file as it is.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ ...outcomeFilter, ...laneFilters }),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then a line a lane; UTF-8 with its mark' }),
  examples: {
    answer:
      '\uFEFFQuote ID,Quoted at,Customer,Origin,Destination,Equipment,Quoted rate,Outcome\r\n48211093754-1-1,2026-02-27T16:12:09.000Z,Harvest Table Foods,"Dallas, TX","Atlanta, GA",V,2150.00,pending\r\n',
  },
})

export const getLane = endpoint({
  name: 'get-lane',
  method: 'GET',
  path: '/api/lanes/{lane_ref}',
  summary: 'One lane',
  description: 'The lane with its booking, if it has one.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: laneRef,
  status: 200,
  answer: Lane,
  problems: ['lane-not-found'],
  examples: { answer: exampleLane },
})

export const listShipments = endpoint({
  name: 'list-shipments',
  method: 'GET',
  path: '/api/shipments',
  summary: 'List shipments',
  description:
    'Lanes that have a booking, in pages, with the totals of the whole selection. A lane whose booking was cancelled stays listed, with cancelled_at, and is in no total.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    ...laneFilters,
    sort: Type.Optional(oneOf(`Order; ${sortedBy}`, shipmentSorts)),
    ...page,
  }),
  status: 200,
  answer: Type.Object({
    ...lanePage,
    totals: Type.Object({
      shipments: Type.Integer({ description: 'Shipments of the selection whose booking was not cancelled' }),
      cancelled: Type.Integer({
        description: 'Lanes of the selection whose booking was cancelled: listed, and in no other figure',
      }),
      customer_rate: Type.Number({ description: 'AR over the shipments where it is known' }),
      truck_cost: Type.Number({ description: 'AP over the shipments where it is known' }),
      margin: Type.Number({ description: 'Over the shipments where both are known' }),
      margin_pct: nullable(Type.Number()),
      shipments_with_margin: Type.Integer({ description: 'Shipments whose AR and AP are both known' }),
      quoted_margin: Type.Number({
        description:
          'Quoted rate minus the truck cost expected when it was quoted, over the shipments where both are known',
      }),
      shipments_with_quoted_margin: Type.Integer(),
      landed_vs_quoted: Type.Number({
        description: 'margin minus quoted margin, over the shipments where both are known',
      }),
      comparable_shipments: Type.Integer({
        description: 'Shipments where margin and quoted margin are both known',
      }),
    }),
  }),
  examples: {
    answer: {
      lanes: [exampleLane],
      next_cursor: null,
      total: 1,
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
    },
  },
})

/** Shipments for a service token: what was pushed can be read back by who pushed it. */
export const integrationShipments = endpoint({
  ...listShipments,
  name: 'integration-shipments',
  path: '/api/integrations/shipments',
  summary: 'Shipments, for a service token',
  description: `The same answer as ${listShipments.path}, for a service token. ${listShipments.description}`,
  tag: 'Integration',
  who: { kind: 'service', signed: false },
})

export const exportShipments = endpoint({
  name: 'export-shipments',
  method: 'GET',
  path: '/api/shipments/export',
  summary: 'Shipments as a CSV file',
  description: 'All lanes of the selection that have a booking, newest first, as export-lanes gives them.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(laneFilters),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then a line a shipment; UTF-8 with its mark' }),
  examples: {
    answer:
      '\uFEFFQuote ID,Customer,Origin,Destination,Equipment,Customer rate,Truck cost,Margin\r\n48211093754-1-1,Harvest Table Foods,"Dallas, TX","Atlanta, GA",V,2150.00,1790.50,359.50\r\n',
  },
})

export const requote = endpoint({
  name: 'requote',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/requote',
  summary: 'Quote a lane again',
  description: 'Makes a new lane with the next COUNT. The old one stays as it was, its outcome included.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRef,
  body: Type.Object({
    quoted_rate: positiveDollars('The new rate'),
    estimated_cost: Type.Optional(dollars('What the truck is now expected to cost')),
    market_rate: Type.Optional(positiveDollars('External market rate now')),
    pickup_date: Type.Optional(day('Day of pickup')),
  }),
  status: 201,
  answer: Lane,
  problems: ['lane-not-found'],
  examples: {
    body: { quoted_rate: 2075 },
    answer: { ...openLane, lane_ref: '48211093754-1-2', lane_id: 52840917234, quoted_rate: 2075 },
  },
})

export const setOutcome = endpoint({
  name: 'set-outcome',
  method: 'POST',
  path: '/api/lanes/{lane_ref}/outcome',
  summary: 'Mark a lane won, lost or pending',
  description: 'An outcome that a person sets after a booking stands, whatever the TMS pushes later.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'member' },
  params: laneRef,
  body: Type.Object({
    outcome: oneOf('How the quote ended', outcomes),
    reason: Type.Optional(oneOf('Why it was lost', outcomeReasons)),
  }),
  status: 200,
  answer: Lane,
  problems: ['lane-not-found'],
  examples: {
    body: { outcome: 'lost', reason: 'price' },
    answer: {
      ...openLane,
      outcome: 'lost',
      outcome_reason: 'price',
      outcome_source: 'dashboard',
      decided_at: '2026-03-01T14:00:00.000Z',
      updated_at: '2026-03-01T14:00:00.000Z',
    },
  },
})

const values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]))

export const Change = Type.Object({
  change_id: Type.Integer({ description: 'Number of the change on its lane, from 1' }),
  source: Type.Enum([...changeSources]),
  changed_by: nullable(UserSummary),
  changed_at: Type.String({ format: 'date-time' }),
  before: values,
  after: values,
  rule: outcomeRule,
  rolled_back_change_id: { ...nullable(Type.Integer()), description: 'Set when this change undid another' },
})

export const listChanges = endpoint({
  name: 'list-changes',
  method: 'GET',
  path: '/api/lanes/{lane_ref}/changes',
  summary: 'Every change of a lane',
  description:
    'The audit trail, newest first: before, after, source, person and time. A change that a rule made to the outcome names the rule.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  params: laneRef,
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
  summary: 'Undo a change of a lane',
  description: 'Restores the values from before a change, as a new change. Nothing is ever rewritten.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  params: laneRef,
  body: Type.Object({ change_id: wholeNumber('The change to undo', 1, 2_147_483_647) }),
  status: 200,
  answer: Lane,
  problems: ['lane-not-found', 'not-found'],
  examples: { body: { change_id: 1 }, answer: openLane },
})
