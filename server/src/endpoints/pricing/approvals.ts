import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import * as contract from '#contract/approvals.ts'
import { roleAtLeast } from '#contract/endpoint.ts'
import { invalid, type Problem, problem } from '#contract/errors.ts'
import { approvalHours, approvalsListedMax } from '#contract/limits.ts'
import { centsFromDollars, dollarsFromCents, formatDollars } from '#engine/money.ts'
import { type QuotedTerms, sameTerms, termsBehind } from '#engine/rate-basis.ts'
import { type ApprovalState, decided } from '#engine/rules/approval.ts'
import { recordEvent } from '../../audit/index.ts'
import { announceToSubscribers, approvals, people, savedQuotes, teams } from '../../database/queries/index.ts'
import type { ApprovalRow, TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, withViewer } from '../../database/session/index.ts'
import {
  type AskedQuote,
  approvalAnswer,
  approvalState,
  askedQuote,
  askedRates,
  pricedQuote,
  termsOf,
} from '../../quotes/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { type CheckedRate, refuseOtherAdvice } from '../quotes/check-rates.ts'
import { checkQuoteRequest, makeQuotes, withStoredNames } from '../quotes/make-quotes.ts'
import { outsideErrors, outsideRules } from '../quotes/outside-rules.ts'
import { checkRequote, saveRequote } from '../quotes/save-requote.ts'

type Approval = Static<typeof contract.Approval>
const hourMs = 3_600_000

/** The names of people, including removed ones, so that it stays readable who decided. */
const namesOf = people.namesOfUsers

/** The reasons why quotes need approval. @throws if a rule blocks one, or if none needs approval */
function reasonsOf(checked: readonly CheckedRate[], pointerOf: (index: number) => string): string[] {
  refuseOtherAdvice(checked)
  const errors = checked.flatMap(({ offer }, index) => outsideErrors(offer.verdict, false, pointerOf(index)))
  if (errors.some(({ code }) => code === 'blocked')) throw outsideRules(errors)
  if (errors.length === 0) {
    throw problem('state-conflict', 'These rates are within the rules: save the quote, it needs no approval.')
  }
  return errors.map(({ detail }) => detail)
}

/** Queues an event with the changed request for the endpoints that subscribe. */
const announce = (transaction: TenantTransaction, tenant: TenantId, approval: Approval) =>
  announceToSubscribers(transaction, tenant, { type: 'approval.changed', about: { approval } })

async function ask(
  request: AskedQuote,
  { reasons, note }: { readonly reasons: readonly string[]; readonly note: string | undefined },
  call: Pick<Call<typeof contract.askApproval>, 'caller' | 'now' | 'network' | 'requestId'>,
  { database }: Pick<Parts, 'database'>,
): Promise<Approval> {
  const { tenant, userId } = call.caller
  return database.inTenant(tenant, async (transaction) => {
    const approvalId = await people.nextTenantNumber(transaction, tenant, 'approval')
    await approvals.insertApproval(transaction, tenant, {
      approval_id: approvalId,
      asked: request,
      reasons,
      note: note ?? null,
      requested_by: userId,
      requested_at: new Date(call.now),
      expires_at: new Date(call.now + approvalHours * hourMs),
    })
    const row = await approvals.findApproval(transaction, tenant, approvalId, { lock: false })
    if (row === null) throw new Error('An approval that was stored is not there.')
    const answer = approvalAnswer(row, await namesOf(transaction, tenant), call.now)
    await recordEvent(transaction, call, 'approval-requested', {
      about: { approval_id: approvalId, customer_name: answer.customer_name, reasons },
    })
    await announce(transaction, tenant, answer)
    return answer
  })
}

const refusedWords: Readonly<Record<'role' | 'own', string>> = {
  role: 'Only an admin or owner of the brokerage can decide a request for approval.',
  own: 'Nobody can decide their own request for approval. Another admin or owner must.',
}

