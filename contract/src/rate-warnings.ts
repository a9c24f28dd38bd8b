import Type from 'typebox'

export const rateWarningCodes = [
  'below_cost',
  'below_floor',
  'below_going_rate',
  'above_going_rate',
  'above_cost',
] as const

/** A reason to check a rate. Warnings never change whether a request is accepted. */
export const RateWarning = Type.Object({
  code: Type.Enum([...rateWarningCodes]),
  field: Type.Enum(['quoted_rate', 'rate'], { description: 'The field with the rate' }),
  detail: Type.String({ description: 'A sentence with the amounts that were compared' }),
})

export const RateWarnings = Type.Array(RateWarning, {
  description:
    'Reasons to check the rate, because it is below the cost or the floor, or far from the going rate or the cost; empty for a usual rate. A rate is never rejected for a warning',
})
