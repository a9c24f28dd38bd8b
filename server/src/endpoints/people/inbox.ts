import type { AnswerOf } from '#contract/endpoint.ts'
import { roleAtLeast } from '#contract/endpoint.ts'
import { invalid, Problem } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import * as contract from '#contract/inbox.ts'
import {
  approvalHours,
  approvalsListedMax,
  inboxItemsMax,
  knownNetworkDays,
  newSignInsMax,
  openMailsCountedMax,
  tokenInboxDays,
  watchMovesDays,
} from '#contract/limits.ts'
import { statisticsOf } from '../../book/index.ts'
import type { CachedRead } from '../../cache/index.ts'
import {
  approvals,
  expiringTokens,
  inbox,
  laneLists as lists,
  mailboxes,
  mails,
  people,
  readVersions,
  receivedMails,
  sessions,
} from '../../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { approvalState } from '../../lanes/index.ts'
import { shownMoves } from '../../watches/index.ts'
import type { Call, ServedEndpoint } from '../endpoint-call.ts'
import { serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import {
  answerNotSent,
  approvalDecided,
  approvalToDecide,
  bookedAtALoss,
  type FollowUpRules,
  importEnded,
  isPutAway,
  mailboxFailing,
  moved,
  type NewItem,
  newSignIn,
  pendingQuoteItems,
  staysUntilDone,
  tokenExpiring,
  withSeen,
} from './inbox-items.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000
/** An import of old loads is no news: only bookings that changed lately, of quotes that are not old. */
const lossChangedMs = 7 * dayMs
const lossQuotedMs = 90 * dayMs
const lossesMax = 20
const importsMs = 7 * dayMs
const answersNotSentDays = 14
const answersNotSentMax = 20

type Asking = Pick<Call<typeof contract.getInbox>, 'caller' | 'now'>

async function approvalItems(
  transaction: TenantTransaction,
  { caller, now }: Asking,
): Promise<(NewItem | null)[]> {
  const { tenant, userId, role } = caller
  const since = new Date(now - approvalHours * hourMs)
  const rows = await approvals.listApprovals(transaction, tenant, { limit: approvalsListedMax, since })
  const names = rows.length === 0 ? new Map<number, string>() : await people.namesOfUsers(transaction, tenant)
  return rows.map((row) => {
    if (row.requested_by === userId) return approvalDecided(row, names, now)
    const isMine = roleAtLeast(role, 'admin') && approvalState(row, now) === 'waiting'
    return isMine ? approvalToDecide(row, names, now) : null
  })
}

type Reading = Pick<Parts, 'books' | 'database' | 'memory'>

/** The bookings at a loss of quotes that are not old, as the book knows them: it compares amounts on other terms, too. */
async function lossIds({ caller: { tenant }, now }: Asking, parts: Reading) {
  // The start of a day, so that the book finds them once until quotes change.
  const from = Math.floor((now - lossQuotedMs) / dayMs) * dayMs
  try {
    // First: the statistics have these versions or newer ones.
    const { versions } = await parts.books.read(tenant)
    return { versions, ids: await (await statisticsOf(parts, tenant)).behind('booked_at_a_loss', { from }) }
  } catch (error) {
    // The quotes do not fit into the memory of the service: everything else is shown.
    if (!(error instanceof Problem)) throw error
    const versions = await parts.database.inTenant(tenant, (transaction) => readVersions(transaction, tenant))
    return { versions, ids: [] }
  }
}

/** Of these bookings, those that changed lately, of the customers that the person sees. */
async function losses(
  transaction: TenantTransaction,
  { caller: { tenant }, now }: Asking,
  laneIds: readonly number[],
): Promise<LaneRow[]> {
  if (laneIds.length === 0) return []
  const page = { sort: 'updated', cursor: null, limit: lossesMax } as const
  const found = await lists.listLanes(transaction, tenant, { laneIds }, page)
  return found.filter(({ updated_at: at }) => at.getTime() > now - lossChangedMs)
}

/** What an inbox shows of quotes, settings and tokens: it changes with the versions of the brokerage, and with the time. */
interface Kept {
  readonly rules: FollowUpRules
  readonly quotes: readonly inbox.PendingQuote[]
  readonly losses: readonly LaneRow[]
  readonly tokens: Awaited<ReturnType<typeof expiringTokens>>
}

/** Approximate memory, in bytes. */
const bytesOf = ({ quotes, losses, tokens }: Kept) =>
  500 + 1_000 * quotes.length + 4_000 * losses.length + 500 * tokens.length

async function readKept(asking: Asking, parts: Reading): Promise<CachedRead<Kept>> {
  const { caller, now } = asking
  const { tenant, userId, role } = caller
  const isAdmin = roleAtLeast(role, 'admin')
  const { versions, ids } = await lossIds(asking, parts)
  const value = await parts.database.inTenant(tenant, async (transaction): Promise<Kept> => {
    const brokerage = await people.tenantOfSession(transaction, tenant)
    const followed = roleAtLeast(role, 'member')
      ? await inbox.followedPeople(transaction, tenant, { userId, isAdmin })
      : []
    const until = new Date(now + tokenInboxDays * dayMs)
    return {
      rules: {
        afterHours: brokerage.follow_up_after_hours,
        beforeEndMinutes: brokerage.follow_up_before_end_minutes,
      },
      quotes: await inbox.pendingQuotesOf(transaction, tenant, followed, {
        now: new Date(now),
        validDays: brokerage.quote_valid_days,
      }),
      losses: await losses(transaction, asking, ids),
      tokens: isAdmin ? await expiringTokens(transaction, tenant, new Date(now), until) : [],
    }
  })
  return { value, versions, until: Math.floor(now / minuteMs + 1) * minuteMs, bytes: bytesOf(value) }
}

/** Every open page asks every few seconds, so this is read again after a change, and each minute. */
const keptOf = (asking: Asking, parts: Reading): Promise<Kept> =>
  parts.memory.getOrRead(
    asking.caller.tenant,
    `inbox ${asking.caller.userId} ${asking.caller.role}`,
    asking.now,
    () => readKept(asking, parts),
  )

/** Everything that waits for the person, before their marks: each inner list has one thing, the most urgent form first. */
async function allItems(
  transaction: TenantTransaction,
  asking: Asking,
  { rules, quotes, losses, tokens }: Kept,
): Promise<NewItem[][]> {
  const { caller, now } = asking
  const { tenant, userId, sessionId, role } = caller
  const signIns = await sessions.unconfirmedSignIns(transaction, tenant, {
    userId,
    except: sessionId,
    since: new Date(now - knownNetworkDays * dayMs),
  })
  const mailbox = roleAtLeast(role, 'admin') ? await mailboxes.findMailbox(transaction, tenant) : null
  const lately = { since: new Date(now - answersNotSentDays * dayMs), limit: answersNotSentMax }
  const single = [
    ...(mailbox === null ? [] : [mailboxFailing(mailbox, now)]),
    ...(await approvalItems(transaction, asking)),
    ...losses.map(bookedAtALoss),
    ...(await inbox.endedImports(transaction, tenant, userId, new Date(now - importsMs))).map(importEnded),
    ...tokens.map((token) => tokenExpiring(token, tokenInboxDays)),
    ...signIns.slice(0, newSignInsMax).map(newSignIn),
    ...(await mails.failedAnswers(transaction, tenant, { ...lately, userId })).map(answerNotSent),
    ...(await shownMoves(transaction, tenant, { userId, since: new Date(now - watchMovesDays * dayMs) })).map(
      moved,
    ),
  ]
  const isOver = ({ ends_at: end }: inbox.PendingQuote) => end !== null && end.getTime() <= now
  return [
    ...single.flatMap((item) => (item === null ? [] : [[item]])),
    ...quotes.filter((quote) => !isOver(quote)).map((quote) => pendingQuoteItems(quote, rules, now)),
  ]
}

async function inboxAnswer(
  transaction: TenantTransaction,
  asking: Asking,
  kept: Kept,
): Promise<AnswerOf<typeof contract.getInbox>> {
  const { caller, now } = asking
  const marks = await marksOf(transaction, caller.tenant, caller.userId)
  const items = (await allItems(transaction, asking, kept))
    .flatMap((forms) => forms.find((item) => !isPutAway(item, marks, now)) ?? [])
    .map((item) => withSeen(item, marks))
    .sort((one, other) => Number(other.late) - Number(one.late) || other.at.localeCompare(one.at))
    .slice(0, inboxItemsMax)
  const open = await receivedMails.countOpenMails(transaction, caller.tenant, openMailsCountedMax)
  return { items, unseen: items.filter(({ seen }) => !seen).length, open_mails: open }
}

async function marksOf(transaction: TenantTransaction, tenant: TenantId, userId: number) {
  const marks = await inbox.inboxMarks(transaction, tenant, userId)
  return new Map(marks.map((mark) => [mark.item, mark]))
}

/** @throws a 422 if a time is missing, superfluous or not ahead */
function snoozedUntil({ body, now }: Pick<Call<typeof contract.markInbox>, 'body' | 'now'>): Date | null {
  const until = body.until === undefined ? null : readTime(body.until)
  const wrong = (detail: string) => invalid([{ pointer: '/until', code: 'invalid', detail }])
  if (body.mark !== 'snoozed') {
    if (until !== null) throw wrong('until is only accepted with mark snoozed; remove it.')
    return null
  }
  if (until === null || until <= now || until > now + 30 * dayMs) {
    throw wrong('until must be a time within the next 30 days.')
  }
  return new Date(until)
}

export const inboxEndpoints: ServedEndpoint[] = [
  serve(contract.getInbox, async (call, parts) => {
    const kept = await keptOf(call, parts)
    return parts.database.inTenant(call.caller.tenant, (transaction) => inboxAnswer(transaction, call, kept))
  }),

  serve(contract.markInbox, async (call, parts) => {
    const { caller, body, now } = call
    const until = snoozedUntil(call)
    const kept = await keptOf(call, parts)
    return parts.database.inTenant(caller.tenant, async (transaction) => {
      const known = new Map((await allItems(transaction, call, kept)).flat().map((one) => [one.item, one]))
      const named = body.items.flatMap((item) => known.get(item) ?? [])
      const marked = named.filter(({ kind }) => body.mark === 'seen' || !staysUntilDone.has(kind))
      const at = new Date(now)
      const mark = {
        seen: { seen_at: at },
        done: { seen_at: at, done_at: at },
        snoozed: { seen_at: at, snoozed_until: until },
      }[body.mark]
      const items = [...new Set(marked.map(({ item }) => item))]
      await inbox.markInbox(transaction, caller.tenant, caller.userId, { items, mark, now: at })
      return inboxAnswer(transaction, call, kept)
    })
  }),
]
