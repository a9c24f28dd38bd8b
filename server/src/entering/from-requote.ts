import {
  type QuoteFieldOf,
  quoteColumnOf,
  quotedTermsFields,
  quoteFieldsOf,
  quoteTable,
} from '#engine/quote-fields.ts'
import { type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import type { QuoteRow } from '../database/schema/index.ts'
import { termsOf } from '../quotes/index.ts'
import { readSentFields, type SentQuote } from './sent-fields.ts'

/** The columns of a quoted rate's terms: basis, charges and currency. */
type QuotedTermsColumn = ReturnType<typeof quoteColumnOf<(typeof quotedTermsFields)[number]>>
type QuotedTermsColumns = Pick<QuoteRow, QuotedTermsColumn>
type SentTerms = Pick<
  SentQuote<'requote'>,
  Exclude<(typeof quoteTable)[(typeof quotedTermsFields)[number]]['sent'], null>
>

const columns = quotedTermsFields.map(quoteColumnOf)
const names = quotedTermsFields.map((field) => quoteTable[field].sent)

/** The basis, charges and currency of a quoted rate, as columns. Each is null if it was not sent. */
export function quotedTerms(sent: SentTerms): QuotedTermsColumns {
  const said = Object.fromEntries(names.map((name) => [name, sent[name]]))
  const read = Object.assign({}, ...readSentFields('requote', said, []).values())
  return Object.fromEntries(
    columns.map((column) => [column, read[column] ?? null]),
  ) as unknown as QuotedTermsColumns
}

/** The cost and the terms of a requote: those of the quote before it, unless others are sent. */
function requotedTerms(
  sent: SentTerms & Pick<SentQuote<'requote'>, 'estimated_cost'>,
  before: QuoteRow,
  assumed: RateBasis,
): QuotedTermsColumns & Pick<QuoteRow, 'estimated_cost_cents'> {
  const kept = Object.fromEntries(
    columns.map((column) => [column, before[column]]),
  ) as unknown as QuotedTermsColumns
  const said = quotedTerms(sent)
  // Charges that are sent replace the earlier ones, but do not change what the rate includes or its currency.
  const terms = names.some((name) => sent[name] !== undefined)
    ? {
        ...said,
        quoted_basis: said.quoted_basis ?? kept.quoted_basis,
        quoted_currency: said.quoted_currency ?? kept.quoted_currency,
      }
    : kept
  const cost = readSentFields('requote', { estimated_cost: sent.estimated_cost }, []).get('estimatedCost')
  // The earlier cost is on the earlier basis and in the earlier currency.
  const isSame = sameTerms(termsOf(before), termsOf(terms), assumed)
  return {
    ...terms,
    estimated_cost_cents: cost?.estimated_cost_cents ?? (isSame ? before.estimated_cost_cents : null),
  }
}

/** The columns that a requote sets or copies. */
type RequotedColumns = Pick<QuoteRow, ReturnType<typeof quoteColumnOf<QuoteFieldOf<'requote'>>>>

/**
 * The columns of a requote: the sent value, or else the value that it copies from the earlier quote, or null.
 *
 * @example requoteOf({ quoted_rate: 1900 }, quotedAt2000, 'all_in').quoted_rate_cents // 190000
 */
export function requoteOf(sent: SentQuote<'requote'>, before: QuoteRow, assumed: RateBasis): RequotedColumns {
  const read = Object.assign({}, ...readSentFields('requote', sent, []).values())
  const own = quoteFieldsOf('requote').map((field) => {
    const { column, copiedByRequote } = quoteTable[field]
    return [column, read[column] ?? (copiedByRequote ? before[column] : null)]
  })
  return { ...(Object.fromEntries(own) as RequotedColumns), ...requotedTerms(sent, before, assumed) }
}
