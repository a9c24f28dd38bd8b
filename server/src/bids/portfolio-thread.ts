import { problem } from '#contract/errors.ts'
import { portfolioSecondsMax, portfoliosWaitingMax } from '#contract/limits.ts'
import type { BidLane } from '#engine/bid/bid-lane.ts'
import type { BidLimits } from '#engine/portfolio/bid-lanes.ts'
import type { FrontierPoint, NoPortfolio, Portfolio } from '#engine/portfolio/portfolio.ts'
import { mapInSteps } from '#engine/steps.ts'
import type { TenantId } from '../database/session/index.ts'
import {
  concurrencyLimit,
  inThread,
  QueueFull,
  type ThreadMessage,
  yieldBetweenSteps,
} from '../runtime/index.ts'

/** The lanes of a bid, and which of their rates are wanted. */
interface AskedPortfolio {
  readonly lanes: readonly BidLane[]
  readonly months: number
  /** The share of its awarded loads that the customer tenders. */
  readonly tendered: number
  readonly limits: BidLimits
  /** Points of the frontier of margin against loads; 0 for none. */
  readonly points: number
  readonly withCertificate: boolean
}

/** What the thread computes. The lanes are JSON, which is copied to it many times as fast as objects. */
export interface PortfolioTask extends Omit<AskedPortfolio, 'lanes'> {
  readonly lanes: readonly string[]
  readonly secondsMax: number
}

/** The chosen rates, without what is large: their menus and their certificate. */
export interface SolvedRates
  extends Pick<Portfolio, 'state' | 'marginCents' | 'revenueCents' | 'termLoads' | 'boundCents' | 'prices'> {
  readonly laneByLaneCents: number | null
  /** In cents by lane; null: not bid. */
  readonly rates: ReadonlyMap<number, number | null>
}
export interface SolvedPortfolio {
  /** The lanes whose rate is chosen, and those that are left out. Without any, `found` is null. */
  readonly lanes: number
  readonly leftOut: number
  readonly found: SolvedRates | NoPortfolio | null
  readonly frontier: readonly FrontierPoint[]
  /** The certificate as JSON; null if it was not asked for, or no rates were chosen. */
  readonly certificate: Uint8Array | null
}
export type PortfolioMessage = ThreadMessage<SolvedPortfolio>

const limits = { work: 'The choice of rates', durationMaxMs: 10 * 60_000, heapMaxMb: 768 }
const ofBrokerage = concurrencyLimit<TenantId>(1, 1)
const ofAll = concurrencyLimit<'all'>(1, portfoliosWaitingMax)

/**
 * Chooses the rates of a bid in a thread: one at once per process, since it takes a core for seconds, and one per brokerage.
 *
 * @throws Problem unavailable if too many are waiting
 */
export async function portfolioInThread(tenant: TenantId, asked: AskedPortfolio): Promise<SolvedPortfolio> {
  const file = new URL('./portfolio-worker.ts', import.meta.url)
  const solve = async () => {
    const lanes = await yieldBetweenSteps(mapInSteps(asked.lanes, (lane) => JSON.stringify(lane)))
    const task: PortfolioTask = { ...asked, lanes, secondsMax: portfolioSecondsMax }
    return inThread<SolvedPortfolio>(file, task, limits)
  }
  try {
    return await ofBrokerage(tenant, () => ofAll('all', solve))
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error
    throw problem('unavailable', 'Rates of other bids are being chosen at this moment. Try again soon.', {
      headers: { 'Retry-After': String(portfolioSecondsMax) },
    })
  }
}
