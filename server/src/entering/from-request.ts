import type { BodyOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import type { createQuoteRequest } from '#contract/quote-requests.ts'
import type { NewQuote } from '../database/queries/index.ts'
import { chargesErrors } from './charges-errors.ts'
import { readSentFields } from './sent-fields.ts'

/** A quote of a quote request. */
export type QuoteToMake = BodyOf<typeof createQuoteRequest>['lanes'][number]

/**
 * The columns of a new quote from the JSON of a quote request, or from a pasted row. Adds an error at `${pointer}/${field}` for each
 * wrong field, and returns null if the quote has no place or equipment that can be read. The JSON fits the schema of a request.
 *
 * @param acceptUnknown accepts an unknown city whose spelling is close to that of a known city
 */
export function readRequested(
  sent: QuoteToMake,
  errors: FieldError[],
  { pointer = '', acceptUnknown }: { readonly pointer?: string; readonly acceptUnknown: boolean },
): NewQuote | null {
  const columns = readSentFields('request', sent, errors, { pointer, acceptUnknown })
  errors.push(...chargesErrors('quoted', 'quoted_rate', sent, pointer))
  if (!columns.has('places') || !columns.has('equipment')) return null
  return Object.assign({}, ...columns.values()) as NewQuote
}
