export type { FieldError, ProblemBody, ProblemCode } from '#contract/errors.ts'
export { type Debounced, debounce, typingPauseMs } from './debounce.ts'
export {
  ClientError,
  type FailureCode,
  isLanewiseFailure,
  LanewiseError,
  type LanewiseFailure,
  NoAnswer,
  ServiceProblem,
  UnreadableAnswer,
} from './failures.ts'
export { clientRevision, clientVersion, Lanewise } from './lanewise.ts'
export type { AnswerMeta, AnswerWithMeta, PendingAnswer, RateLimitState } from './meta.ts'
export type { CallOptions, Credential, LanewiseEvent, LanewiseOptions } from './options.ts'
export type { Patience } from './retry.ts'
export type { Answer, Body, OperationName, Query, Sent } from './sent.ts'
export { bodyBytes, signatureHeaders } from './sign.ts'
export {
  type EventHeaders,
  EventRejected,
  type VerifiedEvent,
  verifyEvent,
  type WebhookEvent,
} from './verify-event.ts'
export type { Operations, Webhooks } from './wire.ts'
