import type { Operations } from './wire.ts'

export type OperationName = keyof Operations

/** The response body of an operation, by its name. */
export type Answer<Name extends OperationName> = Operations[Name]['answer']
export type Query<Name extends OperationName> = Operations[Name]['query']
export type Body<Name extends OperationName> = Operations[Name]['body']

type Part<Key extends string, Values> = [keyof Values] extends [never]
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Values
    ? { readonly [K in Key]?: Values | undefined }
    : { readonly [K in Key]: Values }
type BodyPart<Values> = [Values] extends [never] ? { readonly body?: undefined } : { readonly body: Values }

/** The input of an operation: path parameters, query and body. */
export type Sent<Name extends OperationName> = Part<'params', Operations[Name]['params']> &
  Part<'query', Operations[Name]['query']> &
  BodyPart<Operations[Name]['body']>
