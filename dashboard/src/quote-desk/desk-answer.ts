import { useDebouncedValue } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import { typingPauseMs } from '#client/debounce.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { readDollars } from '../shared-ui/index.ts'
import { type DeskLane, hasState } from './desk-draft.ts'

/** A lane that nobody has a rate for: any rate shows the curve, and no probability is shown at it. */
const rateToBeginWith = 2_000
/** Quotes of the lane drawn at the curve. */
const quotesDrawn = 100

interface LaneAsked {
  readonly origin: string
  readonly destination: string
  readonly equipment?: string
}

interface Asked {
  readonly lane: LaneAsked
  readonly rate: number | null
  readonly market: number | null
}

/** What can be asked about a row as it is typed so far; null while an end of the lane is missing. */
function askedOf({ origin, destination, equipment, rate, market }: DeskLane): Asked | null {
  if (!hasState(origin) || !hasState(destination)) return null
  const code = equipment.trim()
  return {
    lane: {
      origin: origin.trim(),
      destination: destination.trim(),
      ...(code === '' ? {} : { equipment: code }),
    },
    rate: readDollars(rate),
    market: readDollars(market),
  }
}

export interface DeskAnswer {
  /** The advice on screen: of this lane, at `rate`. Null while there is none. */
  readonly advice: Answer<'quote-advice'> | null
  /** The rate that the advice is about; null when none is typed: then no probability is said. */
  readonly rate: number | null
  readonly insight: Answer<'lane-advice'> | null
  /** A newer answer is on its way; what stands is of an earlier rate. */
  readonly updating: boolean
  readonly failure: CallFailed | null
  readonly retry: () => void
  /** Both ends of the lane are there, so there is something to ask. */
  readonly asking: boolean
  /** The ends of the lane that no map knows. */
  readonly unknown: { readonly origin: boolean; readonly destination: boolean }
}

const nowhere: LaneAsked = { origin: '', destination: '' }

/**
 * The advice for a row, asked when the typing pauses. An answer belongs to the question it was asked with: an older one
 * cannot take a newer one's place, and its request is given up once nobody waits for it.
 */
export function useDeskAnswer(row: DeskLane): DeskAnswer {
  const current = askedOf(row)
  const typed = JSON.stringify(current)
  const [settled] = useDebouncedValue(typed, typingPauseMs)
  const asked = JSON.parse(settled) as Asked | null
  const isCurrentLane = current !== null && JSON.stringify(asked?.lane) === JSON.stringify(current.lane)

  const insight = useAnswer(
    'lane-advice',
    { query: asked?.lane ?? nowhere },
    { enabled: asked !== null, keeps: true },
  )
  const proposed = asked?.rate ?? rateFrom(insight)
  const advice = useAnswer(
    'quote-advice',
    {
      query: {
        ...(asked?.lane ?? nowhere),
        proposed_rate: proposed ?? rateToBeginWith,
        ...(asked?.market == null ? {} : { market_rate: asked.market }),
        include: 'estimate,curve,optimum,evidence',
        evidence_limit: quotesDrawn,
      },
    },
    { enabled: asked !== null && proposed !== null, keeps: true },
  )
  const shown =
    isCurrentLane && advice.data !== undefined && isOf(advice.data.query, asked) ? advice.data : null
  const milesUnknown = shown?.estimate?.miles === null
  const record = useAnswer('lane-record', { query: asked?.lane ?? nowhere }, { enabled: milesUnknown })
  return {
    advice: shown,
    rate: current?.rate == null || shown === null ? null : shown.query.proposed_rate,
    insight:
      isCurrentLane && insight.data !== undefined && isOf(insight.data.query, asked) ? insight.data : null,
    updating:
      current !== null &&
      (typed !== settled || advice.isPlaceholderData || (advice.isPending && !advice.isError)),
    failure: current === null || typed !== settled ? null : (advice.error ?? null),
    retry: () => {
      void insight.refetch()
      void advice.refetch()
    },
    asking: current !== null,
    unknown: unknownEnds(milesUnknown ? record.data : undefined),
  }
}

const noneUnknown = { origin: false, destination: false }

function unknownEnds(record: Answer<'lane-record'> | undefined): DeskAnswer['unknown'] {
  if (record === undefined) return noneUnknown
  return { origin: record.origin.latitude === null, destination: record.destination.latitude === null }
}

/** A rate to ask with while none is typed: the lane's average. Null while that is on its way. */
function rateFrom(insight: UseQueryResult<Answer<'lane-advice'>, CallFailed>): number | null {
  if (insight.isError) return rateToBeginWith
  if (insight.data === undefined || insight.isPlaceholderData) return null
  return insight.data.found ? Math.max(1, Math.round(insight.data.history.avg_rate_usd)) : rateToBeginWith
}

function isOf(
  query: { origin: string; destination: string; equipment: string | null },
  asked: Asked | null,
): boolean {
  return (
    asked !== null &&
    query.origin === asked.lane.origin &&
    query.destination === asked.lane.destination &&
    query.equipment === (asked.lane.equipment ?? null)
  )
}
