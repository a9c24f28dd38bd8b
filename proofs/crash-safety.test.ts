import { describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { fullDisk } from './full-disk.ts'
import { kills } from './kills.ts'
import { lateDeliveries } from './late-deliveries.ts'
import { liveMigrations } from './live-migrations.ts'
import type { Finding, Proof } from './proof.ts'
import { isProven, prove, type Verdict } from './prove.ts'
import { shortly } from './shortly.ts'
import { simulation } from './simulation.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

/**
 * The short form of the proofs; `share` is the share of the full length. `npm run prove` runs the full length, and each
 * proof's planted fault. It alone runs the proofs that measure times beside other load (restarts, slow networks, neighbors),
 * because other tests on the machine would change the result, and those that start several services. `planted-fault.test.ts` checks
 * that the faults can still be planted.
 */
const short: readonly { proof: Proof; share: number }[] = [
  { proof: kills, share: 0.005 },
  { proof: lateDeliveries, share: 0.003 },
  { proof: fullDisk, share: 0.02 },
  { proof: simulation, share: 0.02 },
  { proof: liveMigrations, share: 0.01 },
]

// Concurrent, because most proofs mostly wait: for processes to start, and for the one-second rate window to end.
describe.concurrent.each(short.map(({ proof, share }) => ({ name: proof.claim, proof, share })))(
  '$name',
  ({ proof, share }) => {
    test('holds', async () => {
      const { seed, verdict, faults } = await prove(proof, shortly(share, cluster), { withFault: false })
      expect({ seed, faults, verdict }).toEqual({
        seed,
        faults: [],
        verdict: verdict === 'skipped' ? 'skipped' : 'holds',
      })
    }, 240_000)
  },
)

test('a run is not proven if a proof finds a fault, or if a planted fault is not found', async () => {
  const finding = (faults: string[]): Promise<Finding> => Promise.resolve({ figure: '', faults })
  const made = (run: string[], control: string[]): Promise<Verdict> =>
    prove(
      { name: 'x', claim: '', fault: '', run: () => finding(run), control: () => finding(control) },
      shortly(1, cluster),
    )
  expect(isProven([await made([], ['found'])])).toBe(true)
  expect(isProven([await made(['lost'], ['found'])])).toBe(false)
  expect(isProven([await made([], [])])).toBe(false)
})
