import { type MarketAdapterName, marketAdapterNames } from '#contract/market-keys.ts'
import type { Place } from '#engine/place.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
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

/** The amounts of an answer, in dollars per load. */
export interface ProvidedAmounts {
  readonly basis: RateBasis
  readonly currency: string
  readonly low?: number
  readonly mid: number
  readonly high?: number
  readonly fuel?: number
  readonly sample?: number
  /** The miles that the provider states: they must be near those of the lane. */
  readonly miles?: number
}

/** A rate in the form in which a brokerage sends market rates, and the miles of the provider. */
export interface ProvidedRate extends ProvidedAmounts {
  readonly scope: 'lane'
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly kind: 'buy'
  readonly source: string
  readonly as_of: string
}

/**
 * What a provider answered: a rate; none, because it has no rate for such a lane; or a failure, in words for people,
 * with the time to wait that the provider asked for. `isKeyRefused`: the next call would fail, too.
 */
export type Provided = { readonly rate: ProvidedRate } | { readonly rate: null } | ProviderFailure

export interface ProviderFailure {
  readonly failure: string
  readonly isKeyRefused: boolean
  readonly waitSeconds: number | null
}

/** An access token in memory. It is used before the time `until`. */
export interface AccessToken {
  readonly text: string
  readonly until: number
}

/** Sends one guarded request: see `postEvent`. */
export type Send = (
  url: string,
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<Posted>

/** The members of an answer in JSON. */
export type Members = Readonly<Record<string, unknown>>

/**
 * What is particular to a provider of market rates; `askRate` does the rest. A provider needs a file with this object, its name
 * in `marketAdapterNames`, its source above, and its addresses in the configuration.
 */
export interface MarketAdapter {
  readonly name: MarketAdapterName
  /** The provider's word for each equipment code with rates. Lanewise asks about lanes of the US and Canada only. */
  readonly equipments: Readonly<Record<string, string>>
  /** Gets an access token for a key, whose parts are those that an admin entered. */
  token(
    key: Readonly<Record<string, string>>,
    at: { readonly send: Send; readonly now: number },
  ): Promise<AccessToken | ProviderFailure>
  readonly rateUrl: string
  /** The body of the request for a rate. */
  rateRequest(lane: WantedLane, equipment: string, now: number): unknown
  /** The statuses by which the provider says that it has no rate for such a lane: asking again would not help. */
  readonly noRateStatuses: readonly number[]
  /** The amounts of an answer; null if the provider has none for the lane; else what is wrong with the answer. */
  amountsOf(answer: Members): ProvidedAmounts | null | string
}
