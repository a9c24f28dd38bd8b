import Type from 'typebox'
import { bidSheet } from './bids.ts'
import { endpoint } from './endpoint.ts'
import {
  day,
  equipment,
  nullable,
  oneOf,
  place,
  positiveDollars,
  recordId,
  text,
  wholeNumber,
} from './fields.ts'
import { LaneFieldError } from './insight-batch.ts'
import {
  awardedRatesListedMax,
  bidCellsBytesMax,
  bidCellsMax,
  bidLanesMax,
  pushBytesMax,
  pushedItemsMax,
  workbookBytesMax,
} from './limits.ts'
import { pushedItems } from './push-items.ts'

const tag = 'Bids' as const
const bidId = Type.Object({ bid_id: recordId })
const count = Type.Integer()
const loads = (description: string) => Type.Number({ description })

const awardStates = ['awarded', 'lost', 'open'] as const
const awardLoads = wholeNumber(
  'The loads that the award promises over the contract; absent for those of the lane',
  0,
  10_000_000,
)

export const SavedAwards = Type.Object({
  change: { ...nullable(Type.Integer()), description: 'The change of the history; null if nothing changed' },
  changed: Type.Integer({ description: 'Lanes that changed' }),
  awarded: Type.Integer({ description: 'Awarded lanes of the bid' }),
  lost: Type.Integer({ description: 'Lost lanes of the bid' }),
})
const exampleSaved = { change: 7, changed: 1, awarded: 1, lost: 0 }

export const setBidAwards = endpoint({
  name: 'set-bid-awards',
  method: 'POST',
  path: '/api/bids/{bid_id}/awards',
  summary: 'Say which lanes of a bid were awarded',
  description:
    'Says what became of lanes, as one change of the history. A lane that is awarded without rate or loads has its own rate, and the loads that the shipper asked for. Each cell names the version of the lane that the person saw. If another person changed one of them meanwhile, the response is 409 and nothing changes.',
  tag,
  who: { kind: 'dashboard', role: 'member' },
  params: bidId,
  bodyBytesMax: bidCellsBytesMax,
  body: Type.Object({
    cells: Type.Array(
      Type.Object({
        lane: wholeNumber('The number of the lane', 1, bidLanesMax),
        version: wholeNumber('The version that was read', 0, 2_147_483_647),
        state: oneOf('What became of the lane', awardStates),
        rate: Type.Optional(positiveDollars('The rate of the award; absent for the rate of the lane')),
        loads: Type.Optional(awardLoads),
      }),
      {
        minItems: 1,
        maxItems: bidCellsMax,
        'x-expected': `a list of 1 to ${bidCellsMax.toLocaleString('en-US')} cells`,
      },
    ),
  }),
  status: 200,
  answer: SavedAwards,
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { cells: [{ lane: 1, version: 2, state: 'awarded', rate: 2150, loads: 48 }] },
    answer: exampleSaved,
  },
})

export const setBidAwardsOfFile = endpoint({
  name: 'set-bid-awards-of-file',
  method: 'POST',
  path: '/api/bids/{bid_id}/award-files',
  summary: "Say which lanes were awarded by the shipper's file",
  description: `Reads the awards from a CSV text or an Excel workbook (.xlsx), as one change of the history. A line names its lane by the shipper's lane ID, else by origin, destination and equipment. A column such as Award or Status says awarded or lost, or the share of the loads as a percentage; a line without such a word says nothing, and without such a column each line is an award. Columns such as Awarded Rate and Awarded Volume say the rate and the loads. A cell that cannot be read, or a line that names no lane of the bid, is a 422 with its line, and nothing changes.`,
  tag,
  who: { kind: 'dashboard', role: 'member' },
  params: bidId,
  query: Type.Object({
    file_name: Type.Optional(
      Type.String({ maxLength: 255, 'x-expected': 'a file name of at most 255 characters' }),
    ),
    sheet: bidSheet,
    others: Type.Optional(
      oneOf('What became of open lanes that the file does not name; open if absent', ['open', 'lost']),
    ),
  }),
  body: Type.String({ description: 'The file, plain or gzip' }),
  bodyKind: 'csv',
  bodyBytesMax: workbookBytesMax,
  status: 200,
  answer: SavedAwards,
  problems: ['not-found', 'state-conflict'],
  examples: {
    query: { file_name: 'award letter.csv' },
    body: 'Lane ID,Award,Awarded Rate,Awarded Volume\nH-001,Awarded,2150,48\nH-002,Lost,,\n',
    answer: exampleSaved,
  },
})

