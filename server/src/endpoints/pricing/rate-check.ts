import { Problem } from '#contract/errors.ts'
import type { rateWarningCodes } from '#contract/rate-warnings.ts'
import { identityOf } from '#engine/book/quote-book.ts'
import { laneInSteps, referenceRateCents } from '#engine/estimate/estimator.ts'
import { expectedCost } from '#engine/estimate/expected-cost.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import { isWeekend } from '#engine/estimate/weekend-pickup.ts'
import { comparableCents, type FuelAndExchange, ownChargesOnly, type RateBasis } from '#engine/rate-basis.ts'
import { rateWarnings } from '#engine/rate-warnings.ts'
import { applyRules, checkRate, checkUnknownRate, type RuleVerdict } from '#engine/rules/pricing-rules.ts'
import {
  conversionsOfQuote,
  factsOf,
  needsConversion,
  type QuotedFor,
  type QuotedOn,
  termsOfQuote,
} from '../../book/index.ts'
import { type CostColumn, defaultBasisOf, type NewLane, pricingRules } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { measuredMiles } from '../../lanes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'
import { partiesOf } from './applied-rules.ts'

/** A lane with the rate to check. */
type LaneToCheck = Pick<
  NewLane,
  'origin' | 'destination' | 'origin_market' | 'destination_market' | CostColumn
> &
  QuotedFor & {
    readonly rateCents: number
    readonly enteredCostCents: number | null
    /** What the two amounts include; absent if it was not said. */
    readonly quoted?: QuotedOn
  }

/**
 * The amounts of a lane on the basis of the brokerage in US dollars, as far as they can be converted. `leastCents` is the rate
 * with the fuel charge of the schedule, if that makes it lower than the charge that was entered.
 */
function onBasis(lane: LaneToCheck, wanted: RateBasis, by: FuelAndExchange) {
  const terms = termsOfQuote(lane.quoted ?? {})
  const converted = (cents: number, fuelCents = terms.fuelCents) =>
    comparableCents({ ...terms, cents, fuelCents }, wanted, by)
  const rateCents = converted(lane.rateCents)
  const scheduled = by.scheduledFuelCents === null ? rateCents : (converted(lane.rateCents, null) ?? 0)
  const { enteredCostCents } = lane
  return {
    rateCents,
    leastCents: rateCents === null ? null : Math.min(rateCents, scheduled ?? rateCents),
    enteredCostCents: enteredCostCents === null ? null : converted(enteredCostCents),
  }
}

/** A warning of `rateWarnings` with the name of the field that holds the rate. */
interface FieldWarning<Field extends string> {
  readonly code: (typeof rateWarningCodes)[number]
  readonly field: Field
  readonly detail: string
}

/** What is said about a rate: reasons to check it, and whether it is within the rules. */
export interface CheckedRate<Field extends string> {
  readonly warnings: FieldWarning<Field>[]
  readonly verdict: RuleVerdict
  /** For how many days the rules let a quote be valid; null if they do not say. */
  readonly validDays: number | null
}

/**
 * Checks rates of a brokerage against its costs, its rules and its going rates: see `rateWarnings` and `checkRate`. Without
 * room for its quotes in memory, no cost is expected and no rate has a warning; the rules hold as far as they can be computed.
 */
export async function rateChecker(
  { books, database }: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  now: number,
): Promise<<Field extends string>(field: Field, lane: LaneToCheck) => Promise<CheckedRate<Field>>> {
  const open = await books.read(tenant).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  const model = open === null ? null : await open.quotes.advice(now)
  const stored =
    open === null
      ? await database.inTenant(tenant, async (transaction) => ({
          rules: pricingRules.rulesInForce(await pricingRules.readRules(transaction, tenant)),
          basis: await defaultBasisOf(transaction, tenant),
        }))
      : open.settings
  return async (field, asked) => {
    const { rules, basis } = stored
    const parties = await partiesOf(rules, asked, tenant, { database })
    const { quoted, customerName } = asked
    const day = { customerName, at: new Date(now), miles: asked.miles ?? null }
    const by = needsConversion(quoted?.quoted_basis, quoted?.quoted_currency, basis)
      ? (await database.inTenant(tenant, (transaction) => conversionsOfQuote(transaction, tenant, day))).rates
      : ownChargesOnly
    const { rateCents, leastCents, enteredCostCents: entered } = onBasis(asked, basis, by)
    const identity = identityOf({
      originKey: asked.origin_key,
      destinationKey: asked.destination_key,
      originState: asked.origin_state,
      destinationState: asked.destination_state,
      equipmentCode: asked.equipment_code,
    })
    // A lane with many quotes takes long, so the work yields between steps.
    const fold = model === null ? null : await yieldBetweenSteps(laneInSteps(model.estimator, identity.key))
    // A distance that somebody entered does not make a lane shorter for the rules.
    const miles = longer(asked.miles ?? null, measuredMiles(asked.origin, asked.destination))
    const load = { costKeys: identity.costKeys, miles, weekendPickup: isWeekend(asked.pickup_date ?? null) }
    const expected = model === null ? null : expectedCost(model.costs, load)
    const expectedCents = isOwnCost(expected) ? 100 * Math.round(expected.costCents / 100) : null
    const enteredCents = entered !== null && entered > 0 ? entered : null
    const facts = factsOf({ ...asked, miles }, parties, fold?.decided ?? 0)
    const applied = applyRules(rules, facts, { enteredCents, expectedCents, miles })
    // An amount that cannot be converted cannot be compared.
    const validDays = applied.validDays?.value ?? null
    if (rateCents === null) return { warnings: [], verdict: checkUnknownRate(applied), validDays }
    const verdict = checkRate(applied, rateCents, leastCents === null ? {} : { leastCents })
    // The sentences of warnings are in US dollars, which the rep did not enter.
    if (model === null || quoted?.quoted_currency === 'CAD') return { warnings: [], verdict, validDays }
    const goingCents = referenceRateCents(model.estimator, identity, asked.miles ?? null)
    const floorCents = applied.minimum?.rateCents ?? null
    const warnings = rateWarnings({
      rateCents,
      cost:
        enteredCents !== null
          ? { cents: enteredCents, source: 'entered' }
          : expectedCents === null
            ? null
            : { cents: expectedCents, source: 'expected' },
      floorCents: floorCents === null ? null : Math.ceil(floorCents),
      goingRate: goingCents === null ? null : { cents: goingCents, isOwn: (fold?.quotes.length ?? 0) > 0 },
    })
    return { warnings: warnings.map(({ code, detail }) => ({ code, field, detail })), verdict, validDays }
  }
}

const longer = (one: number | null, other: number | null) =>
  one === null ? other : other === null ? one : Math.max(one, other)
