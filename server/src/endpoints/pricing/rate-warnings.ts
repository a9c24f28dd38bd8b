import type { rateWarningCodes } from '#contract/rate-warnings.ts'
import type { AppraisedRate } from '#engine/appraisal/appraisal.ts'

/** A warning of an appraised rate with the name of the field with the rate. */
interface FieldWarning<Field extends string> {
  readonly code: (typeof rateWarningCodes)[number]
  readonly field: Field
  readonly detail: string
}

/** Reasons to confirm a rate, in the form of the API. */
export function fieldWarnings<Field extends string>(
  field: Field,
  { warnings }: Pick<AppraisedRate, 'warnings'>,
): FieldWarning<Field>[] {
  return warnings.map(({ code, detail }) => ({ code, field, detail }))
}