/** What a system says about a lane of a bid. */
export const pushedAward = Type.Object({
  lane_id: Type.Optional(text("The shipper's ID of the lane; or send origin and destination")),
  origin: Type.Optional(place('The origin; sent together with destination')),
  destination: Type.Optional(place('The destination; sent together with origin')),
  equipment: Type.Optional(equipment('The equipment; needed if several lanes have these places')),
  state: oneOf('What became of the lane', awardStates),
  rate: Type.Optional(positiveDollars('The rate of the award; that of the lane if absent')),
  loads: Type.Optional(awardLoads),
})

const AwardResult = Type.Object({
  index: Type.Integer({ description: 'Index of the item in the request, from 0' }),
  status: Type.Literal(200),
  result: Type.Enum(['updated', 'unchanged', 'kept'], {
    description: 'kept: what is stored was signed later, or a person said it later',
  }),
  lane: Type.Integer({ description: 'The number of the lane' }),
})

export const RefusedAward = Type.Object({
  index: Type.Integer({ description: 'Index of the item in the request, from 0' }),
  lane_id: Type.Optional(Type.String()),
  status: Type.Literal(422),
  detail: Type.String(),
  errors: Type.Optional(Type.Array(LaneFieldError)),
})

export const pushBidAwards = endpoint({
  name: 'push-bid-awards',
  method: 'POST',
  path: '/api/integrations/bids/awards',
  summary: 'Push which lanes of a bid were awarded',
  description: `Takes 1 to ${pushedItemsMax} awards of a bid and returns a result for each, in the order of the request. Valid items are one change of the history. An item that is not valid, or that names no lane of the bid, does not affect the others. The same call again changes nothing, and an award that was signed before the stored one is kept out.`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: 'address and body', scope: 'quotes:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({
    bid_id: { ...recordId, description: 'The bid' },
    awards: pushedItems(pushedAward, 'awards'),
  }),
  itemsOf: 'awards',
  status: 200,
  answer: Type.Object({
    updated: Type.Integer(),
    unchanged: Type.Integer({
      description: 'Items that change nothing, or were signed before what is stored',
    }),
    failed: Type.Integer({ description: 'Items with status 422' }),
    results: Type.Array(Type.Union([AwardResult, RefusedAward])),
  }),
  problems: ['not-found', 'request-in-progress'],
  examples: {
    body: { bid_id: 3, awards: [{ lane_id: 'H-001', state: 'awarded', rate: 2150, loads: 48 }] },
    answer: {
      updated: 1,
      unchanged: 0,
      failed: 0,
      results: [{ index: 0, status: 200, result: 'updated', lane: 1 }],
    },
  },
})

/** Promised, tendered and booked loads. */
export const AwardVolume = Type.Object({
  promised: loads('The loads that the awards promised until now'),
  tendered: loads('Contract quotes for the customer on these lanes since the contract began'),
  booked: loads('Those of them that were booked'),
})

/** What the costs of an awarded lane do. */
export const AwardCosts = Type.Object({
  state: Type.Enum(['too_few', 'holds', 'rising'], {
    description:
      'rising: costs are above the forecast of the bid. On a flat lane, one false alarm in ten years. too_few: fewer than two weeks with costs',
  }),
  since_week: {
    ...nullable(Type.Integer()),
    description: 'The week of the contract in which the rise most likely began, from 1',
  },
  rise_pct: Type.Number({ description: 'How far costs are above the forecast now, in percent' }),
  rise_pct_low: Type.Number({ description: 'The lower end of its 80 % range' }),
  rise_pct_high: Type.Number(),
  loads_left: loads('Loads until the end of the contract'),
  extra_cost: Type.Number({ description: 'Their cost above the forecast, in dollars' }),
  extra_cost_low: Type.Number({ description: 'The lower end of its 80 % range' }),
  extra_cost_high: Type.Number(),
  margin: Type.Number({ description: 'Their margin at the fixed rate' }),
  planned_margin: Type.Number({ description: 'Their margin when the lane was bid' }),
  quotes: Type.Array(Type.Integer(), {
    description: 'The quotes behind it, at most 50: those since the rise began, or all',
  }),
})

