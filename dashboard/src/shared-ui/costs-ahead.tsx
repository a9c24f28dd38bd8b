import { Text } from '@mantine/core'
import { roundDollars } from './formats.ts'

interface CostsExpected {
  readonly ahead: readonly {
    readonly days: number
    readonly amount: number
    readonly low: number
    readonly high: number
  }[]
  readonly season: { readonly sentence: string }
}

/** The truck costs expected 7, 14 and 28 days ahead, in one row, with the sentence about the season. */
export function CostsAhead({ cost }: { cost: CostsExpected }) {
  if (cost.ahead.length === 0) return null
  return (
    <Text size="xs" c="dimmed" mt="xs">
      Expected cost ahead:{' '}
      {cost.ahead.map(({ days, amount, low, high }, at) => (
        <span key={days}>
          {at === 0 ? '' : '; '}
          {days} days <b>{roundDollars(amount)}</b>{' '}
          <span style={{ whiteSpace: 'nowrap' }}>
            ({roundDollars(low)} to {roundDollars(high)})
          </span>
        </span>
      ))}
      . {cost.season.sentence}
    </Text>
  )
}
