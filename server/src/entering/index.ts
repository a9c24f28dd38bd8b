/**
 * The one way in of quotes. The ways in (a request, a push, a file, a requote) read what they received; from there on `enter` writes
 * the quotes and announces them.
 */

export * from './charges-errors.ts'
export * from './enter.ts'
export * from './from-push.ts'
export * from './from-requote.ts'
export * from './request-digest.ts'
export * from './sent-fields.ts'
