import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import {
  dollars,
  equipment,
  label,
  nullable,
  oneOf,
  place,
  positiveDollars,
  text,
  time,
  wholeNumber,
} from './fields.ts'
import { ImportNote } from './imports.ts'
import {
  labelLengthMax,
  marketFileBytesMax,
  marketFileRowsMax,
  marketFileSecondsMax,
  pageSizeMax,
  pushBytesMax,
  pushedItemsMax,
} from './limits.ts'
import {
  MarketRate,
  marketCurrencies,
  marketKinds,
  marketRateState,
  marketScopes,
} from './market-reference.ts'
import { countedAs, pushCounts, pushedItems, RefusedItem, signsAddress } from './push-items.ts'
import { rateBases } from './rate-basis.ts'
import { fileBody, fileForms, settingsMap, sheet } from './sent-file.ts'

const area = (end: string) =>
  place(
    `${end}: a city for the scopes lane and market, a 3-digit ZIP area for zip3, a state for state_pair, a region such as US-SC for region`,
  )

/** One market rate as it is sent. Each is validated on its own. */
export const sentMarketRate = Type.Object({
  scope: Type.Optional(oneOf('What the rate covers; default lane', marketScopes)),
  origin: area('Pickup area'),
  destination: area('Delivery area'),
  equipment: equipment('Equipment code, such as V'),
  basis: oneOf('What the rate includes: linehaul, or all_in with fuel', rateBases),
  kind: Type.Optional(
    oneOf(
      'buy (the default): what carriers are paid, as load boards publish it. sell: what customers pay',
      marketKinds,
    ),
  ),
  currency: Type.Optional(
    oneOf(
      'Default USD. Canadian dollars are compared on days with an exchange rate; Mexican pesos are never',
      marketCurrencies,
    ),
  ),
  fuel: Type.Optional(
    dollars('The fuel charge per load: a part of an all_in rate, and besides a linehaul rate'),
  ),
  low: Type.Optional(dollars('Low end of the range, in dollars per load')),
  mid: positiveDollars('The rate, in dollars per load'),
  high: Type.Optional(dollars('High end of the range, in dollars per load')),
  sample: Type.Optional(wholeNumber('Loads or reports behind the rate', 0, 1_000_000_000)),
  source: label('Where the rate comes from, such as DAT. Rates are erased by their source'),
  as_of: time('When the source published the rate'),
  valid_until: Type.Optional(time('Until when the source says that the rate is valid')),
})

export const MarketRateResult = Type.Object({
  index: Type.Integer({ description: 'Index of the rate in the request, from 0' }),
  status: Type.Literal(200),
  result: Type.Enum(['created', 'updated', 'unchanged']),
  scope: Type.Enum([...marketScopes]),
  origin: Type.String({ description: 'The area as it was understood' }),
  destination: Type.String({ description: 'The area as it was understood' }),
  state: marketRateState,
})

const moment = Type.String({ format: 'date-time' })

export const resultsAnswer = Type.Object({
  ...pushCounts,
  failed: Type.Integer({ description: 'Rates with status 422 or 503' }),
  results: Type.Array(Type.Union([MarketRateResult, RefusedItem])),
})

const exampleSent = {
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  basis: 'all_in',
  low: 1790,
  mid: 1960,
  high: 2140,
  sample: 48,
  source: 'DAT',
  as_of: '2026-02-27',
} as const

const exampleResults = {
  created: 1,
  updated: 0,
  unchanged: 0,
  failed: 1,
  results: [
    {
      index: 0,
      status: 200,
      result: 'created',
      scope: 'lane',
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      state: 'usable',
    },
    {
      index: 1,
      status: 422,
      detail:
        'mid must be dollars per load; $2.50 looks like dollars per mile, which is $2,142.50 for 857 miles.',
      errors: [
        {
          pointer: '/mid',
          code: 'invalid',
          detail:
            'mid must be dollars per load; $2.50 looks like dollars per mile, which is $2,142.50 for 857 miles.',
        },
      ],
    },
  ],
}

