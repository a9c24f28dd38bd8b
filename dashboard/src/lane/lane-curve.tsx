import { SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import {
  basedOn,
  CostsAhead,
  count,
  dollars,
  Margin,
  percent,
  probability,
  range,
  ratePerMile,
  readCurve,
  readDollars,
  roundDollars,
  signedPercent,
  WinCurve,
} from '../shared-ui/index.ts'
import { adviceEvidence, type FoundAdvice, type LanePoint } from './lane-evidence.ts'
import { Figure, Figures, QuotesLink } from './lane-section.tsx'

export type LaneAdvice = Pick<FoundAdvice, 'estimate' | 'curve' | 'optimum'> &
  Partial<Pick<FoundAdvice, 'win_probability' | 'markup_pct' | 'suggested_rate' | 'rate_band' | 'evidence'>>

/** The win curve with a movable rate, and the figures at that rate. */
export function LaneCurve({
  advice,
  points,
  rateDollars,
  onRate,
  isCurrent,
}: {
  advice: LaneAdvice
  points: readonly LanePoint[]
  rateDollars: number
  onRate: (rateDollars: number) => void
  /** False while the advice for the current rate is loading. */
  isCurrent: boolean
}) {
  const { estimate, curve = [], optimum = null } = advice
  const quotes = useMemo(() => distinctQuotes(points), [points])
  const counts = { won: estimate?.won ?? 0, decided: estimate?.decided ?? 0, used: estimate?.used }
  if (curve.length === 0) {
    const cost = estimate?.expected_cost ?? null
    return (
      <Stack gap="xs">
        <Text size="sm">
          {estimate?.sentence ?? 'There is no curve yet, because your brokerage has no quotes.'}
        </Text>
        {cost !== null && <CostsAhead cost={cost} />}
      </Stack>
    )
  }
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl">
      <div style={{ minWidth: 0 }}>
        <WinCurve
          points={curve}
          counts={counts}
          rateDollars={rateDollars}
          onRate={onRate}
          optimum={optimum}
          quotes={quotes}
          miles={estimate?.miles ?? null}
          {...(advice.rate_band === undefined ? {} : { band: advice.rate_band })}
          {...(advice.suggested_rate === undefined ? {} : { suggestedRate: advice.suggested_rate })}
        />
      </div>
      <Stack gap="md" style={{ minWidth: 0 }}>
        <RateField rateDollars={rateDollars} onRate={onRate} />
        <Numbers advice={advice} rateDollars={rateDollars} isCurrent={isCurrent} />
      </Stack>
    </SimpleGrid>
  )
}

/** One quote for each rate and outcome, because others would be drawn at the same position. */
function distinctQuotes(points: readonly LanePoint[]): LanePoint[] {
  return [...new Map(points.map((point) => [`${point.rate} ${point.outcome}`, point])).values()]
}

/** A field for the rate. Text that is not an amount does not change the rate. */
function RateField({ rateDollars, onRate }: { rateDollars: number; onRate: (rateDollars: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null)
  const isWrong = typed !== null && readDollars(typed) === null
  return (
    <TextInput
      label="Rate in dollars"
      inputMode="decimal"
      autoComplete="off"
      maw={220}
      value={typed ?? String(rateDollars)}
      error={isWrong ? 'Enter an amount such as 2150' : undefined}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        const rate = readDollars(event.currentTarget.value)
        if (rate !== null) onRate(rate)
      }}
      onBlur={() => setTyped(null)}
    />
  )
}

const basisWords: Readonly<Record<string, string>> = {
  average_win: 'the average of the winning rates',
  capped_below_lowest_loss: 'the average of the winning rates, capped at 2% below the lowest losing rate',
  below_lowest_loss: '2% below the lowest losing rate; no quotes were won',
}

