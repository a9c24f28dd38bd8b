import type { DatabaseCluster } from '#testing/database-cluster.ts'

/** What a proof is given. */
export interface ProofOptions {
  /** All that is random follows from it: the same number plays the same proof again. */
  readonly seed: number
  /** How much of the full length is played: 1 is all of it. */
  readonly share: number
  /** A PostgreSQL with a migrated template, for proofs that need a database and not a server of their own. */
  readonly cluster: DatabaseCluster
  /** What other work on the machine may add to a time that was promised: nothing, where the promise itself is tried. */
  readonly slackMs: number
  /** So many requests in the place of the share, where a proof counts in requests. */
  readonly requests?: number | undefined
  /** The request of this number alone, of a proof that numbers them, to look at. */
  readonly request?: number | undefined
  readonly onProgress: (line: string) => void
  /** Somebody wants to stop: the proof ends at its next step and takes away what it made. */
  readonly signal: AbortSignal
}

/** What was found. */
export interface Finding {
  /** How much was looked at, in numbers. */
  readonly figure: string
  /** What must not be. Empty: the claim held. */
  readonly faults: readonly string[]
  /** Why it could not be looked at on this machine. */
  readonly skipped?: string
}

/** A claim about the service, how it is tried, and the fault with which the same trial must fail. */
export interface Proof {
  readonly name: string
  readonly claim: string
  /** The planted fault. */
  readonly fault: string
  run(options: ProofOptions): Promise<Finding>
  control(options: ProofOptions): Promise<Finding>
}

/** Numbers from 0 up to 1 that follow from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole number from `low` to `high`, both of them included. */
export function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

export function oneOf<T>(random: () => number, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

/** So many of a full length as the share allows, at the least `atLeast`. */
export function shareOf(full: number, share: number, atLeast = 1): number {
  return Math.max(atLeast, Math.round(full * share))
}

/** The first faults of many, and how many there were. */
export function firstFaults(faults: readonly string[], max = 10): string[] {
  return faults.length <= max ? [...faults] : [...faults.slice(0, max), `and ${faults.length - max} more`]
}
