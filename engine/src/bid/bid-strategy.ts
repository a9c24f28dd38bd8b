import { AMOUNT_CENTS_MAX } from '../money.ts'
import { regionOf } from '../regions.ts'
import { type BidLane, bidTotals } from './bid-lane.ts'

/** Which lanes a strategy changes: those that meet every condition. Without conditions, all. */
export interface LaneChoice {
  readonly lanes?: readonly number[]
  readonly originState?: string
  readonly destinationState?: string
  /** Regions as `regionOf` names them, such as US-SC. */
  readonly originRegion?: string
  readonly destinationRegion?: string
  readonly equipment?: string
  readonly milesMin?: number
  readonly milesMax?: number
}

/**
 * What a strategy does with the lanes of its choice:
 * - `suggested`: each rate becomes the suggested one.
 * - `move`: each rate moves by a percentage. A lane without a rate stays without one.
 * - `minimum_margin`: each rate below that margin over the expected cost, as a percentage of the rate, is raised to it.
 * - `meet_target`: each rate above the shipper's target becomes the target, where that leaves this margin over the expected cost, as a
 *   percentage of the rate.
 * - `target_share`: the suggested rates, all moved by the one percentage with which the expected share of the loads is nearest to the
 *   target.
 */
export type Strategy =
  | { readonly kind: 'suggested' }
  | { readonly kind: 'move'; readonly pct: number }
  | { readonly kind: 'minimum_margin'; readonly pct: number }
  | { readonly kind: 'meet_target'; readonly pct: number }
  | { readonly kind: 'target_share'; readonly pct: number }

/** The rates that a strategy gives, of the lanes that it changes. */
export interface StrategyRates {
  readonly rates: ReadonlyMap<number, number>
  /** Lanes of the choice that it cannot rate, because something about them is not known. */
  readonly notKnown: number
  /** Lanes that stay at the minimum of their rules, because the strategy goes below it. */
  readonly heldAtMinimum: number
  /** The percentage by which `target_share` moves; null for the others. */
  readonly movedPct: number | null
}

/** The furthest that `target_share` moves: the chance is known from 28 % below to 28 % above the going rate. */
const shareMove = { low: -25, high: 25, step: 0.1 } as const

/**
 * The rates of a strategy. No rate is below the minimum of the rules of its lane.
 *
 * @example strategyRates(lanes, { kind: 'move', pct: -2 }, { originRegion: 'US-SC' }).rates.get(7) // 205800
 */
export function strategyRates(
  lanes: readonly BidLane[],
  strategy: Strategy,
  choice: LaneChoice,
): StrategyRates {
  const listed = choice.lanes === undefined ? null : new Set(choice.lanes)
  const chosen = lanes.filter((lane) => isChosen(lane, choice, listed))
  const movedPct = strategy.kind === 'target_share' ? moveForShare(chosen, strategy.pct) : null
  const rates = new Map<number, number>()
  let [notKnown, heldAtMinimum] = [0, 0]
  for (const lane of chosen) {
    const wanted = wantedCents(lane, strategy, movedPct)
    if (wanted === null) {
      notKnown++
      continue
    }
    const held = heldCents(lane, wanted)
    if (held > wanted) heldAtMinimum++
    if (held !== lane.rateCents) rates.set(lane.lane, held)
  }
  return { rates, notKnown, heldAtMinimum, movedPct }
}

function isChosen(
  { lane, originState, destinationState, equipment, priced }: BidLane,
  choice: LaneChoice,
  listed: ReadonlySet<number> | null,
): boolean {
  const miles = priced?.miles ?? null
  const isIn = (wanted: string | undefined, found: string | null) => wanted === undefined || wanted === found
  const region = (state: string | null) => (state === null ? null : regionOf(state))
  return (
    (listed === null || listed.has(lane)) &&
    isIn(choice.originState, originState) &&
    isIn(choice.destinationState, destinationState) &&
    isIn(choice.originRegion, region(originState)) &&
    isIn(choice.destinationRegion, region(destinationState)) &&
    isIn(choice.equipment, equipment) &&
    (choice.milesMin === undefined || (miles !== null && miles >= choice.milesMin)) &&
    (choice.milesMax === undefined || (miles !== null && miles <= choice.milesMax))
  )
}

