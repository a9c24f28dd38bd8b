import type { Finding, Proof, ProofOptions } from './proof.ts'

/** The result of one proof and its control. */
export interface Verdict {
  readonly name: string
  readonly claim: string
  readonly figure: string
  readonly seed: number
  readonly seconds: number
  readonly verdict: 'holds' | 'FAILED' | 'skipped' | 'stopped'
  /** Whether the planted fault was found. A proof that cannot fail proves nothing. */
  readonly control: 'caught' | 'NOT CAUGHT' | 'skipped' | 'stopped'
  readonly fault: string
  readonly faults: readonly string[]
}

async function withErrorAsFault(work: Promise<Finding>): Promise<Finding> {
  try {
    return await work
  } catch (error) {
    return {
      figure: 'stopped by an error',
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    }
  }
}

/**
 * Runs a proof and its control with the planted fault. A control that throws has not caught the fault. With
 * `withFault: false` the control is skipped.
 */
export async function prove(
  proof: Proof,
  options: ProofOptions,
  { withFault = true } = {},
): Promise<Verdict> {
  const began = performance.now()
  const claimed = await withErrorAsFault(proof.run(options))
  const stopped = options.signal.aborted
  const planted =
    stopped || !withFault || claimed.skipped !== undefined
      ? null
      : await proof.control(options).catch((error: unknown) => {
          options.onProgress(`the control threw an error: ${error}`)
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

/** True if each claim is true and each planted fault was caught. */
export function isProven(verdicts: readonly Verdict[]): boolean {
  return verdicts.every(({ verdict, control }) => verdict !== 'FAILED' && control !== 'NOT CAUGHT')
}
