import {
  type ChangingQuote,
  quoteChanges as changes,
  type NewQuoteRequest,
  newQuotes,
} from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'

/** One write to the quotes: it changes a quote, which is locked; makes a new quote request; or quotes the load of a quote again. */
export type Entry =
  | ({ readonly kind: 'change' } & ChangingQuote)
  | { readonly kind: 'create'; readonly request: NewQuoteRequest }
  | {
      readonly kind: 'requote'
      readonly quoted: QuoteRow
      readonly next: Parameters<typeof newQuotes.insertRequote>[4]
    }

export interface EnteringBy {
  readonly tenant: TenantId
  readonly identifiers: Database['identifiers']
  /** When quotes are changed, by the database's clock. Absent if no entry is a change. */
  readonly changedAt?: Date
}

/** What an entry wrote: its quotes, in the order of its request. `row` is the changed quote or the requote; null for a new request. */
export interface Entered {
  readonly quotes: readonly { readonly quoteId: number; readonly laneRef: string }[]
  readonly row: QuoteRow | null
}

/**
 * Writes the quotes of entries: changes quotes and records the changes, inserts new ones, and announces both as events. Returns the
 * result of each entry, in order. Each quote is changed at most once. Quotes of a file are not announced as new.
 */
export async function enter(
  transaction: TenantTransaction,
  entries: readonly Entry[],
  by: EnteringBy,
): Promise<Entered[]> {
  const { tenant, identifiers } = by
  const entered = new Map<Entry, Entered>()
  const changing = entries.filter((entry) => entry.kind === 'change')
  if (changing.length > 0 && by.changedAt === undefined) throw new Error('A change has a time.')
  const changed = await changes.changeQuotes(
    transaction,
    tenant,
    changing,
    by.changedAt ?? new Date(Number.NaN),
  )
  for (const [nth, row] of changed.entries()) {
    const entry = changing[nth]
    if (entry !== undefined) entered.set(entry, enteredQuote(row))
  }
  const creating = entries.filter((entry) => entry.kind === 'create')
  const requests = creating.map(({ request }) => request)
  const made = await newQuotes.insertRequests(transaction, tenant, identifiers, requests)
  let first = 0
  for (const entry of creating) {
    const { quotes } = entry.request
    entered.set(entry, { quotes: made.slice(first, first + quotes.length), row: null })
    first += quotes.length
  }
  for (const entry of entries) {
    if (entry.kind !== 'requote') continue
    const row = await newQuotes.insertRequote(transaction, tenant, identifiers, entry.quoted, entry.next)
    const settled = await changes.settleOffers(transaction, tenant, [row.request_id], entry.next.createdAt)
    entered.set(entry, enteredQuote(settled.get(row.lane_id) ?? row))
  }
  return entries.map((entry) => entered.get(entry) ?? { quotes: [], row: null })
}

const enteredQuote = (row: QuoteRow): Entered => ({
  quotes: [{ quoteId: row.lane_id, laneRef: row.lane_ref }],
  row,
})
