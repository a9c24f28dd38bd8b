import type { DatabaseCluster } from '#testing/database-cluster.ts'
import type { ProofOptions } from './proof.ts'

/**
 * Returns options for a short run of a proof beside other tests: always with the same choices, so that a commit is green or not.
 * `npm run prove` draws other ones.
 */
export function shortly(share: number, cluster: DatabaseCluster): ProofOptions {
  return {
    seed: 20_261_128,
    share,
    cluster,
    slackMs: 300_000,
    onProgress: () => {},
    signal: new AbortController().signal,
  }
}