function stateProblem(row: ApprovalRow, state: ApprovalState): Problem {
  return problem(
    'state-conflict',
    `Request ${row.approval_id} is ${state}, so this is no longer possible. Nothing was changed.`,
  )
}

type DecideCall = Call<typeof contract.decideApproval>

/** Locks and returns the request if the caller may decide it so now. @throws Problem otherwise */
async function decidable(transaction: TenantTransaction, call: DecideCall) {
  const { caller, params, body, now } = call
  const row = await approvals.findApproval(transaction, caller.tenant, params.approval_id, { lock: true })
  if (row === null) {
    throw problem('not-found', `There is no request for approval ${params.approval_id} in this brokerage.`)
  }
  const users = await people.listUsers(transaction, caller.tenant)
  const approvers = users.filter(({ role, status }) => status === 'active' && roleAtLeast(role, 'admin'))
  const state = approvalState(row, now)
  const found = decided(state, body.decision, {
    isRequester: row.requested_by === caller.userId,
    isApprover: roleAtLeast(caller.role, 'admin'),
    isOnlyApprover: approvers.every(({ user_id }) => user_id === caller.userId),
  })
  if ('to' in found) return { row, to: found.to }
  if (found.refused === 'state') throw stateProblem(row, state)
  throw problem('role-required', refusedWords[found.refused])
}

/** @example rateInWords(195000, { terms: { basis: null, currency: 'CAD' } }) // '$1,950 CAD' */
function rateInWords(cents: number, asked: { readonly terms: QuotedTerms } | undefined): string {
  return `${formatDollars(cents)}${asked === undefined ? '' : termsBehind(asked.terms)}`
}

/** @throws a 422 if a counter is below the rate that the customer named, at which no quote could be made */
function refuseBelowNamed(request: AskedQuote, counterCents: readonly number[]): void {
  const named = request.kind === 'requote' ? request.body.counter_rate : undefined
  const namedCents = named === undefined ? null : centsFromDollars(named)
  const [cents] = counterCents
  const [asked] = askedRates(request)
  if (namedCents === null || cents === undefined || cents >= namedCents) return
  throw invalid([
    {
      pointer: '/rates/0',
      code: 'invalid',
      detail: `The rate must be at least ${rateInWords(namedCents, asked)}: the customer named it and would pay it. It is ${rateInWords(cents, asked)}.`,
    },
  ])
}

/** The rates of a counter, in cents. @throws a 422 if not each quote has one, or one can never be quoted */
function counterOf(row: ApprovalRow, { decision, rates }: DecideCall['body']): number[] | undefined {
  const request = askedQuote(row)
  const count = askedRates(request).length
  const takesRates = decision === 'counter' || decision === 'accept'
  const wrong = (detail: string) => invalid([{ pointer: '/rates', code: 'invalid', detail }])
  if (!takesRates && rates !== undefined)
    throw wrong('rates is only accepted with the decisions counter and accept; remove it.')
  if (rates?.length !== count && (decision === 'counter' || rates !== undefined))
    throw wrong(`rates must have ${count} values, one for each quote.`)
  const cents = rates?.map((dollars) => centsFromDollars(dollars) ?? 0)
  if (decision === 'accept' && cents !== undefined) checkCounter(row, cents)
  if (decision === 'counter' && cents !== undefined) refuseBelowNamed(request, cents)
  return decision === 'counter' ? cents : undefined
}

/** @throws a 409 with the counter's rates, if the person saw other ones */
function checkCounter(row: ApprovalRow, seenCents: readonly number[] | null): void {
  const counter = row.counter_cents ?? []
  const asked = askedRates(askedQuote(row))
  const rates = counter.map((cents, index) => rateInWords(cents, asked[index]))
  const errors = counter.flatMap((cents, index) =>
    cents === seenCents?.[index]
      ? []
      : [
          {
            pointer: `/rates/${index}`,
            code: 'changed',
            detail: `The rate of the counter is ${rates[index]}.`,
          },
        ],
  )
  if (errors.length === 0) return
  throw problem(
    'state-conflict',
    `Request ${row.approval_id} was countered with other rates meanwhile: ${rates.join(', ')}. Nothing was changed. Accept these rates, or withdraw.`,
    { errors },
  )
}

