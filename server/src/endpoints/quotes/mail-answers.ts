import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { problem } from '#contract/errors.ts'
import { isEmail } from '#contract/fields.ts'
import { answersPerMailMax, threadMailsMax } from '#contract/limits.ts'
import type * as contract from '#contract/received-mails.ts'
import { centsFromDollars } from '#engine/money.ts'
import { findQuoteRequest, mailboxes, mails, people, receivedMails } from '../../database/queries/index.ts'
import type { LaneRow, ReceivedMailRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { hasMailServer, queueMails } from '../../mail/index.ts'
import { readReply } from '../../reading/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

type Sent = Static<typeof contract.SentAnswer>
type Received = Static<typeof contract.getReceivedMail.answer>

const dayMs = 86_400_000
/** An answer is tried for as long as the retries of a mail go on. */
const answerMs = 3 * dayMs
/** Messages of the thread that a mail program puts together have this beginning. */
const replyPrefix = 'Re: '
const subjectLengthMax = 200

/** @example replySubject('Rate needed') // 'Re: Rate needed' */
function replySubject(subject: string): string {
  const words = subject.replace(/^\s*(?:re|aw|sv|antw)\s*:\s*/i, '').trim()
  return `${replyPrefix}${words === '' ? 'your mail' : words}`.slice(0, subjectLengthMax)
}

/** Where an answer to a mail goes, or why none can be sent. */
export async function answeringOf(
  transaction: TenantTransaction,
  { caller: { tenant, userId } }: Pick<Call<typeof contract.answerReceivedMail>, 'caller'>,
  { config }: Pick<Parts, 'config'>,
  row: Pick<ReceivedMailRow, 'from_address' | 'subject'>,
): Promise<Received['answering']> {
  const to = isEmail(row.from_address) ? row.from_address : null
  const mailbox = await mailboxes.findMailbox(transaction, tenant)
  const person = await people.findUser(transaction, tenant, userId)
  const replyTo = [person?.email ?? '', mailbox?.user_name ?? ''].filter((address) => isEmail(address))
  const obstacle =
    to === null
      ? 'The mail names no sender that can be answered.'
      : to === mailbox?.user_name.toLowerCase()
        ? 'The mail is from the mailbox itself.'
        : (await hasMailServer(transaction, tenant, { mail: config.mail }))
          ? null
          : 'No mail server is set: an admin sets it under Settings, Mail. Until then, send the text from your mail program.'
  return { to, subject: replySubject(row.subject), reply_to: [...new Set(replyTo)], obstacle }
}

/** The answers in the thread of a mail. */
export async function answersOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  threadId: string,
  names: ReadonlyMap<number, string>,
): Promise<Sent[]> {
  const rows = await mails.listAnswers(transaction, tenant, threadId, threadMailsMax)
  return rows.map((row) => ({
    id: row.mail_id,
    answers: row.answers_mail_id ?? '',
    by: { user_id: row.user_id, name: names.get(row.user_id) ?? 'somebody' },
    to: row.to_address ?? '',
    subject: row.subject,
    text: row.body,
    state: row.state,
    failure: row.failure,
    sent_at: row.created_at.toISOString(),
  }))
}

/** The offers that were made from mails of a thread, as far as the current person sees them. */
async function offersOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  thread: readonly Pick<ReceivedMailRow, 'request_id'>[],
): Promise<LaneRow[]> {
  const requests = new Set(thread.flatMap(({ request_id: id }) => id ?? []))
  const lanes: LaneRow[] = []
  for (const id of requests) {
    const found = await findQuoteRequest(transaction, tenant, id)
    lanes.push(...(found?.lanes ?? []))
  }
  return lanes
}

const isPending = ({ outcome, voided_at: voidedAt, superseded_by: by }: LaneRow) =>
  outcome === 'pending' && voidedAt === null && by === null

/**
 * What the reply to quotes seems to say: only of a mail that came after a mail of its thread from which quotes were made, and only about
 * quotes that are pending. Null if it is not certain.
 */
