import type { Endpoint } from './endpoint.ts'

/** An address that an earlier version served, and a sentence on what to use instead. */
interface RemovedAddress {
  readonly methods: readonly Endpoint['method'][]
  /** With parameters in braces, as in the addresses of endpoints. */
  readonly path: string
  readonly instead: string
}

const toForecasts =
  'Each quote has its forecast (the member forecast): GET /api/forecasts compares the forecasts with the outcomes, and GET /api/forecasts/export has a line per quote.'

const toDecisions =
  'POST /api/customers/decisions sets whether two names are the same customer: same merges them, different keeps them apart, open undoes either.'

const toBacktest =
  'POST /api/backtest is one report: the estimate, the margin that rates missed, and what a rule would have changed (rule of the body). GET /api/backtest/export has a line per quote that missed margin.'

/** The removed addresses. A call gets 404, with the sentence in the detail. */
export const removedAddresses: readonly RemovedAddress[] = [
  {
    methods: ['GET'],
    path: '/api/lanes/{lane_ref}/counter-advice',
    instead:
      'POST /api/advice/lanes gives the chance after a counter-offer: send the facts of the quote with counter_offer.',
  },
  {
    methods: ['GET', 'POST', 'DELETE'],
    path: '/api/market-keys',
    instead:
      'No provider is asked for market rates: push them with POST /api/integrations/market-rates, or load a file with POST /api/market-rate-files.',
  },
  { methods: ['GET', 'PATCH'], path: '/api/pilot', instead: toForecasts },
  { methods: ['PATCH'], path: '/api/pilot/experiment', instead: toForecasts },
  { methods: ['GET'], path: '/api/pilot/report', instead: toForecasts },
  { methods: ['GET'], path: '/api/pilot/entries', instead: toForecasts },
  { methods: ['GET'], path: '/api/pilot/export', instead: toForecasts },
  { methods: ['GET'], path: '/api/calibration', instead: toForecasts },
  {
    methods: ['POST'],
    path: '/api/sample-data',
    instead: 'A first start on an empty folder (npm start) creates a brokerage with sample data.',
  },
  {
    methods: ['GET', 'POST'],
    path: '/api/sandbox',
    instead:
      'POST /api/sandbox/session signs in to the test brokerage, and creates it first if it is missing. GET /api/me there shows its tenant.',
  },
  { methods: ['POST', 'DELETE'], path: '/api/customers/merges', instead: toDecisions },
  { methods: ['POST', 'DELETE'], path: '/api/customers/variants/dismissed', instead: toDecisions },
  { methods: ['GET'], path: '/api/performance/missed-margin', instead: toBacktest },
  { methods: ['GET'], path: '/api/performance/missed-margin/quotes', instead: toBacktest },
  { methods: ['GET'], path: '/api/performance/missed-margin/export', instead: toBacktest },
  { methods: ['POST'], path: '/api/pricing-rule-tests', instead: toBacktest },
]
