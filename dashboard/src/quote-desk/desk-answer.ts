import { useDebouncedValue } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import { typingPauseMs } from '#client/debounce.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { readDollars } from '../shared-ui/index.ts'
import { type DeskLane, hasState } from './desk-draft.ts'

/** The rate of the request while neither a typed nor an average rate is known. The page shows no probability for it. */
const fallbackRate = 2_000
/** The number of the lane's quotes drawn in the chart. */
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

/** The query for a row as typed so far; null while origin or destination is incomplete. */
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
  /** The advice for this lane at `rate`; null while there is none. */
  readonly advice: Answer<'quote-advice'> | null
  /** The rate of the advice; null when no rate is typed. The page then shows no probability. */
  readonly rate: number | null
  readonly insight: Answer<'lane-advice'> | null
  /** True while newer advice is loading. `advice` is then for an earlier rate. */
  readonly updating: boolean
  readonly failure: CallFailed | null
  readonly retry: () => void
  /** True when origin and destination are complete. */
  readonly asking: boolean
  /** The ends of the lane that are not known places. */
  readonly unknown: { readonly origin: boolean; readonly destination: boolean }
}

const nowhere: LaneAsked = { origin: '', destination: '' }

/**
 * The advice for a row, requested after a pause in typing. Answers are cached by query, so an older answer cannot replace a
 * newer one. Requests that are no longer needed are aborted.
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
        proposed_rate: proposed ?? fallbackRate,
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

/** The rate of the request while no rate is typed: the lane's average rate. Null while it is loading. */
function rateFrom(insight: UseQueryResult<Answer<'lane-advice'>, CallFailed>): number | null {
  if (insight.isError) return fallbackRate
  if (insight.data === undefined || insight.isPlaceholderData) return null
  return insight.data.found ? Math.max(1, Math.round(insight.data.history.avg_rate_usd)) : fallbackRate
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
