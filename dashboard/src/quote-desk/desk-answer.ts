import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useMemo, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { knownFields, type PricedQuote, type QuoteAdvice, type RateType } from '../shared-ui/index.ts'
import { type DeskQuote, hasState, sentQuote, unpricedLoad } from './desk-draft.ts'
import type { QuotesAdvice } from './desk-quotes-advice.ts'

/** The rate of the request while no rate is typed. The page shows no value that depends on this rate. */
const fallbackRate = 2_000
/** The number of the lane's quotes drawn in the chart. */
const quotesDrawn = 100

/** What of a quote its history depends on. */
type LaneAsked = Pick<PricedQuote, 'origin' | 'destination'> & {
  readonly equipment?: string
  readonly rate_type?: RateType
}

interface Asked {
  readonly lane: LaneAsked
  readonly rate: number | null
  readonly market: number | null
}

/** The query for a row as typed so far; null while origin or destination is incomplete, and for a load without a price. */
function askedOf(typed: DeskQuote): Asked | null {
  if (!hasState(typed.origin) || !hasState(typed.destination) || unpricedLoad(typed) !== null) return null
  const { origin, destination, equipment, rate_type, quoted_rate, market_rate } = sentQuote(typed)
  const lane = { origin, destination, ...knownFields({ equipment, rate_type }) }
  return { lane, rate: quoted_rate, market: market_rate ?? null }
}

export interface DeskAnswer {
  /** The advice for this quote, perhaps for an earlier rate: its curve and its best rate are the same for every rate. */
  readonly advice: Answer<'quote-advice'> | null
  /** The advice on exactly the quote as typed; null until it has arrived. */
  readonly exact: QuoteAdvice | null
  /** The typed rate; null when there is none. */
  readonly rate: number | null
  /** True when the parts of the advice that depend on the rate are for the typed rate. */
  readonly isForRate: boolean
  readonly insight: Answer<'lane-advice'> | null
  readonly updating: boolean
  readonly failure: CallFailed | null
  readonly retry: () => void
  /** True when origin and destination are complete. */
  readonly asking: boolean
  /** Whether the origin or the destination is an unknown place. */
  readonly unknown: { readonly origin: boolean; readonly destination: boolean }
}

const nowhere: LaneAsked = { origin: '', destination: '' }

/** The history of a lane, with the numbers of the advice on the quote in place of those of the lane alone. */
function withAdvice(
  history: Answer<'quote-advice'> | null,
  advice: QuoteAdvice | null,
): Answer<'quote-advice'> | null {
  if (history === null || advice === null) return null
  const { optimum, rules, curve = [], risk = null } = advice
  const estimate = advice.estimate ?? history.estimate
  return { ...history, ...(estimate === undefined ? {} : { estimate }), optimum, rules, curve, risk }
}

/**
 * The advice for the open row with the history of its lane, requested after a pause in typing. Answers are cached by query, so an older
 * answer cannot replace a newer one. Requests that are no longer needed are aborted. After a temporary failure, the advice comes back
 * by itself.
 *
 * @param row as it is typed
 * @param compared the row, converted for the comparison with the brokerage's other quotes
 */
export function useDeskAnswer(
  row: DeskQuote,
  compared: DeskQuote,
  customer: string,
  advised: QuotesAdvice,
): DeskAnswer {
  const current = askedOf(compared)
  const typed = JSON.stringify(current)
  const [settled] = useDebouncedValue(typed, typingPauseMs)
  const [settledCustomer] = useDebouncedValue(customer.trim(), typingPauseMs)
  const asked = JSON.parse(settled) as Asked | null
  const isCurrentLane = current !== null && JSON.stringify(asked?.lane) === JSON.stringify(current.lane)

  const insight = useAnswer(
    'lane-advice',
    { query: asked?.lane ?? nowhere },
    { enabled: asked !== null, keeps: true, comesBack: true },
  )
  const history = useAnswer(
    'quote-advice',
    {
      query: {
        ...(asked?.lane ?? nowhere),
        proposed_rate: asked?.rate ?? fallbackRate,
        ...(asked?.market == null ? {} : { market_rate: asked.market }),
        // The estimate says why there is none, and which of the quotes drawn it leaves out.
        include: 'basis,places,estimate,evidence,market',
        evidence_limit: quotesDrawn,
        ...(settledCustomer === '' ? {} : { customer: settledCustomer }),
      },
    },
    { enabled: asked !== null, keeps: true, comesBack: true },
  )
  const found =
    isCurrentLane && history.data !== undefined && isOf(history.data.query, asked) ? history.data : null
  const { open } = advised
  const shown = useMemo(() => withAdvice(found, open), [found, open])
  const failed = useLastFailure(history)
  const endUnknown = shown?.estimate?.miles === null || shown?.estimate?.flags.includes('no_ground') === true
  const record = useAnswer('lane-record', { query: asked?.lane ?? nowhere }, { enabled: endUnknown })
  const exact = advised.on(row)
  return {
    advice: shown,
    exact,
    rate: current?.rate ?? null,
    isForRate:
      shown !== null &&
      exact === open &&
      current?.rate === shown.query.proposed_rate &&
      current.market === shown.query.market_rate,
    insight:
      isCurrentLane && insight.data !== undefined && isOf(insight.data.query, asked) ? insight.data : null,
    updating:
      current !== null &&
      (typed !== settled ||
        advised.updating ||
        history.isPlaceholderData ||
        (history.isPending && !history.isError)),
    failure:
      current === null || typed !== settled
        ? null
        : (history.error ?? (history.isFetching ? failed : null) ?? advised.failure),
    retry: () => {
      void insight.refetch()
      void history.refetch()
      advised.retry()
    },
    asking: current !== null,
    unknown: unknownEnds(endUnknown ? record.data : undefined),
  }
}

const noneUnknown = { origin: false, destination: false }

function unknownEnds(record: Answer<'lane-record'> | undefined): DeskAnswer['unknown'] {
  if (record === undefined) return noneUnknown
  return { origin: record.origin.latitude === null, destination: record.destination.latitude === null }
}

/** The failure that is on screen while the same call is tried again; null after a success. */
function useLastFailure({
  data,
  error,
  isPlaceholderData,
}: {
  data: unknown
  error: CallFailed | null
  isPlaceholderData: boolean
}): CallFailed | null {
  const [failed, setFailed] = useState<CallFailed | null>(null)
  const isAnswered = data !== undefined && !isPlaceholderData && error === null
  useEffect(() => {
    if (error !== null) setFailed(error)
    else if (isAnswered) setFailed(null)
  }, [error, isAnswered])
  return failed
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
