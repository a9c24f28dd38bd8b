export type { FieldError, ProblemBody, ProblemCode } from '#contract/errors.ts'
export { type Debounced, debounce, typingPauseMs } from './debounce.ts'
export {
  type FailureCode,
  isLanewiseFailure,
  isPassing,
  LanewiseError,
  type LanewiseFailure,
  NoAnswer,
  ServiceProblem,
  UnreadableAnswer,
} from './failures.ts'
export {
  type CallOptions,
  type Credential,
  clientVersion,
  Lanewise,
  type LanewiseEvent,
  type LanewiseOptions,
} from './lanewise.ts'
export type { Patience } from './retry.ts'
export type { Answer, Body, OperationName, Query, Sent } from './sent.ts'
export { bodyBytes, signatureHeaders } from './sign.ts'
export type { Operations } from './wire.ts'
