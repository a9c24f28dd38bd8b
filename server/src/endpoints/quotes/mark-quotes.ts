import { type AnswerOf, type BodyOf, roleAtLeast } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { markQuotes } from '#contract/mark-quotes.ts'
import {
  type ChangingQuote,
  quoteChanges as changes,
  pushedQuotes,
  type Setter,
  savedQuotes,
  settersOf,
} from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { quoteAnswers } from '../../quotes/index.ts'
import { type Call, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { noQuote } from './named-quote.ts'
import { outcomesByPerson, replacedWords, voidWords, wrongReason } from './outcome-by-person.ts'
import { refusedReopenings, reopeningWords } from './reopened-quotes.ts'

type Asked = BodyOf<typeof markQuotes>['lanes'][number]
type Result = AnswerOf<typeof markQuotes>['results'][number]

function checkQuotes(asked: readonly Asked[]): void {
  const errors: FieldError[] = []
  const first = new Map<string, number>()
  for (const [index, { lane_ref, outcome, reason }] of asked.entries()) {
    const before = first.get(lane_ref)
    if (before === undefined) first.set(lane_ref, index)
    else {
      const detail = `This lane_ref is also in item ${before}. Send each quote once.`
      errors.push({ pointer: `/lanes/${index}/lane_ref`, code: 'repeated', detail })
    }
    if (reason !== undefined && outcome !== 'lost') errors.push(wrongReason(`lanes/${index}/reason`))
  }
  if (errors.length > 0) throw invalid(errors)
}

/** A quote that is not marked: void, changed by someone else since the caller read it, replaced, or outside the rules. */
interface Conflict {
  readonly index: number
  readonly quote: QuoteRow
  /** Why it cannot be marked so: a later offer replaced it, or the rules refuse the mark. Null for other conflicts. */
  readonly refused: string | null
}

/** True if someone else changed the outcome since the caller read it. */
function isChanged(quote: QuoteRow, { outcome, reason, expected_outcome: expected }: Asked): boolean {
  if (expected === undefined || quote.outcome === expected) return false
  // A quote that already has the new outcome is no conflict.
  return quote.outcome !== outcome || quote.outcome_reason !== (reason ?? null)
}

const sources = {
  dashboard: 'The dashboard',
  tms: 'The TMS',
  import: 'An import',
  lanewise: 'Lanewise',
} as const

function conflictWords({ quote, refused }: Conflict, setter: Setter | null): string {
  if (quote.voided_at !== null) return voidWords(quote)
  if (refused !== null) return refused
  const who = setter === null ? 'Someone' : (setter.name ?? sources[setter.source])
  const outcome = quote.outcome === 'pending' ? 'pending again' : quote.outcome
  return `${who} marked this quote ${outcome} after you loaded it.`
}

/** The answers about conflicts, by index of the item, each with the quote as it is now. */
async function conflictsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  conflicts: readonly Conflict[],
): Promise<(readonly [index: number, result: Result])[]> {
  if (conflicts.length === 0) return []
  const quotes = conflicts.map(({ quote }) => quote)
  const answers = await quoteAnswers(transaction, tenant, quotes)
  const setters = await settersOf(
    transaction,
    tenant,
    quotes.map(({ lane_id }) => ({ quoteId: lane_id, column: 'outcome' })),
  )
  return conflicts.flatMap((conflict, nth) => {
    const { index, quote } = conflict
    const answer = answers[nth]
    if (answer === undefined) return []
    const detail = conflictWords(conflict, setters[nth] ?? null)
    return [[index, { index, status: 409, lane_ref: quote.lane_ref, detail, lane: answer }] as const]
  })
}

/** The errors of each quote that the pricing rules do not let the person mark, by lane_id. Reads the quotes without a lock. */
async function refusedMarks(
  { caller, body, now }: Call<typeof markQuotes>,
  parts: Pick<Parts, 'books' | 'database'>,
) {
  if (roleAtLeast(caller.role, 'admin')) return new Map<number, FieldError[]>()
  const { tenant } = caller
  const byRef = new Map(body.lanes.map((item) => [item.lane_ref, item]))
  const known = await parts.database.inTenant(tenant, async (transaction) => {
    const ids = await savedQuotes.findQuoteIds(transaction, tenant, [...byRef.keys()])
    return savedQuotes.quotesById(transaction, tenant, [...ids.values()], { lock: false })
  })
  const asked = known.flatMap((quote) => {
    const outcome = byRef.get(quote.lane_ref)?.outcome
    return outcome === undefined ? [] : [{ quote, outcome }]
  })
  return refusedReopenings(asked, { caller, now }, parts)
}

/** Marks several quotes in one transaction. */
export const markQuotesEndpoint = serve(markQuotes, async (call, parts) => {
  const { caller, now } = call
  const { lanes: asked } = call.body
  checkQuotes(asked)
  const { tenant, userId } = caller
  const refused = await refusedMarks(call, parts)
  return parts.database.inTenant(tenant, async (transaction) => {
    const named = { externalIds: [], laneRefs: asked.map(({ lane_ref }) => lane_ref) }
    const locked = await pushedQuotes.lockNamedQuotes(transaction, tenant, named)
    const byRef = new Map(locked.map((quote) => [quote.lane_ref, quote]))
    const outcomeOf = await outcomesByPerson(transaction, caller, new Date(now))
    const changing: (ChangingQuote & { readonly index: number })[] = []
    const conflicts: Conflict[] = []
    const results = new Map<number, Result>()
    for (const [index, item] of asked.entries()) {
      const { lane_ref } = item
      const quote = byRef.get(lane_ref)
      if (quote === undefined) {
        results.set(index, { index, status: 404, lane_ref, detail: noQuote(lane_ref).message })
        continue
      }
      const outside = refused.get(quote.lane_id)?.[0]
      const replaced = replacedWords(quote, item)
      if (quote.voided_at !== null || replaced !== null || isChanged(quote, item))
        conflicts.push({ index, quote, refused: replaced })
      else if (outside !== undefined) {
        conflicts.push({ index, quote, refused: reopeningWords(item.outcome, outside.detail) })
      } else {
        changing.push({ index, quote, next: outcomeOf(quote, item), origin: { source: 'dashboard', userId } })
      }
    }
    const changed = await changes.changeQuotes(transaction, tenant, changing, new Date(now))
    const marked = await quoteAnswers(transaction, tenant, changed)
    for (const [nth, { index }] of changing.entries()) {
      const quote = marked[nth]
      if (quote !== undefined) results.set(index, { index, status: 200, lane: quote })
    }
    for (const [index, result] of await conflictsOf(transaction, tenant, conflicts))
      results.set(index, result)
    return {
      results: asked.flatMap((_, index) => results.get(index) ?? []),
      marked: changing.length,
      failed: asked.length - changing.length,
    }
  })
})
