import Type, { type TSchema } from 'typebox'
import { AuditEvent, Person } from './audit.ts'
import { BacktestDollars, BacktestDone, BacktestTooFew, Quality } from './backtest.ts'
import { roles } from './endpoint.ts'
import { CurvePoint, Estimate, EvidenceQuote, Interval, Optimum } from './estimate.ts'
import { EventDelivery, EventEndpoint, EventEndpointWithSecret } from './event-endpoints.ts'
import { eventTypes } from './event-types.ts'
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
import { Import, ImportError } from './imports.ts'
import { batchLane } from './insight-batch.ts'
import { IntegrationCall } from './integration-calls.ts'
import { changeSources, Lane, outcomeReasons, outcomes, UserSummary } from './lane.ts'
import { InsightQuery, laneInsight, laneScopes } from './lane-insight.ts'
import { LaneEnd } from './lane-record.ts'
import {
  confidences,
  MarkupEvidence,
  markup,
  markupOfBatch,
  RateBand,
  winProbabilityMethods,
} from './markup.ts'
import { LaneKey, MarginGap, PerformanceRow, WinRateInterval } from './performance.ts'
import { Change, createQuoteRequest, listShipments, QuoteRequest } from './quote-requests.ts'
import { ServiceToken } from './service-token.ts'
import { Session, signOut, Tenant, User, updateTenant } from './sign-in.ts'
import { checkSignature } from './signature-check.ts'
import { CreatedSecret, SigningSecret } from './signing-secret.ts'
import { UnknownPlaces } from './unknown-places.ts'

/**
 * The schemas that have a name of their own in the OpenAPI document: there each is defined once, and wherever a schema has
 * the same structure the document refers to it. The bodies and answers of operations are named after their operation and
 * need no entry. `checks/openapi.test.ts` finds objects that occur twice and have no entry here.
 */
export const components: Readonly<
  Record<string, { readonly schema: TSchema; readonly description: string }>
