import { calibrationChecks as checks, hashChain, pilots } from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'

/** Database functions of pilots and of chains of hashes. See `database-methods.ts`. */
export const pilotMethods: Readonly<Record<string, Method>> = {
  'hash-chain.chainEnd': changesRows(({ transaction, tenant }) =>
    hashChain.chainEnd(transaction, tenant, 'pilot'),
  ),
  'hash-chain.newestOfChain': returnsResult(({ transaction, tenant }) =>
    hashChain.newestOfChain(transaction, tenant, 'pilot'),
  ),
  'hash-chain.verifyChain': returnsResult(({ transaction, tenant }) =>
    hashChain.verifyChain((look) => look(transaction), tenant, pilots.pilotChain, []),
  ),
  'pilots.pilotEntriesAfter': returnsCanary(({ transaction, tenant }) =>
    pilots.pilotEntriesAfter(transaction, tenant, 0, 100),
  ),
  'pilots.findPilot': returnsResult(({ transaction, tenant }) => pilots.findPilot(transaction, tenant)),
  'pilots.startPilot': changesRows(({ transaction, tenant, ids, now }) =>
    pilots.startPilot(transaction, tenant, { userId: ids.owner, at: now }),
  ),
  'pilots.stopPilot': changesRows(({ transaction, tenant, now }) =>
    pilots.stopPilot(transaction, tenant, now),
  ),
  'pilots.appendPilotEntries': changesRows(({ transaction, tenant, lane, now }) =>
    pilots.appendPilotEntries(transaction, tenant, now.getTime(), [
      { kind: 'forecast', laneId: lane.lane_id, body: { lane_ref: lane.lane_ref } },
    ]),
  ),
  'pilots.changedPilotLanes': returnsCanary(({ transaction, tenant }) =>
    pilots.changedPilotLanes(transaction, tenant, { after: -1, limit: 10 }),
  ),
  'pilots.setExperiment': changesRows(({ transaction, tenant }) =>
    pilots.setExperiment(transaction, tenant, null),
  ),
  'pilots.headAnnounced': changesRows(({ transaction, tenant, now }) =>
    pilots.headAnnounced(transaction, tenant, { entry: 7, at: now }),
  ),
  'calibration-checks.findCalibrationCheck': returnsResult(({ transaction, tenant }) =>
    checks.findCalibrationCheck(transaction, tenant),
  ),
  'calibration-checks.putCalibrationCheck': changesRows(({ transaction, tenant, now }) =>
    checks.putCalibrationCheck(transaction, tenant, {
      checked_at: now,
      checked_version: 7,
      state: 'holds',
      decided: 1,
      won: 1,
      mean_forecast: 0.5,
      evidence: 60,
      broken_at: null,
    }),
  ),
  'calibration-checks.recordedForecasts': noEvidence(({ transaction, tenant }) =>
    checks.recordedForecasts(transaction, tenant, { decidedSince: new Date(0), quotedSince: new Date(0) }),
  ),
  'pilots.pilotSealed': changesRows(({ transaction, tenant }) => pilots.pilotSealed(transaction, tenant, 7)),
}
