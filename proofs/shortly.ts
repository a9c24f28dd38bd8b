import { randomInt } from 'node:crypto'
import { inject } from 'vitest'
import type { ProofOptions } from './proof.ts'

/** The short form of a proof, for tests. A failure is played again with the seed that was printed. */
export function shortly(share: number): ProofOptions {
  const seed = randomInt(2 ** 31)
  process.stdout.write(`seed ${seed}\n`)
  return {
    seed,
    share,
    cluster: inject('databaseCluster'),
    onProgress: () => {},
    signal: new AbortController().signal,
  }
}