const replaces =
  'A rate with the same scope, areas, equipment, source, basis, kind, currency and as_of replaces the saved one; the same call again changes nothing. Amounts that look like cents or like dollars per mile are refused. A rate older than valid_until or a year, or that cannot be brought to US dollars on the basis of your rates, is saved and not used: its state says so.'

export const pushMarketRates = endpoint({
  name: 'push-market-rates',
  method: 'POST',
  path: '/api/integrations/market-rates',
  summary: 'Save market rates',
  description: `Takes 1 to ${pushedItemsMax} market rates and returns a result for each, in the order of the request. ${replaces} A rate that is not valid does not affect the others: its result has status 422 and names the fields. A rate of an older signature does not replace one of a newer signature. ${countedAs}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'quotes:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ rates: pushedItems(sentMarketRate, 'market rates') }),
  itemsOf: 'rates',
  status: 200,
  answer: resultsAnswer,
  problems: ['request-in-progress'],
  examples: { body: { rates: [exampleSent, { ...exampleSent, mid: 2.5 }] }, answer: exampleResults },
})

const member = { kind: 'dashboard', role: 'member' } as const

export const addMarketRates = endpoint({
  name: 'add-market-rates',
  method: 'POST',
  path: '/api/market-rates',
  summary: 'Enter market rates by hand',
  description: `Saves 1 to ${pushedItemsMax} market rates, with a result for each. ${replaces}`,
  tag: 'Market',
  who: member,
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ rates: pushedItems(sentMarketRate, 'market rates') }),
  itemsOf: 'rates',
  status: 200,
  answer: resultsAnswer,
  examples: { body: { rates: [exampleSent, { ...exampleSent, mid: 2.5 }] }, answer: exampleResults },
})

/** The fields of a row of a file. */
export const marketFileFields = [
  'scope',
  'origin',
  'origin_state',
  'origin_market',
  'origin_zip',
  'destination',
  'destination_state',
  'destination_market',
  'destination_zip',
  'equipment',
  'basis',
  'kind',
  'currency',
  'low',
  'mid',
  'high',
  'range',
  'fuel',
  'miles',
  'sample',
  'source',
  'as_of',
  'valid_until',
] as const

export const loadMarketFile = endpoint({
  name: 'load-market-file',
  method: 'POST',
  path: '/api/market-rate-files',
  summary: 'Load market rates from a file',
  description: `Reads up to ${marketFileRowsMax.toLocaleString('en-US')} rows with a header line, saves the valid ones, and returns the errors of the others by line. ${fileForms} Unpacked, it has at most ${marketFileBytesMax / 1024 / 1024} MiB. Lines that are no rates (titles, totals, remarks, lanes without a rate, repeated lines) are left out, and understood names them. source, basis, kind, equipment, unit and as_of apply where a row or a column does not state the value. Dollars per mile are multiplied by the miles. Times without a zone are in the time zone of the brokerage. With dry_run, nothing is saved. A brokerage can send only one file at a time. Saving stops after ${marketFileSecondsMax} seconds: a 503 says how many rates are saved; send the file again. ${replaces}`,
  tag: 'Market',
  who: member,
  query: Type.Object({
    source: Type.Optional(label('The source of rows without one')),
    basis: Type.Optional(oneOf('The basis of rows without one', rateBases)),
    kind: Type.Optional(oneOf('The kind of rows without one; default buy', marketKinds)),
    equipment: Type.Optional(equipment('The equipment of rows without one, such as V')),
    unit: Type.Optional(
      oneOf(
        'The unit of amounts whose column does not name one; default per_load. A file whose amounts are all below 10 dollars is refused without it',
        ['per_load', 'per_mile'],
      ),
    ),
    as_of: Type.Optional(time('The date of rows without one')),
    dry_run: Type.Optional(oneOf('true checks the file and saves nothing', ['true', 'false'])),
    map: settingsMap(['dates', 'encoding', 'hidden']),
    sheet,
  }),
  body: fileBody,
  bodyKind: 'csv',
  bodyBytesMax: marketFileBytesMax,
  status: 200,
  answer: Type.Object({
    rows: Type.Integer(),
    stored: Type.Boolean({ description: 'false with dry_run' }),
    columns: Type.Array(
      Type.Object({
        name: Type.String(),
        field: { ...nullable(Type.Enum([...marketFileFields])), description: 'null: the column is not read' },
      }),
    ),
    understood: Type.Array(ImportNote, {
      description:
        'How the file was read, in sentences: what was assumed, and the lines that are no rates. Choices are pairs for map',
    }),
    ...pushCounts,
    failed: Type.Integer({ description: 'Rows that are not valid' }),
    not_used: Type.Integer({ description: 'Valid rows whose state is not usable' }),
    errors: Type.Array(Type.Object({ line: Type.Integer(), field: Type.String(), detail: Type.String() }), {
      description: 'The first 100 errors',
    }),
  }),
  problems: ['state-conflict'],
  examples: {
    query: { source: 'DAT', basis: 'all_in' },
    body: 'Origin,Destination,Equipment,Rate,Date\nDallas TX,Atlanta GA,V,1960,2026-02-27\n',
    answer: {
      rows: 1,
      stored: true,
      columns: [
        { name: 'Origin', field: 'origin' },
        { name: 'Destination', field: 'destination' },
        { name: 'Equipment', field: 'equipment' },
        { name: 'Rate', field: 'mid' },
        { name: 'Date', field: 'as_of' },
      ],
      understood: [],
      created: 1,
      updated: 0,
      unchanged: 0,
      failed: 0,
      not_used: 0,
      errors: [],
    },
  },
})

/** A file of market rates that another system pushes. */
export const pushMarketFile = endpoint({
  ...loadMarketFile,
  name: 'push-market-file',
  path: '/api/integrations/market-rate-files',
  summary: 'Load market rates from a file, for a service token',
  description: `The same as ${loadMarketFile.path}, for a service token. A file counts as one request. The signed time counts as the time of its rates: a rate of an older signature does not replace one of a newer signature. ${loadMarketFile.description}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'quotes:write' },
})

