import { createHash } from 'node:crypto'
import type { TenantIds } from './seeded-ids.ts'

/** The rows of a brokerage's pilot. See `seeded-tenants.ts`. */
export function pilotRowsOf(ids: TenantIds, { at, canary }: { at: Date; canary: string }) {
  return {
    pilots: [
      {
        active: true,
        started_at: at,
        started_by: ids.owner,
        stopped_at: null,
        // Newer than every version of the facts, so that nothing is left to record.
        sealed_version: 1_000_000_000_000,
        announced_entry: 0,
        announced_at: at,
        experiment: JSON.stringify({ seed: `${canary}pilots-experiment`, quotes: 400, started_at: at }),
      },
    ],
    calibration_checks: [
      {
        checked_at: at,
        checked_version: 1_000_000_000_000,
        state: 'holds',
        decided: 70,
        won: 30,
        mean_forecast: 0.4,
        evidence: 12,
        broken_at: null,
      },
    ],
    pilot_entries: [
      {
        entry_number: ids.entry,
        at,
        kind: 'forecast',
        lane_id: ids.lane,
        body: JSON.stringify({ lane_ref: `${canary}pilot_entries-body` }),
        hash: createHash('sha256').update(`pilot of ${ids.label}`).digest(),
      },
    ],
  }
}
