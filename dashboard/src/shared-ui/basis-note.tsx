import { Text } from '@mantine/core'
import type { ComparedBasis, RateBasis } from '#contract/rate-basis.ts'
import { counted } from './formats.ts'

export const basisNames: Readonly<Record<RateBasis, string>> = { linehaul: 'linehaul', all_in: 'all-in' }

/** The basis of the amounts of an answer, and the quotes that were converted to it or kept apart. */
export function BasisNote({ basis }: { basis: ComparedBasis | undefined }) {
  if (basis === undefined) return null
  const other = basis.amounts === 'all_in' ? 'linehaul' : 'all_in'
  return (
    <Text component="p" size="xs" c="dimmed">
      Rates, costs and margins are {basisNames[basis.amounts]}.
      {basis.converted > 0 &&
        ` ${counted(basis.converted, 'quote')} with ${basisNames[other]} amounts converted by the charges.`}
      {basis.kept_apart > 0 &&
        ` ${counted(basis.kept_apart, 'quote')} with ${basisNames[other]} amounts and no known fuel charge not counted.`}
    </Text>
  )
}
