import type { Static } from 'typebox'
import { invalid, type Problem, problem } from '#contract/errors.ts'
import { pageSizeDefault, threadMailsMax } from '#contract/limits.ts'
import * as contract from '#contract/received-mails.ts'
import { findLane, findQuoteRequest, people, receivedMails } from '../../database/queries/index.ts'
import type { ReceivedMailRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readReceived } from '../../receiving/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import { refuseHiddenCustomer } from './hidden-customers.ts'
import { answeringOf, answersOf, replyOf, sendAnswer } from './mail-answers.ts'
import { readingAnswer } from './mail-reading-answer.ts'

type Shown = Static<typeof contract.ReceivedMail>

function shownMail(row: receivedMails.ListedMail, names: ReadonlyMap<number, string>): Shown {
  const { assigned_to: userId } = row
  return {
    id: row.mail_id,
    thread_id: row.thread_id,
    from: { name: row.from_name, address: row.from_address },
    subject: row.subject,
    sent_at: row.sent_at.toISOString(),
    received_at: row.received_at.toISOString(),
    sender_check: row.sender_check,
    problem: row.problem === 'too-large' || row.problem === 'unreadable' ? row.problem : null,
    lanes: row.lanes_read,
    questions: row.questions_asked,
    customer: row.customer_name,
    state: row.state,
    assigned_to: userId === null ? null : { user_id: userId, name: names.get(userId) ?? 'somebody' },
    has_quotes: row.request_id !== null,
    answered_at: row.answered_at?.toISOString() ?? null,
  }
}

const noSuchMail = (id: string): Problem =>
  problem('not-found', `There is no mail with the id ${id} that you can see.`)

/** @throws a 422 for a text that is no cursor of the list */
function readCursor(text: string | undefined): receivedMails.ReceivedCursor | null {
  if (text === undefined) return null
  const [at, id] = cursorPosition(text) ?? []
  const isMoment = typeof at === 'number' && Math.abs(at) <= 8.64e15
  if (!isMoment || typeof id !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) {
    throw wrongCursor()
  }
  return { at: new Date(at), id }
}

type Change = Parameters<typeof receivedMails.updateReceivedMail>[3]

/** @throws a 422 or 403 if the person, the customer or the quote is not one that the caller can name */
async function changeOf(
  transaction: TenantTransaction,
  { caller: { tenant, userId }, body, now }: Call<typeof contract.updateReceivedMail>,
  before: ReceivedMailRow,
): Promise<Change> {
  const { state, assigned_to: assignee, customer, lane_ref: laneRef } = body
  const wrong = (field: string, detail: string) =>
    invalid([{ pointer: `/${field}`, code: 'unknown', detail }])
  if (assignee !== undefined) {
    const users = await people.listUsers(transaction, tenant)
    const isActive = users.some(({ user_id: id, status }) => id === assignee && status === 'active')
    if (!isActive) throw wrong('assigned_to', 'assigned_to must be an active person of the brokerage.')
  }
  if (customer !== undefined) await refuseHiddenCustomer(transaction, tenant, customer)
  const lane = laneRef === undefined ? null : await findLane(transaction, tenant, laneRef)
  if (laneRef !== undefined && lane === null) {
    throw wrong('lane_ref', 'lane_ref must be that of a quote that you can see.')
  }
  return {
    ...(state === undefined ? {} : { state, settled_at: state === 'open' ? null : new Date(now) }),
    ...(assignee === undefined ? {} : { assigned_to: assignee }),
    ...(customer === undefined ? {} : { customer_name: customer.trim(), customer_confirmed: true }),
    // Who makes the quotes answers the mail.
    ...(lane === null
      ? {}
      : {
          request_id: lane.request_id,
          assigned_to: assignee ?? userId,
          quoted_at: before.quoted_at ?? new Date(now),
        }),
  }
}

async function lanesOfRequest(transaction: TenantTransaction, tenant: TenantId, id: number | null) {
  if (id === null) return []
  const found = await findQuoteRequest(transaction, tenant, id)
  return (found?.lanes ?? []).map(({ lane_ref: ref }) => ref)
}

export const receivedMailEndpoints: ServedEndpoint[] = [
  serve(contract.listReceivedMails, async ({ caller: { tenant }, query }, { database }) => {
    const limit = query.limit ?? pageSizeDefault
    const asked = { state: query.state ?? null, before: readCursor(query.cursor), limit: limit + 1 }
    return database.inTenant(tenant, async (transaction) => {
      const rows = await receivedMails.listReceivedMails(transaction, tenant, asked)
      const names = await people.namesOfUsers(transaction, tenant)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        mails: page.map((row) => shownMail(row, names)),
        next_cursor:
          rows.length > limit && last !== undefined
            ? cursorText([last.received_at.getTime(), last.mail_id])
            : null,
      }
    })
  }),

  serve(contract.getReceivedMail, async (call, parts) => {
    const { caller, params } = call
    const { tenant } = caller
    const { database } = parts
    const { row, thread, names, refs, ...ofThread } = await database.inTenant(tenant, async (transaction) => {
      const found = await receivedMails.findReceivedMail(transaction, tenant, params.id)
      if (found === null) throw noSuchMail(params.id)
      const thread = await receivedMails.listThread(transaction, tenant, found.thread_id, threadMailsMax)
      const names = await people.namesOfUsers(transaction, tenant)
      return {
        row: found,
        thread,
        names,
        refs: await lanesOfRequest(transaction, tenant, found.request_id),
        answering: await answeringOf(transaction, call, parts, found),
        answers: await answersOf(transaction, tenant, found.thread_id, names),
        reply: await replyOf(transaction, tenant, found, thread),
      }
    })
    const { body, subject } = row
    const tables = row.tables ?? []
    const read = await readReceived(database, tenant, row)
    return {
      mail: shownMail(row, names),
      text: body,
      tables,
      attachments: row.attachments.map(({ name, bytes, unread }) => ({ name, bytes, unread })),
      reading: read === null ? null : readingAnswer(read, { subject, text: body ?? '', tables }, true),
      lane_refs: refs,
      thread: thread.map((one) => shownMail(one, names)),
      ...ofThread,
    }
  }),

  serve(contract.answerReceivedMail, (call, parts) => {
    const { caller, params } = call
    const { tenant } = caller
    return parts.database.inTenant(tenant, async (transaction) => {
      const row = await receivedMails.findReceivedMail(transaction, tenant, params.id)
      if (row === null) throw noSuchMail(params.id)
      const answered = await sendAnswer(transaction, call, parts, row)
      const names = await people.namesOfUsers(transaction, tenant)
      if (answered === null) throw noSuchMail(params.id)
      return {
        mail: shownMail(answered, names),
        answers: await answersOf(transaction, tenant, row.thread_id, names),
      }
    })
  }),

  serve(contract.updateReceivedMail, (call, { database }) => {
    const { caller, params } = call
    const { tenant } = caller
    return database.inTenant(tenant, async (transaction) => {
      const before = await receivedMails.findReceivedMail(transaction, tenant, params.id)
      if (before === null) throw noSuchMail(params.id)
      const changed = await receivedMails.updateReceivedMail(
        transaction,
        tenant,
        params.id,
        await changeOf(transaction, call, before),
      )
      if (changed === null) throw noSuchMail(params.id)
      return { mail: shownMail(changed, await people.namesOfUsers(transaction, tenant)) }
    })
  }),
]
