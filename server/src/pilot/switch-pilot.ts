import type { StartedBody, StoppedBody } from '#engine/pilot/pilot-entries.ts'
import { type Doing, recordEvent } from '../audit/index.ts'
import {
  appendPilotEntries,
  findPilot,
  findTenant,
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
    await stopPilot(transaction, tenant, at)
    const body: StoppedBody = { by: userId }
    await appendPilotEntries(transaction, tenant, person.now, [{ kind: 'stopped', laneId: null, body }])
  }
  await recordEvent(transaction, person, active ? 'pilot-started' : 'pilot-stopped')
}
