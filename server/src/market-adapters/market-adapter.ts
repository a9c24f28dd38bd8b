import { type MarketAdapterName, marketAdapterNames } from '#contract/market-keys.ts'
import type { Place } from '#engine/place.ts'
import type { Posted } from '../events/index.ts'

/** The source of an adapter's rates: they are listed and erased by it. */
export const sourceOfAdapter: Readonly<Record<MarketAdapterName, string>> = {
  greenscreens: 'Greenscreens',
  dat: 'DAT',
}

/** The number that identifies an adapter's key in the database. @example adapterNumber('greenscreens') // 1 */
export function adapterNumber(name: MarketAdapterName): number {
  return marketAdapterNames.indexOf(name) + 1
}

/** A lane that a provider is asked about. */
export interface WantedLane {
  readonly origin: Place
  readonly destination: Place
  readonly equipmentCode: string
}

/** A rate in the form in which a brokerage sends market rates: dollars per load. */
export interface ProvidedRate {
  readonly scope: 'lane'
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly basis: 'all_in' | 'linehaul'
  readonly kind: 'buy'
  readonly currency: string
  readonly low?: number
  readonly mid: number
  readonly high?: number
  readonly fuel?: number
  readonly sample?: number
  readonly source: string
  readonly as_of: string
}

/**
 * What a provider answered: a rate; none, because it has no rate for such a lane; or a failure, in words for people,
 * with the time to wait that the provider asked for. `isKeyRefused`: the next call would fail, too.
 */
export type Provided =
  | { readonly rate: ProvidedRate }
  | { readonly rate: null }
  | { readonly failure: string; readonly isKeyRefused: boolean; readonly waitSeconds: number | null }

/** Sends one guarded request: see `postEvent`. */
export type Send = (
  url: string,
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<Posted>

/** A provider of market rates. */
export interface MarketAdapter {
  readonly name: MarketAdapterName
  /** Whether the provider may know such lanes. */
  covers(lane: WantedLane): boolean
  /** Asks for the rate of a lane. `key` is the stored key as JSON. Never throws for anything that the provider answers. */
  ask(key: string, lane: WantedLane, at: { readonly send: Send; readonly now: number }): Promise<Provided>
}