function Numbers({
  advice,
  rateDollars,
  isCurrent,
}: {
  advice: LaneAdvice
  rateDollars: number
  isCurrent: boolean
}) {
  const { estimate, curve = [], rate_band: band } = advice
  const reading = readCurve(curve, rateDollars)
  const miles = estimate?.miles ?? null
  const cost = estimate?.expected_cost ?? null
  const margin = cost === null ? null : rateDollars - cost.amount
  const counts = { won: estimate?.won ?? 0, decided: estimate?.decided ?? 0, used: estimate?.used }
  return (
    <div aria-busy={!isCurrent}>
      <Figures>
        <Figure
          label={`Estimated chance at ${dollars(rateDollars)}`}
          value={reading === null ? '–' : probability(reading.probability)}
          basis={
            <>
              {reading !== null && `80% range ${range(reading.interval80)}; `}
              {counts.decided === 0 ? (
                basedOn(counts)
              ) : (
                <QuotesLink chosen={{}}>{basedOn(counts)}</QuotesLink>
              )}
            </>
          }
        />
        <ShareAtOrBelow advice={advice} isCurrent={isCurrent} rateDollars={rateDollars} />
        <Figure
          label="RPM"
          value={miles === null ? '–' : ratePerMile(rateDollars / miles)}
          basis={miles === null ? 'miles unknown' : `over ${count(miles)} mi`}
        />
        <Figure
          label="vs reference"
          value={isCurrent ? signedPercent(advice.markup_pct) : '…'}
          basis="vs the median of your quotes"
        />
        <Figure
          label="Margin at this rate"
          value={<Margin amount={margin} isRounded />}
          basis={
            margin === null || cost === null
              ? 'truck cost unknown'
              : `${percent((margin / rateDollars) * 100)} over an expected cost of ${roundDollars(cost.amount)} (${roundDollars(cost.low)} to ${roundDollars(cost.high)})`
          }
        />
        <SuggestedAndBest advice={advice} />
        <Figure
          label="Rate band"
          value={
            band === undefined || band.floor === null ? (
              '–'
            ) : (
              <>
                <QuotesLink chosen={rateAt(band.floor)}>{dollars(band.floor)}</QuotesLink> to{' '}
                <QuotesLink chosen={rateAt(band.ceiling)}>{dollars(band.ceiling)}</QuotesLink>
              </>
            )
          }
          basis={
            band === undefined || band.median === null
              ? 'no quotes on this lane'
              : `median ${dollars(band.median)}`
          }
        />
      </Figures>
      {cost !== null && <CostsAhead cost={cost} />}
    </div>
  )
}

function rateAt(rate: number | null) {
  return rate === null ? {} : { rate_from: String(rate), rate_to: String(rate) }
}

/** The share of quotes at this rate or lower that were won. It updates after a moment, because the service counts it. */
function ShareAtOrBelow({
  advice,
  rateDollars,
  isCurrent,
}: {
  advice: LaneAdvice
  rateDollars: number
  isCurrent: boolean
}) {
  const evidence = advice.evidence === undefined ? null : adviceEvidence(advice as FoundAdvice)
  const label = 'Won at this rate or lower'
  if (evidence === null || advice.win_probability === undefined || advice.win_probability === null) {
    return <Figure label={label} value="–" basis="no decided quotes on this lane" />
  }
  return (
    <Figure
      label={label}
      value={isCurrent ? probability(advice.win_probability) : '…'}
      basis={
        <QuotesLink chosen={{ rate_to: String(rateDollars) }}>
          {isCurrent
            ? `${count(evidence.wins_at_or_below)} of ${count(evidence.decided_at_or_below)} decided quotes, smoothed`
            : 'loading'}
        </QuotesLink>
      }
    />
  )
}

function SuggestedAndBest({ advice }: { advice: LaneAdvice }) {
  const { optimum = null, suggested_rate } = advice
  const suggestion = advice.evidence === undefined ? null : adviceEvidence(advice as FoundAdvice)?.suggestion
  return (
    <>
      <Figure
        label="Suggested rate"
        value={dollars(suggested_rate)}
        basis={
          suggested_rate === null || suggested_rate === undefined ? (
            'needs a decided quote'
          ) : (
            <QuotesLink chosen={{ outcome: 'won' }}>
              {basisWords[suggestion?.basis ?? ''] ?? 'from your won and lost quotes'}
            </QuotesLink>
          )
        }
      />
      <Figure
        label="Best expected margin"
        value={optimum === null ? '–' : roundDollars(optimum.rate)}
        basis={
          optimum === null
            ? advice.estimate?.flags.includes('no_rate_earns') === true
              ? 'no likely rate covers the cost'
              : 'needs a known truck cost'
            : `${roundDollars(optimum.expected_margin)} per quote; nearly as good from ${roundDollars(optimum.flat_zone.low)} to ${roundDollars(optimum.flat_zone.high)}${
                optimum.floor !== null && optimum.floored_rate > optimum.rate
                  ? `; ${roundDollars(optimum.floored_rate)} with your floor`
                  : ''
              }`
        }
      />
    </>
  )
}
