import {
  marketAnswerKeptMax,
  marketAsksAtOnceMax,
  marketAsksPerMinuteMax,
  marketFreshHours,
} from '#contract/limits.ts'
import { marketKeyPlace } from '../access/index.ts'
import type { Config } from '../configuration/index.ts'
import { type MarketKeyRow, type MarketRateRow, marketKeys } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { postEvent } from '../events/index.ts'
import type { Log } from '../runtime/index.ts'
import { allowedPrivate, type SecretKeys, slidingWindow, unsealWithAny } from '../security/index.ts'
import { coversLane, rateAsker } from './ask-rate.ts'
import { dat } from './dat.ts'
import { greenscreens } from './greenscreens.ts'
import {
  adapterNumber,
  type MarketAdapter,
  type Provided,
  type ProvidedRate,
  type ProviderFailure,
  sourceOfAdapter,
  type WantedLane,
} from './market-adapter.ts'

/** Stores a rate of a provider. Returns why it is refused; null if it is stored. */
export type StoreRate = (
  transaction: TenantTransaction,
  tenant: TenantId,
  rate: ProvidedRate,
  now: number,
) => Promise<string | null>

/** A lane that a brokerage looks at, with what is stored about it. */
export interface LookedAt {
  readonly tenant: TenantId
  readonly lane: WantedLane
  readonly keys: readonly MarketKeyRow[]
  /** The calls that the brokerage permits for the rest of the day. */
  readonly callsLeft: number
  readonly stored: readonly Pick<MarketRateRow, 'source' | 'scope' | 'equipment_code' | 'said_at'>[]
}

/** The providers of market rates. */
export interface MarketAdapters {
  /**
   * Has providers asked for the rate of a lane, if a key is set and no fresh rate is stored. Returns at once: false if a provider
   * was to be asked, and no call of the day is left.
   */
  ask(lookedAt: LookedAt, store: StoreRate): boolean
  /** Forgets which lanes were asked about, for example because the rates were erased. */
  forget(tenant: TenantId): void
  /** Waits for the calls in flight, and starts no more. */
  drain(): Promise<void>
}

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly clock: () => number
  readonly monotonic: () => number
  readonly log: Log
}

const hourMs = 3_600_000
const minuteMs = 60_000
/** Lanes of all brokerages that are remembered as asked. The oldest is forgotten first. */
const rememberedMax = 100_000

/** Makes the providers; null if the operator has not turned adapters on. */
export function marketAdapters(parts: Parts): MarketAdapters | null {
  const { marketAdapters: on } = parts.config
  if (on === null) return null
  const adapters = [
    greenscreens(on.greenscreensUrl),
    dat({ identity: on.datIdentityUrl, analytics: on.datAnalyticsUrl }),
  ]
  return new Providers(parts, adapters, allowedPrivate(on.allowPrivate))
}

class Providers implements MarketAdapters {
  readonly #parts: Parts
  readonly #adapters: readonly MarketAdapter[]
  readonly #allowed: ReturnType<typeof allowedPrivate>
  readonly #askRate = rateAsker()
  readonly #perMinute = slidingWindow(marketAsksPerMinuteMax, minuteMs)
  /** When a lane was asked about, by brokerage, adapter, lane and equipment. */
  readonly #asked = new Map<string, number>()
  readonly #working = new Set<Promise<void>>()
  readonly #cutOff = new AbortController()

  constructor(parts: Parts, adapters: readonly MarketAdapter[], allowed: ReturnType<typeof allowedPrivate>) {
    this.#parts = parts
    this.#adapters = adapters
    this.#allowed = allowed
  }

