import { randomInt } from 'node:crypto'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import type { ProofOptions } from './proof.ts'

/** Returns options for a short run of a proof beside other tests. */
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
