import type { Lanewise } from '#client/index.ts'
import type { Answer } from '#client/sent.ts'
import { batchLanesMax } from '#contract/limits.ts'

export interface LaneToPrice {
  readonly origin: string
  readonly destination: string
  readonly equipment: string | null
  /** Null asks for the rate that the service suggests. */
  readonly rate: number | null
}

type Result = Answer<'insight-batch'>['results'][number]
type Answered = Extract<Result, { status: 200 }>

/** What one lane was answered: the advice, or why there is none in the words of the service. */
export type PricedLane =
  | {
      readonly ok: true
      readonly markup: NonNullable<Answered['markup']>
      readonly insight: Answered['lane'] | null
    }
  | { readonly ok: false; readonly detail: string }

/** Prices lanes, each in its place; a lane that is wrong has an answer of its own and stops no other. */
export type PriceLanes = (lanes: readonly LaneToPrice[]) => Promise<PricedLane[]>

export interface Pricing {
  readonly lanewise: Lanewise
  /** Also what is known about each lane. */
  readonly withInsight: boolean
  readonly signal: AbortSignal
}

/** A crowded service leaves lanes for another call; after so many it is told of them. */
const callsMax = 20

/**
 * Prices lanes with as few calls as there can be. Equal lanes are asked for once, however often a file holds them. How fast
 * it may go is the service's to say: it waits within each call for what the brokerage's limit leaves it.
 *
 * @throws LanewiseFailure when the service cannot be asked at all: no credentials, no answer after all tries
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
    const late = { ok: false, detail: 'The service had no time for this lane. Ask for it again.' } as const
    return lanes.map((lane) => answers.get(keyOf(lane)) ?? late)
  }
}

function pricedOf(result: Exclude<Result, { status: 503 }>): PricedLane {
  if (result.status === 200 && result.markup !== undefined) {
    return { ok: true, markup: result.markup, insight: result.lane ?? null }
  }
  const { errors = [], detail = 'It was not answered.' } = result as Partial<
    Extract<Result, { detail: string }>
  >
  return { ok: false, detail: errors.map((error) => error.detail).join(' ') || detail }
}
