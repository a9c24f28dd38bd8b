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
        ` ${counted(basis.converted, 'quote')} with ${basisNames[other]} amounts converted${basis.converted_by.schedule === 0 ? ' by their charges' : `: ${basis.converted_by.charges} by their charges, ${basis.converted_by.schedule} by the fuel schedule of the day`}.`}
      {basis.kept_apart > 0 &&
        ` ${counted(basis.kept_apart, 'quote')} with ${basisNames[other]} amounts not counted: neither their fuel charge nor the surcharge of the day is known.`}
    </Text>
  )
}
