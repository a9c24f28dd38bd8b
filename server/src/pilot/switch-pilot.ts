import { createHash, randomBytes } from 'node:crypto'
import { problem } from '#contract/errors.ts'
import { EXPERIMENT_COST_SHARE, EXPERIMENT_DAYS } from '#engine/pilot/experiment.ts'
import type { ExperimentBody, StartedBody, StoppedBody } from '#engine/pilot/pilot-entries.ts'
import { type Doing, recordEvent } from '../audit/index.ts'
import {
  appendPilotEntries,
  findPilot,
  findTenant,
  setExperiment,
  startPilot,
  stopPilot,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { modelVersion } from './model-version.ts'

type Person = Doing & { readonly caller: { readonly userId: number } }

/** Switches the pilot of a brokerage on or off, with an entry in its chain and one in the audit log. No effect if it is so already. */
export async function switchPilot(
  transaction: TenantTransaction,
  person: Person,
  active: boolean,
): Promise<void> {
  const { tenant, userId } = person.caller
  const at = new Date(person.now)
  const pilot = await findPilot(transaction, tenant, { lock: true })
  const owner = await findTenant(transaction, tenant)
  if (owner === null || (pilot?.active ?? false) === active) return
  if (active) {
    await startPilot(transaction, tenant, { userId, at })
    const body: StartedBody = {
      format: 'lanewise pilot 1',
      brokerage: { id: tenant, name: owner.name },
      by: userId,
      expired_counts_as_lost: owner.expired_counts_as_lost,
      model: modelVersion,
    }
    await appendPilotEntries(transaction, tenant, person.now, [{ kind: 'started', laneId: null, body }])
  } else {
    if (pilot !== null && pilot.experiment !== null) {
      const ended = experimentEnded(userId, pilot.experiment)
      await appendPilotEntries(transaction, tenant, person.now, [ended])
    }
    await stopPilot(transaction, tenant, at)
    const body: StoppedBody = { by: userId }
    await appendPilotEntries(transaction, tenant, person.now, [{ kind: 'stopped', laneId: null, body }])
  }
  await recordEvent(transaction, person, active ? 'pilot-started' : 'pilot-stopped')
}

/**
 * A new seed. The chain has its hash when the experiment begins, and the seed itself when it ends. So nobody who reads the chain
 * knows in advance which suggestion a lane will get, and the service cannot choose the seed afterwards.
 */
const newSeed = () => randomBytes(16).toString('hex')

function experimentEnded(by: number, { seed }: { readonly seed: string }) {
  const body: ExperimentBody = { action: 'ended', by, seed }
  return { kind: 'experiment', laneId: null, body } as const
}

/**
 * Starts an experiment with suggested rates, or ends the running one, with an entry in the chain and one in the audit log.
 *
 * @param quotes the number of quotes after which it ends, fixed now; null to end the running experiment
 * @throws Problem when the pilot is off, or an experiment runs already
 */
export async function switchExperiment(
  transaction: TenantTransaction,
  person: Person,
  quotes: number | null,
): Promise<void> {
  const { tenant, userId } = person.caller
  const pilot = await findPilot(transaction, tenant, { lock: true })
  const running = pilot?.experiment ?? null
  if (quotes === null && running === null) return
  if (quotes !== null && pilot?.active !== true) {
    throw problem(
      'state-conflict',
      'An experiment needs the pilot, which records its suggestions. Switch the pilot on first.',
    )
  }
  if (quotes !== null && running !== null) {
    throw problem(
      'state-conflict',
      `An experiment with ${running.quotes} quotes is running, and its length was fixed when it began. End it before you start another one.`,
    )
  }
  const seed = newSeed()
  const startedAt = new Date(person.now).toISOString()
  await setExperiment(transaction, tenant, quotes === null ? null : { seed, quotes, started_at: startedAt })
  const started: ExperimentBody = {
    action: 'started',
    by: userId,
    seed_sha256: createHash('sha256').update(seed).digest('hex'),
    quotes: quotes ?? 0,
    days: EXPERIMENT_DAYS,
    cost_share_max: EXPERIMENT_COST_SHARE,
  }
  await appendPilotEntries(transaction, tenant, person.now, [
    running === null ? { kind: 'experiment', laneId: null, body: started } : experimentEnded(userId, running),
  ])
  await recordEvent(transaction, person, quotes === null ? 'experiment-ended' : 'experiment-started', {
    about: quotes === null ? {} : { quotes },
  })
}
