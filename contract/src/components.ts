import Type, { type TSchema } from 'typebox'
import { Approval } from './approvals.ts'
import { AuditEvent, Person } from './audit.ts'
import {
  BacktestDollars,
  BacktestDone,
  BacktestMissed,
  BacktestRule,
  BacktestRunning,
  BacktestTooFew,
  MissedQuote,
  MissedSums,
  NotJudged,
  Quality,
  ReliabilityGroup,
} from './backtest.ts'
import { Tenant, updateTenant } from './brokerage-settings.ts'
import { CustomerAlias, Decisions, Spelling } from './customers.ts'
import { roles } from './endpoint.ts'
import {
  CurvePoint,
  CustomerOfEstimate,
  Estimate,
  EstimatePool,
  EvidenceQuote,
  Interval,
  MarginRisk,
  Optimum,
} from './estimate.ts'
import { EventDelivery, EventEndpoint, EventEndpointWithSecret } from './event-endpoints.ts'
import { eventTypes } from './event-types.ts'
import { QuoteChanged } from './events.ts'
import { ExchangeRate } from './exchange.ts'
import {
  dollars,
  email,
  equipment,
  laneRef,
  place,
  positiveDollars,
  recordId,
  sentLaneRef,
  time,
} from './fields.ts'
import { ForecastMean } from './forecasts.ts'
import { DieselWeek, FuelStep } from './fuel.ts'
import { Import, ImportError, ImportNote } from './imports.ts'
import { batchLane, ItemFieldError } from './insight-batch.ts'
import { AnsweredPool, RateTypeCounts } from './insight-extras.ts'
import { IntegrationCall } from './integration-calls.ts'
import { InsightQuery, laneInsight, laneScopes } from './lane-insight.ts'
import { LaneEnd } from './lane-record.ts'
import { MarketRateResult, resultsAnswer, sentMarketRate } from './market-rates.ts'
import { MarketRate, MarketReference, OwnRates } from './market-reference.ts'
import { AgainstMarket } from './market-standing.ts'
import {
  confidences,
  MarkupEvidence,
  markup,
  markupOfBatch,
  RateBand,
  winProbabilityMethods,
} from './markup.ts'
import { LaneKey, MarginGap, PerformanceRow, PerformanceTotals, WinRateInterval } from './performance.ts'
import {
  AppliedRules,
  OutsideRule,
  PricingRule,
  PricingRules,
  RuleConditions,
  RuleLimit,
  RuleTerms,
  ShownConditions,
  ShownMargin,
  ShownMinimum,
  ShownTerms,
} from './pricing-rules.ts'
import { RefusedItem } from './push-items.ts'
import { CheckedQuote, PushedQuoteResult, pushedQuote } from './push-quotes.ts'
import {
  Change,
  CostRange,
  changeSources,
  outcomeReasons,
  outcomes,
  Quote,
  RecordedForecast,
  UserSummary,
} from './quote.ts'
import { QuoteView } from './quote-list-settings.ts'
import { createQuoteRequest, listShipments, QuoteRequest, QuoteWithWarnings } from './quote-requests.ts'
import { QuoteConversion } from './quotes-advice.ts'
import { ComparedBasis, NamedCharge } from './rate-basis.ts'
import { RateWarning } from './rate-warnings.ts'
import { ChangedQuote, RemovedQuote } from './read-back.ts'
import { ServiceToken } from './service-token.ts'
import { Session, signOut } from './sign-in.ts'
import { checkSignature } from './signature-check.ts'
import { CreatedSecret, SigningSecret } from './signing-secret.ts'
import { Team } from './teams.ts'
import { UnknownPlaces } from './unknown-places.ts'
import { User } from './users.ts'

/**
 * The named schemas of the OpenAPI document. Each is defined once, and every schema with the same structure refers to
 * it. Request bodies and responses are named after their operation and need no entry. `checks/openapi.test.ts` finds
 * objects that occur twice and have no entry here.
 */
export const components: Readonly<
  Record<string, { readonly schema: TSchema; readonly description: string }>
