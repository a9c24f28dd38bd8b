/**
 * The handlers of the endpoints, in folders by subject, each in a file with the same name as its declaration in the
 * contract. A handler parses, fetches, decides, saves and answers. It uses neither the HTTP framework nor the clock.
 */

export { customerEndpoints } from './customers/customers.ts'
export { teamEndpoints } from './customers/teams.ts'
export {
  type Call,
  type CsvFile,
  type Release,
  Reply,
  type ServedEndpoint,
  type Signed,
} from './endpoint-call.ts'
export { auditEndpoints } from './integration/audit.ts'
export { credentialEndpoints } from './integration/credentials.ts'
export { eventEndpoints } from './integration/event-endpoints.ts'
export { integrationCallEndpoints } from './integration/integration-calls.ts'
export { pushQuoteEndpoints } from './integration/push-quotes.ts'
export { pushShipmentUpdatesEndpoint } from './integration/push-shipment-updates.ts'
export { readBackEndpoints } from './integration/read-back.ts'
export { shipmentUpdateEndpoint } from './integration/shipment-update.ts'
export { signatureCheckEndpoint } from './integration/signature-check.ts'
export { exchangeEndpoints } from './market/exchange.ts'
export { fuelEndpoints } from './market/fuel.ts'
export { marketRateEndpoints } from './market/market-rates.ts'
export { marketStandingEndpoints } from './market/market-standing.ts'
export type { Parts } from './parts.ts'
export { settingsEndpoints } from './people/brokerage-settings.ts'
export { firstStepsEndpoint } from './people/first-steps.ts'
export { sandboxEndpoints } from './people/sandbox.ts'
export { signInEndpoints } from './people/sign-in.ts'
export { userEndpoints } from './people/users.ts'
export { backtestEndpoints } from './performance/backtest.ts'
export { forecastEndpoints } from './performance/forecasts.ts'
export { performanceEndpoints } from './performance/performance.ts'
export { approvalEndpoints } from './pricing/approvals.ts'
export { insightBatchEndpoint } from './pricing/insight-batch.ts'
export { laneAdviceEndpoint, laneInsightEndpoint } from './pricing/lane-insight.ts'
export { markupEndpoint, quoteAdviceEndpoint } from './pricing/markup.ts'
export { pricingRuleEndpoints } from './pricing/pricing-rules.ts'
export { quotesAdviceEndpoint } from './pricing/quotes-advice.ts'
export { importEndpoints } from './quotes/imports.ts'
export { laneRecordEndpoint } from './quotes/lane-record.ts'
export { markQuotesEndpoint } from './quotes/mark-quotes.ts'
export { pastedQuotesEndpoint } from './quotes/pasted-quotes.ts'
export { quoteListSettingsEndpoints } from './quotes/quote-list-settings.ts'
export { quoteListEndpoints } from './quotes/quote-lists.ts'
export { quoteEndpoints } from './quotes/quote-requests.ts'
export { suggestionEndpoints } from './quotes/suggestions.ts'
export { voidQuoteEndpoints } from './quotes/void-quote.ts'
