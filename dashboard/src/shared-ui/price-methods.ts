import type { Answer } from '../api/index.ts'

type Method = Answer<'me'>['tenant']['win_probability_method']

/** The three ways to calculate the API's win_probability. Its specification allows all three. */
export const methods: readonly { value: Method; label: string; description: string }[] = [
  {
    value: 'at_or_below',
    label: 'Share won of quotes at this rate or lower',
    description:
      'The default: 12 won of 20 decided at or below the rate is 60%. It never rises with the rate.',
  },
  {
    value: 'literal',
    label: 'Wins at this rate or lower, of all decided quotes',
    description: 'The literal wording of the API specification. It rises with the rate.',
  },
  {
    value: 'revealed',
    label: 'Wins at this rate or higher, against losses at this rate or lower',
    description: 'It falls with the rate. Correct when the rate alone decides the outcome.',
  },
]
