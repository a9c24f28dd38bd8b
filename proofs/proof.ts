import type { DatabaseCluster } from '#testing/database-cluster.ts'

export interface ProofOptions {
  /** Seeds all random choices; the same seed repeats them. */
  readonly seed: number
  /** The share of the full length to run, up to 1. */
  readonly share: number
  /** A PostgreSQL server with a migrated template, for proofs that need a database but no server of their own. */
  readonly cluster: DatabaseCluster
  /** The number of requests to send, whatever `share` is, for proofs that count their requests. */
  readonly requests?: number | undefined
  /** The number of the only request to send, for proofs that number their requests. */
  readonly request?: number | undefined
  readonly onProgress: (line: string) => void
  /** When aborted, the proof stops at its next step and cleans up. */
  readonly signal: AbortSignal
}

export interface Finding {
  readonly figure: string
  /** Violations of the claim. Empty if the claim is true. */
  readonly faults: readonly string[]
  /** Why the proof could not run on this machine. */
  readonly skipped?: string
}

/** A claim about the service, a test of the claim, and a planted fault with which the same test must fail. */
export interface Proof {
  /** The name for `npm run prove -- --only`. */
  readonly name: string
  readonly claim: string
  readonly fault: string
  run(options: ProofOptions): Promise<Finding>
  /** Runs the test with the planted fault; it must find faults. */
  control(options: ProofOptions): Promise<Finding>
}

/** Returns a generator of random numbers from 0 to below 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns a random integer from `low` to `high`, inclusive. */
export function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

export function oneOf<T>(random: () => number, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

/** Returns a share of the full number, rounded, but at least `atLeast`. */
export function shareOf(full: number, share: number, atLeast = 1): number {
  return Math.max(atLeast, Math.round(full * share))
}

/** Returns the first `max` faults, and the number of the remaining ones. */
export function firstFaults(faults: readonly string[], max = 10): string[] {
  return faults.length <= max ? [...faults] : [...faults.slice(0, max), `and ${faults.length - max} more`]
}
