import {
  ALARM_DAYS,
  calibrationSentence,
  calibrationStanding,
  type DecidedForecast,
} from '#engine/calibration-alarm.ts'
import { dayOf } from '#engine/estimate/day.ts'
import {
  announceToSubscribers,
  findCalibrationCheck,
  findPilot,
  headAnnounced,
  newestOfChain,
  putCalibrationCheck,
  readVersions,
  recordedForecasts,
  tenantsToCheck,
  tenantsWithHeadsToAnnounce,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'

const dayMs = 86_400_000
/** Less than a day, so that a daily check does not move to a later hour each day. */
const againAfterMs = 20 * 3_600_000
/** Most quotes are decided within this many days. Older ones are not looked for. */
const decidedWithinDays = 60

interface Parts {
  readonly database: Database
  readonly now: number
  readonly log: Log
  readonly isStopping: () => boolean
}

/** Checks the calibration of each brokerage whose quotes have changed since its last check of a day ago. */
export async function checkCalibrations({ database, now, log, isStopping }: Parts): Promise<void> {
  const before = new Date(now - againAfterMs)
  const tenants = await runInBackground(() =>
    database.acrossTenants((transaction) => tenantsToCheck(transaction, before)),
  )
  for (const tenant of tenants) {
    if (isStopping()) return
    const broke = await runInBackground(() =>
      database.inTenant(tenant, (transaction) => checkCalibration(transaction, tenant, now)),
    )
    if (broke !== null) log.warn({ tenant_id: tenant }, `the calibration broke: ${broke}`)
  }
}

/** Checks a brokerage. Returns the sentence for an alarm that is new, else null. */
async function checkCalibration(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: number,
): Promise<string | null> {
  // Read first: a change during the check is then checked the next time.
  const { facts } = await readVersions(transaction, tenant)
  const last = await findCalibrationCheck(transaction, tenant)
  const rows = await recordedForecasts(transaction, tenant, {
    decidedSince: new Date((dayOf(now) - ALARM_DAYS + 1) * dayMs),
    quotedSince: new Date(now - (ALARM_DAYS + decidedWithinDays) * dayMs),
  })
  const forecasts = rows.flatMap(({ probability, ...quote }): DecidedForecast[] => {
    if (probability === null) return []
    const lane = `${quote.origin_key}>${quote.destination_key}|${quote.equipment_code}`
    return [{ day: dayOf(quote.decided_at.getTime()), lane, probability, won: quote.outcome === 'won' }]
  })
  const wasBroken = (last?.broken_at ?? null) !== null
  const standing = calibrationStanding(forecasts, { today: dayOf(now), wasBroken })
  const isBroken = standing.state === 'broken'
  const { state, decided, won, meanForecast, evidence } = standing
  await putCalibrationCheck(transaction, tenant, {
    checked_at: new Date(now),
    checked_version: facts,
    state,
    decided,
    won,
    mean_forecast: meanForecast,
    evidence,
    broken_at: isBroken ? (last?.broken_at ?? new Date(now)) : null,
  })
  if (!isBroken || wasBroken) return null
  const sentence = calibrationSentence(standing)
  await announceToSubscribers(transaction, tenant, {
    type: 'model.calibration_broken',
    about: {
      calibration: { days: ALARM_DAYS, decided, won, mean_forecast: meanForecast ?? 0, sentence },
    },
  })
  return sentence
}

/** Sends the head of each active pilot that has grown since the last time, a day ago. */
export async function announceHeads({ database, now, isStopping }: Parts): Promise<void> {
  const before = new Date(now - againAfterMs)
  const tenants = await runInBackground(() =>
    database.acrossTenants((transaction) => tenantsWithHeadsToAnnounce(transaction, before)),
  )
  for (const tenant of tenants) {
    if (isStopping()) return
    await runInBackground(() =>
      database.inTenant(tenant, async (transaction) => {
        const pilot = await findPilot(transaction, tenant, { lock: true })
        const head = await newestOfChain(transaction, tenant, 'pilot')
        // Another instance may have announced it meanwhile.
        if (pilot === null || head === null || (pilot.announced_at ?? before) > before) return
        await headAnnounced(transaction, tenant, { entry: head.entry_number, at: new Date(now) })
        if (head.entry_number === pilot.announced_entry) return
        const { entry_number: entry, at, hash } = head
        await announceToSubscribers(transaction, tenant, {
          type: 'pilot.head',
          about: { head: { entry, at: at.toISOString(), hash: hash.toString('hex') } },
        })
      }),
    )
  }
}