const moved = (cents: number, pct: number) => Math.round(cents * (1 + pct / 100))

/** Null if the strategy cannot rate the lane. */
function wantedCents(
  { rateCents, targetCents = null, priced }: BidLane,
  strategy: Strategy,
  movedPct: number | null,
): number | null {
  const suggested = priced?.suggestedCents ?? null
  switch (strategy.kind) {
    case 'suggested':
      return suggested
    case 'move':
      return rateCents === null ? null : moved(rateCents, strategy.pct)
    case 'minimum_margin': {
      const cost = priced?.costCents ?? null
      if (cost === null || rateCents === null) return null
      return Math.max(rateCents, Math.ceil(cost / (1 - strategy.pct / 100)))
    }
    case 'meet_target': {
      const cost = priced?.costCents ?? null
      if (cost === null || rateCents === null || targetCents === null) return null
      const hasMargin = targetCents >= Math.ceil(cost / (1 - strategy.pct / 100))
      return hasMargin ? Math.min(rateCents, targetCents) : rateCents
    }
    case 'target_share':
      return suggested === null ? null : moved(suggested, movedPct ?? 0)
  }
}

function heldCents({ priced }: BidLane, wanted: number): number {
  return Math.min(AMOUNT_CENTS_MAX, Math.max(1, priced?.minimumCents ?? 0, wanted))
}

/** The move of all suggested rates whose expected share is nearest to the target; the highest rates of equal ones. */
function moveForShare(lanes: readonly BidLane[], targetPct: number): number {
  const shareAt = (pct: number) =>
    bidTotals(
      lanes.flatMap((lane) => {
        const suggested = lane.priced?.suggestedCents ?? null
        return suggested === null ? [] : [{ ...lane, rateCents: heldCents(lane, moved(suggested, pct)) }]
      }),
    ).expectedShare
  // The chance falls as rates rise, so the middle says which half holds the target.
  let [low, high] = [shareMove.low / shareMove.step, shareMove.high / shareMove.step]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const share = shareAt(middle * shareMove.step)
    if (share === null) return 0
    if (100 * share >= targetPct) low = middle
    else high = middle
  }
  const away = (at: number) => Math.abs(100 * (shareAt(at * shareMove.step) ?? 0) - targetPct)
  return Math.round(10 * shareMove.step * (away(high) <= away(low) ? high : low)) / 10
}

/**
 * A strategy in words.
 *
 * @example strategyWords({ kind: 'move', pct: -2 }, { originRegion: 'US-SC' }) // 'Rates -2 %, from US-SC'
 */
export function strategyWords(strategy: Strategy, choice: LaneChoice): string {
  return [strategyName(strategy), ...choiceWords(choice)].join(', ')
}

function strategyName(strategy: Strategy): string {
  switch (strategy.kind) {
    case 'suggested':
      return 'Suggested rates'
    case 'move':
      return `Rates ${strategy.pct > 0 ? '+' : ''}${strategy.pct} %`
    case 'minimum_margin':
      return `Margin of at least ${strategy.pct} %`
    case 'meet_target':
      return `Targets with a margin of at least ${strategy.pct} %`
    case 'target_share':
      return `Expected share of ${strategy.pct} %`
  }
}

function choiceWords(choice: LaneChoice): string[] {
  const from = choice.originState ?? choice.originRegion
  const to = choice.destinationState ?? choice.destinationRegion
  return [
    ...(choice.lanes === undefined
      ? []
      : [`${choice.lanes.length} chosen ${choice.lanes.length === 1 ? 'lane' : 'lanes'}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
    ...(choice.equipment === undefined ? [] : [choice.equipment]),
    ...(choice.milesMin === undefined ? [] : [`at least ${choice.milesMin} miles`]),
    ...(choice.milesMax === undefined ? [] : [`at most ${choice.milesMax} miles`]),
  ]
}
