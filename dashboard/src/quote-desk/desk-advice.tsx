import { Badge, Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { equipmentName, Failed, laneName, WinCurve } from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { AnswerLines } from './desk-answer-lines.tsx'
import { AwardedRates } from './desk-awarded.tsx'
import { type DeskLane, isDirectLane } from './desk-draft.ts'
import type { Pricing, RateValue } from './desk-pricing.ts'
import { RouteAdvice } from './desk-route.tsx'
import type { ComparedLane } from './desk-terms.ts'
import { Notes, Why } from './desk-why.tsx'
import { confidenceInWords, spokenAdvice, spokenNow } from './desk-words.ts'

interface AdviceProps {
  readonly lane: DeskLane
  readonly number: number
  readonly customer: string
  readonly answer: DeskAnswer
  /** The rates of the lane; null while there is nothing to say. */
  readonly pricing: Pricing | null
  /** The value of the typed rate; null without one. */
  readonly typed: RateValue | null
  /** How the lane is compared with the other quotes of the brokerage. */
  readonly terms: ComparedLane
  readonly onRate: (rate: number) => void
  /** Takes a rate over and continues in the rate field. */
  readonly onUse: (rate: number) => void
}

/** The card of one lane: the answer, the confidence in it, the curve, and the reasons on request. */
export function DeskAdvice(props: AdviceProps) {
  const { answer, pricing, typed, terms, onRate, onUse } = props
  const { advice, updating, failure, retry } = answer
  if (!isDirectLane(props.lane)) return <RouteAdvice {...props} />
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
          {failure !== null && failure.status !== 422 && (
            <Failed error={failure} retry={retry} title="No advice right now" />
          )}
          <AnswerLines answer={answer} pricing={pricing} typed={typed} terms={terms} onUse={onUse} />
          {advice !== null && <Reasons {...props} />}
          {(advice === null || pricing !== null) && (
            <div className="desk-curve">
              <Curve answer={answer} pricing={pricing} onRate={onRate} />
            </div>
          )}
          <AwardedRates lane={props.lane} customer={props.customer} onUse={onUse} />
          <Notes answer={answer} />
        </Stack>
      </Paper>
    </section>
  )
}

/** The confidence in one word, and the reasons, which open below it. */
function Reasons({ lane, answer, pricing, typed, onUse }: AdviceProps) {
  const [isOpen, setOpen] = useState(false)
  const estimate = answer.advice?.estimate
  const confidence =
    pricing === null || estimate === undefined
      ? null
      : confidenceInWords(estimate, (typed ?? pricing.quote).interval80, Date.now())
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" truncate data-confidence={confidence?.word}>
          {confidence !== null && (
            <>
              Confidence: <b>{confidence.word}</b>, {confidence.quotes}
            </>
          )}
        </Text>
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ flex: 'none' }}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Why?
        </Button>
      </Group>
      {isOpen && (
        <Why
          lane={lane}
          answer={answer}
          pricing={pricing}
          typed={typed}
          basis={confidence?.basis ?? null}
          onUse={onUse}
        />
      )}
    </>
  )
}

function AdviceHeading({ lane, number, answer }: Pick<AdviceProps, 'lane' | 'number' | 'answer'>) {
  const { asking, updating } = answer
  const name = `Lane ${number}: ${laneName(lane.origin.trim(), lane.destination.trim())}, ${equipmentName(lane.equipment.trim()) || 'any equipment'}`
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
  answer: { advice, updating },
  pricing,
  typed,
}: {
  answer: DeskAnswer
  pricing: Pricing | null
  typed: RateValue | null
}) {
  const [announced, setAnnounced] = useState('')
  const sentence = spokenNow({ advice, updating }, () => spokenAdvice(pricing, typed))
  useEffect(() => {
    if (sentence !== null) setAnnounced(sentence)
  }, [sentence])
  return <VisuallyHidden aria-live="polite">{announced}</VisuallyHidden>
}

/** Points on either side of the usual rate that are drawn while no rate is typed. */
const pointsAside = 15

function Curve({
  answer: { advice, rate, asking, failure },
  pricing,
  onRate,
}: Pick<AdviceProps, 'answer' | 'pricing' | 'onRate'>) {
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
    <WinCurve
      isCompact
      points={rate === null ? aroundUsualRate(points, estimate.reference_rate) : points}
      counts={estimate}
      rateDollars={rate}
      onRate={onRate}
      miles={estimate.miles}
      {...(pricing.zone === null
        ? {}
        : {
            optimum: {
              rate: pricing.quote.rate,
              flat_zone: pricing.zone,
              isOfExperiment: pricing.basis === 'experiment',
            },
          })}
      {...(evidence === undefined
        ? {}
        : {
            quotes: evidence.quotes,
            ...(evidence.quotes_pages > 1 ? { quotesNote: `newest ${evidence.quotes.length} quotes` } : {}),
          })}
    />
  )
}

type Points = NonNullable<NonNullable<DeskAnswer['advice']>['curve']>

/** The service draws the curve as far as the asked rate, which nobody typed here. */
function aroundUsualRate(points: Points, reference: number | null): Points {
  if (reference === null) return points
  const nearest = points.reduce(
    (best, { rate }, at) =>
      Math.abs(rate - reference) < Math.abs((points[best]?.rate ?? 0) - reference) ? at : best,
    0,
  )
  return points.slice(Math.max(0, nearest - pointsAside), nearest + pointsAside + 1)
}

function Empty({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm" ta="center" p="md">
      {children}
    </Text>
  )
}
