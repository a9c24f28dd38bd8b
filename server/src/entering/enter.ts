import {
  type ChangingQuote,
  quoteChanges as changes,
  type NewQuote,
  type NewQuoteRequest,
  newQuotes,
  pushedQuotes,
} from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'

/** A new quote in columns. The customer and the time are columns like the others. */
export type NewDraft = NewQuote & Pick<QuoteRow, 'quoted_customer_name' | 'created_at'>

/**
 * What one of the ways in says about quotes, in columns: it changes a quote, which is locked; makes the quotes of a new request; or quotes
 * the load of a quote again. `by` is the person who entered it, if it names no rep.
 */
export type Draft =
  | ({ readonly kind: 'change' } & ChangingQuote)
  | ({
      readonly kind: 'new'
      readonly quotes: readonly [NewDraft, ...NewDraft[]]
      readonly by: number | null
    } & Pick<NewQuoteRequest, 'reference' | 'importId' | 'repeatable'>)
  | {
      readonly kind: 'requote'
      readonly quoted: QuoteRow
      readonly next: Parameters<typeof newQuotes.insertRequote>[4]
    }

export interface EnteringBy {
  readonly tenant: TenantId
  readonly identifiers: Database['identifiers']
  /** When quotes are changed, by the database's clock. Absent if no draft is a change. */
  readonly changedAt?: Date
  /** Adds forecasts to the quotes of a new request. */
  readonly forecast?: (request: NewQuoteRequest) => Promise<NewQuoteRequest>
}

/** What a draft became: its quotes, in its order. `row` is the changed quote or the requote; null for a new request. */
export interface Entered {
  readonly quotes: readonly { readonly quoteId: number; readonly laneRef: string }[]
  readonly row: QuoteRow | null
}

/**
 * Writes the quotes of drafts: credits their reps, changes quotes and records the changes, inserts new ones, and announces both as events.
 * Returns the result of each draft, in order. Each quote is changed at most once. Quotes of a file are not announced as new.
 */
export async function enter(
  transaction: TenantTransaction,
  drafts: readonly Draft[],
  by: EnteringBy,
): Promise<Entered[]> {
  const { tenant, identifiers } = by
  const entered = new Map<Draft, Entered>()
  const creditedTo = await repsOf(transaction, tenant, drafts)
  const changing = drafts.filter((draft) => draft.kind === 'change')
  if (changing.length > 0 && by.changedAt === undefined) throw new Error('A change has a time.')
  const changed = await changes.changeQuotes(
    transaction,
    tenant,
    changing.map((draft) => {
      const { rep_name: rep } = draft.next
      return rep === undefined ? draft : { ...draft, next: { ...draft.next, created_by: creditedTo(rep) } }
    }),
    by.changedAt ?? new Date(Number.NaN),
  )
  for (const [nth, row] of changed.entries()) {
    const draft = changing[nth]
    if (draft !== undefined) entered.set(draft, enteredQuote(row))
  }
  const making = drafts.filter((draft) => draft.kind === 'new')
  const requests: NewQuoteRequest[] = []
  for (const draft of making) {
    const request = requestOf(draft, creditedTo)
    requests.push(by.forecast === undefined ? request : await by.forecast(request))
  }
  const made = await newQuotes.insertRequests(transaction, tenant, identifiers, requests)
  let first = 0
  for (const draft of making) {
    entered.set(draft, { quotes: made.slice(first, first + draft.quotes.length), row: null })
    first += draft.quotes.length
  }
  for (const draft of drafts) {
    if (draft.kind !== 'requote') continue
    const row = await newQuotes.insertRequote(transaction, tenant, identifiers, draft.quoted, draft.next)
    const settled = await changes.settleOffers(transaction, tenant, [row.request_id], draft.next.createdAt)
    entered.set(draft, enteredQuote(settled.get(row.lane_id) ?? row))
  }
  return drafts.map((draft) => entered.get(draft) ?? { quotes: [], row: null })
}

const enteredQuote = (row: QuoteRow): Entered => ({
  quotes: [{ quoteId: row.lane_id, laneRef: row.lane_ref }],
  row,
})

type CreditedTo = (rep: string | null) => number | null

/** The person of the brokerage with the name or e-mail address of a rep of the drafts; null if there is none. */
async function repsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  drafts: readonly Draft[],
): Promise<CreditedTo> {
  const names = drafts.flatMap((draft) => {
    if (draft.kind === 'change') return draft.next.rep_name ?? []
    return draft.kind === 'new' ? (draft.quotes[0].rep_name ?? []) : []
  })
  const people = await pushedQuotes.findReps(transaction, tenant, names)
  return (rep) => people.get(rep ?? '') ?? null
}

function requestOf(
  { quotes, by, reference, importId, repeatable }: Extract<Draft, { kind: 'new' }>,
  creditedTo: CreditedTo,
): NewQuoteRequest {
  const [{ quoted_customer_name: customerName, created_at: createdAt, rep_name: rep = null }] = quotes
  return {
    customerName,
    reference,
    createdBy: rep === null ? by : creditedTo(rep),
    createdAt,
    importId,
    ...(repeatable === undefined ? {} : { repeatable }),
    quotes,
  }
}