/** The share of its awarded loads that a customer tenders. */
export const TenderedShare = Type.Object({
  share: Type.Number(),
  low: Type.Number({ description: 'The lower end of its 80 % range' }),
  high: Type.Number(),
  lanes: Type.Integer({ description: 'Its awarded lanes that promised a load or more until now' }),
  ghost_lanes: Type.Integer({ description: 'Those of them without one load' }),
  own: {
    ...nullable(Type.Number()),
    description: 'The share of its own record alone; null without one',
  },
  usual: Type.Number({ description: 'The share that your other customers let expect' }),
})

const exampleVolume = { promised: 12, tendered: 9, booked: 9 }
const exampleCosts = {
  state: 'holds' as const,
  since_week: null,
  rise_pct: 1.2,
  rise_pct_low: -2.1,
  rise_pct_high: 4.6,
  loads_left: 40,
  extra_cost: 866,
  extra_cost_low: -1516,
  extra_cost_high: 3321,
  margin: 12934,
  planned_margin: 13800,
  quotes: [412],
}

export const getBidStanding = endpoint({
  name: 'get-bid-standing',
  method: 'GET',
  path: '/api/bids/{bid_id}/standing',
  summary: 'How the awarded lanes of a bid do',
  description:
    'Promised, tendered and booked loads by lane and week since the contract began, which lanes cost more than was expected when they were bid, and the share of its awarded loads that the customer tenders. docs/bids-portfolio.md describes the alarm and the share.',
  tag,
  who: { kind: 'dashboard', role: 'viewer' },
  params: bidId,
  status: 200,
  answer: Type.Object({
    starts_on: Type.String({ format: 'date' }),
    week: Type.Integer({ description: 'The week of the contract that it is, from 1; 0 before it began' }),
    weeks: Type.Integer({ description: 'The weeks of the contract' }),
    volume: AwardVolume,
    by_week: Type.Array(AwardVolume, { description: 'From the first week to the present one' }),
    tendered: {
      ...nullable(TenderedShare),
      description: 'null: no awarded lane of any customer has promised a load yet',
    },
    lanes: Type.Array(
      Type.Object({
        lane: count,
        origin: Type.String(),
        destination: Type.String(),
        equipment: nullable(Type.String()),
        rate: nullable(Type.Number()),
        loads: nullable(Type.Integer()),
        volume: AwardVolume,
        costs: {
          ...nullable(AwardCosts),
          description: 'null: the lane had no expected cost when it was bid, or has no rate',
        },
      }),
    ),
  }),
  problems: ['not-found', 'state-conflict'],
  examples: {
    answer: {
      starts_on: '2026-01-01',
      week: 12,
      weeks: 52,
      volume: exampleVolume,
      by_week: [{ promised: 1, tendered: 1, booked: 1 }],
      tendered: { share: 0.7, low: 0.5, high: 0.88, lanes: 4, ghost_lanes: 1, own: 0.75, usual: 0.6 },
      lanes: [
        {
          lane: 1,
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          rate: 2150,
          loads: 52,
          volume: exampleVolume,
          costs: exampleCosts,
        },
      ],
    },
  },
})

export const findAwardedRates = endpoint({
  name: 'find-awarded-rates',
  method: 'GET',
  path: '/api/awarded-rates',
  summary: 'The awarded contract rates of a lane',
  description: `The rates of your awarded bids for a customer between two places on a day, at most ${awardedRatesListedMax}, newest contract first. A contract without a first day is not in force yet. A lane that was bid for any equipment counts for each one.`,
  tag,
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    origin: place('The origin'),
    destination: place('The destination'),
    equipment: Type.Optional(equipment('The equipment; without it, any')),
    customer: text('The customer'),
    pickup_date: Type.Optional(day('The day; today if absent')),
  }),
  status: 200,
  answer: Type.Object({
    rates: Type.Array(
      Type.Object({
        bid_id: Type.Integer(),
        name: Type.String({ description: 'The name of the bid' }),
        lane: count,
        equipment: { ...nullable(Type.String()), description: 'null: any' },
        rate: Type.Number({ description: 'Dollars per load on the default basis' }),
        starts_on: Type.String({ format: 'date' }),
        ends_on: Type.String({ format: 'date', description: 'The last day of the contract' }),
      }),
    ),
  }),
  examples: {
    query: { origin: 'Dallas, TX', destination: 'Atlanta, GA', customer: 'Harvest Table Foods' },
    answer: {
      rates: [
        {
          bid_id: 3,
          name: 'Annual RFP 2027',
          lane: 1,
          equipment: 'V',
          rate: 2150,
          starts_on: '2026-01-01',
          ends_on: '2026-12-31',
        },
      ],
    },
  },
})
