import { Badge, Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useSession } from '../api/index.ts'
import {
  dollars,
  Failed,
  laneName,
  MarketReferences,
  probability,
  type QuoteAdvice,
  typedInWords,
  WinCurve,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { AnswerLines } from './desk-answer-lines.tsx'
import { type DeskQuote, unpricedLoad } from './desk-draft.ts'
import { ExchangeAsked } from './desk-exchange.tsx'
import type { Pricing, RateValue } from './desk-pricing.ts'
import { warningsOf } from './desk-quotes-advice.ts'
import { MarginAtRisk } from './desk-risk-chart.tsx'
import { DeskRules } from './desk-rules.tsx'
import type { ComparedQuote } from './desk-terms.ts'
import { Why } from './desk-why.tsx'
import { customerInWords, spokenAdvice, trustInWords } from './desk-words.ts'

interface AdviceProps {
  readonly quote: DeskQuote
  readonly number: number
  readonly answer: DeskAnswer
  /** The rates for the quote; null while none can be computed. */
  readonly pricing: Pricing | null
  /** The value of the typed rate; null without one. */
  readonly typed: RateValue | null
  /** The advice on the quote as it is typed now, with its warnings; null until it has arrived. */
  readonly result: QuoteAdvice | null
  /** The quote, converted for the comparison with the brokerage's other quotes. */
  readonly terms: ComparedQuote
  readonly onRate: (rate: number) => void
  /** Uses a rate, and moves the focus to the rate field. */
  readonly onUse: (rate: number) => void
}

/** The card of one quote: the answer, the curve, the quotes behind it and the details; then the reasons. */
export function DeskAdvice(props: AdviceProps) {
  const { quote, answer, pricing, typed, onUse } = props
  const { advice, updating, failure, retry } = answer
  const unpriced = unpricedLoad(quote)
  return (
    <section
      aria-label="Advice"
      aria-busy={updating}
      className="desk-advice"
      data-updating={updating || undefined}
    >
      <Announcement answer={answer} pricing={pricing} typed={typed} />
      <Paper withBorder p="xs">
        <Stack gap={6}>
          <AdviceHeading {...props} />
          <ExchangeAsked quote={quote} />
          {failure !== null && failure.status !== 422 && (
            <Failed error={failure} retry={retry} title="No advice right now" />
          )}
          {unpriced !== null ? (
            <Text size="sm" role="status">
              {unpriced} Quote it at your own rate: pricing rules apply to it.
            </Text>
          ) : (
            <>
              <AnswerLines {...props} />
              {(advice === null || pricing !== null) && <Curve {...props} />}
              <Behind {...props} />
            </>
          )}
          <Details {...props} />
        </Stack>
      </Paper>
      {unpriced === null && (
        <>
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
        </>
      )}
    </section>
  )
}

/** The quotes that the answer is based on, and the terms of its numbers. */
function Behind({ answer, pricing, typed, terms }: AdviceProps) {
  const estimate = answer.advice?.estimate
  if (pricing === null || estimate === undefined) return null
  const { basis } = trustInWords(estimate, (typed ?? pricing.quote).interval80, Date.now())
  return (
    <>
      <Text size="sm">
        {basis} {customerInWords(estimate, answer.isForRate ? answer.rate : null)}
      </Text>
      <Text size="xs" c="dimmed">
        {terms.words}
      </Text>
    </>
  )
}

/** What to check about the typed rate, and the details of the quote that its row has no room for. */
function Details({ quote, result }: Pick<AdviceProps, 'quote' | 'result'>) {
  const { default_basis: assumed } = useSession().tenant
  const words = typedInWords(quote, assumed)
  return (
    <>
      {result !== null &&
        warningsOf(quote, result, assumed).map((warning) => (
          <Text key={warning} size="sm" className="desk-flag">
            ⚠ {warning}
          </Text>
        ))}
      {words.length > 0 && (
        <Text size="sm" component="div" className="desk-figures">
          {words.map((word) => (
            <span key={word}>{word}</span>
          ))}
        </Text>
      )}
    </>
  )
}

function AdviceHeading({ quote, number, answer }: Pick<AdviceProps, 'quote' | 'number' | 'answer'>) {
  const { asking, updating } = answer
  const name = `Quote ${number}: ${laneName(quote.origin.trim(), quote.destination.trim())}, ${quote.equipment.trim() || 'any equipment'}`
  return (
    <Group justify="space-between" gap="xs" mih={22} wrap="nowrap">
      <Title order={2} size="h6" lineClamp={1} {...(asking ? { title: name } : {})}>
        {asking ? name : 'Advice'}
      </Title>
      {updating && (
        <Badge variant="default" size="sm" style={{ flex: 'none' }}>
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
  typed,
  onRate,
}: Pick<AdviceProps, 'answer' | 'pricing' | 'typed' | 'onRate'>) {
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
    <div className="desk-curve">
      <RateChoices pricing={pricing} onRate={onRate} />
      <WinCurve
        points={rate === null ? aroundGoingRate(points, estimate.reference_rate) : points}
        counts={estimate}
        rateDollars={rate}
        stated={typed === null ? null : { ...typed, probability: typed.chance }}
        onRate={onRate}
        miles={estimate.miles}
        {...(pricing.zone === null
          ? {}
          : {
              optimum: { name: 'rate to quote', rate: pricing.quote.rate, flat_zone: pricing.zone },
            })}
        {...(evidence === undefined ? {} : { quotes: evidence.quotes })}
      />
    </div>
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

/** The rates beside the rate to quote, with their chances. */
function RateChoices({ pricing, onRate }: { pricing: Pricing; onRate: (rate: number) => void }) {
  const { safer, quote, going } = pricing
  const choices = [
    { name: 'Safer', value: safer },
    { name: 'Going rate', value: going },
  ]
  return (
    <Group gap="xs" mih={26} role="group" aria-label="Rates to choose from">
      {choices.map(({ name, value }) =>
        value === null || value.rate === quote.rate ? null : (
          <Button key={name} size="compact-xs" mih={24} variant="default" onClick={() => onRate(value.rate)}>
            {name} {dollars(value.rate)} · {probability(value.chance)}
          </Button>
        ),
      )}
    </Group>
  )
}

function Empty({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm" ta="center" p="xl" className="desk-curve">
      {children}
    </Text>
  )
}
