import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import type { requote } from '#contract/quote-requests.ts'
import { centsFromDollars, formatDollars } from '#engine/money.ts'
import { laneChanges as changes, lanes } from '../../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { outcomeByPerson, voidWords } from '../quotes/outcome-by-person.ts'

type Requoted = Pick<
  BodyOf<typeof requote>,
  'counter_rate' | 'quoted_rate' | 'quoted_basis' | 'quoted_currency'
>

/** The error of a counter-offer that is not below the quoted rate. */
export function counterErrors(lane: Pick<LaneRow, 'quoted_rate_cents'>, counterRate: number): FieldError[] {
  if ((centsFromDollars(counterRate) ?? 0) < lane.quoted_rate_cents) return []
  return [
    {
      pointer: '/counter_rate',
      code: 'invalid',
      detail: `counter_rate must be below the quoted rate of ${formatDollars(lane.quoted_rate_cents)}. A customer who agrees to that rate has accepted the quote: mark it won instead.`,
    },
  ]
}

/** @throws a 409 if a lane cannot have a counter-offer: its customer accepted it, or it is void */
export function refuseIfClosed(lane: LaneRow): void {
  if (lane.voided_at !== null) throw problem('state-conflict', voidWords(lane))
  if (lane.outcome === 'won') {
    throw problem(
      'state-conflict',
      `Lane ${lane.lane_ref} is won, so there is no counter-offer to answer. Set it pending first if that is wrong.`,
    )
  }
}

/**
 * @throws a 409 if an offer for the load is won already: also if the answer to the first acceptance was lost, or a second person
 * accepts the same counter-offer. A load is won once, so it needs no further offer.
 */
export async function refuseIfWon(
  transaction: TenantTransaction,
  tenant: TenantId,
  lane: LaneRow,
): Promise<void> {
  const won = await lanes.lockedWon(transaction, tenant, lane)
  if (won === null) return
  const which =
    won === lane.lane_ref ? `Lane ${won}` : `Lane ${won}, an offer for the load of lane ${lane.lane_ref},`
  throw problem(
    'state-conflict',
    `${which} is won, so the load needs no further offer. Set it pending first if that is wrong, or make a new quote request for another load.`,
  )
}

/** Whether a requote agrees to the rate that the customer named. */
export function isAccepted({ counter_rate, quoted_rate }: Requoted): boolean {
  return counter_rate === quoted_rate
}

/** Checks a requote that answers a counter-offer. @throws a 409 or a 422 */
export function checkCounter(lane: LaneRow, body: Requoted): void {
  const { counter_rate, quoted_rate, quoted_basis, quoted_currency } = body
  if (counter_rate === undefined) return
  refuseIfClosed(lane)
  const errors = counterErrors(lane, counter_rate)
  if (quoted_rate < counter_rate) {
    errors.push({
      pointer: '/quoted_rate',
      code: 'invalid',
      detail: `quoted_rate must be at least counter_rate: the customer would pay ${formatDollars(centsFromDollars(counter_rate) ?? 0)}.`,
    })
  }
  const changed = [
    ...(quoted_basis !== undefined && quoted_basis !== lane.quoted_basis ? ['quoted_basis'] : []),
    ...(quoted_currency !== undefined && quoted_currency !== (lane.quoted_currency ?? 'USD')
      ? ['quoted_currency']
      : []),
  ]
  errors.push(
    ...changed.map((field) => ({
      pointer: `/${field}`,
      code: 'invalid' as const,
      detail: `${field} must be that of the quote, because counter_rate is compared with it. Leave it out.`,
    })),
  )
  if (errors.length > 0) throw invalid(errors)
}

/** Who recorded a counter-offer, and when. */
interface Recorded {
  readonly userId: number
  readonly at: Date
}

/**
 * Keeps the rate that the customer named on the lane that it answers. The customer refused its rate, so a lane that is not decided
 * is lost for its price.
 */
export async function recordCounter(
  transaction: TenantTransaction,
  tenant: TenantId,
  lane: LaneRow,
  counterRate: number,
  { userId, at }: Recorded,
): Promise<LaneRow> {
  const clock = await changes.databaseNow(transaction)
  const lost = outcomeByPerson(lane, { outcome: 'lost', reason: 'price' }, { at, clock })
  return changes.changeLane(
    transaction,
    tenant,
    lane,
    {
      counter_rate_cents: centsFromDollars(counterRate),
      ...(lane.outcome === 'lost' ? {} : lost),
    },
    { source: 'dashboard', userId },
    at,
  )
}

/** Marks a lane won whose rate the customer named. */
export async function winAccepted(
  transaction: TenantTransaction,
  tenant: TenantId,
  lane: LaneRow,
  { userId, at }: Recorded,
): Promise<LaneRow> {
  const clock = await changes.databaseNow(transaction)
  const won = outcomeByPerson(lane, { outcome: 'won' }, { at, clock })
  return changes.changeLane(transaction, tenant, lane, won, { source: 'dashboard', userId }, at)
}