/** Saves a decision in the transaction that acts on it, and returns the request with it. */
async function save(
  transaction: TenantTransaction,
  call: DecideCall,
  { row, to }: { readonly row: ApprovalRow; readonly to: ApprovalState },
  more: { readonly counterCents?: readonly number[]; readonly laneRefs?: readonly string[] },
): Promise<Approval> {
  const { caller, body, now } = call
  if (to === 'expired') throw stateProblem(row, to)
  // The requester accepts or withdraws, so the approver who decided before is kept.
  const keepsDecision = to === 'accepted' || to === 'withdrawn'
  if (keepsDecision && body.note !== undefined) {
    throw invalid([
      {
        pointer: '/note',
        code: 'invalid',
        detail: `A note goes with approve, reject and counter, not with ${body.decision}. Leave it out.`,
      },
    ])
  }
  await approvals.saveDecision(transaction, caller.tenant, row.approval_id, {
    state: to,
    decided_by: keepsDecision ? row.decided_by : caller.userId,
    decided_at: keepsDecision ? row.decided_at : new Date(now),
    decision_note: keepsDecision ? row.decision_note : (body.note ?? null),
    ...more,
  })
  await recordEvent(transaction, call, 'approval-decided', {
    about: { approval_id: row.approval_id, decision: body.decision, ...more },
  })
  const after = await approvals.findApproval(transaction, caller.tenant, row.approval_id, { lock: false })
  const answer = approvalAnswer(after ?? row, await namesOf(transaction, caller.tenant), now)
  await announce(transaction, caller.tenant, answer)
  return answer
}

/** @throws a 409 if the basis or currency of the quote changed after approval of a requote was requested */
async function refuseOtherTerms(
  transaction: TenantTransaction,
  tenant: TenantId,
  request: AskedQuote,
  [made]: readonly string[],
): Promise<void> {
  const [asked] = askedRates(request)
  if (request.kind !== 'requote' || made === undefined || asked === undefined) return
  const quote = await savedQuotes.findQuote(transaction, tenant, made)
  const assumed = await people.defaultBasisOf(transaction, tenant)
  if (quote === null || sameTerms(asked.terms, termsOf(quote), assumed)) return
  throw problem(
    'state-conflict',
    `The basis or currency of quote ${request.laneRef} changed after the request, so its rate would now be a different amount. Nothing was changed. Reject the request; the person can ask again.`,
  )
}

/** @throws a 409 if the requester may not make the quote any more */
async function refuseForRequester(transaction: TenantTransaction, tenant: TenantId, row: ApprovalRow) {
  const person = await people.lockUser(transaction, tenant, row.requested_by)
  const refuse = (why: string) =>
    problem(
      'state-conflict',
      `The quote would be in the name of ${person?.name ?? 'a person'}, who ${why}. Nothing was changed. Reject the request; somebody else can quote.`,
    )
  if (person?.status !== 'active') throw refuse('is not in the brokerage any more')
  if (!roleAtLeast(person.role, 'member')) throw refuse('may not quote any more')
  const request = askedQuote(row)
  const customer = request.kind === 'requote' ? request.customerName : request.body.customer_name
  const viewer = roleAtLeast(person.role, 'admin') ? null : { userId: row.requested_by }
  const isHidden = () => teams.isHiddenCustomer(transaction, tenant, customer ?? '')
  if (await withViewer(viewer, isHidden)) throw refuse('does not see the customer any more')
}

