import { type NewQuote, type NextValues, pushedQuotes } from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type Entry, enter } from '../entering/index.ts'
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

  /** A quote as `mergeRow` needs it, with the values that its request will have. */
  saved(quoteId: number): QuoteRow | undefined {
    const made = this.at(quoteId)
    if (made === undefined) return undefined
    const { quote } = made.row
    const saved = {
      ...quote.columns,
      lane_id: quoteId,
      quoted_customer_name: quote.customerName,
      created_at: new Date(quote.quotedAt),
      import_id: this.#importId,
      signed_at: {},
      quote_signed_at: {},
      cancelled_at: null,
      outcome_before_booking: null,
      ...made.values,
    }
    return saved as unknown as QuoteRow
  }
}

/** Inserts the quotes of a batch, each with the values of the last row that has its id. */
export async function insertQuotes(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  made: MadeQuotes,
): Promise<void> {
  const quotes = made.rows.map(({ row, values }) => {
    const {
      created_at: createdAt = new Date(row.quote.quotedAt),
      outcome_before_booking: facts,
      ...others
    } = values
    const columns: NewQuote = {
      ...row.quote.columns,
      import_said: row.said,
      ...others,
      ...(facts == null ? {} : { outcome_before_booking: JSON.stringify(facts) }),
      import_fingerprint: row.fingerprint,
    }
    return { row, createdAt, columns }
  })
  const reps = await repsOf(
    transaction,
    job.tenant,
    quotes.map(({ columns }) => columns.rep_name),
  )
  const entries = quotes.map(({ row: { quote }, createdAt, columns }): Entry => {
    const request = {
      customerName: quote.customerName,
      reference: quote.reference,
      createdBy: reps(columns.rep_name) ?? (columns.rep_name == null ? job.createdBy : null),
      createdAt,
      importId: job.importId,
      quotes: [columns],
    }
    return { kind: 'create', request }
  })
  const entered = await enter(transaction, entries, { ...job, identifiers: database.identifiers })
  for (const [nth, { quotes }] of entered.entries()) {
    const one = made.rows[nth]
    if (one !== undefined) one.laneRef = quotes[0]?.laneRef ?? null
  }
}

/** Returns a function from the name of a rep to the person of the brokerage with that name or e-mail address; null if there is none. */
export async function repsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly (string | null | undefined)[],
): Promise<(name: string | null | undefined) => number | null> {
  const people = await pushedQuotes.findReps(
    transaction,
    tenant,
    names.flatMap((name) => name ?? []),
  )
  return (name) => people.get(name ?? '') ?? null
}
