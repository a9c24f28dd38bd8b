import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { BidLane } from '#engine/bid/bid-lane.ts'
import { portfolioLanes } from '#engine/bid/bid-portfolio.ts'
import {
  frontierInSteps,
  loadsFrontier,
  mostTermLoadsInSteps,
  type Portfolio,
  portfolioInSteps,
} from '#engine/portfolio/portfolio.ts'
import { finished } from '#engine/steps.ts'
import type { PortfolioMessage, PortfolioTask, SolvedRates } from './portfolio-thread.ts'

// On Linux a thread has its own niceness. On other systems the priority would apply to the whole process.
if (process.platform === 'linux') setPriority(19)

const {
  lanes: sent,
  months,
  tendered,
  limits,
  points,
  withCertificate,
  secondsMax,
}: PortfolioTask = workerData
const { lanes, leftOut } = portfolioLanes(
  sent.map((lane) => JSON.parse(lane) as BidLane),
  { months, tendered },
)
const begun = performance.now()
const lateAfter = (share: number) => () => performance.now() - begun > 1_000 * secondsMax * share

const found =
  lanes.length === 0 ? null : finished(portfolioInSteps({ lanes, limits }, { isLate: lateAfter(0.6) }))
const { loadsMin: _, loadsMax: __, ...others } = limits
// The points of the frontier have one case each: their bounds are close enough for a picture.
const quickly = { isLate: lateAfter(1), casesMax: 1 }
const frontier =
  found?.state === 'chosen' && points > 1
    ? finished(
        frontierInSteps(
          { lanes, limits: others },
          loadsFrontier(
            {
              bestTermLoads: found.termLoads,
              mostTermLoads: finished(mostTermLoadsInSteps({ lanes, limits: others }, quickly)),
            },
            points,
          ),
          quickly,
        ),
      )
    : []
// The certificate contains all inputs: megabytes, which the main thread would have to copy.
const certificate =
  withCertificate && found?.state === 'chosen'
    ? new TextEncoder().encode(JSON.stringify(found.certificate))
    : null
const message: PortfolioMessage = {
  result: {
    lanes: lanes.length,
    leftOut,
    found: found?.state === 'chosen' ? ratesOf(found) : found,
    frontier,
    certificate,
  },
}
parentPort?.postMessage(message, certificate === null ? [] : [certificate.buffer])

function ratesOf({ certificate: _, lanes: chosen, laneByLane, ...sums }: Portfolio): SolvedRates {
  const rateOf = (at: number, place: number | null) =>
    place === null ? null : (lanes[at]?.menu[place]?.rateCents ?? null)
  return {
    ...sums,
    laneByLaneCents: laneByLane?.marginCents ?? null,
    rates: new Map(chosen.map(({ id, place }, at) => [Number(id), rateOf(at, place)])),
  }
}
