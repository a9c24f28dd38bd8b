import { createHash } from 'node:crypto'
import { digestedTerms, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import type { SentQuote } from './sent-fields.ts'

/** The first fields in the digest of a quote. Their order is fixed, because digests are saved and compared. */
const first = [
  'origin',
  'destination',
  'equipment',
  'quoted_rate',
  'estimated_cost',
  'market_rate',
  'miles',
  'pickup_date',
] as const
const terms = digestedTerms.map((field) => quoteTable[field].sent)
/** Fields that were added later. A quote without them keeps its digest. */
const later = quoteFieldsOf('request')
  .map((field) => quoteTable[field].sent)
  .filter((name) => name !== 'customer_name')
  .filter((name) => !([...first, ...terms] as readonly string[]).includes(name))

type Quote = Omit<SentQuote<'request'>, 'customer_name'> & { readonly valid_hours?: number | undefined }

function contentOf(quote: Quote): unknown[] {
  const said = terms.map((name) => quote[name] ?? null)
  return [
    ...first.map((name) => quote[name] ?? null),
    // A quote without terms adds nothing here, so its digest equals those saved before terms existed.
    ...(said.every((value) => value === null) ? [] : said),
    ...[...later, 'valid_hours' as const].flatMap((name) =>
      quote[name] === undefined ? [] : [[name, quote[name]]],
    ),
  ]
}

/** A digest of a request's content. The order of members, and members that do not affect the quote, are ignored. */
export function requestDigest({
  customer_name,
  reference,
  lanes: quotes,
}: {
  readonly customer_name: string
  readonly reference?: string
  readonly lanes: readonly Quote[]
}): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([customer_name, reference ?? null, quotes.map(contentOf)]))
    .digest()
}
