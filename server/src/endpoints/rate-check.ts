import { Problem } from '#contract/errors.ts'
import type { rateWarningCodes } from '#contract/rate-warnings.ts'
import { identityOf } from '#engine/book/quote-book.ts'
import { laneInSteps, referenceRateCents } from '#engine/estimate/estimator.ts'
import { expectedCost, isOwnCost } from '#engine/estimate/expected-cost.ts'
import { floorRateCents } from '#engine/estimate/optimum.ts'
import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import { centsOnBasis, type RateBasis } from '#engine/rate-basis.ts'
import { rateWarnings } from '#engine/rate-warnings.ts'
import { fuel, type NewLane } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { Parts } from './parts.ts'

/** A lane with the rate to check. */
type LaneToCheck = Pick<
  NewLane,
  'origin_key' | 'destination_key' | 'origin_state' | 'destination_state' | 'equipment_code' | 'miles'
> & {
  readonly rateCents: number
  readonly enteredCostCents: number | null
  /** What the two amounts include; absent if it was not said. */
  readonly quoted?: Pick<
    NewLane,
    'quoted_basis' | 'quoted_fuel_cents' | 'quoted_accessorials_cents' | 'quoted_currency'
  >
  /** The customer, whose fuel schedule may apply. */
  readonly customerName?: string | null
}

/** Whether the rate of a lane is converted by the fuel schedule: it is on the other basis, and its charge is not known. */
function needsSchedule({ quoted }: LaneToCheck, wanted: RateBasis): boolean {
  const { quoted_basis: basis = null, quoted_fuel_cents: fuelCents = null } = quoted ?? {}
  return basis !== null && basis !== wanted && fuelCents === null
}

/** A lane with its amounts on the basis of the brokerage; null if its rate cannot be converted. */
function onBasis(lane: LaneToCheck, wanted: RateBasis, millsPerMile: number | null): LaneToCheck | null {
  const miles = lane.miles ?? null
  const scheduled = millsPerMile === null || miles === null ? null : fuelOfMiles(millsPerMile, miles)
  const converted = (cents: number) =>
    centsOnBasis(
      {
        cents,
        basis: lane.quoted?.quoted_basis ?? null,
        fuelCents: lane.quoted?.quoted_fuel_cents ?? scheduled,
        accessorialCents: lane.quoted?.quoted_accessorials_cents ?? null,
      },
      wanted,
    )
  const rateCents = converted(lane.rateCents)
  const { enteredCostCents } = lane
  return rateCents === null
    ? null
    : { ...lane, rateCents, enteredCostCents: enteredCostCents === null ? null : converted(enteredCostCents) }
}

/** A warning of `rateWarnings` with the name of the field that holds the rate. */
interface FieldWarning<Field extends string> {
  readonly code: (typeof rateWarningCodes)[number]
  readonly field: Field
  readonly detail: string
}

/**
 * Checks rates of a brokerage against its costs, floors and going rates: see `rateWarnings`. Without room for its quotes in
 * memory there is nothing to compare with, and no rate has a warning: a quote can be saved without advice.
 */
export async function rateChecker(
  { books, database }: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  now: number,
): Promise<<Field extends string>(field: Field, lane: LaneToCheck) => Promise<FieldWarning<Field>[]>> {
  const open = await books.read(tenant).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  if (open === null) return async () => []
  const { estimator, costs } = await open.quotes.advice(now)
  const scheduledRate = (customerName: string | null) =>
    database.inTenant(tenant, async (transaction) => {
      const day = new Date(now).toISOString().slice(0, 10)
      return (await fuel.fuelOfDay(transaction, tenant, customerName, day)).rate
    })
  return async (field, asked) => {
    const { basis } = open.settings
    // The desk shows no warnings about Canadian dollars: everything it compares with is in US dollars.
    if (asked.quoted?.quoted_currency === 'CAD') return []
    const millsPerMile = needsSchedule(asked, basis) ? await scheduledRate(asked.customerName ?? null) : null
    const lane = onBasis(asked, basis, millsPerMile)
    // An amount that cannot be converted cannot be compared.
    if (lane === null) return []
    const miles = lane.miles ?? null
    const identity = identityOf({
      originKey: lane.origin_key,
      destinationKey: lane.destination_key,
      originState: lane.origin_state,
      destinationState: lane.destination_state,
      equipmentCode: lane.equipment_code,
    })
    // A lane with many quotes takes long, so the work yields between steps.
    const fold = await yieldBetweenSteps(laneInSteps(estimator, identity.key))
    const goingCents = referenceRateCents(estimator, identity, miles)
    const expected = expectedCost(costs, { costKeys: identity.costKeys, miles })
    const cost =
      lane.enteredCostCents !== null && lane.enteredCostCents > 0
        ? { cents: lane.enteredCostCents, source: 'entered' as const }
        : isOwnCost(expected)
          ? { cents: 100 * Math.round(expected.costCents / 100), source: 'expected' as const }
          : null
    const floorCents = floorRateCents(open.settings.floors, { costCents: cost?.cents ?? Number.NaN, miles })
    return rateWarnings({
      rateCents: lane.rateCents,
      cost,
      floorCents: floorCents === null ? null : Math.ceil(floorCents),
      goingRate: goingCents === null ? null : { cents: goingCents, isOwn: (fold?.quotes.length ?? 0) > 0 },
    }).map((warning) => ({ code: warning.code, field, detail: warning.detail }))
  }
}
