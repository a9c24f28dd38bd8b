import { Badge, Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import {
  dollars,
  equipmentName,
  Failed,
  laneName,
  MarketReferences,
  probability,
  WinCurve,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { AnswerLines } from './desk-answer-lines.tsx'
import { type DeskQuote, unpricedLoad } from './desk-draft.ts'
import { type Pricing, type RateValue, typedValue } from './desk-pricing.ts'
import { MarginAtRisk } from './desk-risk-chart.tsx'
import { DeskRules } from './desk-rules.tsx'
import type { ComparedQuote } from './desk-terms.ts'
import { Why } from './desk-why.tsx'
import { spokenAdvice } from './desk-words.ts'

interface AdviceProps {
  readonly quote: DeskQuote
  readonly number: number
  readonly answer: DeskAnswer
  /** The rates for the quote; null while none can be computed. */
  readonly pricing: Pricing | null
  /** The quote, converted for the comparison with the brokerage's other quotes. */
  readonly terms: ComparedQuote
  readonly onRate: (rate: number) => void
  /** Uses a rate, and moves the focus to the rate field. */
  readonly onUse: (rate: number) => void
}

const curveSpace = 372

/** The advice for one quote: the answer first, then the curve, and the reasons on request. */
export function DeskAdvice({ quote, number, answer, pricing, terms, onRate, onUse }: AdviceProps) {
  const { advice, rate, updating, failure, retry } = answer
  const unpriced = unpricedLoad(quote)
  if (unpriced !== null) return <NotPriced because={unpriced} />
  const typed = advice === null || pricing === null ? null : typedValue(advice, pricing, rate)
  return (
    <section
      aria-label="Advice"
      aria-busy={updating}
      className="desk-advice"
      data-updating={updating || undefined}
    >
      <Announcement answer={answer} pricing={pricing} typed={typed} />
      <Stack gap="sm">
        <AdviceHeading quote={quote} number={number} answer={answer} />
        {failure !== null && failure.status !== 422 && (
          <Failed error={failure} retry={retry} title="No advice right now" />
        )}
        <AnswerLines answer={answer} pricing={pricing} typed={typed} terms={terms} onUse={onUse} />
        {(advice === null || pricing !== null) && (
          <Paper withBorder p="sm" mih={curveSpace}>
            <Curve quote={quote} answer={answer} pricing={pricing} onRate={onRate} />
          </Paper>
        )}
        <DeskRules rules={pricing?.rules ?? []} />
        <MarginAtRisk answer={answer} pricing={pricing} />
        {advice?.market !== undefined && (
          <Paper withBorder p="sm" component="section" aria-label="Your rates and the market">
            <MarketReferences
              references={advice.market}
              lane={{ origin: quote.origin, destination: quote.destination, equipment: quote.equipment }}
            />
          </Paper>
        )}
        <Why quote={quote} answer={answer} pricing={pricing} onUse={onUse} />
      </Stack>
    </section>
  )
}

/** Says why there is no advice on a load, which can be quoted all the same. */
function NotPriced({ because }: { because: string }) {
  return (
    <section aria-label="Advice" className="desk-advice">
      <Stack gap="sm">
        <Title order={2} size="h5">
          Advice
        </Title>
        <Text size="sm" role="status">
          {because} Quote it at your own rate: pricing rules apply to it.
        </Text>
      </Stack>
    </section>
  )
}

function AdviceHeading({ quote, number, answer }: Pick<AdviceProps, 'quote' | 'number' | 'answer'>) {
  const { asking, updating } = answer
  return (
    <Group justify="space-between" gap="xs" mih={{ base: 48, sm: 26 }} wrap="nowrap">
      <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
        {asking
          ? `Advice for quote ${number}: ${laneName(quote.origin.trim(), quote.destination.trim())}, ${equipmentName(quote.equipment.trim()) || 'any equipment'}`
          : 'Advice'}
      </Title>
      {updating && (
        <Badge variant="default" style={{ flex: 'none' }}>
          updating
        </Badge>
      )}
    </Group>
  )
}

/** Announces new advice to screen readers when it is complete, not after every key. */
function Announcement({
  answer: { advice, updating, failure, asking },
  pricing,
  typed,
}: {
  answer: DeskAnswer
  pricing: Pricing | null
  typed: RateValue | null
}) {
  const [announced, setAnnounced] = useState('')
  const sentence = updating || advice === null ? null : spokenAdvice(pricing, typed)
  useEffect(() => {
    if (sentence !== null) setAnnounced(sentence)
    else if (!asking || (failure !== null && failure.status !== 422)) setAnnounced('')
  }, [sentence, failure, asking])
  return <VisuallyHidden aria-live="polite">{announced}</VisuallyHidden>
}

/** The curve points on either side of the going rate that are drawn while no rate is typed. */
const pointsAside = 15

function Curve({
  answer: { advice, rate, asking, failure },
  pricing,
  onRate,
}: Pick<AdviceProps, 'quote' | 'answer' | 'pricing' | 'onRate'>) {
  const estimate = advice?.estimate
  const points = advice?.curve ?? []
  if (advice === null || pricing === null || estimate === undefined || points.length === 0) {
    return (
      <Empty>
        {!asking
          ? 'This chart shows the chance of winning at every rate.'
          : failure === null
            ? 'Loading the history of the lane…'
            : 'The curve appears when the advice has loaded.'}
      </Empty>
    )
  }
  const evidence = advice.found ? advice.evidence : undefined
  return (
    <>
      <RateChoices pricing={pricing} onRate={onRate} />
      <WinCurve
        points={rate === null ? aroundGoingRate(points, estimate.reference_rate) : points}
        counts={estimate}
        rateDollars={rate}
        onRate={onRate}
        miles={estimate.miles}
        {...(advice.found ? { band: advice.rate_band, suggestedRate: advice.suggested_rate } : {})}
        {...(pricing.zone === null
          ? {}
          : {
              optimum: { rate: pricing.quote.rate, flat_zone: pricing.zone },
            })}
        {...(evidence === undefined
          ? {}
          : {
              quotes: evidence.quotes,
              ...(evidence.quotes_pages > 1 ? { quotesNote: `newest ${evidence.quotes.length} quotes` } : {}),
            })}
      />
    </>
  )
}

type Points = NonNullable<NonNullable<DeskAnswer['advice']>['curve']>

/** The points around the going rate. The service draws the curve up to the request's rate, which nobody typed here. */
function aroundGoingRate(points: Points, reference: number | null): Points {
  if (reference === null) return points
  const nearest = points.reduce(
    (best, { rate }, at) =>
      Math.abs(rate - reference) < Math.abs((points[best]?.rate ?? 0) - reference) ? at : best,
    0,
  )
  return points.slice(Math.max(0, nearest - pointsAside), nearest + pointsAside + 1)
}

const choiceNames: Readonly<Record<Pricing['basis'], string>> = {
  best: 'Best',
  going: 'Going rate',
  target: 'Target',
  minimum: 'Floor',
  maximum: 'Maximum',
}

/** The three rates to choose from, with their chances. */
function RateChoices({ pricing, onRate }: { pricing: Pricing; onRate: (rate: number) => void }) {
  const { safer, quote, basis, going } = pricing
  const choices = [
    { name: 'Safer', value: safer },
    { name: choiceNames[basis], value: basis === 'going' ? null : quote },
    { name: 'Going rate', value: going },
  ]
  return (
    <Group gap="xs" mb="xs" role="group" aria-label="Rates to choose from">
      {choices.map(({ name, value }) =>
        value === null ? null : (
          <Button key={name} size="compact-sm" variant="default" onClick={() => onRate(value.rate)}>
            {name} {dollars(value.rate)} · {probability(value.chance)}
          </Button>
        ),
      )}
    </Group>
  )
}

function Empty({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm" ta="center" p="xl" mt="xl">
      {children}
    </Text>
  )
}
