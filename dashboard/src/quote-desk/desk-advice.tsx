import { Anchor, Badge, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import {
  basedOn,
  equipmentName,
  Failed,
  laneName,
  probability,
  readDollars,
  WinCurve,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import type { DeskLane } from './desk-draft.ts'
import { Figures } from './desk-figures.tsx'
import { floorOf } from './desk-floor.ts'
import { changesInWords, flagsInWords, raisesInWords, scopeInWords, spokenAdvice } from './desk-words.ts'
import { UnknownPlaces } from './unknown-places.tsx'

interface AdviceProps {
  readonly lane: DeskLane
  readonly number: number
  readonly answer: DeskAnswer
  readonly onRate: (rate: number) => void
}

const curveSpace = 372
const historySpace = 112

/** The advice for one lane. The frames keep their size while data loads. */
export function DeskAdvice({ lane, number, answer, onRate }: AdviceProps) {
  const { advice, rate, updating, failure, retry } = answer
  const { tenant } = useSession()
  const typedCost = readDollars(lane.cost)
  const floor = floorOf(tenant.floors, {
    advised: advice?.optimum?.floor ?? null,
    typedCost,
    miles: advice?.estimate?.miles ?? null,
  })
  return (
    <section
      aria-label="Advice"
      aria-busy={updating}
      className="desk-advice"
      data-updating={updating || undefined}
    >
      <Announcement answer={answer} floor={floor} />
      <Stack gap="sm">
        <AdviceHeading lane={lane} number={number} answer={answer} />
        {failure !== null && failure.status !== 422 && (
          <Failed error={failure} retry={retry} title="No advice right now" />
        )}
        <Figures advice={advice} rate={rate} typedCost={typedCost} floor={floor} onUse={onRate} />
        <div className="desk-below">
          <Stack gap="sm">
            <Paper withBorder p="sm" mih={curveSpace}>
              <Curve lane={lane} answer={answer} onRate={onRate} />
            </Paper>
            <Paper withBorder p="sm" mih={historySpace}>
              <History lane={lane} answer={answer} />
            </Paper>
          </Stack>
          <Paper withBorder p="sm">
            <Reasons answer={answer} />
          </Paper>
        </div>
      </Stack>
    </section>
  )
}

function AdviceHeading({ lane, number, answer }: Omit<AdviceProps, 'onRate'>) {
  const { asking, updating } = answer
  return (
    <Group justify="space-between" gap="xs" mih={{ base: 48, sm: 26 }} wrap="nowrap">
      <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
        {asking
          ? `Advice for lane ${number}: ${laneName(lane.origin.trim(), lane.destination.trim())}, ${equipmentName(lane.equipment.trim()) || 'any equipment'}`
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
  answer: { advice, rate, updating, failure },
  floor,
}: {
  answer: DeskAnswer
  floor: number | null
}) {
  const [announced, setAnnounced] = useState('')
  const sentence = updating || advice === null ? null : spokenAdvice(advice, rate, floor)
  useEffect(() => {
    if (sentence !== null) setAnnounced(sentence)
    else if (failure !== null && failure.status !== 422) setAnnounced('')
  }, [sentence, failure])
  return <VisuallyHidden aria-live="polite">{announced}</VisuallyHidden>
}

function Curve({ lane, answer: { advice, asking, failure }, onRate }: Omit<AdviceProps, 'number'>) {
  const estimate = advice?.estimate
  const points = advice?.curve ?? []
  if (advice === null || estimate === undefined || points.length === 0) {
    return (
      <Empty>
        {!asking
          ? 'Enter an origin and a destination as City, ST. This chart then shows the chance of winning at every rate.'
          : advice === null
            ? failure === null
              ? 'Loading the history of the lane…'
              : 'The curve appears when the advice has loaded.'
            : 'There is no curve yet, because your brokerage has no decided quotes. Mark quotes won or lost, or import past quotes.'}
      </Empty>
    )
  }
  const evidence = advice.found ? advice.evidence : undefined
  return (
    <WinCurve
      points={points}
      counts={{ won: estimate.won, decided: estimate.decided }}
      rateDollars={readDollars(lane.rate)}
      onRate={onRate}
      miles={estimate.miles}
      {...(advice.found ? { band: advice.rate_band, suggestedRate: advice.suggested_rate } : {})}
      {...(advice.optimum ? { optimum: advice.optimum } : {})}
      {...(evidence === undefined
        ? {}
        : {
            quotes: evidence.quotes,
            ...(evidence.quotes_pages > 1 ? { quotesNote: `newest ${evidence.quotes.length} quotes` } : {}),
          })}
    />
  )
}

function Empty({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" size="sm" ta="center" p="xl" mt="xl">
      {children}
    </Text>
  )
}

function Reasons({ answer: { advice, rate, asking } }: Pick<AdviceProps, 'answer'>) {
  if (!asking) return <Empty>The basis of the advice, and what would change it, appear here.</Empty>
  if (advice === null) return null
  const estimate = advice.estimate
  const flags = flagsInWords(estimate?.flags ?? [])
  const raises = rate === null || estimate === undefined ? [] : raisesInWords(estimate)
  const changes = rate === null || estimate === undefined ? [] : changesInWords(estimate)
  const { equipment } = advice.query
  return (
    <Stack gap="xs" className="desk-number">
      <Text size="sm">
        {advice.found
          ? rate === null
            ? 'You have quoted this lane before.'
            : advice.verdict
          : `You have no quotes on this lane${equipment === null ? '' : ` with ${equipmentName(equipment)}`} yet${
              estimate?.probability == null ? '.' : ', so the estimate is based on your other lanes.'
            }`}
      </Text>
      <UnknownPlaces answer={advice} />
      <Listed title="Notes" items={flags} />
      {estimate?.probability != null && (
        <Listed
          title="What would change the estimate"
          note={`Now ${probability(estimate.probability)}, ${basedOn(estimate)}.`}
          items={changes}
        />
      )}
      <Listed title="What would raise confidence" items={raises} />
    </Stack>
  )
}

function History({ lane, answer: { advice, insight } }: Omit<AdviceProps, 'number' | 'onRate'>) {
  if (advice === null) return <Heading>Lane history</Heading>
  const { origin, destination } = advice.query
  const equipment = lane.equipment.trim()
  return (
    <div className="desk-number">
      <Heading>Lane history</Heading>
      <Text size="sm">
        {insight?.found === true
          ? `Based on ${scopeInWords(insight.scope)}. ${insight.summary}`
          : 'There is no history yet.'}{' '}
        <Anchor
          component={Link}
          size="sm"
          underline="always"
          to={pagePaths.lane}
          search={{ origin, destination, ...(equipment === '' ? {} : { equipment }) } as never}
        >
          Open lane
        </Anchor>
      </Text>
    </div>
  )
}

function Heading({ children }: { children: ReactNode }) {
  return (
    <Title order={3} size="h6">
      {children}
    </Title>
  )
}

function Listed({ title, note, items }: { title: string; note?: string; items: readonly string[] }) {
  if (items.length === 0) return null
  return (
    <div>
      <Heading>{title}</Heading>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
      <ul className="desk-list">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  )
}
