import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { mailTextDaysDefault } from '#contract/limits.ts'
import * as contract from '#contract/mail-address.ts'
import { recordEvent } from '../../audit/index.ts'
import { mailAddresses } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { mailAddress, newAddressSecret } from '../../receiving/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

type Answer = AnswerOf<typeof contract.getMailAddress>

async function addressAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { config: { mailAddresses: taken } }: Pick<Parts, 'config'>,
): Promise<Answer> {
  const row = await mailAddresses.findMailAddress(transaction, tenant)
  if (taken === null) return { may_have: false, forwarding: null }
  return {
    may_have: true,
    forwarding:
      row === null
        ? null
        : {
            address: mailAddress(tenant, row.secret, taken.domain),
            kept_days: row.kept_days,
            made_at: row.made_at.toISOString(),
            received_at: row.received_at?.toISOString() ?? null,
          },
  }
}

export const mailAddressEndpoints: ServedEndpoint[] = [
  serve(contract.getMailAddress, ({ caller: { tenant } }, parts) =>
    parts.database.inTenant(tenant, (transaction) => addressAnswer(transaction, tenant, parts)),
  ),

  serve(contract.setMailAddress, (call, parts) => {
    if (parts.config.mailAddresses === null) {
      throw problem(
        'state-conflict',
        'This installation takes no mails over SMTP. Ask its operator to set RECEIVE_MAIL_DOMAIN.',
      )
    }
    const { caller, body, now } = call
    const { tenant } = caller
    return parts.database.inTenant(tenant, async (transaction) => {
      const before = await mailAddresses.findMailAddress(transaction, tenant)
      if (before === null || body.new_address === true) {
        await mailAddresses.putMailAddress(transaction, tenant, {
          secret: newAddressSecret(),
          kept_days: body.kept_days ?? before?.kept_days ?? mailTextDaysDefault,
          made_at: new Date(now),
        })
        await recordEvent(transaction, call, 'mail-address-made', { about: { replaces: before !== null } })
      } else if (body.kept_days !== undefined && body.kept_days !== before.kept_days) {
        await mailAddresses.keepMailTexts(transaction, tenant, body.kept_days)
        await recordEvent(transaction, call, 'mail-address-changed', { about: { kept_days: body.kept_days } })
      }
      return addressAnswer(transaction, tenant, parts)
    })
  }),

  serve(contract.removeMailAddress, (call, parts) => {
    const { tenant } = call.caller
    return parts.database.inTenant(tenant, async (transaction) => {
      if (await mailAddresses.deleteMailAddress(transaction, tenant)) {
        await recordEvent(transaction, call, 'mail-address-removed', {})
      }
      return addressAnswer(transaction, tenant, parts)
    })
  }),
]
