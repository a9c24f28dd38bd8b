/**
 * Which of the saved market rates should a quote be compared with? Of the rates that customers pay, the newest rate of the most specific
 * area. Rates are chosen and never averaged, so there is no statistical method.
 * docs/market-rates.md, "The reference".
 */

import { formatDollars } from './money.ts'
import type { RateBasis } from './rate-basis.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'

/** The kinds of areas that a market rate can cover, most specific first. */
export const MARKET_SCOPES = ['lane', 'zip3', 'market', 'state_pair', 'region'] as const
export type MarketScope = (typeof MARKET_SCOPES)[number]

/** A market rate is what carriers are paid (buy) or what customers pay (sell). Only rates of one kind are compared. */
export const MARKET_KINDS = ['buy', 'sell'] as const
export type MarketKind = (typeof MARKET_KINDS)[number]

/** A saved market rate: cents per load, times in epoch milliseconds. Unknown values are null. */
export interface MarketRate {
  readonly scope: MarketScope
  readonly source: string
  readonly basis: RateBasis
  readonly kind: MarketKind
  /** ISO 4217. Only US dollars are compared. */
  readonly currency: string
  readonly lowCents: number | null
  readonly midCents: number
  readonly highCents: number | null
  /** Number of loads or reports behind the rate. */
  readonly sample: number | null
  readonly asOf: number
  readonly validUntil: number | null
}

/** Why a market rate is not used: its currency or basis differs, it begins in the future, or it is too old. */
export type MarketRateState = 'usable' | 'other_currency' | 'other_basis' | 'future' | 'stale'

const dayMs = 86_400_000

/** The age at which a market rate is too old, and the limits beyond which an amount is refused as in the wrong unit. */
export const MARKET_RATE_RULE = {
  /** A rate is stale this many days after its date, even if its source says that it is valid for longer. */
  staleDays: 365,
  /** A lower amount is a rate per mile: no load costs less than $10. */
  leastCents: 1_000,
  /** A higher amount per mile is in cents: the highest spot rates of full truckloads are below $10 per mile. */
  mostPerMileCents: 2_000,
  /** Rates per mile of shorter hauls are not checked: a load has a minimum charge, so they are high. */
  fewestMiles: 250,
  /** The miles that are assumed for the loads of an area, because they are unknown. */
  mostMiles: 3_500,
  /** The limits for Mexican pesos are 20 times as high: a US dollar has been worth about 16 to 25 pesos since 2016. */
  pesosPerDollar: 20,
} as const

/**
 * Whether a rate can be compared with rates of a basis at a time.
 *
 * @example marketRateState({ ...rate, validUntil: 0 }, { at: 1, basis: 'all_in' }) // 'stale'
 */
export function marketRateState(
  { currency, basis, asOf, validUntil }: MarketRate,
  wanted: { readonly at: number; readonly basis: RateBasis },
): MarketRateState {
  if (asOf > wanted.at) return 'future'
  if (validUntil !== null && validUntil <= wanted.at) return 'stale'
  if (asOf + MARKET_RATE_RULE.staleDays * dayMs <= wanted.at) return 'stale'
  if (currency !== 'USD') return 'other_currency'
  return basis === wanted.basis ? 'usable' : 'other_basis'
}

/** The reference that was chosen, the other rates with the reason why each is not used, and the reason in one sentence. */
export interface MarketReference<Rate extends MarketRate> {
  readonly used: Rate | null
  readonly others: readonly { readonly rate: Rate; readonly state: MarketRateState }[]
  readonly why: string
}

const scopeWords: Readonly<Record<MarketScope, string>> = {
  lane: 'city pair',
  zip3: 'pair of 3-digit ZIP areas',
  market: 'pair of markets',
  state_pair: 'pair of states',
  region: 'pair of regions',
}

const kindWords: Readonly<Record<MarketKind, string>> = {
  sell: 'It is what customers pay.',
  buy: 'It is what carriers are paid: no usable rate that customers pay is saved.',
}

/**
 * Chooses the market rate to compare a customer rate with: first the usable rates that customers pay or, if there are none, that carriers
 * are paid; of these, the most specific scope; of these, the newest rate. Between two sources of the same day, the larger sample decides,
 * then the name of the source. Rates are never averaged: the others are returned next to the chosen one.
 *
 * @example chooseMarketRate([], { at: Date.now(), basis: 'all_in' }).why // 'No market rate is saved for this lane.'
 */
export function chooseMarketRate<Rate extends MarketRate>(
  rates: readonly Rate[],
  wanted: { readonly at: number; readonly basis: RateBasis },
): MarketReference<Rate> {
  const judged = rates
    .map((rate) => ({ rate, state: marketRateState(rate, wanted) }))
    .sort((one, other) => compareRates(one.rate, other.rate))
  const usable = judged.filter(({ state }) => state === 'usable')
  const chosen = usable.find(({ rate }) => rate.kind === 'sell') ?? usable[0]
  const others = judged.filter((one) => one !== chosen)
  if (chosen === undefined) return { used: null, others, why: whyNone(others, wanted.basis) }
  const { scope, source, kind } = chosen.rate
  const different = others.find(
    ({ rate, state }) =>
      state === 'usable' && rate.kind === kind && rate.scope === scope && rate.source !== source,
  )
  const disagreement =
    different === undefined
      ? ''
      : ` ${different.rate.source} says ${formatDollars(different.rate.midCents)}, ${apart(different.rate, chosen.rate)}: both are shown, and they are not averaged.`
  return {
    used: chosen.rate,
    others,
    why: `${source} has the newest valid rate of the ${scopeWords[scope]}, the most specific area with one. ${kindWords[kind]}${disagreement}`,
  }
}