export async function replyOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  row: ReceivedMailRow,
  thread: readonly receivedMails.ListedMail[],
): Promise<Received['reply']> {
  const earlier = thread.filter((one) => one.mail_id !== row.mail_id && one.received_at <= row.received_at)
  if (row.body === null || earlier.every(({ request_id: id }) => id === null)) return null
  const read = readReply(row.body)
  if (read === null) return null
  const pending = (await offersOf(transaction, tenant, earlier)).filter(isPending)
  const { kind, amount, reason, words } = read
  const answer = (some: readonly LaneRow[], as: typeof kind = kind) =>
    some.length === 0
      ? null
      : { kind: as, amount, reason, words: { ...words }, lane_refs: some.map(({ lane_ref: ref }) => ref) }
  if (amount === null) return answer(pending)
  const cents = centsFromDollars(amount)
  const quotedSo = pending.filter(({ quoted_rate_cents: quoted }) => quoted === cents)
  // Who takes another rate than the quoted one has made a counter-offer.
  if (quotedSo.length > 0) return kind === 'accepted' ? answer(quotedSo) : null
  return answer(
    pending.filter(({ quoted_rate_cents: quoted }) => cents !== null && quoted > cents),
    'countered',
  )
}

/** @throws a 409 if the quote is none of the thread, or not one that the customer can accept */
function refuseOffer(lane: LaneRow | undefined, ref: string, now: number): void {
  const refuse = (detail: string) => problem('state-conflict', `The answer was not sent: ${detail}`)
  if (lane === undefined) throw refuse(`${ref} is not a quote that was made from a mail of this thread.`)
  if (lane.voided_at !== null) throw refuse(`the quote ${ref} is void.`)
  if (lane.superseded_by !== null) throw refuse(`another offer superseded the quote ${ref}.`)
  if (lane.outcome !== 'pending') throw refuse(`the quote ${ref} is ${lane.outcome}, not pending.`)
  if (lane.valid_until !== null && lane.valid_until.getTime() <= now) {
    throw refuse(`the quote ${ref} is not valid any more.`)
  }
}

/**
 * Queues the answer of a person to a mail, and notes who answered it. Returns the mail as it is then.
 *
 * @throws a 409 if it cannot be sent, with why
 */
export async function sendAnswer(
  transaction: TenantTransaction,
  call: Call<typeof contract.answerReceivedMail>,
  parts: Pick<Parts, 'config'>,
  row: ReceivedMailRow,
): Promise<receivedMails.ListedMail | null> {
  const { caller, body, now } = call
  const { tenant, userId } = caller
  const { to, subject, reply_to: replyTo, obstacle } = await answeringOf(transaction, call, parts, row)
  if (obstacle !== null || to === null)
    throw problem('state-conflict', `The answer was not sent: ${obstacle}`)
  const thread = await receivedMails.listThread(transaction, tenant, row.thread_id, threadMailsMax)
  const offers = new Map((await offersOf(transaction, tenant, thread)).map((lane) => [lane.lane_ref, lane]))
  const named = [...new Set(body.lane_refs ?? [])]
  for (const ref of named) refuseOffer(offers.get(ref), ref, now)
  if ((await mails.countAnswers(transaction, tenant, row.mail_id)) >= answersPerMailMax) {
    throw problem(
      'state-conflict',
      `The answer was not sent: the mail has ${answersPerMailMax} answers already. Go on in your mail program.`,
    )
  }
  const ends = named.flatMap((ref) => offers.get(ref)?.valid_until?.getTime() ?? [])
  // Of the text, so that a second click sends nothing.
  const digest = createHash('sha256').update(body.text).digest('hex').slice(0, 16)
  const answer = {
    mailId: row.mail_id,
    to: { name: row.from_name, address: to },
    replyTo,
    // Of printable characters, as it stands in a header.
    inReplyTo: /^[\x21-\x7e]{1,900}$/.test(row.message_id ?? '') ? row.message_id : null,
  }
  const endsAt = new Date(Math.min(now + answerMs, ...ends))
  const mail = {
    userId,
    kind: 'answer',
    about: `${row.mail_id} ${digest}`,
    subject,
    body: body.text,
    endsAt,
    answer,
  }
  await queueMails(transaction, tenant, [mail], { config: parts.config, now })
  return receivedMails.updateReceivedMail(transaction, tenant, row.mail_id, {
    assigned_to: row.assigned_to ?? userId,
    ...(row.state === 'open' ? { state: 'done', settled_at: new Date(now) } : {}),
    ...(row.answered_at === null
      ? { answered_at: new Date(now), answered_by: userId, draft_unchanged: body.draft_unchanged ?? false }
      : {}),
  })
}