> = {
  Dollars: { schema: dollars(''), description: 'An amount of dollars from 0, exact to the cent' },
  PositiveDollars: {
    schema: positiveDollars(''),
    description: 'An amount of dollars above 0, exact to the cent',
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
      'A time in ISO 8601. Without a zone, or as a day, it is read as UTC: send the zone, such as Z or -06:00, to be sure',
  },
  EmailAddress: { schema: email(''), description: 'An e-mail address' },
  RecordId: { schema: recordId, description: 'The id of a record of the brokerage' },
  LaneRef: { schema: laneRef, description: 'REQUESTID-LANENUM-COUNT, unique, assigned by the service' },
  SentLaneRef: {
    schema: sentLaneRef(''),
    description:
      'A lane_ref as it is sent. Any text is looked for; one that the service did not assign is no lane',
  },
  Outcome: { schema: Type.Enum([...outcomes]), description: 'How a quote ended' },
  OutcomeReason: { schema: Type.Enum([...outcomeReasons]), description: 'Why a quote was lost' },
  ChangeSource: {
    schema: Type.Enum([...changeSources]),
    description: 'Where a change came from: the dashboard, a signed update of the TMS, or a file',
  },
  Role: {
    schema: Type.Enum([...roles]),
    description: 'What a person may do, weakest first: each role may do all that the ones before it may',
  },
  EventType: { schema: Type.Enum([...eventTypes]), description: 'A type of event' },
  Confidence: {
    schema: Type.Enum([...confidences]),
    description: 'How many decided quotes there are: high 15 or more, medium 5 to 14, low 1 to 4, none 0',
  },
  LaneScope: {
    schema: Type.Enum([...laneScopes]),
    description: 'Where lane insight looked, most trusted first',
  },
  WinProbabilityMethod: {
    schema: Type.Enum([...winProbabilityMethods]),
    description: 'How win_probability is counted',
  },
  Lane: {
    schema: Lane,
    description: 'One priced line of a quote request, with its booking once there is one',
  },
  UserSummary: { schema: UserSummary, description: 'A person of the brokerage' },
  QuoteRequest: { schema: QuoteRequest, description: 'A quote request with its lanes' },
  LaneToQuote: {
    schema: createQuoteRequest.body.properties.lanes.items,
    description: 'A lane as it is quoted',
  },
  LaneChange: { schema: Change, description: 'A change of a lane, in its audit trail' },
  ShipmentPage: { schema: listShipments.answer, description: 'A page of shipments, with their totals' },
  LaneKey: { schema: LaneKey, description: 'Origin, destination and equipment' },
  LaneEnd: { schema: LaneEnd, description: 'The pickup or delivery place of a lane' },
  Markup: { schema: markup.answer, description: 'Pricing guidance for a lane and a proposed rate' },
  MarkupFound: { schema: markup.answer.anyOf[0], description: 'Pricing guidance, where the lane has quotes' },
  MarkupNotFound: {
    schema: markup.answer.anyOf[1],
    description: 'The answer where the lane has no quotes',
  },
  MarkupQuery: {
    schema: markup.answer.anyOf[0].properties.query,
    description: 'The query as sent; null where nothing was sent',
  },
  BatchMarkup: { schema: markupOfBatch, description: 'Pricing guidance for a lane of a batch' },
  BatchMarkupFound: {
    schema: markupOfBatch.anyOf[0],
    description: 'Pricing guidance for a lane of a batch that has quotes',
  },
  BatchMarkupNotFound: {
    schema: markupOfBatch.anyOf[1],
    description: 'The answer for a lane of a batch that has no quotes',
  },
  BatchMarkupQuery: {
    schema: markupOfBatch.anyOf[0].properties.query,
    description: 'The lane as sent; proposed_rate may be the suggested rate, or null',
  },
  BatchLane: { schema: batchLane, description: 'A lane of a batch' },
  RateBand: { schema: RateBand, description: 'The lowest, middle and highest rate quoted on the lane' },
  Estimate: {
    schema: Estimate,
    description: 'The calibrated chance of winning at the proposed rate, with what it rests on',
  },
  Interval: { schema: Interval, description: 'A range' },
  CurvePoint: { schema: CurvePoint, description: 'The chance of winning at one rate' },
  Optimum: { schema: Optimum, description: 'The rate with the highest expected margin' },
  MarkupEvidence: {
    schema: MarkupEvidence,
    description: 'The counts and the quotes behind each number; it has members beside those listed here',
  },
  EvidenceQuote: {
    schema: EvidenceQuote,
    description: 'A quote behind the numbers, or one that was left out and why',
  },
  UnknownPlace: {
    schema: UnknownPlaces.items,
    description: 'An end of the lane that may be a typing error, with known places that are close to it',
  },
  LaneInsight: { schema: laneInsight.answer, description: 'What is known about a lane' },
  LaneInsightFound: { schema: laneInsight.answer.anyOf[0], description: 'What is known about a lane' },
  LaneInsightNotFound: {
    schema: laneInsight.answer.anyOf[1],
    description: 'The answer where nothing is known, at no scope',
  },
  InsightQuery: { schema: InsightQuery, description: 'The query as sent; null where nothing was sent' },
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
  EventDelivery: { schema: EventDelivery, description: 'An event on its way to an address' },
  User: { schema: User, description: 'A person of the brokerage' },
  Tenant: { schema: Tenant, description: 'A brokerage and its settings' },
  Floors: {
    schema: Tenant.properties.floors,
    description: 'Below these no rate is recommended; null is no floor',
  },
  FloorsToSet: {
    schema: updateTenant.body.properties.floors,
    description: 'Floors that recommended rates keep; one left out stays as it is',
  },
  Session: { schema: Session, description: 'A session of the dashboard' },
  Done: { schema: signOut.answer, description: 'It was done' },
  AuditEvent: { schema: AuditEvent, description: 'A row of the audit log' },
  AuditPerson: { schema: Person, description: 'A person as a row of the audit log names them' },
  PerformanceRow: {
    schema: PerformanceRow,
    description: 'Win rate and margin of a lane, customer, rep, equipment type or month',
  },
  WinRateInterval: {
    schema: WinRateInterval,
    description: 'Where the win rate would lie 4 times in 5 with this many decided quotes (Wilson)',
  },
  MarginGap: { schema: MarginGap, description: 'A shipment whose margin landed below the quoted margin' },
  Import: { schema: Import, description: 'An import of a CSV file: its progress and result' },
  ImportError: { schema: ImportError, description: 'What was wrong with a row of a file' },
  BacktestDone: { schema: BacktestDone, description: 'How the estimate did on past quotes' },
  BacktestTooFew: { schema: BacktestTooFew, description: 'Why there were too few quotes to test' },
  BacktestDollars: { schema: BacktestDollars, description: 'What the best rates would have earned' },
  ForecastQuality: { schema: Quality, description: 'How good the forecasts of one method were' },
}
