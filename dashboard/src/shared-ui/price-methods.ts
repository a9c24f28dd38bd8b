import type { Answer } from '../api/index.ts'

export type Method = Answer<'me'>['tenant']['win_probability_method']

/** How the interface's win_probability is counted: the sentence of the interface can be read three ways. */
export const methods: readonly { value: Method; label: string; description: string }[] = [
  {
    value: 'at_or_below',
    label: 'Share won of what was quoted at this rate or lower',
    description:
      'As it comes: 12 won of 20 decided at or below the rate reads 60%. It never rises with the rate.',
  },
  {
    value: 'literal',
    label: 'Wins at this rate or lower, of all decided quotes',
    description: 'The interface’s sentence letter for letter. It rises with the rate.',
  },
  {
    value: 'revealed',
    label: 'Wins at this rate or higher, against losses at this rate or lower',
    description: 'What each outcome reveals. It falls with the rate; right where price alone decides.',
  },
]
