import { Text } from '@mantine/core'
import type { Answer, useAnswer } from '../api/index.ts'
import {
  count,
  counted,
  dollars,
  Failed,
  Loading,
  Nothing,
  probability,
  signedPercent,
} from '../shared-ui/index.ts'
import { adviceEvidence, type FoundAdvice, type FoundInsight } from './lane-evidence.ts'
import { LaneScopes } from './lane-scopes.tsx'
import { LaneScores } from './lane-scores.tsx'
import { Figure, Figures, QuotesLink } from './lane-section.tsx'

/** What another system gets for this lane and rate: sentences, suggested rate, range of rates, scores, and the history behind them. */
export function LaneApi({
  insight,
  advice,
  rateDollars,
}: {
  insight: ReturnType<typeof useAnswer<'lane-advice'>>
  advice: Answer<'quote-advice'> | undefined
  rateDollars: number | null
}) {
  const { data, error } = insight
  return (
    <>
      {advice?.found === true && rateDollars !== null && <Rates advice={advice} rateDollars={rateDollars} />}
      {error !== null ? (
        <Failed error={error} retry={() => void insight.refetch()} />
      ) : data === undefined ? (
        <Loading rows={4} height={34} label="Loading the scores" />
      ) : data.found ? (
        <Insight insight={data} />
      ) : (
        <Nothing title="Too few quotes for scores">
          The widest selection, all lanes of your brokerage, needs five decided quotes.
        </Nothing>
      )}
    </>
  )
}

function Insight({ insight }: { insight: FoundInsight }) {
  const { avg_rate_usd: average, total_quotes: quotes } = insight.history
  return (
    <>
      <Text size="sm">{insight.summary}</Text>
      <Text size="sm">
        Average rate {average === 0 ? '–' : dollars(Math.round(average))} of {counted(quotes, 'quote')}.
      </Text>
      <LaneScores insight={insight} />
      <LaneScopes insight={insight} />
    </>
  )
}

const basisWords: Readonly<Record<string, string>> = {
  average_win: 'the average of the winning rates',
  capped_below_lowest_loss: 'the average of the winning rates, capped at 2% below the lowest losing rate',
  below_lowest_loss: '2% below the lowest losing rate; no quotes were won',
}

const rateAt = (rate: number | null) =>
  rate === null ? {} : { rate_from: String(rate), rate_to: String(rate) }

/** The answer about the rate: it is counted from the won and lost quotes, and is another one than the estimate above. */
function Rates({ advice, rateDollars }: { advice: FoundAdvice; rateDollars: number }) {
  const { rate_band: band, suggested_rate: suggested, win_probability: won } = advice
  const evidence = adviceEvidence(advice)
  return (
    <>
      <Text size="sm">{advice.verdict}</Text>
      <Figures>
        <Figure
          label="Won at this rate or lower"
          value={won === null ? '–' : probability(won)}
          basis={
            evidence === null || won === null ? (
              'no decided quotes on this lane'
            ) : (
              <QuotesLink chosen={{ rate_to: String(rateDollars) }}>
                {`${count(evidence.wins_at_or_below)} of ${count(evidence.decided_at_or_below)} decided quotes, smoothed`}
              </QuotesLink>
            )
          }
        />
        <Figure
          label="Suggested rate"
          value={dollars(suggested)}
          basis={
            suggested === null ? (
              'needs a decided quote'
            ) : (
              <QuotesLink chosen={{ outcome: 'won' }}>
                {basisWords[evidence?.suggestion?.basis ?? ''] ?? 'from your won and lost quotes'}
              </QuotesLink>
            )
          }
        />
        <Figure
          label="Range of your rates"
          value={
            band.floor === null ? (
              '–'
            ) : (
              <>
                <QuotesLink chosen={rateAt(band.floor)}>{dollars(band.floor)}</QuotesLink> to{' '}
                <QuotesLink chosen={rateAt(band.ceiling)}>{dollars(band.ceiling)}</QuotesLink>
              </>
            )
          }
          basis={band.median === null ? 'no quotes on this lane' : `median ${dollars(band.median)}`}
        />
        <Figure
          label="Against your median"
          value={signedPercent(advice.markup_pct)}
          basis="the median of your quotes"
        />
      </Figures>
    </>
  )
}