> = {
  Dollars: { schema: dollars(''), description: 'An amount of dollars from 0, exact to the cent' },
  PositiveDollars: {
    schema: positiveDollars(''),
    description: 'An amount of dollars above 0, exact to the cent',
  },
  AnsweredPool: {
    schema: AnsweredPool,
    description: 'The quotes that an answer counts: spot, contract or all',
  },
  EstimatePool: {
    schema: EstimatePool,
    description: 'Whether spot or contract quotes answered, and what was taken from the others',
  },
  RateTypeCounts: { schema: RateTypeCounts, description: 'Numbers of quotes by rate type' },
  CustomerOfEstimate: {
    schema: CustomerOfEstimate,
    description: 'The customer of an estimate, and what it changes',
  },
  Team: { schema: Team, description: 'People, and the customers that only they see' },
  CustomerAlias: { schema: CustomerAlias, description: 'A name that was merged into a customer' },
  CustomerDecisions: { schema: Decisions, description: 'Decided quotes of a customer in a period' },
  CustomerSpelling: { schema: Spelling, description: 'A customer as quotes name it' },
  PerformanceTotals: { schema: PerformanceTotals, description: 'The figures of a selection of quotes' },
  ComparedBasis: {
    schema: ComparedBasis,
    description: 'What the amounts of an answer include, and the quotes with amounts on the other basis',
  },
  Place: {
    schema: place(''),
    description: 'A city and state of the US, Canada or Mexico, as City, ST, in any case',
  },
  EquipmentCode: {
    schema: equipment(''),
    description: 'V dry van, R reefer, F flatbed, or a code of your own',
  },
  Time: {
    schema: time(''),
    description:
      'A time in ISO 8601. A time without a zone, or a date, is read as UTC: send a zone, such as Z or -06:00, to avoid ambiguity',
  },
  EmailAddress: { schema: email(''), description: 'An e-mail address' },
  RecordId: { schema: recordId, description: 'The id of a record of the brokerage' },
  LaneRef: { schema: laneRef, description: 'REQUESTID-LANENUM-COUNT, unique, assigned by the service' },
  SentLaneRef: {
    schema: sentLaneRef(''),
    description:
      'A lane_ref in a request. Any text is accepted; a text that the service did not assign matches no lane',
  },
  Outcome: { schema: Type.Enum([...outcomes]), description: 'The outcome of a quote' },
  OutcomeReason: { schema: Type.Enum([...outcomeReasons]), description: 'Why a quote was lost' },
  ChangeSource: {
    schema: Type.Enum([...changeSources]),
    description: 'The source of a change: the dashboard, a signed update from the TMS, or an imported file',
  },
  Role: {
    schema: Type.Enum([...roles]),
    description:
      'The role of a person, from fewest to most permissions. Each role includes the permissions of the roles before it',
  },
  MarketRate: { schema: MarketRate, description: 'A saved market rate' },
  SentMarketRate: { schema: sentMarketRate, description: 'A market rate as it is sent' },
  MarketRateResult: { schema: MarketRateResult, description: 'The result of a market rate that is valid' },
  MarketRateResults: { schema: resultsAnswer, description: 'The results of sent market rates' },
  OwnRates: { schema: OwnRates, description: "The brokerage's own rates on a lane" },
  MarketReference: { schema: MarketReference, description: 'Both references of a lane side by side' },
  AgainstMarket: { schema: AgainstMarket, description: 'Own rates compared with the market' },
  EventType: { schema: Type.Enum([...eventTypes]), description: 'A type of event' },
  Confidence: {
    schema: Type.Enum([...confidences]),
    description:
      'Confidence by the number of decided quotes: high 15 or more, medium 5 to 14, low 1 to 4, none 0',
  },
  LaneScope: {
    schema: Type.Enum([...laneScopes]),
    description: 'The data source of a lane insight, most trusted first',
  },
  WinProbabilityMethod: {
    schema: Type.Enum([...winProbabilityMethods]),
    description: 'How win_probability is computed',
  },
  Quote: {
    schema: Quote,
    description: 'A quote: one priced line of a quote request, with its booking if it has one',
  },
  QuoteWithWarnings: {
    schema: QuoteWithWarnings,
    description: 'A new quote, with warnings about its rate',
  },
  RateWarning: { schema: RateWarning, description: 'A reason to check a rate' },
  ForecastMean: { schema: ForecastMean, description: 'A mean over scored forecasts with its 95 % range' },
  RecordedForecast: { schema: RecordedForecast, description: 'The forecast that was made with a quote' },
  CostRange: {
    schema: CostRange,
    description: 'A truck cost expected at quote time, with the range that contains 80 % of costs',
  },
  RefusedItem: { schema: RefusedItem, description: 'An item of a push that was not applied' },
  PushedQuote: { schema: pushedQuote, description: 'A quote under your own id' },
  PushedQuoteResult: {
    schema: PushedQuoteResult,
    description: 'An item of a push that was applied, or that changes nothing',
  },
  CheckedQuote: { schema: CheckedQuote, description: 'What a push would do with a quote' },
  ChangedQuote: { schema: ChangedQuote, description: 'The newest state of a quote that changed' },
  RemovedQuote: { schema: RemovedQuote, description: 'A quote that is no longer in the list' },
  ItemFieldError: { schema: ItemFieldError, description: 'An error in a field of one item of a list' },
  UserSummary: { schema: UserSummary, description: 'A person of the brokerage' },
  QuoteRequest: { schema: QuoteRequest, description: 'A quote request with its quotes' },
  NewQuote: {
    schema: createQuoteRequest.body.properties.lanes.items,
    description: 'A quote in a new quote request',
  },
  QuoteChanged: { schema: QuoteChanged, description: 'The quote of an event, and the change' },
  QuoteChange: { schema: Change, description: 'A change of a quote, from its history' },
  ShipmentPage: { schema: listShipments.answer, description: 'A page of shipments, with their totals' },
  LaneKey: { schema: LaneKey, description: 'Origin, destination and equipment' },
  LaneEnd: { schema: LaneEnd, description: 'The pickup or delivery place of a lane' },
  Markup: { schema: markup.answer, description: 'Pricing guidance for a lane and a proposed rate' },
  MarkupFound: { schema: markup.answer.anyOf[0], description: 'Pricing guidance for a lane that has quotes' },
  MarkupNotFound: {
    schema: markup.answer.anyOf[1],
    description: 'The response for a lane without quotes',
  },
  MarkupQuery: {
    schema: markup.answer.anyOf[0].properties.query,
    description: 'The query as sent; null for a parameter that was not sent',
  },
  BatchMarkup: { schema: markupOfBatch, description: 'Pricing guidance for a lane of a batch' },
  BatchMarkupFound: {
    schema: markupOfBatch.anyOf[0],
    description: 'Pricing guidance for a lane of a batch that has quotes',
  },
  BatchMarkupNotFound: {
    schema: markupOfBatch.anyOf[1],
    description: 'The result for a lane of a batch that has no quotes',
  },
  BatchMarkupQuery: {
    schema: markupOfBatch.anyOf[0].properties.query,
    description: 'The lane as sent; proposed_rate may be the suggested rate, or null',
  },
  BatchLane: { schema: batchLane, description: 'A lane of a batch' },
  RateBand: { schema: RateBand, description: 'The lowest, middle and highest rate quoted on the lane' },
  Estimate: {
    schema: Estimate,
    description: 'The calibrated win probability at the proposed rate, with the evidence for it',
  },
  Interval: { schema: Interval, description: 'A range' },
  CurvePoint: { schema: CurvePoint, description: 'The win probability at one rate' },
  RuleConditionsToSet: { schema: RuleConditions, description: 'The quotes that a pricing rule applies to' },
  RuleConditions: { schema: ShownConditions, description: 'The quotes that a pricing rule applies to' },
  RuleTermsToSet: { schema: RuleTerms, description: 'What a pricing rule says about its quotes' },
  RuleTerms: { schema: ShownTerms, description: 'What a pricing rule says about its quotes' },
  RuleMinimum: { schema: ShownMinimum, description: 'A minimum of a pricing rule' },
  RuleMargin: { schema: ShownMargin, description: 'A margin of a pricing rule' },
  Approval: { schema: Approval, description: 'A quote outside the rules that needs approval' },
  PricingRule: { schema: PricingRule, description: 'A pricing rule of the brokerage' },
  PricingRules: { schema: PricingRules, description: 'The pricing rules of the brokerage' },
  RuleLimit: { schema: RuleLimit, description: 'A limit of a quote by the pricing rules' },
  QuoteConversion: { schema: QuoteConversion, description: 'How amounts of a quote are compared' },
  AppliedRules: { schema: AppliedRules, description: 'The pricing rules that apply to a quote' },
  OutsideRule: { schema: OutsideRule, description: 'A limit that a rate is outside of' },
  MarginRisk: { schema: MarginRisk, description: 'The margin that a rate may have in the end' },
  Optimum: { schema: Optimum, description: 'The rate with the highest expected margin' },
  MarkupEvidence: {
    schema: MarkupEvidence,
    description:
      'The counts and the quotes behind each number. It has further members that are not listed here',
  },
  EvidenceQuote: {
    schema: EvidenceQuote,
    description: 'A quote that the numbers are based on, or an excluded quote with the reason',
  },
  UnknownPlace: {
    schema: UnknownPlaces.items,
    description: 'An origin or destination that may be misspelled, with similar known places',
  },
  LaneInsight: { schema: laneInsight.answer, description: 'Insight about a lane' },
  LaneInsightFound: { schema: laneInsight.answer.anyOf[0], description: 'Insight about a lane' },
  LaneInsightNotFound: {
    schema: laneInsight.answer.anyOf[1],
    description: 'The response if no scope has enough data',
  },
  InsightQuery: {
    schema: InsightQuery,
    description: 'The query as sent; null for a parameter that was not sent',
  },
  ServiceToken: { schema: ServiceToken, description: 'A service token, without its plaintext' },
  SigningSecret: { schema: SigningSecret, description: 'A signing secret, without its plaintext' },
  CreatedSecret: {
    schema: CreatedSecret,
    description: 'A new signing secret, with its plaintext, shown once',
  },
  NamedRecord: {
    schema: checkSignature.answer.properties.matched_secret.anyOf[0],
    description: 'A record by its id and name',
  },
  IntegrationCall: { schema: IntegrationCall, description: 'A call to the integration interface' },
  EventEndpoint: { schema: EventEndpoint, description: 'An address that events are sent to' },
  EventEndpointWithSecret: {
    schema: EventEndpointWithSecret,
    description: 'An address that events are sent to, with a new secret, shown once',
  },
  EventDelivery: { schema: EventDelivery, description: 'The delivery of an event to an address' },
  User: { schema: User, description: 'A person of the brokerage' },
  Tenant: { schema: Tenant, description: 'A brokerage and its settings' },
  Floors: {
    schema: Tenant.properties.floors,
    description: 'No rate below these floors is recommended; null means no floor',
  },
  FloorsToSet: {
    schema: updateTenant.body.properties.floors,
    description: 'Floors for recommended rates. An absent floor does not change',
  },
  Session: { schema: Session, description: 'A session of the dashboard' },
  Done: { schema: signOut.answer, description: 'Confirmation' },
  AuditEvent: { schema: AuditEvent, description: 'A row of the audit log' },
  AuditPerson: { schema: Person, description: 'A person in a row of the audit log' },
  PerformanceRow: {
    schema: PerformanceRow,
    description: 'Win rate and margin of a lane, customer, rep, equipment type or month',
  },
  WinRateInterval: {
    schema: WinRateInterval,
    description: '80 % confidence interval of the win rate (Wilson score interval)',
  },
  MarginGap: { schema: MarginGap, description: 'A shipment whose actual margin is below the quoted margin' },
  DieselWeek: {
    schema: DieselWeek,
    description: 'The U.S. average retail price of diesel in a week, as the EIA publishes it',
  },
  FuelStep: {
    schema: FuelStep,
    description: 'A step of a fuel surcharge table: from this diesel price, this surcharge per mile',
  },
  ExchangeRate: {
    schema: ExchangeRate,
    description: 'The exchange rate of the Canadian dollar from a day on',
  },
  NamedCharge: { schema: NamedCharge, description: 'An accessorial charge by name' },
  QuoteView: { schema: QuoteView, description: 'A saved view of the list of quotes' },
  Import: { schema: Import, description: 'An import of a CSV file: its progress and result' },
  ImportError: { schema: ImportError, description: 'An error in a row of a file' },
  ImportNote: { schema: ImportNote, description: 'How a part of a file was read' },
  BacktestDone: { schema: BacktestDone, description: 'The performance of the estimate on past quotes' },
  BacktestRunning: { schema: BacktestRunning, description: 'The quotes are still being judged' },
  MissedSums: { schema: MissedSums, description: 'Sums of quotes that missed margin' },
  BacktestMissed: { schema: BacktestMissed, description: 'The margin that rates missed' },
  BacktestRule: { schema: BacktestRule, description: 'What a rule would have changed' },
  MissedQuote: { schema: MissedQuote, description: 'A quote that missed margin' },
  NotJudged: { schema: NotJudged, description: 'Won and pending quotes that were not judged, by reason' },
  BacktestTooFew: { schema: BacktestTooFew, description: 'The result if there are too few quotes to test' },
  BacktestDollars: { schema: BacktestDollars, description: 'The estimated margin at the best rates' },
  ReliabilityGroup: { schema: ReliabilityGroup, description: 'A group of quotes with similar forecasts' },
  ForecastQuality: { schema: Quality, description: 'Quality of the forecasts of one method' },
}
