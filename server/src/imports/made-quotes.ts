import type { NextValues } from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database } from '../database/session/index.ts'
import { type Draft, enter, type NewDraft } from '../entering/index.ts'
import type { Job, SettledQuote } from './saved-rows.ts'

/** The quotes that a batch makes, each as it is after the rows of the batch with its id until now. */
export class MadeQuotes {
  readonly #importId: number
  readonly #ids = new Map<string, number>()
  readonly rows: { readonly row: SettledQuote; values: NextValues; laneRef: string | null }[] = []

  constructor(importId: number) {
    this.#importId = importId
  }

  /** @param key the fingerprint of the row, in hex */
  add(key: string, row: SettledQuote): void {
    this.rows.push({ row, values: {}, laneRef: null })
    this.#ids.set(key, -this.rows.length)
  }

  idOf(key: string): number | undefined {
    return this.#ids.get(key)
  }

  at(quoteId: number): (typeof this.rows)[number] | undefined {
    return this.rows[-quoteId - 1]
  }

  /** A quote as `mergeRow` needs it, with the values that it will have. */
  saved(quoteId: number): QuoteRow | undefined {
    const made = this.at(quoteId)
    if (made === undefined) return undefined
    const saved = {
      lane_id: quoteId,
      import_id: this.#importId,
      signed_at: {},
      quote_signed_at: {},
      cancelled_at: null,
      ...draftOf(made),
    }
    return saved as unknown as QuoteRow
  }
}

/** The draft of a quote, with the values of the last row that has its id. */
function draftOf({ row: { quote, said, fingerprint }, values }: MadeQuotes['rows'][number]): NewDraft {
  return {
    ...quote.columns,
    quoted_customer_name: quote.customerName,
    created_at: new Date(quote.quotedAt),
    outcome_before_booking: null,
    import_said: said,
    import_fingerprint: fingerprint,
    ...values,
  } as NewDraft
}

/** Inserts the quotes of a batch. */
export async function insertQuotes(
  transaction: TenantTransaction,
  database: Database,
  { tenant, importId, createdBy }: Job,
  made: MadeQuotes,
): Promise<void> {
  const drafts = made.rows.map((one): Draft => {
    const { reference } = one.row.quote
    return { kind: 'new', quotes: [draftOf(one)], by: createdBy, reference, importId }
  })
  const entered = await enter(transaction, drafts, { tenant, identifiers: database.identifiers })
  for (const [nth, { quotes }] of entered.entries()) {
    const one = made.rows[nth]
    if (one !== undefined) one.laneRef = quotes[0]?.laneRef ?? null
  }
}