/** Makes the quotes of an approved request in the requester's name, and saves the decision, in one transaction. */
async function makeApproved(
  call: DecideCall,
  row: ApprovalRow,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<Approval> {
  const { caller, now } = call
  let answer: Approval | null = null
  const request = askedQuote(row)
  const counter = call.body.decision === 'accept' ? row.counter_cents : null
  const rateAt = (index: number, dollars: number) => {
    const cents = counter?.[index]
    return cents === undefined ? dollars : dollarsFromCents(cents)
  }
  const by = {
    tenant: caller.tenant,
    userId: row.requested_by,
    now,
    isApproved: true,
    also: async (transaction: TenantTransaction, laneRefs: readonly string[]) => {
      const locked = await decidable(transaction, call)
      // An approver may have countered again since the quotes were checked.
      checkCounter(locked.row, row.counter_cents)
      await refuseForRequester(transaction, caller.tenant, locked.row)
      await refuseOtherTerms(transaction, caller.tenant, request, laneRefs)
      answer = await save(transaction, call, locked, { laneRefs })
    },
  }
  if (request.kind === 'requote') {
    const body = { ...request.body, quoted_rate: rateAt(0, request.body.quoted_rate) }
    await saveRequote(request.laneRef, body, by, parts)
  } else {
    const { body } = request
    const quoted = body.lanes.map((quote, index) => ({
      ...quote,
      quoted_rate: rateAt(index, quote.quoted_rate),
    }))
    // A new key, because the request's own key may have made another quote. The decision is made once, so nothing repeats it.
    await makeQuotes({ ...body, lanes: quoted, request_key: randomUUID() }, by, parts)
  }
  if (answer === null) throw new Error('An approved request was not saved with its quotes.')
  return answer
}

export const approvalEndpoints: ServedEndpoint[] = [
  serve(contract.listApprovals, ({ caller: { tenant }, query, now }, { database }) =>
    database.inTenant(tenant, async (transaction) => {
      const since = query.recent === 'true' ? new Date(now - approvalHours * hourMs) : null
      const rows = await approvals.listApprovals(transaction, tenant, { limit: approvalsListedMax, since })
      const names = await namesOf(transaction, tenant)
      return { approvals: rows.map((row) => approvalAnswer(row, names, now)) }
    }),
  ),

  serve(contract.askApproval, async (call, parts) => {
    const { tenant, userId } = call.caller
    const { note, ...body } = call.body
    const by = { tenant, userId, now: call.now, isApproved: false }
    const checked = await checkQuoteRequest(body, by, parts)
    const reasons = reasonsOf(checked, (index) => `/lanes/${index}/quoted_rate`)
    return ask({ kind: 'quote', body: withStoredNames(body) }, { reasons, note }, call, parts)
  }),

  serve(contract.askRequoteApproval, async (call, parts) => {
    const { caller, params, now } = call
    const { tenant, userId } = caller
    const { note, ...sent } = call.body
    // The advice does not last until the decision.
    const { advice: _, ...body } = sent
    const by = { tenant, userId, now, isApproved: false }
    const checked = await checkRequote(params.lane_ref, sent, by, parts)
    const request = {
      kind: 'requote' as const,
      laneRef: checked.next.lane_ref,
      customerName: checked.next.quoted_customer_name,
      lane: pricedQuote(checked.next),
      body,
    }
    const reasons = reasonsOf([checked], () => '/quoted_rate')
    return ask(request, { reasons, note }, call, parts)
  }),

  // One transaction makes the decision, its quotes and the answer, so a failure leaves nothing behind.
  serve(contract.decideApproval, async (call, parts) => {
    const makes = call.body.decision === 'approve' || call.body.decision === 'accept'
    const decided = await parts.database.inTenant(call.caller.tenant, async (transaction) => {
      const found = await decidable(transaction, call)
      const counterCents = counterOf(found.row, call.body)
      const answer = makes
        ? null
        : await save(transaction, call, found, counterCents === undefined ? {} : { counterCents })
      return { row: found.row, answer }
    })
    return decided.answer ?? makeApproved(call, decided.row, parts)
  }),
]
