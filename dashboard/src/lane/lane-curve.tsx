import { Stack, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import {
  basedOn,
  CostsAhead,
  count,
  Margin,
  percent,
  probability,
  range,
  ratePerMile,
  readCurve,
  readDollars,
  roundDollars,
  WinCurve,
} from '../shared-ui/index.ts'
import type { FoundAdvice, LanePoint } from './lane-evidence.ts'
import { Figure, Figures, QuotesLink } from './lane-section.tsx'

export type LaneAdvice = Pick<FoundAdvice, 'estimate' | 'curve' | 'optimum'>

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
    <Stack gap="md">
      <WinCurve
        points={curve}
        counts={counts}
        rateDollars={rateDollars}
        onRate={onRate}
        optimum={optimum === null ? null : { ...optimum, name: 'best rate' }}
        quotes={quotes}
        miles={estimate?.miles ?? null}
      />
      <RateField rateDollars={rateDollars} onRate={onRate} />
      <Numbers advice={advice} rateDollars={rateDollars} isCurrent={isCurrent} />
    </Stack>
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

function Numbers({
  advice,
  rateDollars,
  isCurrent,
}: {
  advice: LaneAdvice
  rateDollars: number
  isCurrent: boolean
}) {
  const { estimate, curve = [] } = advice
  const reading = readCurve(curve, rateDollars)
  const miles = estimate?.miles ?? null
  const cost = estimate?.expected_cost ?? null
  const margin = cost === null ? null : rateDollars - cost.amount
  const counts = { won: estimate?.won ?? 0, decided: estimate?.decided ?? 0, used: estimate?.used }
  return (
    <div aria-busy={!isCurrent}>
      <Figures>
        <Figure
          label="Estimated chance"
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
        <Figure
          label="Per mile"
          value={miles === null ? '–' : ratePerMile(rateDollars / miles)}
          basis={miles === null ? 'miles unknown' : `over ${count(miles)} mi`}
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
      </Figures>
      {cost !== null && <CostsAhead cost={cost} />}
    </div>
  )
}
