import { randomInt } from 'node:crypto'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import type { ProofOptions } from './proof.ts'

/** The short form of a proof, for tests, which run beside other tests. */
export function shortly(share: number, cluster: DatabaseCluster): ProofOptions {
  return {
    seed: randomInt(2 ** 31),
    share,
    cluster,
    slackMs: 6_000,
    onProgress: () => {},
    signal: new AbortController().signal,
  }
}
