import type { Finding, Proof, ProofOptions } from './proof.ts'

/** What became of one proof. */
export interface Verdict {
  readonly name: string
  readonly claim: string
  readonly figure: string
  readonly seed: number
  readonly seconds: number
  readonly verdict: 'holds' | 'FAILED' | 'skipped' | 'stopped'
  /** Whether the planted fault was found: a proof that cannot fail proves nothing. */
  readonly control: 'caught' | 'NOT CAUGHT' | 'skipped' | 'stopped'
  readonly fault: string
  readonly faults: readonly string[]
}

/** An error on the way is a fault like any other. */
async function found(work: Promise<Finding>): Promise<Finding> {
  try {
    return await work
  } catch (error) {
    return {
      figure: 'ended early',
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    }
  }
}

/**
 * Runs a proof and its negative control. A control that broke down has caught nothing. `withFault: false` leaves the control
 * out, which is then "skipped".
 */
export async function prove(
  proof: Proof,
  options: ProofOptions,
  { withFault = true } = {},
): Promise<Verdict> {
  const began = performance.now()
  const claimed = await found(proof.run(options))
  const stopped = options.signal.aborted
  const planted =
    stopped || !withFault || claimed.skipped !== undefined
      ? null
      : await proof.control(options).catch((error: unknown) => {
          options.onProgress(`the control broke down: ${error}`)
          return { figure: '', faults: [] }
        })
  return {
    name: proof.name,
    claim: proof.claim,
    figure: claimed.skipped ?? claimed.figure,
    seed: options.seed,
    seconds: Math.round((performance.now() - began) / 1000),
    verdict: stopped
      ? 'stopped'
      : claimed.skipped !== undefined
        ? 'skipped'
        : claimed.faults.length === 0
          ? 'holds'
          : 'FAILED',
    control:
      planted === null
        ? stopped
          ? 'stopped'
          : 'skipped'
        : options.signal.aborted
          ? 'stopped'
          : planted.faults.length > 0
            ? 'caught'
            : 'NOT CAUGHT',
    fault: proof.fault,
    faults: claimed.faults,
  }
}

/** Whether a run of proofs is one to be believed: nothing failed, and no control went by unnoticed. */
export function isProven(verdicts: readonly Verdict[]): boolean {
  return verdicts.every(({ verdict, control }) => verdict !== 'FAILED' && control !== 'NOT CAUGHT')
}
