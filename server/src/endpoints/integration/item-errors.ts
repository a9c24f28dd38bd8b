import type { FieldError } from '#contract/errors.ts'

/** The result of one item of a list that is not valid, without its index and names. */
export function itemErrors(errors: readonly FieldError[]) {
  return {
    status: 422 as const,
    detail: errors[0]?.detail ?? 'This item is not valid.',
    errors: errors.map(({ pointer = '', code, detail, suggestions }) => ({
      pointer,
      code,
      detail,
      ...(suggestions === undefined ? {} : { suggestions: [...suggestions] }),
    })),
  }
}