const exampleRate = {
  scope: 'lane',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  basis: 'all_in',
  kind: 'buy',
  currency: 'USD',
  low: 1790,
  mid: 1960,
  high: 2140,
  fuel: null,
  compared: 1960,
  converted_by: null,
  sample: 48,
  source: 'DAT',
  as_of: '2026-02-27T00:00:00.000Z',
  valid_until: null,
  age_days: 2,
  state: 'usable',
} as const

export const listMarketRates = endpoint({
  name: 'list-market-rates',
  method: 'GET',
  path: '/api/market-rates',
  summary: 'List the sources of market rates, and the newest rates',
  description: 'The sources with their numbers of rates, and the newest rates, of all sources or of one.',
  tag: 'Market',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    source: Type.Optional(text('Only rates of this source', labelLengthMax)),
    limit: Type.Optional(wholeNumber('Rates in the response; default 50', 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({
    sources: Type.Array(
      Type.Object({
        source: Type.String(),
        rates: Type.Integer(),
        newest_as_of: moment,
        oldest_as_of: moment,
      }),
    ),
    rates: Type.Array(MarketRate),
  }),
  examples: {
    answer: {
      sources: [
        {
          source: 'DAT',
          rates: 1,
          newest_as_of: '2026-02-27T00:00:00.000Z',
          oldest_as_of: '2026-02-27T00:00:00.000Z',
        },
      ],
      rates: [exampleRate],
    },
  },
})

export const eraseMarketSource = endpoint({
  name: 'erase-market-source',
  method: 'DELETE',
  path: '/api/market-rate-sources/{source}',
  summary: 'Erase all market rates of one source',
  description:
    'Deletes every rate of the source at once, for example because its contract has ended. The audit log records who erased how many.',
  tag: 'Market',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ source: text('The source, exactly as listed', labelLengthMax) }),
  status: 200,
  answer: Type.Object({ source: Type.String(), erased: Type.Integer() }),
  problems: ['not-found'],
  examples: { answer: { source: 'DAT', erased: 1 } },
})
