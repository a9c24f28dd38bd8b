import { Stack, Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { BasisNote, basedOn, dollars, percent, probability, range, roundDollars } from '../shared-ui/index.ts'

/** Short advice on one rate: the chance of winning with its counts, and your usual rate. */
export function RateAdvice({ advice }: { advice: Answer<'quote-advice'> }) {
  if (!advice.found) {
    return <Text size="sm">There are no quotes on this lane yet to compare the rate with.</Text>
  }
  const { estimate } = advice
  const usual = estimate?.reference_rate ?? null
  return (
    <Stack gap={4}>
      {estimate !== undefined && estimate.probability !== null && (
        <Text>
          <b>{probability(estimate.probability)} chance to win</b>{' '}
          <Text span size="sm" c="dimmed">
            {estimate.interval_80 !== null && `(80% range ${range(estimate.interval_80)}) · `}
            {basedOn(estimate)}
          </Text>
        </Text>
      )}
      {usual !== null && (
        <Text size="sm" c="dimmed">
          {comparedInWords(advice.query.proposed_rate, usual)}
        </Text>
      )}
      <BasisNote basis={advice.basis} />
    </Stack>
  )
}

/** @example comparedInWords(2100, 2000) // '$2,100 is 5.0% above your usual rate of $2,000.' */
function comparedInWords(rate: number, usual: number): string {
  const difference = (rate / usual - 1) * 100
  const side =
    Math.abs(difference) < 0.05
      ? ''
      : `${percent(Math.abs(difference))} ${difference > 0 ? 'above' : 'below'} `
  return `${dollars(rate)} is ${side}your usual rate of ${roundDollars(usual)}.`
}
