import type { Static } from 'typebox'
import { measuredMailsMax } from '#contract/limits.ts'
import * as contract from '#contract/received-mails.ts'
import { mailSpeed, type QuotedMail, speedEffect } from '#engine/mail-speed.ts'
import { roundHalfAway } from '#engine/statistics/round-half-away.ts'
import type { Share } from '#engine/statistics/wilson.ts'
import { people, receivedMails } from '../../database/queries/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

const dayMs = 86_400_000

interface Measured extends QuotedMail {
  readonly person: number | null
  readonly customer: string | null
}

function measured(row: receivedMails.MeasuredMail): Measured {
  return {
    receivedAt: row.received_at.getTime(),
    quotedAt: row.quoted_at.getTime(),
    answeredAt: row.answered_at?.getTime() ?? null,
    isUnchanged: row.draft_unchanged,
    isWon: row.is_won,
    person: row.person,
    customer: row.customer_name,
  }
}

function speedAnswer(mails: readonly QuotedMail[]): Static<typeof contract.MailSpeed> {
  const { medianMinutes, ninthTenthMinutes, ...counts } = mailSpeed(mails)
  const tenths = (minutes: number | null) => (minutes === null ? null : roundHalfAway(minutes, 1))
  return {
    ...counts,
    median_minutes: tenths(medianMinutes),
    ninth_tenth_minutes: tenths(ninthTenthMinutes),
  }
}

const decidedMails = ({ part, whole }: Share) => ({ won: part, decided: whole })

function effectAnswer(mails: readonly QuotedMail[]): Static<typeof contract.MailSpeedEffect> | null {
  const effect = speedEffect(mails)
  if (effect === null) return null
  const { low, high } = effect.interval
  return {
    within_minutes: roundHalfAway(effect.withinMinutes, 1),
    fast: decidedMails(effect.fast),
    slow: decidedMails(effect.slow),
    difference: roundHalfAway(effect.difference, 3),
    low: roundHalfAway(low, 3),
    high: roundHalfAway(high, 3),
    evidence: low > 0 ? 'fast-wins-more' : high < 0 ? 'slow-wins-more' : 'none',
  }
}

/** The groups with most mails first. */
function largest<Key>(mails: readonly Measured[], keyOf: (mail: Measured) => Key | null) {
  const known = mails.filter((mail) => keyOf(mail) !== null)
  return [...Map.groupBy(known, (mail) => keyOf(mail) as Key)]
    .sort(([, one], [, other]) => other.length - one.length)
    .slice(0, contract.mailSpeedRowsMax)
}

export const mailSpeedEndpoints: ServedEndpoint[] = [
  serve(contract.getMailSpeed, async ({ caller: { tenant }, now }, { database }) =>
    database.inTenant(tenant, async (transaction) => {
      const since = new Date(now - contract.mailSpeedDays * dayMs)
      const rows = await receivedMails.measuredMails(transaction, tenant, { since, limit: measuredMailsMax })
      const mails = rows.map(measured)
      const names = await people.namesOfUsers(transaction, tenant)
      return {
        all: speedAnswer(mails),
        people: largest(mails, ({ person }) => person).map(([id, some]) => ({
          user: { user_id: id, name: names.get(id) ?? `person ${id}` },
          speed: speedAnswer(some),
        })),
        customers: largest(mails, ({ customer }) => customer).map(([customer, some]) => ({
          customer,
          speed: speedAnswer(some),
        })),
        effect: effectAnswer(mails),
      }
    }),
  ),
]
