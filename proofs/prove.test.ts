import { expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import type { Finding } from './proof.ts'
import { isProven, prove, type Verdict } from './prove.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

test('a run is not proven if a proof finds a fault, or if a planted fault is not found', async () => {
  const finding = (faults: string[]): Promise<Finding> => Promise.resolve({ figure: '', faults })
  const made = (run: string[], control: string[]): Promise<Verdict> =>
    prove(
      { name: 'x', claim: '', fault: '', run: () => finding(run), control: () => finding(control) },
      { seed: 1, share: 1, cluster, onProgress: () => {}, signal: new AbortController().signal },
    )
  expect(isProven([await made([], ['found'])])).toBe(true)
  expect(isProven([await made(['lost'], ['found'])])).toBe(false)
  expect(isProven([await made([], [])])).toBe(false)
})
