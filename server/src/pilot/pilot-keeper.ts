import { dollarsIfKnown } from '#engine/money.ts'
import { type OutcomeBody, quotedAs } from '#engine/pilot/pilot-entries.ts'
import {
  type Currency,
  comparableCents,
  type FuelAndExchange,
  ownChargesOnly,
  type RateBasis,
} from '#engine/rate-basis.ts'
import { conversionsOfQuote, needsConversion, termsOfQuote } from '../book/index.ts'
import {
  appendPilotEntries,
  type ChangedPilotLane,
  changedPilotLanes,
  findPilot,
  findTenant,
  pilotSealed,
  readVersions,
  tenantsWithPilotsBehind,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { announceHeads, checkCalibrations } from './daily-checks.ts'

/** How often outcomes are recorded, and how often the daily checks that are due run. */
const intervals = { sealMs: 5_000, checkMs: 600_000 }
/** Changed lanes that one transaction looks at: it locks the chain, for which new quotes of the brokerage wait. */
const lanesPerTransaction = 1_000
/** The most lanes that one version of the facts changes: an import or a push changes at most hundreds at once. */
const lanesOfVersionMax = 100_000

/**
 * Records the outcomes of forecasts in the chains of pilots, every five seconds. An outcome is recorded each time it changes.
 * Once a day for each brokerage, sends the head of its pilot and checks its calibration.
 *
 * Several instances may run this at once: the row of the pilot is locked meanwhile. With `runs: null`, it does both only when
 * it is called.
 */
export function pilotKeeper(
  { database, clock, log }: { database: Database; clock: () => number; log: Log },
  { runs = intervals }: { readonly runs?: typeof intervals | null } = {},
) {
  let stopping = false
  let running: Promise<unknown> = Promise.resolve()
  const repeat = (work: () => Promise<void>, everyMs: number, failure: string) => {
    const timer = setInterval(() => {
      running = running.then(() => work().catch((error: unknown) => log.warn({ err: error }, failure)))
    }, everyMs)
    timer.unref()
    return timer
  }
  const timers =
    runs === null
      ? []
      : [
          repeat(sealNow, runs.sealMs, 'outcomes could not be recorded in the pilots'),
          repeat(checkNow, runs.checkMs, 'calibrations could not be checked'),
        ]

  async function checkNow(): Promise<void> {
    const parts = { database, now: clock(), log, isStopping: () => stopping }
    await announceHeads(parts)
    await checkCalibrations(parts)
  }

  async function sealNow(): Promise<void> {
    const behind = await runInBackground(() => database.acrossTenants(tenantsWithPilotsBehind))
    for (const tenant of behind) {
      if (stopping) return
      await runInBackground(() => sealOutcomes(database, tenant, clock()))
    }
  }

  return {
    sealNow,
    checkNow,
    async drain() {
      stopping = true
      for (const timer of timers) clearInterval(timer)
      await running
    },
  }
}

/** Records the outcomes of a brokerage's forecasts that changed since the last time. */
async function sealOutcomes(database: Database, tenant: TenantId, now: number): Promise<void> {
  while (!(await sealSome(database, tenant, now))) {}
}

/** Records some outcomes. Returns whether all are recorded. */
async function sealSome(database: Database, tenant: TenantId, now: number): Promise<boolean> {
  return database.inTenant(tenant, async (transaction) => {
    const pilot = await findPilot(transaction, tenant, { lock: true })
    const owner = await findTenant(transaction, tenant)
    if (pilot === null || owner === null) return true
    // Read first: everything up to this version is visible to the next statement.
    const { facts: newest } = await readVersions(transaction, tenant)
    if (newest <= pilot.sealed_version) return true
    const after = pilot.sealed_version
    const some = await changedPilotLanes(transaction, tenant, { after, limit: lanesPerTransaction })
    const { lanes, upTo } =
      some.length < lanesPerTransaction
        ? { lanes: some, upTo: Math.max(newest, some.at(-1)?.version ?? 0) }
        : (wholeVersions(some) ??
          wholeVersions(
            await changedPilotLanes(transaction, tenant, { after, limit: lanesOfVersionMax }),
          ) ?? {
            lanes: some,
            upTo: some.at(-1)?.version ?? newest,
          })
    await appendPilotEntries(
      transaction,
      tenant,
      now,
      await outcomeEntries(transaction, tenant, lanes, owner.default_basis),
    )
    await pilotSealed(transaction, tenant, upTo)
    return upTo >= newest
  })
}

/** The lanes without those of the last version, which may be incomplete; null if they are all of one version. */
function wholeVersions(lanes: readonly ChangedPilotLane[]) {
  const last = lanes.at(-1)?.version ?? 0
  const whole = lanes.filter(({ version }) => version < last)
  const upTo = whole.at(-1)?.version
  return upTo === undefined ? null : { lanes: whole, upTo }
}

async function outcomeEntries(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly ChangedPilotLane[],
  basis: RateBasis,
) {
  const entries = []
  for (const lane of lanes) {
    const converts =
      needsConversion(lane.quoted_basis, lane.quoted_currency, basis) ||
      needsConversion(lane.customer_basis, lane.customer_currency, basis) ||
      needsConversion(lane.truck_basis, lane.truck_currency, basis)
    const by = converts
      ? await conversionsOfQuote(transaction, tenant, {
          customerName: lane.quoted_customer_name,
          at: lane.created_at,
          miles: lane.miles,
        })
      : { rates: ownChargesOnly, costs: ownChargesOnly }
    entries.push(...outcomeEntry(lane, basis, by))
  }
  return entries
}

type ConvertedBy = Awaited<ReturnType<typeof conversionsOfQuote>>

function outcomeEntry(lane: ChangedPilotLane, basis: RateBasis, by: ConvertedBy) {
  const body = outcomeBody(lane, basis, by)
  const isFirst = lane.recorded === null
  if (isFirst && body.outcome === 'pending' && body.revenue === null && body.cost === null) return []
  if (lane.recorded === JSON.stringify(body)) return []
  return [{ kind: 'outcome' as const, laneId: lane.lane_id, body }]
}

function outcomeBody(lane: LaneRow, wanted: RateBasis, { rates, costs }: ConvertedBy): OutcomeBody {
  const amount = (
    by: FuelAndExchange,
    cents: number | null,
    basis: RateBasis | null,
    fuelCents: number | null,
    accessorialCents: number | null,
    currency: Currency | null,
  ) =>
    cents === null
      ? null
      : dollarsIfKnown(comparableCents({ cents, basis, fuelCents, accessorialCents, currency }, wanted, by))
  const isVoid = lane.voided_at !== null
  const revenue = amount(
    rates,
    lane.customer_rate_cents,
    lane.customer_basis,
    lane.customer_fuel_cents,
    lane.customer_accessorials_cents,
    lane.customer_currency,
  )
  const cost = amount(
    costs,
    lane.truck_cost_cents,
    lane.truck_basis,
    lane.truck_fuel_cents,
    lane.truck_accessorials_cents,
    lane.truck_currency,
  )
  const isKeptApart =
    (lane.customer_rate_cents !== null && revenue === null) ||
    (lane.truck_cost_cents !== null && cost === null)
  return {
    lane_ref: lane.lane_ref,
    outcome: isVoid ? 'void' : lane.outcome,
    reason: lane.outcome_reason,
    source: lane.outcome_source,
    decided_at: (isVoid ? lane.voided_at : lane.decided_at)?.toISOString() ?? null,
    quoted_as: quotedAs(lane.quoted_rate_cents, termsOfQuote(lane)),
    basis: wanted,
    rate: amount(
      rates,
      lane.quoted_rate_cents,
      lane.quoted_basis,
      lane.quoted_fuel_cents,
      lane.quoted_accessorials_cents,
      lane.quoted_currency,
    ),
    revenue,
    cost,
    ...(isKeptApart ? { kept_apart: true as const } : {}),
  }
}
