import type { askApproval } from '#contract/approvals.ts'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { pagePaths } from '#contract/pages.ts'
import type { Config } from '../configuration/index.ts'
import {
  approvals,
  laneChanges as changes,
  endMails,
  type NewMail,
  people,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { approvalAnswer } from '../lanes/index.ts'
import { queueMails } from './queue-mails.ts'

type Approval = AnswerOf<typeof askApproval>

interface MailOptions {
  readonly config: Pick<Config, 'mail'>
  readonly now: number
}

/** An answer is news for so long. */
const answerDays = 7

const aboutOf = ({ approval_id: id }: Approval) => `approval ${id}`

/** A link opens a page. It never acts: programs that check mails open links, too. */
function linkTo(path: string, { mail }: Pick<Config, 'mail'>, without: string): string {
  return mail.publicUrl === null ? without : `${mail.publicUrl}${path}`
}

/**
 * Writes a mail to everybody who can decide a request: not to the person who asked. With `isLate`, to the owners, because nobody has
 * decided; without an owner who may, to everybody again.
 */
export async function mailApprovers(
  transaction: TenantTransaction,
  tenant: TenantId,
  approval: Approval,
  { isLate, ...options }: MailOptions & { readonly isLate: boolean },
): Promise<void> {
  const users = await people.listUsers(transaction, tenant)
  const approvers = users.filter(
    ({ status, role, user_id: id }) =>
      status === 'active' && roleAtLeast(role, 'admin') && id !== approval.requested_by.user_id,
  )
  const owners = approvers.filter(({ role }) => role === 'owner')
  const to = isLate && owners.length > 0 ? owners : approvers
  const { subject, text } = approval.email
  const link = linkTo(pagePaths.approvals, options.config, 'the page Approvals of Lanewise')
  const late = 'Nobody has decided this request yet.\n\n'
  const mails = to.map(
    ({ user_id: userId }): NewMail => ({
      userId,
      kind: isLate ? 'approval-late' : 'approval',
      about: aboutOf(approval),
      subject: isLate ? `Still waiting: ${subject}` : subject,
      body: `${isLate ? late : ''}${text}\n\nDecide at ${link}\nOpening it decides nothing.\n`,
      needsRole: 'admin',
      customerName: approval.customer_name,
      endsAt: new Date(approval.expires_at),
    }),
  )
  await queueMails(transaction, tenant, mails, options)
}

/**
 * Writes the answer to the person who asked, unless they gave it themselves; also that nobody decided in time. Mails that ask for the decision, and were not sent yet, are
 * not sent any more.
 */
export async function mailAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  approval: Approval,
  options: MailOptions,
): Promise<void> {
  await endMails(transaction, tenant, aboutOf(approval), new Date(options.now))
  const { requested_by: asker, decided_by: by, state } = approval
  const isAnswer =
    state === 'approved' || state === 'rejected' || state === 'countered' || state === 'expired'
  if (!isAnswer || by?.user_id === asker.user_id) return
  const { subject, text } = approval.email
  const link = linkTo(pagePaths.desk, options.config, 'the quote desk of Lanewise')
  const mail = {
    userId: asker.user_id,
    kind: 'approval-answer',
    // A counter can be followed by another one.
    about: `${aboutOf(approval)} ${state} ${approval.decided_at}`,
    subject,
    body: `${text}\n\nYour requests are at ${link}\nOpening it accepts nothing.\n`,
    customerName: approval.customer_name,
    endsAt: new Date(options.now + answerDays * 86_400_000),
  }
  await queueMails(transaction, tenant, [mail], options)
}

/** Tells owners about requests that wait for longer than the brokerage permits, each once. */
export async function mailLateApprovals(
  transaction: TenantTransaction,
  tenant: TenantId,
  { config }: Pick<MailOptions, 'config'>,
): Promise<void> {
  const at = await changes.databaseNow(transaction)
  const late = await approvals.escalateApprovals(transaction, tenant, at)
  const names = await people.namesOfUsers(transaction, tenant)
  for (const row of late) {
    const approval = approvalAnswer(row, names, at.getTime())
    await mailApprovers(transaction, tenant, approval, { config, now: at.getTime(), isLate: true })
  }
}
