import { Text } from '@mantine/core'
import { BUCKET_DAYS, BUCKETS_MAX } from '#engine/buckets.ts'
import type { FoundInsight } from './lane-evidence.ts'
import { Figure, Figures } from './lane-section.tsx'

const signals = [
  ['strength', 'Strength', 'integral', 'Recent wins above the win rate of your other lanes.'],
  ['trend', 'Trend', 'derivative', 'The probability that you win more often now than before.'],
  ['consistency', 'Consistency', 'harmonic', 'Whether you win every month, not only sometimes.'],
  ['timing', 'Timing', 'correlation', 'Whether you win more in months with more quotes.'],
] as const

/** A score with two decimals and a typographic minus. @example figure(-1.2034) // '−1.20' */
function figure(value: number): string {
  const text = Math.abs(value).toFixed(2)
  return value < 0 && Number(text) !== 0 ? `−${text}` : text
}

/** The four signals of the lane, each with its score and the question that it answers. */
export function LaneScores({ insight }: { insight: FoundInsight }) {
  return (
    <>
      <Figures>
        {signals.map(([signal, title, score, question]) => (
          <Figure
            key={signal}
            label={title}
            value={`${insight.signals[signal]} (${figure(insight.scores[score])})`}
            basis={question}
          />
        ))}
      </Figures>
      <Text size="sm" c="dimmed">
        Based on the last {BUCKETS_MAX} periods of {BUCKET_DAYS} days. Signals describe the past and are not a
        forecast.
      </Text>
    </>
  )
}
