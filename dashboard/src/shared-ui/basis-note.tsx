import { Text } from '@mantine/core'
import type { ComparedBasis, RateBasis } from '#contract/rate-basis.ts'
import { counted } from './formats.ts'

export const basisNames: Readonly<Record<RateBasis, string>> = { linehaul: 'linehaul', all_in: 'all-in' }

/** The basis and currency of the amounts of an answer, and the quotes that were converted to them or kept apart. */
export function BasisNote({ basis }: { basis: ComparedBasis | undefined }) {
  if (basis === undefined) return null
  const other = basisNames[basis.amounts === 'all_in' ? 'linehaul' : 'all_in']
  const { charges, schedule, exchange } = basis.converted_by
  const apart = basis.kept_apart - basis.kept_apart_in_cad
  return (
    <Text component="p" size="xs" c="dimmed">
      Rates, costs and margins are {basisNames[basis.amounts]}, in US dollars.
      {charges > 0 && ` ${counted(charges, 'quote')} with ${other} amounts converted by their charges.`}
      {schedule > 0 &&
        ` ${counted(schedule, 'quote')} with ${other} amounts converted by the fuel schedule of the day.`}
      {exchange > 0 &&
        ` ${counted(exchange, 'quote')} with Canadian dollars converted by the exchange rate of the day.`}
      {apart > 0 &&
        ` ${counted(apart, 'quote')} with ${other} amounts not counted: neither a fuel charge nor the surcharge of the day is known.`}
      {basis.kept_apart_in_cad > 0 &&
        ` ${counted(basis.kept_apart_in_cad, 'quote')} with Canadian dollars not counted: the exchange rate of the day or the fuel charge is not known.`}
    </Text>
  )
}
