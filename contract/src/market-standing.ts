import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, oneOf, time, wholeNumber } from './fields.ts'
import { pageSizeDefault, pageSizeMax } from './limits.ts'
import { marketScopes } from './market-reference.ts'
import { LaneKey } from './performance.ts'
import { ComparedBasis, exampleBasis, rateBases } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'

const number = nullable(Type.Number())

export const AgainstMarket = Type.Object({
  loads: Type.Integer({ description: 'Loads with a market rate on their day' }),
  own: {
    ...number,
    description: 'Average of your rates, or in paid of your truck costs; null without a load',
  },
  market: { ...number, description: 'Average of the market rates of the same loads' },
  above_pct: { ...number, description: 'Percent by which own is above market, one decimal' },
})

const figures = {
  won: AgainstMarket,
  lost: AgainstMarket,
  paid: { ...AgainstMarket, description: 'Booked truck costs against market rates of the kind buy' },
  paid_above: Type.Number({ description: 'Dollars paid above the market; 0 if you pay the market or less' }),
  quoted_below: Type.Number({
    description: 'Dollars by which won and lost quotes are below what customers pay; 0 if they are not',
  }),
}

/** The figures of all lanes. */
const MarketFigures = Type.Object(figures)

const selection = {
  from: Type.Optional(time('Only quotes made at or after this time')),
  to: Type.Optional(time('Only quotes made before this time')),
  equipment: Type.Optional(equipment('Only quotes with this equipment')),
  rate_type: ofRateType,
  show: Type.Optional(
    oneOf(
      'all (the default): most loads first. paying_above: lanes where you pay above the market, most dollars first. quoting_below: lanes that you quote below it, most dollars first',
      ['all', 'paying_above', 'quoting_below'],
    ),
  ),
}

const exampleAgainst = { loads: 12, own: 2058.33, market: 1960, above_pct: 5 }
const exampleFigures = {
  won: exampleAgainst,
  lost: { loads: 7, own: 2240, market: 1960, above_pct: 14.3 },
  paid: { loads: 9, own: 2010, market: 1960, above_pct: 2.6 },
  paid_above: 450,
  quoted_below: 0,
}

export const getMarketStanding = endpoint({
  name: 'get-market-standing',
  method: 'GET',
  path: '/api/market-standing',
  summary: 'Your rates and truck costs against the market',
  description:
    'Compares each quote with the market rate of its lane on the day of the quote: the most specific area, not expired, newest. Won and lost quotes are compared with what customers pay (kind sell), truck costs with what carriers are paid (kind buy), in US dollars on the basis of your rates. Quotes and costs without such a rate are counted apart. By lane, and by month in UTC.',
  tag: 'Market',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    ...selection,
    limit: Type.Optional(wholeNumber(`Lanes in the response; default ${pageSizeDefault}`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({
    basis: Type.Enum([...rateBases]),
    compared: {
      ...ComparedBasis,
      description:
        'How many quotes were converted to this basis and to US dollars, and how many were left out',
    },
    lanes: Type.Array(
      Type.Object({
        lane: LaneKey,
        ...figures,
        scope: Type.Enum([...marketScopes], { description: 'The area of the newest market rate used' }),
        source: Type.String({ description: 'The source of the newest market rate used' }),
        as_of: Type.String({ format: 'date-time' }),
      }),
    ),
    lanes_total: Type.Integer({ description: 'Number of lanes with the selection, shown or not' }),
    months: Type.Array(Type.Object({ month: Type.String(), ...figures }), {
      description: 'Oldest first, over all lanes with a market rate',
    }),
    totals: MarketFigures,
    without_market: Type.Object({
      lanes: Type.Integer({ description: 'Lanes without a market rate for any of their quotes' }),
      loads: Type.Integer({ description: 'Loads whose rate or truck cost has no market rate, each once' }),
      quotes: Type.Integer({ description: 'Those of them that are won or lost quotes' }),
      other_basis: Type.Integer({
        description:
          'Loads whose market rates are on the other basis, with neither a fuel charge nor a surcharge of their day',
      }),
      other_currency: Type.Integer({
        description:
          'Loads whose market rates are in another currency, without an exchange rate of their day',
      }),
      stale: Type.Integer({ description: 'Loads whose market rates were too old' }),
    }),
  }),
  examples: {
    query: { show: 'paying_above' },
    answer: {
      basis: 'all_in',
      compared: { ...exampleBasis, kept_apart: 2 },
      lanes: [
        {
          lane: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
          ...exampleFigures,
          scope: 'lane',
          source: 'DAT',
          as_of: '2026-02-27T00:00:00.000Z',
        },
      ],
      lanes_total: 1,
      months: [{ month: '2026-02', ...exampleFigures }],
      totals: exampleFigures,
      without_market: { lanes: 4, loads: 11, quotes: 7, other_basis: 3, other_currency: 0, stale: 1 },
    },
  },
})

export const exportMarketStanding = endpoint({
  name: 'export-market-standing',
  method: 'GET',
  path: '/api/market-standing/export',
  summary: 'Your rates and truck costs against the market as a CSV file',
  description: 'All lanes of get-market-standing, in its order, without a limit.',
  tag: 'Market',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(selection),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then one line per lane; UTF-8 with a byte order mark' }),
  examples: {
    answer:
      '\uFEFFOrigin,Destination,Equipment,Won loads,Won average,Market of won,Won above market %\r\n"Dallas, TX","Atlanta, GA",V,12,2058.33,1960.00,5\r\n',
  },
})
