import { isIP } from 'node:net'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { mailTextDaysDefault } from '#contract/limits.ts'
import * as contract from '#contract/mailbox.ts'
import { recordEvent } from '../../audit/index.ts'
import { mailboxes } from '../../database/queries/index.ts'
import type { MailboxRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { mailUrl } from '../../mail/index.ts'
import { sealMailbox } from '../../receiving/index.ts'
import { allowedPrivate, outboundTarget } from '../../security/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

type Answer = AnswerOf<typeof contract.getMailbox>

function shownMailbox(row: MailboxRow): NonNullable<Answer['mailbox']> {
  const isFailing = row.failing_since !== null
  return {
    host: row.host,
    port: row.port,
    user: row.user_name,
    checking_server: row.checking_server,
    kept_days: row.kept_days,
    set_at: row.set_at.toISOString(),
    state: isFailing ? 'failing' : row.read_at === null ? 'opening' : 'reading',
    read_at: row.read_at?.toISOString() ?? null,
    failing_since: row.failing_since?.toISOString() ?? null,
    failure: row.failure,
    next_at: isFailing ? row.next_at.toISOString() : null,
  }
}

async function mailboxAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { config }: Pick<Parts, 'config'>,
): Promise<Answer> {
  const row = await mailboxes.findMailbox(transaction, tenant)
  return { may_set: config.mailboxes !== null, mailbox: row === null ? null : shownMailbox(row) }
}

/** @throws a 409 if the operator does not permit it, a 422 if the server may not be connected to */
function refuseMailbox({ body }: Call<typeof contract.setMailbox>, { config }: Pick<Parts, 'config'>): void {
  if (config.mailboxes === null) {
    throw problem(
      'state-conflict',
      'The operator of the service does not permit brokerages to have a mailbox read. Ask them to set BROKERAGE_IMAP=on.',
    )
  }
  // A host with a slash, an @ or a port would be another one in the URL that is checked.
  const target =
    /^[A-Za-z0-9.-]+$/.test(body.host) || isIP(body.host) !== 0
      ? outboundTarget(mailUrl(body.host, body.port), allowedPrivate(config.mailboxes.allowPrivate))
      : 'must be a name such as imap.example.com, or an address'
  if (typeof target === 'string') {
    throw invalid([{ pointer: '/host', code: 'invalid', detail: `host ${target}.` }])
  }
}

export const mailboxEndpoints: ServedEndpoint[] = [
  serve(contract.getMailbox, ({ caller: { tenant } }, parts) =>
    parts.database.inTenant(tenant, (transaction) => mailboxAnswer(transaction, tenant, parts)),
  ),

  serve(contract.setMailbox, (call, parts) => {
    refuseMailbox(call, parts)
    const { caller, body, now } = call
    const { tenant } = caller
    const { host, port, user, password, checking_server: checking, kept_days: days } = body
    const sealed = sealMailbox(parts.secretKeys, tenant, { host, port, user, password })
    return parts.database.inTenant(tenant, async (transaction) => {
      await mailboxes.putMailbox(transaction, tenant, {
        host,
        port,
        user_name: user,
        sealed,
        checking_server: checking ?? null,
        kept_days: days ?? mailTextDaysDefault,
        set_at: new Date(now),
      })
      await recordEvent(transaction, call, 'mailbox-set', { about: { host, port, user } })
      return mailboxAnswer(transaction, tenant, parts)
    })
  }),

  serve(contract.removeMailbox, (call, parts) => {
    const { tenant } = call.caller
    return parts.database.inTenant(tenant, async (transaction) => {
      if (await mailboxes.deleteMailbox(transaction, tenant)) {
        await recordEvent(transaction, call, 'mailbox-removed', {})
      }
      return mailboxAnswer(transaction, tenant, parts)
    })
  }),
]
