import type { Static } from 'typebox'
import { type BodyOf, roleAtLeast } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import type { Leaving, suspendUser } from '#contract/leaving.ts'
import {
  announceToSubscribers,
  approvals,
  credentials,
  eventEndpoints,
  inbox,
  people,
  sessions,
} from '../../database/queries/index.ts'
import type { ApprovalRow, TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, withViewer } from '../../database/session/index.ts'
import { approvalAnswer } from '../../lanes/index.ts'
import { mailAnswer } from '../../mail/index.ts'
import type { Parts } from '../parts.ts'
import { isPutAway, pendingQuoteItems } from './inbox-items.ts'
import { userAnswer } from './sign-in.ts'

type LeavingAnswer = Omit<Static<typeof Leaving>, 'user'>

const newest = (moments: readonly (Date | null)[]): string | null => {
  const known = moments.flatMap((moment) => (moment === null ? [] : [moment.getTime()]))
  return known.length === 0 ? null : new Date(Math.max(...known)).toISOString()
}

async function credentialsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  at: Date,
): Promise<Pick<LeavingAnswer, 'sessions' | 'tokens' | 'signing_secrets' | 'event_endpoints'>> {
  const live = await sessions.listLiveSessions(transaction, tenant, userId, at)
  const tokens = await credentials.listServiceTokens(transaction, tenant)
  const secrets = await credentials.liveSigningSecrets(transaction, tenant, at)
  const endpoints = await eventEndpoints.listEventEndpoints(transaction, tenant, at)
  return {
    sessions: { count: live.length, last_used_at: newest(live.map((session) => session.last_used_at)) },
    tokens: tokens
      .filter((token) => token.user_id === userId && token.revoked_at === null && token.expires_at > at)
      .map((token) => ({
        id: token.token_id,
        name: token.name,
        scope: token.scope,
        expires_at: token.expires_at.toISOString(),
        last_used_at: token.last_used_at?.toISOString() ?? null,
      })),
    signing_secrets: secrets
      .filter((secret) => secret.created_by === userId)
      .map((secret) => ({
        id: secret.secret_id,
        name: secret.name,
        last_used_at: secret.last_used_at?.toISOString() ?? null,
      })),
    event_endpoints: endpoints
      .filter((endpoint) => endpoint.created_by === userId)
      .map(({ endpoint_id: id, url }) => ({ id, url })),
  }
}

async function pendingQuotes(transaction: TenantTransaction, tenant: TenantId, userId: number, now: number) {
  const brokerage = await people.tenantOfSession(transaction, tenant)
  const quotes = await inbox.pendingQuotesOf(transaction, tenant, [userId], {
    now: new Date(now),
    validDays: brokerage.quote_valid_days,
  })
  return { brokerage, quotes }
}

/** What a person would leave to others, with its last use. */
export async function leftBehind(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: people.UserRow,
  now: number,
): Promise<Static<typeof Leaving>> {
  const { user_id: userId } = user
  const at = new Date(now)
  const { brokerage, quotes } = await pendingQuotes(transaction, tenant, userId, now)
  const marks = new Map(
    (await inbox.inboxMarks(transaction, tenant, userId)).map((mark) => [mark.item, mark]),
  )
  const rules = {
    afterHours: brokerage.follow_up_after_hours,
    beforeEndMinutes: brokerage.follow_up_before_end_minutes,
  }
  const isDue = (quote: inbox.PendingQuote) =>
    pendingQuoteItems(quote, rules, now).some(
      (item) => item.kind === 'follow-up' && !isPutAway(item, marks, now),
    )
  const everybody = await people.listUsers(transaction, tenant)
  const standIn = everybody.find((other) => other.user_id === user.quotes_to && other.status === 'active')
  const deciders = everybody.filter(({ role, status }) => status === 'active' && roleAtLeast(role, 'admin'))
  const open = await approvals.openApprovals(transaction, tenant, { now: at })
  const asked = open.filter((row) => row.requested_by === userId)
  const mayDecide = user.status === 'active' && roleAtLeast(user.role, 'admin')
  return {
    user: userAnswer(user),
    ...(await credentialsOf(transaction, tenant, userId, at)),
    quotes: {
      pending: quotes.length,
      follow_ups_due: quotes.filter(isDue).length,
      last_quoted_at: newest(quotes.map((quote) => quote.created_at)),
      given_to: standIn === undefined ? null : { user_id: standIn.user_id, name: standIn.name },
    },
    approvals: {
      asked: asked.length,
      last_asked_at: newest(asked.map((row) => row.requested_at)),
      to_decide: mayDecide
        ? open.filter((row) => row.state === 'waiting' && row.requested_by !== userId).length
        : 0,
      other_deciders: deciders.filter((decider) => decider.user_id !== userId).length,
    },
  }
}

/** What happens to what a person leaves. What is left out stays as it is; `to` is whom something is handed over to. */
type Choice = Partial<Omit<BodyOf<typeof suspendUser>, 'to'>>

export interface HandedOver {
  readonly user: people.UserRow
  readonly choice: Choice
  readonly to: number | undefined
  /** The member of the body, or the parameter, that named `to`. */
  readonly named: Pick<FieldError, 'pointer' | 'parameter'>
  /** Their open requests, from `askedBy`. */
  readonly asked: readonly ApprovalRow[]
}

const isHandedOver = ({ tokens, quotes, approvals: requests }: Choice) =>
  [tokens, quotes, requests].includes('hand-over')

