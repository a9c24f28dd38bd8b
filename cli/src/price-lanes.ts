import type { Lanewise } from '#client/index.ts'
import type { Answer } from '#client/sent.ts'
import { batchLanesMax } from '#contract/limits.ts'
import { shownExtras } from './show.ts'

export interface LaneToPrice {
  readonly origin: string
  readonly destination: string
  readonly equipment: string | null
  /** Null requests the suggested rate of the service. */
  readonly rate: number | null
  /** The basis that the file states for the rate; null if it states none, so that the basis of the brokerage is assumed. */
  readonly basis: 'linehaul' | 'all_in' | null
}

type Result = Answer<'insight-batch'>['results'][number]
type Answered = Extract<Result, { status: 200 }>

/** The result for one lane: the advice, or the error message of the service. */
export type PricedLane =
  | {
      readonly ok: true
      readonly markup: NonNullable<Answered['markup']>
      readonly insight: Answered['lane'] | null
    }
  | { readonly ok: false; readonly detail: string }

/**
 * Prices lanes and returns the results in the same order. An invalid lane has an error result and does not affect
 * others.
 */
export type PriceLanes = (lanes: readonly LaneToPrice[]) => Promise<PricedLane[]>

export interface Pricing {
  readonly lanewise: Lanewise
  /** Whether to request the insight about each lane, too. */
  readonly withInsight: boolean
  readonly signal: AbortSignal
}

/** A busy service leaves lanes for another call. After this many calls the remaining lanes get an error. */
const callsMax = 20

/**
 * Prices lanes with as few calls as possible. Equal lanes are requested once. The service controls the pace: within
 * each call it waits until the rate limit of the brokerage allows more.
 *
 * @throws LanewiseFailure if a call fails, for example without credentials or without a response after all retries
 */
export function lanePricer({ lanewise, withInsight, signal }: Pricing): PriceLanes {
  const answers = new Map<string, PricedLane>()
  const keyOf = ({ origin, destination, equipment, rate }: LaneToPrice) =>
    JSON.stringify([origin, destination, equipment, rate])

  async function ask(lanes: readonly LaneToPrice[]): Promise<void> {
    const { results } = await lanewise.insightBatch(
      {
        lanes: lanes.map(({ origin, destination, equipment, rate }) => ({
          origin,
          destination,
          ...(equipment === null ? {} : { equipment }),
          ...(rate === null ? {} : { proposed_rate: rate }),
        })),
        answers: withInsight ? ['markup', 'lane'] : ['markup'],
        include: [...shownExtras],
      },
      { signal },
    )
    for (const result of results) {
      const lane = lanes[result.index]
      if (lane !== undefined && result.status !== 503) answers.set(keyOf(lane), pricedOf(result))
    }
  }

  return async (lanes) => {
    const missing = () => [
      ...new Map(
        lanes.filter((lane) => !answers.has(keyOf(lane))).map((lane) => [keyOf(lane), lane]),
      ).values(),
    ]
    for (let call = 0, left = missing(); left.length > 0 && call < callsMax; call++, left = missing()) {
      await ask(left.slice(0, batchLanesMax))
    }
    const late = {
      ok: false,
      detail: 'The service did not reach this lane in time. Price it again.',
    } as const
    return lanes.map((lane) => onItsBasis(lane, answers.get(keyOf(lane)) ?? late))
  }
}

const words = { linehaul: 'linehaul', all_in: 'all-in' } as const

/** Replaces the comparison of a linehaul rate with all-in rates, or the reverse, by an error. */
function onItsBasis({ rate, basis }: LaneToPrice, priced: PricedLane): PricedLane {
  const compared = priced.ok ? priced.markup.basis?.amounts : undefined
  if (rate === null || basis === null || compared === undefined || basis === compared) return priced
  return {
    ok: false,
    detail: `The rate is ${words[basis]}, and the rates of the brokerage are compared as ${words[compared]} rates. Price the ${words[compared]} rate.`,
  }
}

function pricedOf(result: Exclude<Result, { status: 503 }>): PricedLane {
  if (result.status === 200 && result.markup !== undefined) {
    return { ok: true, markup: result.markup, insight: result.lane ?? null }
  }
  const { errors = [], detail = 'The service returned no result for this lane.' } = result as Partial<
    Extract<Result, { detail: string }>
  >
  return { ok: false, detail: errors.map((error) => error.detail).join(' ') || detail }
}
