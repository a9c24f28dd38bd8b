import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isLanewiseFailure } from '#client/failures.ts'
import type { Lanewise } from '#client/index.ts'
import type { Answer } from '#client/sent.ts'

export interface LaneToPrice {
  readonly origin: string
  readonly destination: string
  readonly equipment: string | null
  readonly rate: number
}

/** What one lane was answered: the advice, or why there is none in the words of the service. */
export type PricedLane =
  | { readonly ok: true; readonly markup: Answer<'markup'>; readonly insight: Answer<'lane-insight'> | null }
  | { readonly ok: false; readonly detail: string }

/** Prices lanes, each in its place; a lane that is wrong has an answer of its own and stops no other. */
export type PriceLanes = (lanes: readonly LaneToPrice[]) => Promise<PricedLane[]>

/** When the next request may be sent. */
export interface Pace {
  turn(signal: AbortSignal): Promise<void>
  /** Nothing is sent for so long: another system of the brokerage has used up the limit. */
  hold(forMs: number): void
}

/** So many requests a second, evenly, of those that the brokerage has in all. */
export function paceOf(perSecond: number): Pace {
  let nextAt = 0
  let queue: Promise<void> = Promise.resolve()
  const next = async (signal: AbortSignal) => {
    // Looked at again after the wait: it may have become longer meanwhile.
    for (let now = performance.now(); now < nextAt && !signal.aborted; now = performance.now()) {
      await pause(nextAt - now, undefined, { signal }).catch(() => undefined)
    }
    nextAt = performance.now() + 1000 / perSecond
  }
  return {
    turn(signal) {
      queue = queue.then(() => next(signal))
      return queue
    },
    hold(forMs) {
      nextAt = Math.max(nextAt, performance.now() + forMs)
    },
  }
}

export interface Pricing {
  readonly lanewise: Lanewise
  readonly pace: Pace
  /** Also what is known about each lane: a second request a lane. */
  readonly withInsight: boolean
  readonly signal: AbortSignal
  /** Told of each lane that was answered, for a progress bar. */
  readonly onPriced: () => void
}

/**
 * Prices lanes by asking for each, so many a second. Equal lanes are asked for once, however often a file holds them.
 *
 * @throws LanewiseFailure when the service cannot be asked at all: no credentials, no answer after all tries
 */
export function lanePricer({ lanewise, pace, withInsight, signal: stop, onPriced }: Pricing): PriceLanes {
  // When one cannot be asked, the others under way are not waited for.
  const giveUp = new AbortController()
  const signal = AbortSignal.any([stop, giveUp.signal])
  // Many lanes wait for their turn at once.
  setMaxListeners(0, signal)
  const answers = new Map<string, Promise<PricedLane>>()
  const priced = async ({ origin, destination, equipment, rate }: LaneToPrice): Promise<PricedLane> => {
    const lane = { origin, destination, ...(equipment === null ? {} : { equipment }) }
    try {
      await pace.turn(signal)
      const markup = await lanewise.markup({ ...lane, proposed_rate: rate }, { signal })
      if (withInsight) await pace.turn(signal)
      const insight = withInsight ? await lanewise.laneInsight(lane, { signal }) : null
      return { ok: true, markup, insight }
    } catch (failure) {
      const isOfThisLane = isLanewiseFailure(failure) && failure.code === 'validation-failed'
      if (!isOfThisLane) {
        giveUp.abort()
        throw failure
      }
      return { ok: false, detail: failure.errors.map(({ detail }) => detail).join(' ') || failure.message }
    }
  }

  return (lanes) =>
    Promise.all(
      lanes.map((lane) => {
        const key = JSON.stringify([lane.origin, lane.destination, lane.equipment, lane.rate])
        const found = answers.get(key) ?? priced(lane)
        answers.set(key, found)
        return found.then((answer) => {
          onPriced()
          return answer
        })
      }),
    )
}
