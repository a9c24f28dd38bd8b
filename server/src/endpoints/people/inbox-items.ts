import type { Static } from 'typebox'
import type { InboxItem } from '#contract/inbox.ts'
import { dollarsFromCents, formatDollars } from '#engine/money.ts'
import { termsBehind } from '#engine/rate-basis.ts'
import { ratesOfBid } from '#engine/rules/approval.ts'
import type { inbox, mails, sessions } from '../../database/queries/index.ts'
import type { ApprovalRow, LaneRow, MailboxRow } from '../../database/schema/index.ts'
import { approvalState, askedQuote, askedRates, customerOfAsked } from '../../lanes/index.ts'
import type { ShownMove } from '../../watches/index.ts'

type Item = Static<typeof InboxItem>
/** An item before the marks of the person. */
export type NewItem = Omit<Item, 'seen'>

const dayMs = 86_400_000
const hourMs = 3_600_000

/** What most items are not about. */
const about = {
  detail: null,
  due_at: null,
  late: false,
  lane_ref: null,
  approval_id: null,
  import_id: null,
  session_id: null,
  mail_id: null,
} as const

const laneName = ({ origin, destination }: Pick<LaneRow, 'origin' | 'destination'>) =>
  `${origin} to ${destination}`

/** The lanes and rates of a request in words: the first, and how many more. */
function askedWords(request: ReturnType<typeof askedQuote>): string {
  if (request.kind === 'bid') {
    return `${ratesOfBid({ name: request.name, lanes: request.lanes.length })} below the minimum`
  }
  const [first, ...others] = askedRates(request)
  if (first === undefined) return 'no lane'
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${laneName(first.lane)} at ${formatDollars(first.rateCents)}${termsBehind(first.terms)}${more}`
}

/** A request that waits for somebody else's decision. */
export function approvalToDecide(row: ApprovalRow, names: ReadonlyMap<number, string>, now: number): NewItem {
  const request = askedQuote(row)
  return {
    ...about,
    item: `approval-to-decide ${row.approval_id}`,
    kind: 'approval-to-decide',
    at: row.requested_at.toISOString(),
    title: `Approval for ${customerOfAsked(request)}`,
    detail: `${names.get(row.requested_by) ?? 'Somebody'} asks for ${askedWords(request)}.`,
    due_at: row.expires_at.toISOString(),
    late: row.escalate_at !== null && row.escalate_at.getTime() <= now,
    approval_id: row.approval_id,
  }
}

const answers = {
  approved: 'was approved',
  rejected: 'was rejected',
  countered: 'was countered',
  expired: 'expired without a decision',
} as const

/** The answer to a request of the person; null without one. */
export function approvalDecided(
  row: ApprovalRow,
  names: ReadonlyMap<number, string>,
  now: number,
): NewItem | null {
  const state = approvalState(row, now)
  if (!(state in answers)) return null
  const request = askedQuote(row)
  const by = row.decided_by === null ? '' : ` by ${names.get(row.decided_by) ?? 'somebody'}`
  return {
    ...about,
    item: `approval-decided ${row.approval_id} ${state}`,
    kind: 'approval-decided',
    at: (row.decided_at ?? row.expires_at).toISOString(),
    title: `Your request for ${customerOfAsked(request)} ${answers[state as keyof typeof answers]}${by}`,
    detail: `${askedWords(request)}.`,
    // Only a counter still waits for the person.
    due_at: state === 'countered' ? row.expires_at.toISOString() : null,
    approval_id: row.approval_id,
  }
}

/** When a pending quote is due for a follow-up. */
export interface FollowUpRules {
  readonly afterHours: number | null
  readonly beforeEndMinutes: number | null
}

/** The items of a pending quote, the most urgent first: of those that the person has not put away, one is shown. */
export function pendingQuoteItems(quote: inbox.PendingQuote, rules: FollowUpRules, now: number): NewItem[] {
  const endsAt = quote.ends_at?.getTime() ?? null
  const madeAt = quote.created_at.getTime()
  const base = {
    ...about,
    title: `${quote.quoted_customer_name}: ${laneName(quote)}`,
    due_at: quote.ends_at?.toISOString() ?? null,
    lane_ref: quote.lane_ref,
  }
  const rate = formatDollars(quote.quoted_rate_cents)
  const end = endsAt === null ? null : new Date(endsAt).toISOString()
  const items: NewItem[] = []
  const { afterHours, beforeEndMinutes } = rules
  if (endsAt !== null && beforeEndMinutes !== null && endsAt - beforeEndMinutes * 60_000 <= now) {
    items.push({
      ...base,
      item: `follow-up end ${quote.lane_ref} ${end}`,
      kind: 'follow-up',
      at: new Date(endsAt - beforeEndMinutes * 60_000).toISOString(),
      detail: `${rate}. It ends soon: ask for an answer.`,
    })
  }
  if (afterHours !== null && madeAt + afterHours * hourMs <= now) {
    items.push({
      ...base,
      item: `follow-up after ${quote.lane_ref}`,
      kind: 'follow-up',
      at: new Date(madeAt + afterHours * hourMs).toISOString(),
      detail: `${rate}. No answer for ${afterHours === 1 ? 'an hour' : `${afterHours} hours`}: follow up.`,
    })
  }
  if (endsAt !== null && endsAt - dayMs <= now) {
    items.push({
      ...base,
      item: `quote-ending ${quote.lane_ref} ${end}`,
      kind: 'quote-ending',
      at: new Date(Math.max(madeAt, endsAt - dayMs)).toISOString(),
      detail: `${rate}. It ends within a day.`,
    })
  }
  return items
}

/** A booking whose truck cost is above its rate. */
export function bookedAtALoss(lane: LaneRow): NewItem {
  const margin =
    lane.customer_rate_cents === null || lane.truck_cost_cents === null
      ? ''
      : ` Rate ${formatDollars(lane.customer_rate_cents)}, truck ${formatDollars(lane.truck_cost_cents)}.`
  return {
    ...about,
    // A booking that changes is news.
    item: `booked-at-a-loss ${lane.lane_ref} ${dollarsFromCents(lane.customer_rate_cents ?? 0)} ${dollarsFromCents(lane.truck_cost_cents ?? 0)}`,
    kind: 'booked-at-a-loss',
    at: lane.updated_at.toISOString(),
    title: `Booked at a loss: ${laneName(lane)}`,
    detail: `${lane.customer_name ?? lane.quoted_customer_name}.${margin}`,
    lane_ref: lane.lane_ref,
  }
}

/** An import of the person that ended. */
export function importEnded(one: Awaited<ReturnType<typeof inbox.endedImports>>[number]): NewItem | null {
  if (one.finished_at === null || (one.status !== 'done' && one.status !== 'failed')) return null
  const isDone = one.status === 'done'
  return {
    ...about,
    item: `import-ended ${one.import_id} ${one.status}`,
    kind: 'import-ended',
    at: one.finished_at.toISOString(),
    title: isDone ? `${one.file_name} is imported` : `${one.file_name} could not be imported`,
    detail: `${one.rows_added} rows added, ${one.rows_updated} updated, ${one.rows_refused} refused.`,
    import_id: one.import_id,
  }
}

/** A service token that expires soon. */
export function tokenExpiring(
  token: { readonly token_id: number; readonly name: string; readonly expires_at: Date },
  noticeDays: number,
): NewItem {
  return {
    ...about,
    item: `token-expiring ${token.token_id}`,
    kind: 'token-expiring',
    at: new Date(token.expires_at.getTime() - noticeDays * dayMs).toISOString(),
    title: `The service token ${token.name} expires soon`,
    detail: 'Create a new one, install it in your system, then revoke the old one.',
    due_at: token.expires_at.toISOString(),
  }
}

/** A mailbox is reported when the server refused its password, or after so long: connections end every now and then. */
const mailboxFailingMs = 900_000

/** A mailbox that cannot be read; null for one that can, or may be again soon. */
export function mailboxFailing(row: MailboxRow, now: number): NewItem | null {
  const { failing_since: since, failure, user_name: user, is_refused: isRefused } = row
  if (since === null || (!isRefused && since.getTime() + mailboxFailingMs > now)) return null
  return {
    ...about,
    item: `mailbox-failing ${since.toISOString()}`,
    kind: 'mailbox-failing',
    at: since.toISOString(),
    title: `The mailbox ${user} cannot be read`,
    detail: failure,
  }
}

/** An answer of the person that did not reach its recipient. */
export function answerNotSent(row: Awaited<ReturnType<typeof mails.failedAnswers>>[number]): NewItem {
  return {
    ...about,
    item: `answer-not-sent ${row.mail_id}`,
    kind: 'answer-not-sent',
    at: (row.settled_at ?? new Date(0)).toISOString(),
    title: `Your answer to ${row.to_address ?? 'a mail'} was not delivered`,
    detail: row.failure,
    mail_id: row.answers_mail_id,
  }
}

/** A sign-in of the person from somewhere new. */
export function newSignIn(row: sessions.SessionRow): NewItem {
  const what = row.new_device ? (row.new_network ? 'device and network' : 'device') : 'network'
  return {
    ...about,
    item: `new-sign-in ${row.session_id}`,
    kind: 'new-sign-in',
    at: row.created_at.toISOString(),
    title: `Was this you? A sign-in from a new ${what}`,
    detail: row.device === '' ? null : row.device,
    session_id: row.session_id,
  }
}

/** Something that the person follows has moved. */
export function moved({ watch, move, title, detail }: ShownMove): NewItem {
  return {
    ...about,
    item: `moved ${watch.watch_id} ${move.metric} ${move.found_on}`,
    kind: 'moved',
    at: move.found_at.toISOString(),
    title,
    detail,
  }
}

/** What cannot be put away: it ends with a decision or a confirmation. */
export const staysUntilDone: ReadonlySet<Item['kind']> = new Set(['approval-to-decide', 'new-sign-in'])

type Marks = ReadonlyMap<string, inbox.InboxMark>

/** Whether the person put an item away: for good, or for now. */
export function isPutAway(
  { item, kind }: Pick<NewItem, 'item' | 'kind'>,
  marks: Marks,
  now: number,
): boolean {
  const mark = marks.get(item)
  if (mark === undefined || staysUntilDone.has(kind)) return false
  return mark.done_at !== null || (mark.snoozed_until?.getTime() ?? 0) > now
}

/** An item with whether the person has seen it. A snoozed one that came back is new again. */
export function withSeen(item: NewItem, marks: Marks): Item {
  const mark = marks.get(item.item)
  const seenAt = mark?.seen_at?.getTime() ?? 0
  return { ...item, seen: seenAt > 0 && seenAt >= (mark?.snoozed_until?.getTime() ?? 0) }
}
