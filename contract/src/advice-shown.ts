import Type from 'typebox'
import { trustLevels } from './estimate.ts'
import { oneOf, positiveDollars } from './fields.ts'

const share = (description: string) =>
  Type.Number({ description, minimum: 0, maximum: 1, 'x-expected': 'a number from 0 to 1' })

/** The advice that the page of the caller showed. It is kept with the quote as it is, and changes no other answer. */
export const adviceShown = Type.Object(
  {
    win_probability: share('The chance that was shown for the quoted rate'),
    low: share('The beginning of its 80 % range'),
    high: share('The end of its 80 % range'),
    going_rate: Type.Optional(positiveDollars('The going rate that was shown')),
    best_rate: Type.Optional(positiveDollars('The rate to quote that was shown')),
    trust: oneOf('How far the advice could be trusted', trustLevels),
  },
  { description: 'The advice that was shown for this rate, to keep with the quote' },
)