/** @throws a 422 if nobody is named, or one who cannot take over; nothing is changed then */
async function receiver(
  transaction: TenantTransaction,
  tenant: TenantId,
  { user, choice, to, named, asked }: HandedOver,
  { holdsTokens, now }: { readonly holdsTokens: boolean; readonly now: number },
): Promise<number | null> {
  const refuse = (code: string, detail: string) => invalid([{ ...named, code, detail }])
  if (!isHandedOver(choice)) {
    if (to === undefined) return null
    throw refuse('invalid', 'to goes with hand-over. Leave it out, or hand something over.')
  }
  if (to === undefined) {
    throw refuse('required', 'to is missing: the id of the person to hand over to.')
  }
  const person = to === user.user_id ? null : await people.lockUser(transaction, tenant, to)
  if (person?.status !== 'active' || !roleAtLeast(person.role, 'member')) {
    throw refuse('invalid', 'to must be the id of another active person with at least the role member.')
  }
  if (holdsTokens && choice.tokens === 'hand-over' && !roleAtLeast(person.role, 'admin')) {
    throw refuse(
      'invalid',
      `${person.name} is ${person.role}: only an admin or owner can hold service tokens. Name one of them, or revoke the tokens.`,
    )
  }
  const viewer = roleAtLeast(person.role, 'admin') ? null : { userId: to }
  const hidden = await withViewer(viewer, async () => {
    const all = async () => (await pendingQuotes(transaction, tenant, user.user_id, now)).quotes.length
    const quotes = choice.quotes === 'hand-over' ? (await withViewer(null, all)) - (await all()) : 0
    if (choice.approvals !== 'hand-over') return quotes
    const seen = await approvals.openApprovals(transaction, tenant, {
      now: new Date(now),
      lockOf: user.user_id,
    })
    return quotes + asked.length - seen.length
  })
  if (hidden === 0) return to
  throw refuse(
    'invalid',
    `${person.name} does not see the customers of ${hidden} of these quotes and requests. Name another person, or add ${person.name} to the team of the customers.`,
  )
}

/** Hands over or withdraws requests for approval, and tells the endpoints that subscribe. */
async function settleApprovals(
  transaction: TenantTransaction,
  caller: { readonly tenant: TenantId },
  asked: readonly ApprovalRow[],
  to: number | null,
  { config, now }: Pick<Parts, 'config'> & { readonly now: number },
): Promise<void> {
  const { tenant } = caller
  const names = await people.namesOfUsers(transaction, tenant)
  for (const row of asked) {
    if (to === null) {
      const { decided_by, decided_at, decision_note } = row
      const state = 'withdrawn'
      await approvals.saveDecision(transaction, tenant, row.approval_id, {
        state,
        decided_by,
        decided_at,
        decision_note,
      })
    } else await approvals.giveApproval(transaction, tenant, row.approval_id, to)
    const after = await approvals.findApproval(transaction, tenant, row.approval_id, { lock: false })
    const approval = approvalAnswer(after ?? row, names, now)
    await announceToSubscribers(transaction, tenant, { type: 'approval.changed', about: { approval } })
    // Mails that ask for a decision are not sent for a request that was withdrawn.
    if (to === null) await mailAnswer(transaction, tenant, approval, { config, now })
  }
}

/**
 * The open requests of a person, locked. Call it before the person is locked: a decision locks its request first, and a deadlock would
 * fail one of the two.
 */
export const askedBy = (transaction: TenantTransaction, tenant: TenantId, userId: number, now: number) =>
  approvals.openApprovals(transaction, tenant, { now: new Date(now), lockOf: userId })

/**
 * Hands over or ends what a person leaves, in the transaction that suspends or removes them.
 *
 * @returns what the audit log says of it
 * @throws a 422 before anything is changed
 */
export async function settleLeft(
  transaction: TenantTransaction,
  caller: { readonly tenant: TenantId },
  handed: HandedOver,
  { config, now }: Pick<Parts, 'config'> & { readonly now: number },
): Promise<Record<string, unknown>> {
  const { tenant } = caller
  const { user, choice, asked } = handed
  const at = new Date(now)
  const live = await credentials.liveTokensOf(transaction, tenant, user.user_id, at)
  const to = await receiver(transaction, tenant, handed, { holdsTokens: live.length > 0, now })
  if (choice.tokens === 'revoke') await credentials.revokeTokensOf(transaction, tenant, user.user_id, at)
  if (choice.tokens === 'hand-over' && to !== null) {
    await credentials.handOverTokens(transaction, tenant, user.user_id, to)
  }
  if (choice.quotes !== undefined) {
    await inbox.giveQuotes(transaction, tenant, user.user_id, choice.quotes === 'hand-over' ? to : null)
  }
  const isSettled = choice.approvals === 'withdraw' || choice.approvals === 'hand-over'
  if (isSettled) {
    const receiving = choice.approvals === 'hand-over' ? to : null
    await settleApprovals(transaction, caller, asked, receiving, { config, now })
  }
  return {
    ...(live.length === 0 ? {} : { tokens: choice.tokens, token_ids: live.map(({ token_id: id }) => id) }),
    ...(choice.quotes === undefined ? {} : { quotes: choice.quotes }),
    ...(isSettled && asked.length > 0
      ? { approvals: choice.approvals, approval_ids: asked.map((row) => row.approval_id) }
      : {}),
    ...(to === null ? {} : { to }),
  }
}

/** @throws a 409 that names the live service tokens of a person, if nobody said what happens to them */
export async function refuseForgottenTokens(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: people.UserRow,
  { isSaid, now }: { readonly isSaid: boolean; readonly now: number },
): Promise<void> {
  const live = await credentials.liveTokensOf(transaction, tenant, user.user_id, new Date(now))
  if (live.length === 0 || isSaid) return
  throw problem(
    'tokens-to-hand-over',
    `${user.name} holds ${live.length} live service token(s): ${live.map((token) => token.name).join(', ')}. Add tokens=revoke, or tokens=hand-over (to you, or to the person in to).`,
  )
}
