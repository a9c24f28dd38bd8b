import type { BidLane as PortfolioLane } from '../portfolio/bid-lanes.ts'
import { regionOf } from '../regions.ts'
import { type BidLane, chanceAt, type PricedLane } from './bid-lane.ts'

/** The lanes of a bid whose rates can be chosen together, and the number of those whose cost, loads or chance is not known. */
export interface PortfolioLanes {
  readonly lanes: readonly PortfolioLane[]
  readonly leftOut: number
}

const centsPerDollar = 100

/** The end of a lane and a state or region, as caps name it. @example capKey('origin', 'US-SE') // 'origin US-SE' */
export const capKey = (end: 'origin' | 'destination', place: string): string => `${end} ${place}`

/** The weeks of a contract. @example contractWeeks(12) // 52 */
export const contractWeeks = (months: number): number => Math.round((52 * months) / 12)

/**
 * The lanes of a bid for `portfolioInSteps`. Each lane may get the rates at which its chance is kept and those halfway between, in
 * whole dollars, its suggested rate and its present one; none below the minimum of its rules. The loads are spread evenly over the
 * weeks of the contract.
 *
 * @param tendered the share of its awarded loads that the customer tenders, from 0 to 1
 * @example portfolioLanes(lanes, { months: 12, tendered: 0.8 }).lanes[0]?.loadsPerWeek // 2
 */
export function portfolioLanes(
  lanes: readonly BidLane[],
  { months, tendered }: { readonly months: number; readonly tendered: number },
): PortfolioLanes {
  const weeks = contractWeeks(months)
  const found: PortfolioLane[] = []
  for (const { lane, originState, destinationState, loads, rateCents, priced } of lanes) {
    if (priced === null || priced.costCents === null || loads === null) continue
    const menu = menuOf(priced, rateCents)
    if (menu.length === 0) continue
    found.push({
      id: String(lane),
      costCents: priced.costCents,
      loadsPerWeek: loads / weeks,
      firstWeek: 1,
      lastWeek: weeks,
      tendered,
      regions: [...capKeysOf('origin', originState), ...capKeysOf('destination', destinationState)],
      menu,
    })
  }
  return { lanes: found, leftOut: lanes.length - found.length }
}

function capKeysOf(end: 'origin' | 'destination', state: string | null): string[] {
  if (state === null) return []
  const region = regionOf(state)
  return [capKey(end, state), ...(region === null ? [] : [capKey(end, region)])]
}

function menuOf({ curve, suggestedCents, minimumCents }: PricedLane, rateCents: number | null) {
  const dollars = (cents: number) => centsPerDollar * Math.round(cents / centsPerDollar)
  const kept = curve.map(([cents]) => cents)
  const between = kept.flatMap((cents, at) => {
    const next = kept[at + 1]
    return next === undefined ? [] : [(cents + next) / 2]
  })
  const wanted = [...[...kept, ...between].map(dollars), suggestedCents, rateCents]
  const rates = wanted.filter((cents) => cents !== null && cents > 0 && cents >= (minimumCents ?? 0))
  return [...new Set(rates as number[])]
    .sort((one, other) => one - other)
    .flatMap((cents) => {
      const chance = chanceAt(curve, cents)
      return chance === null ? [] : [{ rateCents: cents, award: chance.probability }]
    })
}