  ask({ tenant, lane, keys, callsLeft, stored }: LookedAt, store: StoreRate): boolean {
    let isRefused = false
    const { clock, monotonic, log } = this.#parts
    const now = clock()
    const since = now - marketFreshHours * hourMs
    for (const adapter of this.#adapters) {
      const key = keys.find(({ secret_id: id }) => id === adapterNumber(adapter.name))
      if (key === undefined || (key.retry_at?.getTime() ?? 0) > now || !coversLane(adapter, lane)) continue
      const isFresh = stored.some(
        (rate) =>
          rate.source === sourceOfAdapter[adapter.name] &&
          rate.scope === 'lane' &&
          rate.equipment_code === lane.equipmentCode &&
          rate.said_at.getTime() > since,
      )
      const name = `${tenant} ${adapter.name} ${lane.origin.key} ${lane.destination.key} ${lane.equipmentCode}`
      if (isFresh || (this.#asked.get(name) ?? 0) > since) continue
      if (callsLeft < 1) {
        isRefused = true
        continue
      }
      if (this.#cutOff.signal.aborted || this.#working.size >= marketAsksAtOnceMax) continue
      if (!this.#perMinute.admit(tenant, monotonic()).admitted) continue
      this.#remember(name, now)
      const work = this.#askOne(adapter, key, { tenant, lane, store, name })
        .catch((error: unknown) => {
          this.#asked.delete(name)
          log.warn({ err: error, tenant_id: tenant }, 'a market rate could not be asked for')
        })
        .finally(() => this.#working.delete(work))
      this.#working.add(work)
    }
    return !isRefused
  }

  forget(tenant: TenantId): void {
    for (const name of this.#asked.keys()) if (name.startsWith(`${tenant} `)) this.#asked.delete(name)
  }

  async drain(): Promise<void> {
    this.#cutOff.abort()
    await Promise.all(this.#working)
  }

  #remember(name: string, now: number): void {
    this.#asked.delete(name)
    this.#asked.set(name, now)
    const [oldest] = this.#asked.keys()
    if (this.#asked.size > rememberedMax && oldest !== undefined) this.#asked.delete(oldest)
  }

  async #askOne(
    adapter: MarketAdapter,
    key: MarketKeyRow,
    asked: {
      readonly tenant: TenantId
      readonly lane: WantedLane
      readonly store: StoreRate
      readonly name: string
    },
  ): Promise<void> {
    const { database, clock } = this.#parts
    const { tenant, store, name } = asked
    // Counted before the call, in one statement, so that all instances together make no more calls than the brokerage permits.
    const isPermitted = await runInBackground(() =>
      database.inTenant(tenant, (transaction) => marketKeys.countMarketCall(transaction, tenant, clock())),
    )
    if (!isPermitted) {
      this.#asked.delete(name)
      return
    }
    const provided = await this.#call(adapter, key, asked)
    // The next start asks again; the provider did not fail.
    if (this.#cutOff.signal.aborted && 'failure' in provided) return
    const now = clock()
    await runInBackground(() =>
      database.inTenant(tenant, async (transaction) => {
        const rate = 'rate' in provided ? provided.rate : null
        // The rate of a key that was removed meanwhile is not stored.
        const at = new Date(now)
        const isCurrent = await marketKeys.noteMarketCall(
          transaction,
          tenant,
          key,
          'failure' in provided
            ? { at, failure: provided.failure, retryAt: retryAt(provided, key.failures, now) }
            : { at, failure: null },
        )
        if (!isCurrent || rate === null) return
        const refused = await store(transaction, tenant, rate, now)
        if (refused === null) return
        const failure = `The rate that it answered was refused: ${refused}`
        await marketKeys.noteMarketCall(transaction, tenant, key, { at, failure, retryAt: at })
      }),
    )
    if ('failure' in provided) this.#asked.delete(name)
  }

  async #call(
    adapter: MarketAdapter,
    { secret_id: id, sealed }: MarketKeyRow,
    { tenant, lane }: { readonly tenant: TenantId; readonly lane: WantedLane },
  ): Promise<Provided> {
    const { secretKeys, clock } = this.#parts
    const plaintext = unsealWithAny(secretKeys, marketKeyPlace(tenant, id), sealed)
    if (plaintext === null) {
      return {
        failure: 'The stored key cannot be decrypted. Set it again.',
        isKeyRefused: true,
        waitSeconds: null,
      }
    }
    return this.#askRate(adapter, plaintext, lane, {
      now: clock(),
      send: (url, sent) =>
        postEvent(url, sent, {
          allowed: this.#allowed,
          keptMax: marketAnswerKeptMax,
          stop: this.#cutOff.signal,
        }),
    })
  }
}

/** When a provider may be called after a failure: an hour for a refused key, else 1, 2, 4 ... 60 minutes. */
function retryAt({ isKeyRefused, waitSeconds }: ProviderFailure, failuresBefore: number, now: number): Date {
  const backOff = isKeyRefused ? hourMs : Math.min(hourMs, minuteMs * 2 ** Math.min(failuresBefore, 10))
  return new Date(now + Math.max(backOff, Math.min((waitSeconds ?? 0) * 1000, 24 * hourMs)))
}
