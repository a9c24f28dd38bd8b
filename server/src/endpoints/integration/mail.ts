import { isIP } from 'node:net'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { eventTestsPerSecondMax } from '#contract/limits.ts'
import * as contract from '#contract/mail.ts'
import { recordEvent } from '../../audit/index.ts'
import { mails, people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { hasMailServer, mailUrl, queueMails, sealMailServer } from '../../mail/index.ts'
import { allowedPrivate, outboundTarget } from '../../security/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

const dayMs = 86_400_000
/** A test message is tried for as long as the retries go on. */
const testMs = 3 * dayMs

async function mailAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { config }: Pick<Parts, 'config'>,
): Promise<AnswerOf<typeof contract.getMail>> {
  const server = await mails.findMailServer(transaction, tenant)
  const { operators, byBrokerage } = config.mail
  const listed = await mails.listMails(transaction, tenant)
  return {
    sends: server !== null && byBrokerage ? 'brokerage' : operators === null ? 'nobody' : 'operator',
    may_set: byBrokerage,
    server:
      server === null
        ? null
        : {
            host: server.host,
            port: server.port,
            user: server.user_name,
            from: server.from_address,
            set_at: server.set_at.toISOString(),
          },
    ...(await mails.countMails(transaction, tenant)),
    mails: listed.map((mail) => ({
      id: mail.mail_id,
      kind: mail.kind,
      to: { user_id: mail.user_id, name: mail.name },
      to_address: mail.to_address,
      subject: mail.subject,
      state: mail.state,
      attempts: mail.attempts,
      created_at: mail.created_at.toISOString(),
      next_at: mail.state === 'due' ? mail.next_at.toISOString() : null,
      settled_at: mail.settled_at?.toISOString() ?? null,
      failure: mail.failure,
    })),
  }
}

/** @throws a 409 if the operator does not permit it, a 422 if the server may not be connected to, or its access is incomplete */
function refuseServer(
  { body }: Call<typeof contract.setMailServer>,
  { config }: Pick<Parts, 'config'>,
): void {
  if (!config.mail.byBrokerage) {
    throw problem(
      'state-conflict',
      'The operator of the service does not permit brokerages to set a mail server of their own. Ask them to set BROKERAGE_SMTP=on.',
    )
  }
  // A host with a slash, an @ or a port would be another one in the URL that is checked.
  const target =
    /^[A-Za-z0-9.-]+$/.test(body.host) || isIP(body.host) !== 0
      ? outboundTarget(mailUrl(body.host, body.port), allowedPrivate(config.mail.allowPrivate))
      : 'must be a name such as mail.example.com, or an address'
  if (typeof target === 'string') {
    throw invalid([{ pointer: '/host', code: 'invalid', detail: `host ${target}.` }])
  }
  if ((body.user === undefined) !== (body.password === undefined)) {
    const missing = body.user === undefined ? 'user' : 'password'
    throw invalid([
      {
        pointer: `/${missing}`,
        code: 'required',
        detail: `${missing} is missing: send user and password together, or neither for a server without sign-in.`,
      },
    ])
  }
}

export const mailEndpoints: ServedEndpoint[] = [
  serve(contract.getMail, ({ caller: { tenant } }, parts) =>
    parts.database.inTenant(tenant, (transaction) => mailAnswer(transaction, tenant, parts)),
  ),

  serve(contract.setMailServer, (call, parts) => {
    refuseServer(call, parts)
    const { caller, body, now } = call
    const { tenant } = caller
    const { host, port, user = null, password = null, from } = body
    const sealed = sealMailServer(parts.secretKeys, tenant, { host, port, user, password })
    return parts.database.inTenant(tenant, async (transaction) => {
      await mails.putMailServer(transaction, tenant, {
        host,
        port,
        user_name: user,
        sealed,
        from_address: from,
        set_at: new Date(now),
      })
      await recordEvent(transaction, call, 'mail-server-set', { about: { host, port, from } })
      return mailAnswer(transaction, tenant, parts)
    })
  }),

  serve(contract.removeMailServer, (call, parts) => {
    const { tenant } = call.caller
    return parts.database.inTenant(tenant, async (transaction) => {
      if (await mails.deleteMailServer(transaction, tenant)) {
        await recordEvent(transaction, call, 'mail-server-removed', {})
      }
      return mailAnswer(transaction, tenant, parts)
    })
  }),

  serve(contract.testMail, ({ caller, now }, parts) => {
    const { tenant, userId } = caller
    const { admitted, retryAfterMs } = parts.eventTestLimit.admit(tenant, parts.monotonic())
    if (!admitted) {
      throw problem(
        'too-many-attempts',
        `A brokerage may send ${eventTestsPerSecondMax} test message per second; wait and send this one again.`,
        { headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } },
      )
    }
    return parts.database.inTenant(tenant, async (transaction) => {
      if (!(await hasMailServer(transaction, tenant, parts.config))) {
        throw problem('state-conflict', 'There is no mail server. Set one first.')
      }
      const { name } = await people.tenantOfSession(transaction, tenant)
      const test = {
        userId,
        kind: 'test',
        about: `test ${now}`,
        subject: 'A test message of Lanewise',
        body: `Lanewise can send mail to the people of ${name}.\n`,
        endsAt: new Date(now + testMs),
      }
      await queueMails(transaction, tenant, [test], { config: parts.config, now })
      return mailAnswer(transaction, tenant, parts)
    })
  }),

  serve(contract.retryMail, ({ caller: { tenant } }, parts) =>
    parts.database.inTenant(tenant, async (transaction) => {
      await mails.retryMails(transaction, tenant)
      return mailAnswer(transaction, tenant, parts)
    }),
  ),
]