/** Most specific first, then newest, then the larger sample, then by source. */
export function compareRates(one: MarketRate, other: MarketRate): number {
  return (
    MARKET_SCOPES.indexOf(one.scope) - MARKET_SCOPES.indexOf(other.scope) ||
    other.asOf - one.asOf ||
    (other.sample ?? 0) - (one.sample ?? 0) ||
    (one.source < other.source ? -1 : one.source > other.source ? 1 : 0) ||
    (one.basis < other.basis ? -1 : one.basis > other.basis ? 1 : 0) ||
    (one.kind < other.kind ? 1 : one.kind > other.kind ? -1 : 0)
  )
}

/** @example apart({ midCents: 220000 }, { midCents: 200000 }) // '10% more' */
function apart(one: Pick<MarketRate, 'midCents'>, other: Pick<MarketRate, 'midCents'>): string {
  const percent = percentAbove(one.midCents, other.midCents)
  return percent === 0 ? 'the same' : `${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'}`
}

function whyNone(others: readonly { readonly state: MarketRateState }[], basis: RateBasis): string {
  const states = new Set(others.map(({ state }) => state))
  if (states.size === 0) return 'No market rate is saved for this lane.'
  if (states.has('other_basis')) {
    const [wanted, stored] = basis === 'all_in' ? ['all-in', 'linehaul'] : ['linehaul', 'all-in']
    return `The saved market rates are ${stored} and your rates are ${wanted}, so they are shown and not compared.`
  }
  if (states.has('other_currency')) {
    return 'The saved market rates are not in US dollars: they are shown and not used.'
  }
  if (states.has('stale')) return 'The saved market rates are too old: they are shown and not used.'
  return 'The saved market rates begin in the future.'
}

/** Percent by which an amount is above another one, one decimal. @example percentAbove(110, 100) // 10 */
export function percentAbove(cents: number, referenceCents: number): number {
  return roundHalfAway((100 * (cents - referenceCents)) / referenceCents, 1)
}

/**
 * Whether the miles that a source states can be those of a lane. The computed miles are up to 15% off, and kilometers are 1.6
 * times the miles. On hauls of up to 250 miles the limits are wider, so they can accept kilometers.
 *
 * @example areMilesOf(1257, 781) // false
 */
export function areMilesOf(stated: number, computed: number): boolean {
  const most = computed > 250 ? 1.4 : 2.5
  return stated >= computed / most - 20 && stated <= computed * most + 20
}

/** The amounts of a market rate to check, in cents; absent ones are null. `miles` is null for an unknown distance. */
export interface MarketAmounts {
  readonly low: number | null
  readonly mid: number
  readonly high: number | null
  readonly miles: number | null
  /** Whether the amounts are in Mexican pesos instead of dollars. */
  readonly inPesos?: boolean
}

export interface MarketAmountFault {
  readonly field: 'low' | 'mid' | 'high'
  readonly detail: string
}

/**
 * The faults of the amounts of a market rate: they are dollars per mile or cents, or low is above high. Empty if there are none.
 *
 * @example marketAmountFaults({ low: null, mid: 245, high: null, miles: 781 })
 * // [{ field: 'mid', detail: 'mid must be dollars per load; $2.45 looks like dollars per mile, which is $1,913.45 for 781 miles.' }]
 */
export function marketAmountFaults({
  low,
  mid,
  high,
  miles,
  inPesos = false,
}: MarketAmounts): MarketAmountFault[] {
  const { leastCents, mostPerMileCents, fewestMiles, mostMiles, pesosPerDollar } = MARKET_RATE_RULE
  const [unit, times] = inPesos ? ['pesos', pesosPerDollar] : ['dollars', 1]
  const most = times * mostPerMileCents * (miles === null ? mostMiles : Math.max(miles, fewestMiles))
  const faults: MarketAmountFault[] = []
  for (const [field, cents] of [
    ['low', low],
    ['mid', mid],
    ['high', high],
  ] as const) {
    if (cents === null) continue
    if (cents < times * leastCents) {
      const load =
        miles === null
          ? 'multiply it by the miles'
          : `which is ${formatDollars(cents * miles)} for ${Math.round(miles)} miles`
      faults.push({
        field,
        detail: `${field} must be ${unit} per load; ${formatDollars(cents)} looks like ${unit} per mile, ${load}.`,
      })
    } else if (cents > most) {
      const haul = miles === null ? 'any haul' : `${Math.round(miles)} miles`
      faults.push({
        field,
        detail: `${field} must be ${unit} per load; ${formatDollars(cents)} is more than ${haul} can cost (${formatDollars(most)}), and looks like cents. In ${unit} it is ${formatDollars(cents / 100)}.`,
      })
    }
  }
  if (faults.length > 0) return faults
  const above = (field: 'low' | 'high', detail: string) => faults.push({ field, detail })
  if (low !== null && high !== null && low > high) {
    above(
      'low',
      `low must not be above high; it is ${formatDollars(low)}, and high is ${formatDollars(high)}.`,
    )
  } else {
    if (low !== null && low > mid)
      above(
        'low',
        `low must not be above mid; it is ${formatDollars(low)}, and mid is ${formatDollars(mid)}.`,
      )
    if (high !== null && high < mid)
      above(
        'high',
        `high must not be below mid; it is ${formatDollars(high)}, and mid is ${formatDollars(mid)}.`,
      )
  }
  return faults
}
