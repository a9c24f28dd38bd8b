import { type Estimator, prepareEstimatorInSteps } from '#engine/estimate/estimator.ts'
import { type CostModel, prepareCostsInSteps } from '#engine/estimate/expected-cost.ts'
import { freightLane, type LaneIdentity } from '#engine/estimate/lane-identity.ts'
import type { MeasuredQuote } from '#engine/estimate/rate-by-miles.ts'
import { regionOf } from '#engine/regions.ts'
import { finished, mapInSteps, type Steps } from '#engine/steps.ts'
import {
  readHaulQuotes,
  readTenantQuotes,
  readTenantStanding,
  type TenantQuote,
} from './database/histories.ts'
import type { TenantId, TenantTransaction } from './database/open-database.ts'
import { inTurns } from './in-turns.ts'

/**
 * A tenant's quotes, prepared for estimates: thrown away and rebuilt from the facts whenever they change. Each half is
 * prepared when it is first asked for: quoting a lane needs the costs alone, and makes the model old. Either takes seconds
 * at 100,000 quotes, in turns with the answers to everybody else.
 */
export interface TenantModel {
  readonly estimator: () => Promise<Estimator>
  readonly costs: () => Promise<CostModel>
  readonly quotes: readonly TenantQuote[]
}

/** A model with both halves, as an estimate takes it. */
export interface PreparedModel {
  readonly estimator: Estimator
  readonly costs: CostModel
  readonly quotes: readonly TenantQuote[]
}

/** Prepares what is not prepared yet. It needs no transaction: better none is kept open for it. */
export async function prepared({ estimator, costs, quotes }: TenantModel): Promise<PreparedModel> {
  return { estimator: await estimator(), costs: await costs(), quotes }
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
    const made = await prepare(
      { quotes, measured },
      now,
      before?.day === day ? before.lastEstimator() : undefined,
    )
    kept.delete(tenant)
    kept.set(tenant, { version, day, ...made })
    forgetOldest(kept)
    return made.model
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
  return finished(withLanesInSteps(quotes))
}

function withLanesInSteps<Quote extends TenantQuote>(
  quotes: readonly Quote[],
): Steps<(Quote & { lane: LaneIdentity })[]> {
  const identities = new Map<string, LaneIdentity>()
  return mapInSteps(quotes, (quote) => {
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

async function prepare(facts: Facts, now: number, previous: Estimator | undefined): Promise<Prepared> {
  const quotes = await inTurns(withLanesInSteps(facts.quotes))
  // Let go of once they are used: neither is kept beside what was made of it.
  let lastEstimator = previous
  let measured: readonly MeasuredQuote[] = facts.measured
  let estimator: Promise<Estimator> | undefined
  let costs: Promise<CostModel> | undefined

  async function estimate(): Promise<Estimator> {
    const before = lastEstimator === undefined ? {} : { previous: lastEstimator }
    const steps = prepareEstimatorInSteps({ quotes, measured, now, ...before })
    measured = []
    lastEstimator = await inTurns(steps)
    return lastEstimator
  }

  return {
    lastEstimator: () => lastEstimator,
    model: {
      quotes,
      estimator: () => (estimator ??= estimate()),
      costs: () =>
        (costs ??= inTurns(
          prepareCostsInSteps(
            quotes.flatMap(({ laneId, costCents, miles, quotedAt, lane }) =>
              costCents === null || miles === null
                ? []
                : [{ laneId, costCents, miles, at: quotedAt, costKeys: lane.costKeys }],
            ),
            now,
          ),
        )),
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
