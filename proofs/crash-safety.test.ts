import { describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { clockJumps } from './clock-jumps.ts'
import { cutDatabase } from './cut-database.ts'
import { databaseRestarts } from './database-restarts.ts'
import { fullDisk } from './full-disk.ts'
import { kills } from './kills.ts'
import { lateDeliveries } from './late-deliveries.ts'
import { liveMigrations } from './live-migrations.ts'
import { compressedUploads, noisyNeighbour, slowConnections } from './neighbours.ts'
import type { Finding, Proof } from './proof.ts'
import { isProven, prove, type Verdict } from './prove.ts'
import { rollingRestart } from './rolling-restart.ts'
import { shortly } from './shortly.ts'
import { simulation } from './simulation.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

/**
 * The short form of each, with the share of its full length. `npm run prove` plays them at length, each with its planted
 * fault, and alone the one that compares latencies beside a large brokerage: other tests on the machine would change what it
 * measures. Here the fault is planted where that takes a few seconds; `planted-fault.test.ts` sees that all the others can be.
 */
const short: readonly { proof: Proof; share: number; withFault?: true }[] = [
  // The longest first: it waits for slow callers to be shown out.
  { proof: slowConnections, share: 0.05 },
  { proof: kills, share: 0.005 },
  { proof: databaseRestarts, share: 0.03 },
  { proof: rollingRestart, share: 0.05 },
  { proof: lateDeliveries, share: 0.003 },
  { proof: cutDatabase, share: 0.01 },
  { proof: fullDisk, share: 0.02 },
  { proof: clockJumps, share: 0.1, withFault: true },
  { proof: simulation, share: 0.02, withFault: true },
  { proof: liveMigrations, share: 0.01 },
  { proof: noisyNeighbour, share: 0.05 },
  { proof: compressedUploads, share: 0.05 },
]

// Most of them wait most of the time, for processes to start and for a second to be over.
describe.concurrent.each(
  short.map(({ proof, share, withFault = false }) => ({ name: proof.claim, proof, share, withFault })),
)('$name', ({ proof, share, withFault }) => {
  test(`holds${withFault ? `, and does not with ${proof.fault}` : ''}`, async () => {
    const { seed, verdict, control, faults } = await prove(proof, shortly(share, cluster), { withFault })
    const skipped = verdict === 'skipped'
    expect({ seed, faults, verdict, control }).toEqual({
      seed,
      faults: [],
      verdict: skipped ? 'skipped' : 'holds',
      control: skipped || !withFault ? 'skipped' : 'caught',
    })
  }, 240_000)
})

test('a proof that finds something, and a fault that nobody finds, are both no proof', async () => {
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
