/**
 * The one place that writes quotes. Each way in (a request, a push, a file, a requote) turns its input into a `Draft`; pasted rows become a
 * request. `enter` writes and announces the quotes.
 */

export * from './charges-errors.ts'
export * from './enter.ts'
export * from './from-push.ts'
export * from './from-request.ts'
export * from './from-requote.ts'
export * from './request-digest.ts'
export * from './sent-fields.ts'
