import type { Static } from 'typebox'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import * as contract from '#contract/my-day.ts'
import { inDayOrder } from '#engine/day-order.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { recordEvent } from '../../audit/index.ts'
import { inbox, people } from '../../database/queries/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { isPutAway, pendingQuoteItems } from './inbox-items.ts'

const hourMs = 3_600_000

/** The expected margin of a quote; null if no cost is known on the terms of its rate. */
function marginCents(quote: inbox.PendingQuote): number | null {
  const { quoted_rate_cents: rate, estimated_cost_cents: estimated, expected_cost_cents: expected } = quote
  // The cost of the rep is on the terms of the rate. That of the history is in US dollars, on its own basis.
  const isSame =
    (quote.quoted_currency ?? 'USD') === 'USD' &&
    (quote.expected_basis === null || quote.expected_basis === quote.quoted_basis)
  const cost = estimated !== null && estimated > 0 ? estimated : isSame ? expected : null
  return cost === null || cost === 0 ? null : rate - cost
}

async function dayOf(
  { caller, now }: Pick<Call<typeof contract.getMyDay>, 'caller' | 'now'>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.getMyDay>> {
  const { tenant, userId, role } = caller
  return database.inTenant(tenant, async (transaction) => {
    const brokerage = await people.tenantOfSession(transaction, tenant)
    const isAdmin = roleAtLeast(role, 'admin')
    const followed = await inbox.followedPeople(transaction, tenant, { userId, isAdmin })
    const quotes = await inbox.pendingQuotesOf(transaction, tenant, followed, {
      now: new Date(now),
      validDays: brokerage.quote_valid_days,
    })
    const names = await people.namesOfUsers(transaction, tenant)
    const known = await people.listUsers(transaction, tenant)
    const here = new Set(known.filter(({ status }) => status !== 'suspended').map(({ user_id: id }) => id))
    const marks = new Map(
      (await inbox.inboxMarks(transaction, tenant, userId)).map((mark) => [mark.item, mark]),
    )
    const rules = {
      afterHours: brokerage.follow_up_after_hours,
      beforeEndMinutes: brokerage.follow_up_before_end_minutes,
    }
    const ordered = inDayOrder(
      quotes.map((quote) => ({
        quote,
        rateCents: quote.quoted_rate_cents,
        marginCents: marginCents(quote),
        hoursLeft: quote.ends_at === null ? null : (quote.ends_at.getTime() - now) / hourMs,
      })),
    ).map(({ quote, marginCents: margin }): Static<typeof contract.DayQuote> => {
      const due = pendingQuoteItems(quote, rules, now).find(
        (item) => item.kind === 'follow-up' && !isPutAway(item, marks, now),
      )
      const by = quote.created_by
      return {
        lane_ref: quote.lane_ref,
        customer_name: quote.quoted_customer_name,
        origin: quote.origin,
        destination: quote.destination,
        equipment: quote.equipment,
        rate: dollarsFromCents(quote.quoted_rate_cents),
        currency: quote.quoted_currency ?? 'USD',
        at_stake: dollarsIfKnown(margin),
        quoted_at: quote.created_at.toISOString(),
        ends_at: quote.ends_at?.toISOString() ?? null,
        quoted_by: by === null ? null : { user_id: by, name: names.get(by) ?? '' },
        has_left: by !== null && !here.has(by),
        follow_up: due === undefined ? null : { item: due.item, detail: due.detail ?? '' },
      }
    })
    const isDue = ({ follow_up: followUp }: (typeof ordered)[number]) => followUp !== null
    return { quotes: [...ordered.filter(isDue), ...ordered.filter((quote) => !isDue(quote))] }
  })
}

export const myDayEndpoints: ServedEndpoint[] = [
  serve(contract.getMyDay, dayOf),

  serve(contract.giveQuotes, (call, { database }) => {
    const { caller, params, body } = call
    const { tenant } = caller
    const { user_id: toId = null } = body
    return database.inTenant(tenant, async (transaction) => {
      const person = await people.lockUser(transaction, tenant, params.id)
      if (person === null) {
        throw problem('not-found', `There is no person ${params.id} in this brokerage.`)
      }
      const to = toId === null ? null : await people.findUser(transaction, tenant, toId)
      if (
        toId !== null &&
        (to?.status !== 'active' || !roleAtLeast(to.role, 'member') || to.user_id === person.user_id)
      ) {
        throw invalid([
          {
            pointer: '/user_id',
            code: 'invalid',
            detail:
              'user_id must be the id of another active person with at least the role member; leave it out to give the quotes back.',
          },
        ])
      }
      await inbox.giveQuotes(transaction, tenant, person.user_id, toId)
      await recordEvent(transaction, call, 'quotes-given', {
        about: { user_id: person.user_id, to: toId },
      })
      return { user_id: toId }
    })
  }),
]
