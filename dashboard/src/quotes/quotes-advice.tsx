import { Stack, Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { BasisNote, basedOn, dollars, probability, range, signedPercent } from '../shared-ui/index.ts'

/** Short advice on one rate: the chance of winning with its counts, the suggested rate and the rate band. */
export function RateAdvice({ advice }: { advice: Answer<'quote-advice'> }) {
  if (!advice.found) {
    return <Text size="sm">There are no quotes on this lane yet to compare the rate with.</Text>
  }
  const { estimate, rate_band: band } = advice
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
      {advice.suggested_rate !== null && (
        <Text size="sm">
          Suggested {dollars(advice.suggested_rate)} · band {dollars(band.floor)} to {dollars(band.ceiling)},
          median {dollars(band.median)} · {signedPercent(advice.markup_pct)} vs reference
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {advice.verdict}
      </Text>
      <BasisNote basis={advice.basis} />
    </Stack>
  )
}
