import { type Estimator, prepareEstimator } from '#engine/estimate/estimator.ts'
import { type CostModel, prepareCosts } from '#engine/estimate/expected-cost.ts'
import { freightLane, type LaneIdentity } from '#engine/estimate/lane-identity.ts'
import type { MeasuredQuote } from '#engine/estimate/rate-by-miles.ts'
import { regionOf } from '#engine/regions.ts'
import {
  readHaulQuotes,
  readTenantQuotes,
  readTenantStanding,
  type TenantQuote,
} from './database/histories.ts'
import type { TenantId, TenantTransaction } from './database/open-database.ts'

/**
 * A tenant's quotes, prepared for estimates: thrown away and rebuilt from the facts whenever they change. Each half is
 * prepared when it is first asked for: quoting a lane needs the costs alone, and makes the model old.
 */
export interface TenantModel {
  readonly estimator: Estimator
  readonly costs: CostModel
  readonly quotes: readonly TenantQuote[]
}

export interface TenantModels {
  of(transaction: TenantTransaction, tenant: TenantId, now: number): Promise<TenantModel>
}

const dayMs = 86_400_000
/** Weights halve in 60 days: quotes older than this weigh less than a thousandth. */
export const reachDays = 600
/** The newest quotes of a tenant that a model is made of; more than these would hold up other answers. */
export const quotesMax = 100_000
/** Quotes of all prepared tenants together: about 300 bytes each. */
const quotesKeptMax = 400_000

/** When a model of now is old, whatever becomes of its facts: at the end of its day (UTC). Epoch milliseconds. */
export function modelHoldsUntil(now: number): number {
  return (Math.floor(now / dayMs) + 1) * dayMs
}

/** What a lane's model is called: the folded places and the equipment, and the scopes it can borrow from. */
export function laneIdentity(lane: {
  originKey: string
  destinationKey: string
  originState: string
  destinationState: string
  equipmentCode: string | null
}): LaneIdentity {
  const end = (city: string, state: string) => ({ city, state, region: regionOf(state) ?? state })
  return freightLane({
    origin: end(lane.originKey, lane.originState),
    destination: end(lane.destinationKey, lane.destinationState),
    equipment: lane.equipmentCode,
  })
}

interface Prepared {
  readonly model: TenantModel
  /** The newest estimator that was prepared on the way to this model: the next one has little to redo. */
  readonly lastEstimator: () => Estimator | undefined
}

interface Kept extends Prepared {
  readonly version: number
  readonly day: number
}

/** A model that is being made, for whoever else asks for the same one meanwhile. */
interface Building {
  readonly version: number
  readonly day: number
  readonly model: Promise<TenantModel>
}

/**
 * Keeps the models of the tenants asked for last. A kept model answers only while the version of the tenant's facts, read
 * in the same transaction, is the one it was made from; so a push is in the next answer, in every process.
 *
 * A model of a big tenant takes seconds to make, and a page asks for several answers at once: they wait for one model.
 */
export function tenantModels(): TenantModels {
  const kept = new Map<TenantId, Kept>()
  const building = new Map<TenantId, Building>()

  async function build(
    transaction: TenantTransaction,
    tenant: TenantId,
    { now, version, day }: { now: number; version: number; day: number },
  ): Promise<TenantModel> {
    const before = kept.get(tenant)
    const quotes = await readTenantQuotes(transaction, tenant, null, quotesMax)
    const measured = await readHaulQuotes(transaction, tenant, day)
    const prepared = prepare(
      { quotes, measured },
      now,
      before?.day === day ? before.lastEstimator() : undefined,
    )
    kept.delete(tenant)
    kept.set(tenant, { version, day, ...prepared })
    forgetOldest(kept)
    return prepared.model
  }

  async function of(transaction: TenantTransaction, tenant: TenantId, now: number): Promise<TenantModel> {
    const day = Math.floor(now / dayMs)
    // The version first: facts that change between the two reads are found out by the next look.
    const { facts: version } = (await readTenantStanding(transaction, tenant)).versions
    const isSame = (other: { version: number; day: number }) => other.version === version && other.day === day
    const before = kept.get(tenant)
    if (before !== undefined && isSame(before)) {
      kept.delete(tenant)
      kept.set(tenant, before)
      return before.model
    }
    const begun = building.get(tenant)
    if (begun !== undefined && isSame(begun)) {
      // What ended the other's transaction need not end this one.
      return begun.model.catch(() => of(transaction, tenant, now))
    }
    const model = build(transaction, tenant, { now, version, day })
    building.set(tenant, { version, day, model })
    try {
      return await model
    } finally {
      if (building.get(tenant)?.model === model) building.delete(tenant)
    }
  }

  return { of }
}

/** Quotes with the lane each was for; quotes of one lane share one identity. */
export function withLanes<Quote extends TenantQuote>(
  quotes: readonly Quote[],
): (Quote & { lane: LaneIdentity })[] {
  const identities = new Map<string, LaneIdentity>()
  return quotes.map((quote) => {
    const name = `${quote.originKey}>${quote.destinationKey}|${quote.equipmentCode}`
    const known = identities.get(name)
    const lane = known ?? laneIdentity(quote)
    if (known === undefined) identities.set(name, lane)
    return { ...quote, lane }
  })
}

interface Facts {
  readonly quotes: readonly TenantQuote[]
  /** What the curve by miles is drawn from, of all quotes of the tenant: lane insight draws the same one. */
  readonly measured: readonly MeasuredQuote[]
}

function prepare(facts: Facts, now: number, previous: Estimator | undefined): Prepared {
  const quotes = withLanes(facts.quotes)
  let estimator: Estimator | undefined
  let earlier = previous
  let costs: CostModel | undefined
  return {
    lastEstimator: () => estimator ?? earlier,
    model: {
      quotes,
      get estimator() {
        estimator ??= prepareEstimator({
          quotes,
          measured: facts.measured,
          now,
          ...(earlier === undefined ? {} : { previous: earlier }),
        })
        earlier = undefined
        return estimator
      },
      get costs() {
        costs ??= prepareCosts(
          quotes.flatMap(({ laneId, costCents, miles, quotedAt, lane }) =>
            costCents === null || miles === null
              ? []
              : [{ laneId, costCents, miles, at: quotedAt, costKeys: lane.costKeys }],
          ),
          now,
        )
        return costs
      },
    },
  }
}

function forgetOldest(kept: Map<TenantId, { model: TenantModel }>): void {
  let quotes = 0
  for (const { model } of kept.values()) quotes += model.quotes.length
  for (const [tenant, { model }] of kept) {
    if (quotes <= quotesKeptMax || kept.size === 1) return
    kept.delete(tenant)
    quotes -= model.quotes.length
  }
}
