import Type, { type Static } from 'typebox'
import { Approval, approvalStates, exampleApproval } from './approvals.ts'
import { bidFields, bidStages, volumePeriods } from './bid-fields.ts'
import { endpoint } from './endpoint.ts'
import {
  changeOf,
  day,
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
import { UserSummary } from './lane.ts'
import {
  bidApprovalLanesMax,
  bidCellsBytesMax,
  bidCellsMax,
  bidChangesListedMax,
  bidFileBytesMax,
  bidLanesMax,
  bidLanesPageMax,
  bidPlacesListedMax,
  bidsListedMax,
  frontierPointsMax,
  noteLengthMax,
  portfolioCapsMax,
  portfolioSecondsMax,
  workbookBytesMax,
} from './limits.ts'

const reads = { kind: 'dashboard', role: 'viewer' } as const
const writes = { kind: 'dashboard', role: 'member' } as const
const tag = 'Bids' as const
const bidId = Type.Object({ bid_id: recordId })
const moment = Type.String({ format: 'date-time' })
const dollarsOrNull = nullable(Type.Number())
const stage = () => oneOf('Where the bid stands', [...bidStages])
const count = Type.Integer()
const clearedDates = ['due_at', 'starts_on'] as const

/** The sums of a bid. */
export const BidTotals = Type.Object({
  lanes: count,
  priced: Type.Integer({ description: 'Lanes that have been priced' }),
  rated: Type.Integer({ description: 'Lanes with a rate' }),
  without_loads: Type.Integer({
    description: 'Lanes whose loads are not known: they add nothing to the amounts',
  }),
  loads: Type.Integer({ description: 'Loads over the contract' }),
  revenue: Type.Number({ description: 'Rate x loads, summed over the lanes, in dollars' }),
  cost: Type.Number({ description: 'Expected cost x loads of the lanes with a rate' }),
  margin: Type.Number({ description: '(rate - expected cost) x loads of the lanes where both are known' }),
  expected_margin: Type.Number({ description: 'Margin x chance, rounded to a cent for each lane' }),
  expected_share: {
    ...nullable(Type.Number()),
    description: 'The share of the loads that is won on average, of the lanes with a chance',
  },
  below_minimum: Type.Integer({ description: 'Lanes whose rate is below the minimum of your rules' }),
  below_cost: Type.Integer({ description: 'Lanes whose rate is below their expected cost' }),
})
export type BidTotals = Static<typeof BidTotals>

export const BidPricing = Type.Object({ is_running: Type.Boolean(), priced: Type.Integer() })

const summary = {
  bid_id: Type.Integer(),
  name: Type.String(),
  customer_name: Type.String(),
  stage: Type.Enum([...bidStages]),
  due_at: nullable(moment),
  contract_months: Type.Integer(),
  starts_on: {
    ...nullable(Type.String({ format: 'date' })),
    description: 'The first day of the contract',
  },
  previous_bid_id: {
    ...nullable(Type.Integer()),
    description: 'The round before; null in a first round',
  },
  file_name: Type.String(),
  lanes: Type.Integer(),
  rated: Type.Integer({ description: 'Lanes with a rate' }),
  unknown_places: Type.Integer({ description: 'Lanes with a text that is no known place' }),
  value: Type.Number({ description: 'Rate x loads of all lanes, in dollars' }),
  pricing: BidPricing,
  last_change: Type.Integer({ description: 'The number of the last change of its lanes, from 0' }),
  created_by: nullable(UserSummary),
  created_at: moment,
  changed_at: moment,
}
export const BidSummary = Type.Object(summary)

export const BidColumn = Type.Object({
  field: Type.Enum([...bidFields]),
  column: { ...nullable(Type.Integer()), description: 'The number of the column, from 1; null without one' },
})

export const BidApproval = Type.Object({
  needed: Type.Integer({
    description: 'Rates below a minimum that needs an approval, which they do not have',
  }),
  blocked: Type.Integer({ description: 'Rates below a minimum that nobody can approve' }),
  approved: Type.Integer({ description: 'Rates below the minimum that were approved' }),
  latest: {
    ...nullable(
      Type.Object({
        approval_id: Type.Integer(),
        state: Type.Enum([...approvalStates]),
        decision_note: nullable(Type.String()),
      }),
    ),
    description: 'The newest request for approval of its rates',
  },
})

export const Bid = Type.Object({
  ...summary,
  totals: BidTotals,
  approval: BidApproval,
  lines_skipped: Type.Integer({
    description: 'Lines of the file with neither an origin nor a destination: notes and broken lines',
  }),
  sheet: nullable(Type.String()),
  columns: Type.Array(BidColumn, { description: 'The fields with a column' }),
  volume_per: nullable(Type.Enum([...volumePeriods])),
  places: Type.Array(
    Type.Object({
      end: Type.Enum(['origin', 'destination']),
      sent: Type.String({ description: 'The text of the shipper' }),
      lanes: Type.Integer({ description: 'Lanes with this text' }),
      closest: Type.Array(Type.String(), {
        description: 'Known places with a similar spelling. None of them is used unless a person chooses it',
      }),
    }),
    {
      description: `The texts that are no known place, at most ${bidPlacesListedMax}. Their lanes have no price until somebody says what they mean`,
    },
  ),
  duplicates: Type.Integer({ description: 'Lanes with the places and the equipment of an earlier lane' }),
})

export const BidChance = Type.Object({
  probability: Type.Number(),
  low: Type.Number(),
  high: Type.Number(),
})
export const BidPrice = Type.Object({
  suggested: { ...dollarsOrNull, description: 'The rate to quote, as the quote desk suggests it' },
  expected_cost: dollarsOrNull,
  cost_low: dollarsOrNull,
  cost_high: dollarsOrNull,
  market: dollarsOrNull,
  minimum: { ...dollarsOrNull, description: 'The lowest rate that your rules allow' },
  miles: nullable(Type.Number()),
  equipment: nullable(Type.String()),
  scope: Type.Enum(['lane', 'borrowed', 'none'], {
    description: 'lane: quotes of this lane have a part in the chance. borrowed: others only',
  }),
  decided: Type.Integer({ description: 'Decided contract quotes of the lane' }),
  reasons: Type.Array(Type.String()),
})

export const BidAward = Type.Object({
  state: Type.Enum(['awarded', 'lost']),
  rate: { ...dollarsOrNull, description: 'The rate of the award' },
  loads: { ...nullable(Type.Integer()), description: 'The loads that it promises over the contract' },
})

export const BidLane = Type.Object({
  lane: Type.Integer({ description: 'The number of the lane in the bid, from 1' }),
  row: Type.Integer({ description: 'The row of the sheet, or the line of the text, from 1' }),
  lane_id: { ...nullable(Type.String()), description: "The shipper's own name of the lane" },
  origin_sent: Type.String(),
  destination_sent: Type.String(),
  origin: { ...nullable(Type.String()), description: 'null: the text is no known place' },
  destination: nullable(Type.String()),
  equipment: { ...nullable(Type.String()), description: 'null: any' },
  loads: { ...nullable(Type.Integer()), description: 'Loads over the contract' },
  target: dollarsOrNull,
  rank: {
    ...nullable(Type.Integer()),
    description: 'The rank that the shipper gives your rate of the round before, from 1',
  },
  previous_rate: { ...dollarsOrNull, description: 'Your rate in the round before' },
  problems: Type.Array(Type.String(), { description: 'Cells of the file that could not be read' }),
  duplicate_of: nullable(Type.Integer()),
  award: {
    ...nullable(BidAward),
    description: 'What became of the lane; null while it is open',
  },
  rate: { ...dollarsOrNull, description: 'Dollars per load' },
  version: Type.Integer({ description: 'Rises with each change of the lane. A change names it' }),
  chance: {
    ...nullable(BidChance),
    description: 'The chance to win at the rate, with its 80 % interval',
  },
  revenue: dollarsOrNull,
  margin: dollarsOrNull,
  expected_margin: dollarsOrNull,
  below_minimum: Type.Boolean(),
  priced: {
    ...nullable(BidPrice),
    description: 'null: not priced yet',
  },
})
export type BidLane = Static<typeof BidLane>

const BidChange = Type.Object({
  change: Type.Integer(),
  kind: Type.Enum(['rates', 'strategy', 'place', 'undo', 'awards']),
  words: Type.String(),
  cells: Type.Integer({ description: 'Cells that it changed' }),
  of_lane: {
    ...nullable(
      Type.Object({
        before: nullable(Type.Union([Type.Number(), Type.String()])),
        after: nullable(Type.Union([Type.Number(), Type.String()])),
      }),
    ),
    description: 'With lane: its value before and after, a rate in dollars or a place',
  },
  undone_by: { ...nullable(Type.Integer()), description: 'The change that undid this one' },
  changed_by: nullable(UserSummary),
  changed_at: moment,
})

const exampleTotals = {
  lanes: 2,
  priced: 2,
  rated: 2,
  without_loads: 0,
  loads: 156,
  revenue: 335400,
  cost: 281580,
  margin: 53820,
  expected_margin: 21528,
  expected_share: 0.4,
  below_minimum: 0,
  below_cost: 0,
}
const exampleSummary = {
  bid_id: 3,
  name: 'Annual RFP 2027',
  customer_name: 'Harvest Table Foods',
  stage: 'open' as const,
  due_at: '2026-03-15T17:00:00.000Z',
  contract_months: 12,
  starts_on: null,
  previous_bid_id: null,
  file_name: 'harvest-rfp.xlsx',
  lanes: 2,
  rated: 2,
  unknown_places: 0,
  value: 335400,
  pricing: { is_running: false, priced: 2 },
  last_change: 0,
  created_by: { user_id: 1, name: 'Ana Ortiz' },
  created_at: '2026-03-01T14:00:00.000Z',
  changed_at: '2026-03-01T14:00:00.000Z',
}
const exampleBid = {
  ...exampleSummary,
  totals: exampleTotals,
  approval: { needed: 0, blocked: 0, approved: 0, latest: null },
  lines_skipped: 0,
  sheet: 'Lanes',
  columns: [
    { field: 'origin' as const, column: 2 },
    { field: 'destination' as const, column: 3 },
    { field: 'volume' as const, column: 5 },
    { field: 'rate' as const, column: 7 },
  ],
  volume_per: 'week' as const,
  places: [],
  duplicates: 0,
}
const exampleLane = {
  lane: 1,
  row: 8,
  lane_id: 'H-001',
  origin_sent: 'Dallas, TX 75201',
  destination_sent: 'ATLANTA GA',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  loads: 52,
  target: null,
  rank: null,
  previous_rate: null,
  problems: [],
  duplicate_of: null,
  award: null,
  rate: 2150,
  version: 0,
  chance: { probability: 0.4, low: 0.31, high: 0.5 },
  revenue: 111800,
  margin: 17940,
  expected_margin: 7176,
  below_minimum: false,
  priced: {
    suggested: 2150,
    expected_cost: 1805,
    cost_low: 1610,
    cost_high: 2024,
    market: null,
    minimum: null,
    miles: 781,
    equipment: 'V',
    scope: 'lane' as const,
    decided: 12,
    reasons: ['The suggested rate has the highest expected margin.'],
  },
}

export const bidSheet = Type.Optional(
  Type.String({
    description: 'The sheet of a workbook. Without it, the first visible sheet with a header',
    maxLength: 100,
    'x-expected': 'the name of a sheet, of at most 100 characters',
  }),
)
const map = Type.Optional(
  Type.String({
    description:
      'Pairs of a field and the number of its column, such as origin=2,volume=5. The first column is 1; 0 leaves a field unread. A field that is not named is read from the column that it had in the last file with this header, else from a column with a known name',
    maxLength: 1000,
    'x-expected': 'pairs of a field and the number of its column, separated by commas',
  }),
)
const volumePer = Type.Optional(
  oneOf('The time that the volumes are of. Without it, the name of their column decides', [...volumePeriods]),
)
const customer = text('The shipper')

export const readBidHeader = endpoint({
  name: 'read-bid-header',
  method: 'POST',
  path: '/api/bid-headers',
  summary: "Read the header of a shipper's file",
  description:
    'Reads a file as a bid reads it, and returns its header, its first rows, and the column of each field: that of the last file with the same header, of the same customer if there is one, else the one with a known name. Nothing is stored.',
  tag,
  who: writes,
  isRead: true,
  query: Type.Object({ customer: Type.Optional(customer), map, volume_per: volumePer, sheet: bidSheet }),
  body: Type.String({ description: 'The whole file, plain or gzip' }),
  bodyKind: 'csv',
  bodyBytesMax: workbookBytesMax,
  status: 200,
  answer: Type.Object({
    header: Type.Array(Type.String()),
    header_line: Type.Integer(),
    rows: Type.Array(Type.Array(Type.String())),
    sheet: nullable(Type.String()),
    sheets: Type.Array(Type.String()),
    columns: Type.Array(BidColumn, { description: 'All fields' }),
    volume_per: nullable(Type.Enum([...volumePeriods])),
    is_remembered: Type.Boolean({ description: 'The columns are those of an earlier file' }),
    problems: Type.Array(Type.String(), { description: 'What must be chosen before the file can be read' }),
  }),
  problems: ['state-conflict'],
  examples: {
    body: 'Lane,From,To,Loads/Week\nH-001,"Dallas, TX","Atlanta, GA",1\n',
    answer: {
      header: ['Lane', 'From', 'To', 'Loads/Week'],
      header_line: 1,
      rows: [['H-001', 'Dallas, TX', 'Atlanta, GA', '1']],
      sheet: null,
      sheets: [],
      columns: bidFields.map((field) => ({
        field,
        column:
          ({ lane_id: 1, origin: 2, destination: 3, volume: 4 } as Record<string, number>)[field] ?? null,
      })),
      volume_per: 'week',
      is_remembered: false,
      problems: [],
    },
  },
})

export const createBid = endpoint({
  name: 'create-bid',
  method: 'POST',
  path: '/api/bids',
  summary: "Upload a shipper's file as a bid",
  description: `Stores the file with a lane for each row, at most ${bidLanesMax.toLocaleString('en-US')}, and prices the lanes in the background: read the bid for its progress. The file is a CSV text or an Excel workbook (.xlsx) of at most ${bidFileBytesMax / 1024 / 1024} MiB; titles above the header and totals are left out. A text that is no known place is not replaced: it is listed with suggestions. A cell that cannot be read is listed with its lane. Rates are US dollars per load on the default basis of your brokerage.`,
  tag,
  who: writes,
  query: Type.Object({
    name: text('The name of the bid'),
    customer,
    file_name: Type.Optional(
      Type.String({ maxLength: 255, 'x-expected': 'a file name of at most 255 characters' }),
    ),
    due_at: Type.Optional(time('The deadline')),
    contract_months: Type.Optional(
      wholeNumber('The months of the contract; if absent those of the round before, else 12', 1, 60),
    ),
    follows: Type.Optional({
      ...recordId,
      description:
        'The bid that this file is the next round of, of the same customer. Lanes are joined by their ID, else by places and equipment: a lane that is the same work keeps its rate, and texts mean the places that were chosen there',
    }),
    volume_per: volumePer,
    map,
    sheet: bidSheet,
  }),
  body: Type.String({ description: 'The file, plain or gzip' }),
  bodyKind: 'csv',
  bodyBytesMax: workbookBytesMax,
  status: 201,
  answer: Bid,
  problems: ['customer-hidden', 'state-conflict'],
  examples: {
    query: { name: 'Annual RFP 2027', customer: 'Harvest Table Foods' },
    body: 'Lane,From,To,Loads/Week,Bid Rate\nH-001,"Dallas, TX","Atlanta, GA",1,\n',
    answer: { ...exampleBid, pricing: { is_running: true, priced: 0 } },
  },
})

export const BidList = Type.Object({ bids: Type.Array(BidSummary) })

export const listBids = endpoint({
  name: 'list-bids',
  method: 'GET',
  path: '/api/bids',
  summary: 'List bids',
  description: `The newest ${bidsListedMax} bids, newest first, with stage, value and deadline.`,
  tag,
  who: reads,
  status: 200,
  answer: BidList,
  examples: { answer: { bids: [exampleSummary] } },
})

export const integrationListBids = endpoint({
  name: 'integration-list-bids',
  method: 'GET',
  path: '/api/integrations/bids',
  summary: 'List bids',
  description: `The newest ${bidsListedMax} bids, newest first, with stage, value and deadline.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  status: 200,
  answer: BidList,
  examples: { answer: { bids: [exampleSummary] } },
})

export const getBid = endpoint({
  name: 'get-bid',
  method: 'GET',
  path: '/api/bids/{bid_id}',
  summary: 'A bid with its sums, progress and unknown places',
  description: 'The lanes are read with list-bid-lanes.',
  tag,
  who: reads,
  params: bidId,
  status: 200,
  answer: Bid,
  problems: ['not-found'],
  examples: { answer: exampleBid },
})

export const changeBid = endpoint({
  name: 'change-bid',
  method: 'PATCH',
  path: '/api/bids/{bid_id}',
  summary: 'Change the name, the stage or the dates of a bid',
  description:
    'Changes the given members, and clears those that are listed in clear. The audit log keeps each change.',
  tag,
  who: writes,
  params: bidId,
  body: changeOf({
    name: Type.Optional(text('The name of the bid')),
    stage: Type.Optional(stage()),
    due_at: Type.Optional(time('The deadline')),
    starts_on: Type.Optional(day('The first day of the contract')),
    clear: Type.Optional(
      Type.Array(oneOf('A date to clear', [...clearedDates]), {
        minItems: 1,
        uniqueItems: true,
        description: 'The dates that the bid has no longer: null leaves a member as it is, as everywhere',
        'x-expected': `a list of one or more of ${clearedDates.join(', ')}, each once`,
      }),
    ),
  }),
  status: 200,
  answer: Bid,
  problems: ['not-found', 'outside-rules'],
  examples: { body: { stage: 'submitted' }, answer: { ...exampleBid, stage: 'submitted' as const } },
})

export const askBidApproval = endpoint({
  name: 'ask-bid-approval',
  method: 'POST',
  path: '/api/bids/{bid_id}/approvals',
  summary: 'Ask for approval of the rates of a bid below the minimum',
  description: `Asks for all rates that need an approval and do not have it, at most ${bidApprovalLanesMax}. Until it is given, the stage of the bid cannot become submitted and its file cannot be exported. An approval holds for a rate that was approved, and for higher ones, until the lane gets a higher minimum.`,
  tag,
  who: writes,
  params: bidId,
  body: Type.Object({ note: Type.Optional(text('A note for the person who decides', noteLengthMax)) }),
  status: 201,
  answer: Approval,
  problems: ['not-found', 'outside-rules', 'state-conflict'],
  examples: {
    body: { note: 'They tender every load.' },
    answer: {
      ...exampleApproval,
      bid: { bid_id: 3, name: 'Annual RFP 2027', lanes: 1 },
      lanes: [{ ...exampleApproval.lanes[0], rate_type: 'contract' as const, estimated_cost: null }],
    },
  },
})

export const removeBid = endpoint({
  name: 'remove-bid',
  method: 'DELETE',
  path: '/api/bids/{bid_id}',
  summary: 'Remove a bid',
  description: 'Removes the bid with its file, its lanes and their history. This cannot be undone.',
  tag,
  who: { kind: 'dashboard', role: 'admin' },
  params: bidId,
  status: 200,
  answer: Type.Object({ removed: Type.Integer({ description: 'The number of the bid' }) }),
  problems: ['not-found'],
  examples: { answer: { removed: 3 } },
})

const afterLane = Type.Object({
  after: Type.Optional(wholeNumber('Only lanes with a higher number', 0, bidLanesMax)),
})
export const BidLanePage = Type.Object({
  lanes: Type.Array(BidLane),
  next_after: {
    ...nullable(Type.Integer()),
    description: 'The value of after for the next page; null on the last one',
  },
})

export const listBidLanes = endpoint({
  name: 'list-bid-lanes',
  method: 'GET',
  path: '/api/bids/{bid_id}/lanes',
  summary: 'The lanes of a bid, page by page',
  description: `At most ${bidLanesPageMax} lanes in the order of the file.`,
  tag,
  who: reads,
  params: bidId,
  query: afterLane,
  status: 200,
  answer: BidLanePage,
  problems: ['not-found'],
  examples: { query: { after: 0 }, answer: { lanes: [exampleLane], next_after: null } },
})

export const integrationListBidLanes = endpoint({
  name: 'integration-list-bid-lanes',
  method: 'GET',
  path: '/api/integrations/bids/{bid_id}/lanes',
  summary: 'The lanes of a bid with rates and awards, page by page',
  description: `At most ${bidLanesPageMax} lanes in the order of the file.`,
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'read' },
  params: bidId,
  query: afterLane,
  status: 200,
  answer: BidLanePage,
  problems: ['not-found'],
  examples: { query: { after: 0 }, answer: { lanes: [exampleLane], next_after: null } },
})

export const setBidRates = endpoint({
  name: 'set-bid-rates',
  method: 'POST',
  path: '/api/bids/{bid_id}/rates',
  summary: 'Set rates of lanes',
  description:
    'Sets rates, as one change that one undo reverts. Each cell names the version of the lane that the person saw. If another person changed one of the lanes meanwhile, the response is 409, errors has its rate, and nothing changes.',
  tag,
  who: writes,
  params: bidId,
  bodyBytesMax: bidCellsBytesMax,
  body: Type.Object({
    cells: Type.Array(
      Type.Object({
        lane: wholeNumber('The number of the lane', 1, bidLanesMax),
        version: wholeNumber('The version that was read', 0, 2_147_483_647),
        rate: Type.Optional(positiveDollars('Dollars per load; absent or null for no rate')),
      }),
      {
        minItems: 1,
        maxItems: bidCellsMax,
        'x-expected': `a list of 1 to ${bidCellsMax.toLocaleString('en-US')} cells`,
      },
    ),
    words: Type.Optional(text('What the history calls the change; "Rates by hand" if absent')),
  }),
  status: 200,
  answer: Type.Object({ change: Type.Integer(), lanes: Type.Array(BidLane), totals: BidTotals }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { cells: [{ lane: 1, version: 0, rate: 2150 }] },
    answer: { change: 1, lanes: [{ ...exampleLane, version: 1 }], totals: exampleTotals },
  },
})

export const setBidPlace = endpoint({
  name: 'set-bid-place',
  method: 'POST',
  path: '/api/bids/{bid_id}/places',
  summary: "Say which place a shipper's text means",
  description:
    'Sets the origin or the destination of all lanes with this text. They are priced again in the background.',
  tag,
  who: writes,
  params: bidId,
  body: Type.Object({
    end: oneOf('The end of the lane', ['origin', 'destination']),
    sent: text('The text of the shipper, as the bid shows it'),
    place: place('The place that it means'),
  }),
  status: 200,
  answer: Type.Object({ change: Type.Integer(), lanes: Type.Integer({ description: 'Lanes that changed' }) }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { end: 'origin', sent: 'Dalas TX', place: 'Dallas, TX' },
    answer: { change: 1, lanes: 12 },
  },
})

const stateCode = (of: string) =>
  Type.Optional(
    Type.String({
      description: `Only lanes whose ${of} is in this state, such as TX`,
      pattern: '^[A-Z]{2,3}$',
      'x-expected': 'the code of a state, such as TX',
    }),
  )
const region = (of: string) =>
  Type.Optional(
    Type.String({
      description: `Only lanes whose ${of} is in this region, such as US-SC`,
      pattern: '^(US|CA|MX)-[A-Z]{2,9}$',
      'x-expected': 'the code of a region, such as US-SC',
    }),
  )
const miles = (which: string) =>
  Type.Optional(
    Type.Number({
      description: `Only lanes with at ${which} these miles`,
      minimum: 0,
      maximum: 10_000,
      'x-expected': 'a number of miles from 0 to 10,000',
    }),
  )

const strategy = {
  strategy: oneOf(
    "suggested: the suggested rates. move: rates by pct percent. minimum_margin: rates of at least pct percent margin over the expected cost. meet_target: rates above the shipper's target become the target, where that leaves at least pct percent margin over the expected cost. target_share: the suggested rates, all moved by the one percentage that brings the expected share of the loads nearest to pct",
    ['suggested', 'move', 'minimum_margin', 'meet_target', 'target_share'],
  ),
  pct: Type.Optional(
    Type.Number({
      description: 'The percentage; required for all but suggested',
      minimum: -50,
      maximum: 100,
      'x-expected': 'a percentage from -50 to 100',
    }),
  ),
  lanes: Type.Optional(
    Type.Array(wholeNumber('The number of a lane', 1, bidLanesMax), {
      minItems: 1,
      maxItems: bidLanesMax,
      description: 'Only these lanes',
      'x-expected': 'a list of numbers of lanes',
    }),
  ),
  origin_state: stateCode('origin'),
  destination_state: stateCode('destination'),
  origin_region: region('origin'),
  destination_region: region('destination'),
  equipment: Type.Optional(equipment('Only lanes with this equipment')),
  miles_min: miles('least'),
  miles_max: miles('most'),
}
const strategyWords =
  'The conditions choose the lanes; without one, all. No rate goes below the minimum of your rules. A lane that cannot be rated, because its cost or its suggested rate is not known, keeps its rate and is counted.'
const outcome = {
  changed: Type.Integer({ description: 'Lanes whose rate changes' }),
  not_known: Type.Integer({ description: 'Chosen lanes that cannot be rated' }),
  held_at_minimum: Type.Integer({ description: 'Lanes that stay at the minimum of your rules' }),
  moved_pct: {
    ...nullable(Type.Number()),
    description: 'By how much target_share moves the suggested rates',
  },
}
const exampleOutcome = { changed: 2, not_known: 0, held_at_minimum: 0, moved_pct: null }

export const previewBidStrategy = endpoint({
  name: 'preview-bid-strategy',
  method: 'POST',
  path: '/api/bids/{bid_id}/strategy-previews',
  summary: 'See what a strategy does to a bid',
  description: `Returns the sums before and after, which equal the sums of their lanes to the cent. Nothing changes. ${strategyWords}`,
  tag,
  who: reads,
  isRead: true,
  params: bidId,
  bodyBytesMax: bidCellsBytesMax,
  body: Type.Object(strategy),
  status: 200,
  answer: Type.Object({
    ...outcome,
    seen_change: Type.Integer({ description: 'Send it with apply-bid-strategy' }),
    before: BidTotals,
    after: BidTotals,
    rates: Type.Array(Type.Object({ lane: Type.Integer(), before: dollarsOrNull, after: Type.Number() }), {
      description: 'The lanes whose rate changes',
    }),
  }),
  problems: ['not-found'],
  examples: {
    body: { strategy: 'move', pct: -2, origin_region: 'US-SC' },
    answer: {
      ...exampleOutcome,
      seen_change: 4,
      before: exampleTotals,
      after: exampleTotals,
      rates: [{ lane: 1, before: 2150, after: 2107 }],
    },
  },
})

export const applyBidStrategy = endpoint({
  name: 'apply-bid-strategy',
  method: 'POST',
  path: '/api/bids/{bid_id}/strategies',
  summary: 'Apply a strategy to a bid',
  description: `Sets the rates of a strategy as one change that one undo reverts. If the lanes were changed or priced since its preview, the response is 409 and nothing changes. ${strategyWords}`,
  tag,
  who: writes,
  params: bidId,
  bodyBytesMax: bidCellsBytesMax,
  body: Type.Object({
    ...strategy,
    seen_change: wholeNumber('seen_change of the preview', 0, 2_147_483_647),
  }),
  status: 200,
  answer: Type.Object({
    ...outcome,
    change: { ...nullable(Type.Integer()), description: 'null: no rate changes' },
    totals: BidTotals,
  }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { strategy: 'move', pct: -2, seen_change: 4 },
    answer: { ...exampleOutcome, change: 5, totals: exampleTotals },
  },
})

const pctOf = (what: string) =>
  Type.Optional(
    Type.Number({ description: what, minimum: 0, maximum: 90, 'x-expected': 'a percentage from 0 to 90' }),
  )
const expectedLoads = (which: string) =>
  Type.Optional(
    Type.Number({
      description: `The expected loads of the whole contract are at ${which} this number`,
      minimum: 0,
      maximum: 10_000_000,
      'x-expected': 'a number of loads from 0 to 10,000,000',
    }),
  )
/** At most so many expected loads out of or into a region or state in each week. */
export const BidCap = Type.Object({
  end: oneOf('The end of the lanes that count', ['origin', 'destination']),
  place: Type.String({
    description: 'A region, such as US-SE, or a state, such as TX',
    pattern: '^((US|CA|MX)-[A-Z]{2,9}|[A-Z]{2,3})$',
    'x-expected': 'the code of a region, such as US-SE, or of a state, such as TX',
  }),
  loads_per_week: Type.Number({
    description: 'At most so many expected loads in each week',
    minimum: 0,
    maximum: 100_000,
    'x-expected': 'a number of loads from 0 to 100,000',
  }),
})

const portfolioLimits = {
  caps: Type.Optional(
    Type.Array(BidCap, {
      minItems: 1,
      maxItems: portfolioCapsMax,
      'x-expected': `a list of 1 to ${portfolioCapsMax} caps`,
    }),
  ),
  margin_pct_min: pctOf('The expected margin of the whole bid is at least this percentage of its revenue'),
  lane_margin_pct_min: pctOf('No lane is bid with a smaller margin, in percent of its rate'),
  loads_min: expectedLoads('least'),
  loads_max: expectedLoads('most'),
  tendered_pct: Type.Optional(
    Type.Number({
      description: 'The percentage of its awarded loads that the shipper tenders; 100 if absent',
      minimum: 1,
      maximum: 100,
      'x-expected': 'a percentage from 1 to 100',
    }),
  ),
}
const exampleLimits = {
  caps: [{ end: 'origin' as const, place: 'US-SE', loads_per_week: 20 }],
  margin_pct_min: 8,
}

export const chooseBidRates = endpoint({
  name: 'choose-bid-rates',
  method: 'POST',
  path: '/api/bids/{bid_id}/portfolios',
  summary: 'Choose the rates of all lanes of a bid together',
  description: `Chooses one rate for each lane, or not to bid it, so that the expected margin of the whole bid is the largest within the limits, and says how far from the best it can be. Nothing changes: send the rates with set-bid-rates. A large bid takes seconds; after ${portfolioSecondsMax} s of work, the best rates so far are the answer. docs/bids-portfolio.md describes the method.`,
  tag,
  who: writes,
  isRead: true,
  params: bidId,
  body: Type.Object({
    ...portfolioLimits,
    frontier_points: Type.Optional(
      wholeNumber(
        'How many points the frontier of margin against loads has; none if absent',
        2,
        frontierPointsMax,
      ),
    ),
  }),
  status: 200,
  answer: Type.Object({
    state: Type.Enum(['chosen', 'impossible', 'not_found'], {
      description: 'impossible: no rates keep the limits. not_found: none were found in time',
    }),
    most_loads: {
      ...nullable(Type.Number()),
      description: 'Unless chosen: no rates within the other limits are expected to bring more loads',
    },
    lanes: Type.Integer({ description: 'Lanes whose rate is chosen' }),
    left_out: Type.Integer({
      description: 'Lanes that keep their rate, because their cost, loads or chance is not known',
    }),
    seen_change: Type.Integer({ description: 'The last change of the bid when its lanes were read' }),
    chosen: nullable(
      Type.Object({
        expected_margin: Type.Number({ description: 'Margin x chance x tendered share, in dollars' }),
        expected_revenue: Type.Number(),
        expected_loads: Type.Number(),
        bound: Type.Number({ description: 'No rates within the limits have a larger expected margin' }),
        lane_by_lane: {
          ...dollarsOrNull,
          description:
            "The expected margin of each lane's own best rate, with lanes left out until the limits hold; null if that fails",
        },
        not_bid: Type.Integer({ description: 'Lanes that get no rate' }),
      }),
    ),
    limits: Type.Array(
      Type.Object({
        limit: Type.Enum(['region', 'loads_max', 'loads_min', 'margin_share']),
        place: { ...nullable(Type.String()), description: 'Of a cap, such as "origin US-SE"' },
        used: Type.Number({ description: 'Expected loads; for the margin share, dollars' }),
        price: Type.Number({
          description:
            'How much expected margin one more load would add, in dollars; for the margin share, dollars of margin per dollar',
        }),
      }),
      { description: 'The limits that rates of this bid could exceed, with what each costs' },
    ),
    frontier: Type.Array(
      Type.Object({
        expected_loads: Type.Number(),
        expected_margin: Type.Number(),
        bound: Type.Number(),
      }),
      { description: 'The largest expected margin for some numbers of loads' },
    ),
    before: BidTotals,
    after: { ...BidTotals, description: 'The sums of the bid with the chosen rates' },
    rates: Type.Array(
      Type.Object({
        lane: Type.Integer(),
        version: Type.Integer(),
        before: dollarsOrNull,
        after: { ...dollarsOrNull, description: 'null: the lane is not bid' },
      }),
      { description: 'The lanes whose rate would change' },
    ),
  }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { ...exampleLimits, frontier_points: 5 },
    answer: {
      state: 'chosen',
      most_loads: null,
      lanes: 2,
      left_out: 0,
      seen_change: 4,
      chosen: {
        expected_margin: 23400,
        expected_revenue: 141000,
        expected_loads: 62.4,
        bound: 23402.15,
        lane_by_lane: 22910,
        not_bid: 0,
      },
      limits: [{ limit: 'region' as const, place: 'origin US-SE', used: 20, price: 190.25 }],
      frontier: [{ expected_loads: 31.2, expected_margin: 14020, bound: 14021 }],
      before: exampleTotals,
      after: exampleTotals,
      rates: [{ lane: 1, version: 0, before: 2150, after: 2210 }],
    },
  },
})

export const certifyBidRates = endpoint({
  name: 'certify-bid-rates',
  method: 'POST',
  path: '/api/bids/{bid_id}/portfolio-certificates',
  summary: 'The certificate of rates that were chosen together',
  description:
    'Chooses the rates as choose-bid-rates does, and returns the certificate: the inputs, the rates, and the proof that no others earn more than the bound. recipes/verify-portfolio.mjs verifies it without the service.',
  tag,
  who: writes,
  isRead: true,
  params: bidId,
  body: Type.Object(portfolioLimits),
  status: 200,
  answer: Type.Object({
    file_name: Type.String(),
    content_type: Type.String(),
    base64: Type.String({ description: 'The bytes of the certificate, which is JSON, in Base64' }),
  }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: exampleLimits,
    answer: {
      file_name: 'bid-3-certificate.json',
      content_type: 'application/json',
      base64: 'e30=',
    },
  },
})

export const listBidChanges = endpoint({
  name: 'list-bid-changes',
  method: 'GET',
  path: '/api/bids/{bid_id}/changes',
  summary: 'Who changed what in a bid',
  description: `The newest ${bidChangesListedMax} changes, newest first; with lane, those of one lane.`,
  tag,
  who: reads,
  params: bidId,
  query: Type.Object({ lane: Type.Optional(wholeNumber('The number of a lane', 1, bidLanesMax)) }),
  status: 200,
  answer: Type.Object({ changes: Type.Array(BidChange) }),
  problems: ['not-found'],
  examples: {
    query: { lane: 1 },
    answer: {
      changes: [
        {
          change: 1,
          kind: 'rates',
          words: 'Rates by hand',
          cells: 1,
          of_lane: { before: 2200, after: 2150 },
          undone_by: null,
          changed_by: { user_id: 1, name: 'Ana Ortiz' },
          changed_at: '2026-03-01T14:05:00.000Z',
        },
      ],
    },
  },
})

export const undoBidChange = endpoint({
  name: 'undo-bid-change',
  method: 'POST',
  path: '/api/bids/{bid_id}/changes/{change}/undo',
  summary: 'Undo a change of rates',
  description:
    'Gives each lane of a change the rate that it had before, as a change of its own, which can be undone, too. If one of the lanes was changed since, the response is 409 and nothing changes.',
  tag,
  who: writes,
  params: Type.Object({ bid_id: recordId, change: recordId }),
  body: Type.Object({}),
  status: 200,
  answer: Type.Object({ change: Type.Integer(), totals: BidTotals }),
  problems: ['not-found', 'state-conflict'],
  examples: { body: {}, answer: { change: 6, totals: exampleTotals } },
})

export const exportBid = endpoint({
  name: 'export-bid',
  method: 'GET',
  path: '/api/bids/{bid_id}/file',
  summary: "The shipper's file with your rates",
  description:
    'The file of the shipper with the rates in the column for them. Nothing else changes: every other cell, formula, style and sheet is that of the shipper. Lanes without a rate keep their cell. Formulas of the shipper that use a rate have their old value until a spreadsheet computes them.',
  tag,
  who: reads,
  params: bidId,
  query: Type.Object({
    column: Type.Optional(
      wholeNumber('The number of the column for rates, from 1; absent: the one of the field rate', 1, 1_000),
    ),
  }),
  status: 200,
  answer: Type.Object({
    file_name: Type.String(),
    content_type: Type.String(),
    filled: Type.Integer({ description: 'Cells that got a rate' }),
    base64: Type.String({ description: 'The bytes of the file in Base64' }),
  }),
  problems: ['not-found', 'state-conflict', 'outside-rules'],
  examples: {
    answer: { file_name: 'harvest-rfp.csv', content_type: 'text/csv', filled: 1, base64: 'TGFuZQo=' },
  },
})
