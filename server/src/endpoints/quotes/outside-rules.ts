import { type FieldError, type Problem, problem } from '#contract/errors.ts'
import type { RuleVerdict } from '#engine/rules/pricing-rules.ts'

type OutsideError = FieldError & { readonly code: 'blocked' | 'needs-approval' }

/** The errors of a rate that is outside the rules. If it is approved, only blocking rules count. */
export function outsideErrors(
  { reasons }: Pick<RuleVerdict, 'reasons'>,
  isApproved: boolean,
  pointer: string,
): OutsideError[] {
  return reasons.flatMap(({ outside, detail }): OutsideError[] =>
    outside === 'block'
      ? [{ pointer, code: 'blocked', detail }]
      : outside === 'approval' && !isApproved
        ? [{ pointer, code: 'needs-approval', detail }]
        : [],
  )
}

/** Why a rate is outside the rules, without a pointer to its field. */
export function outsideAnswer({
  verdict,
}: {
  readonly verdict: Pick<RuleVerdict, 'reasons'>
}): Pick<OutsideError, 'code' | 'detail'>[] {
  return outsideErrors(verdict, false, '').map(({ code, detail }) => ({ code, detail }))
}

/** The 422 for quotes outside the rules. */
export function outsideRules(errors: readonly FieldError[]): Problem {
  const isBlocked = errors.some(({ code }) => code === 'blocked')
  const first = errors[0]?.detail ?? ''
  return problem(
    'outside-rules',
    isBlocked
      ? `The pricing rules do not allow this quote. Nothing was saved. ${first}`
      : `This quote needs approval by the pricing rules. Nothing was saved. ${first}`,
    { errors },
  )
}
