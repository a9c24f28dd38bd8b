import {
  deliveriesPerEndpointMax,
  deliveryDelaysSeconds,
  deliverySecondsMax,
  endpointSecondsMax,
  endpointsAtOnceMax,
  endpointsAtOncePerTenantMax,
  eventsKeptDaysMax,
  failingEndpointsAtOnceMax,
  tokenExpiryNoticeDays,
} from '#contract/limits.ts'
import { eventSecretPlace } from '../access/index.ts'
import { recordEvent } from '../audit/index.ts'
import type { Config } from '../configuration/index.ts'
import {
  announceExpiries,
  type ClaimedDeliveries,
  type ClaimedEvent,
  claimDeliveries,
  type DueEndpoint,
  disableEventEndpoint,
  dueEndpoints,
  type EventQueue,
  eventQueue,
  pruneEvents,
  type Settlement,
  settleDelivery,
  unannouncedExpiries,
} from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { type Log, version } from '../runtime/index.ts'
import { allowedPrivate, type SecretKeys, unsealWithAny, webhookSignature } from '../security/index.ts'
import { eventBody } from './event-body.ts'
import { type Posted, postEvent } from './post-event.ts'

const lookEveryMs = 1_000
/** Longer than an attempt and the write of its result can take. */
const leaseSeconds = deliverySecondsMax + 20
/** Rounds of deliveries to one address before another address gets its place. */
const roundsMax = 20
/** On shutdown: how long running attempts may take before they are aborted. Aborted attempts are retried after the restart. */
const drainMs = 5_000
/** How often old events are deleted, and credentials that expire soon are announced. */
const tidyEveryMs = 600_000
const dayMs = 86_400_000
/** The longest Retry-After of a receiver that is honored. */
const retryAfterSecondsMax = 3_600

/** Attempts since the start, by result. */
export interface EventCounts {
  readonly delivered: number
  /** Failed, and will be retried. */
  readonly failed: number
  /** Given up: no more retries. */
  readonly dead: number
  /** Endpoints that were disabled. */
  readonly disabled: number
}

export interface EventSender {
  counts(): EventCounts
  queue(): Promise<EventQueue>
  /** Starts no more attempts, and gives running ones a few seconds to finish. */
  drain(): Promise<void>
}

/**
 * The state of a delivery after an attempt: delivered for 2xx, dead for 410, otherwise due again until the schedule ends.
 *
 * @param random from 0 up to 1: spreads retries over 20% of the delay
 */
export function settlementOf(
  attempt: number,
  posted: Posted,
  random: number,
): Pick<Settlement, 'state' | 'retrySeconds'> {
  const { status, retryAfterSeconds } = posted
  if (status !== null && status >= 200 && status < 300) return { state: 'delivered', retrySeconds: null }
  const delay = deliveryDelaysSeconds[attempt - 1]
  if (status === 410 || delay === undefined) return { state: 'dead', retrySeconds: null }
  const asked = Math.min(retryAfterSeconds ?? 0, retryAfterSecondsMax)
  return { state: 'due', retrySeconds: Math.max(asked, delay * (0.9 + random * 0.2)) }
}

interface SenderParts {
  readonly config: Config
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly clock: () => number
  readonly log: Log
}

/** An address that has a place in the sender. */
interface Sending {
  /** A test brokerage has its places among those of its brokerage. */
  readonly sharesOf: TenantId
  readonly failing: boolean
  readonly work: Promise<void>
}

interface SenderOptions {
  readonly post?: typeof postEvent
  readonly settlement?: typeof settlementOf
  readonly everyMs?: number
  readonly tidyEveryMs?: number
  /** The most addresses that are sent to concurrently. */
  readonly atOnceMax?: number
  /** How long an address holds its place while others wait. */
  readonly turnMs?: number
}

/** Makes the sender of events; null when events are off. */
export function eventSender(parts: SenderParts, options: SenderOptions = {}): EventSender | null {
  const { events } = parts.config
  return events === null ? null : new OutboxSender(parts, allowedPrivate(events.allowPrivate), options)
}

/**
 * Sends the events of the outbox, of all brokerages. Several instances share the work: each leases deliveries for a while,
 * and deliveries that a crash left unsettled become due again. Each address has its own queue, so that a slow receiver
 * delays no other. An address whose last attempt failed gets one delivery at a time.
 */
class OutboxSender implements EventSender {
  readonly #parts: SenderParts
  readonly #allowed: ReturnType<typeof allowedPrivate>
  readonly #post: typeof postEvent
  readonly #settlement: typeof settlementOf
  readonly #everyMs: number
  readonly #tidyEveryMs: number
  readonly #atOnceMax: number
  readonly #turnMs: number
  readonly #counts = { delivered: 0, failed: 0, dead: 0, disabled: 0 }
  readonly #sending = new Map<string, Sending>()
  /** The number of the last start for each brokerage. The brokerage with the lowest number is next. */
  readonly #lastStarts = new Map<TenantId, number>()
  #starts = 0
  /** Addresses whose last attempt failed, as far as this instance knows. */
  readonly #failing = new Set<string>()
  readonly #cutOff = new AbortController()
  #isStopping = false
  #isDatabaseDown = false
  #tidiedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #looking = Promise.resolve()

  constructor(parts: SenderParts, allowed: ReturnType<typeof allowedPrivate>, options: SenderOptions) {
    this.#parts = parts
    this.#allowed = allowed
    this.#post = options.post ?? postEvent
    this.#settlement = options.settlement ?? settlementOf
    this.#everyMs = options.everyMs ?? lookEveryMs
    this.#tidyEveryMs = options.tidyEveryMs ?? tidyEveryMs
    this.#atOnceMax = options.atOnceMax ?? endpointsAtOnceMax
    this.#turnMs = options.turnMs ?? endpointSecondsMax * 1_000
    this.#schedule()
  }

  readonly counts = (): EventCounts => ({ ...this.#counts })

  readonly queue = (): Promise<EventQueue> =>
    runInBackground(() =>
      this.#parts.database.outsideTenants((transaction) => eventQueue(transaction, this.#keptSince())),
    )

  async drain(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    const deadline = setTimeout(() => this.#cutOff.abort(), drainMs)
    await this.#looking
    await Promise.all([...this.#sending.values()].map(({ work }) => work))
    clearTimeout(deadline)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (!this.#isStopping) this.#schedule()
      })
    }, this.#everyMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { database, log } = this.#parts
    try {
      const due = await runInBackground(() =>
        database.acrossTenants((transaction) => dueEndpoints(transaction, endpointsLookedAtMax)),
      )
      for (const to of inTurns(due, database.shares.of, (sharesOf) => this.#standing(sharesOf)))
        this.#begin(to)
      if (performance.now() - this.#tidiedAt > this.#tidyEveryMs) {
        this.#tidiedAt = performance.now()
        await this.#announceExpiries()
        await this.#prune()
      }
      this.#isDatabaseDown = false
    } catch (error) {
      // Logged once per outage, because every look fails during one.
      if (!this.#isDatabaseDown) log.warn({ err: error }, 'could not read the queue of events')
      this.#isDatabaseDown = true
    }
  }

  #standing(sharesOf: TenantId): Standing {
    return { places: this.#placesOf(sharesOf), lastStart: this.#lastStarts.get(sharesOf) ?? 0 }
  }

  #placesOf(sharesOf: TenantId): number {
    return [...this.#sending.values()].filter((one) => one.sharesOf === sharesOf).length
  }

  #begin(to: DueEndpoint): void {
    const key = keyOf(to)
    const sharesOf = this.#parts.database.shares.of(to.tenant)
    const isFailing = this.#failing.has(key)
    const failingNow = [...this.#sending.values()].filter((one) => one.failing).length
    if (this.#isStopping || this.#sending.has(key) || this.#sending.size >= this.#atOnceMax) return
    if (isFailing && failingNow >= failingEndpointsAtOnceMax) return
    if (this.#placesOf(sharesOf) >= endpointsAtOncePerTenantMax) return
    const work = this.#sendTo(to)
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error, tenant_id: to.tenant }, 'events were not sent'),
      )
      .finally(() => this.#sending.delete(key))
    this.#lastStarts.set(sharesOf, ++this.#starts)
    this.#sending.set(key, { sharesOf, failing: isFailing, work })
  }

  /** Sends to one address until nothing is due there, an attempt fails, or other addresses need the place. */
  async #sendTo(to: DueEndpoint): Promise<void> {
    const key = keyOf(to)
    const isCrowded = () => this.#sending.size >= this.#atOnceMax
    const began = performance.now()
    const hadItsTurn = (round: number) =>
      round >= roundsMax || (round > 0 && performance.now() - began >= this.#turnMs)
    for (let round = 0; !this.#isStopping && !(hadItsTurn(round) && isCrowded()); round++) {
      const most = this.#failing.has(key) ? 1 : deliveriesPerEndpointMax
      const claimed = await runInBackground(() =>
        claimDeliveries(this.#parts.database, to.tenant, to.endpointId, { most, leaseSeconds }),
      )
      if (claimed === null || claimed.events.length === 0) return
      await Promise.all(claimed.events.map((event) => this.#send(to, claimed, event)))
    }
  }

  async #send(to: DueEndpoint, { url, secrets }: ClaimedDeliveries, event: ClaimedEvent): Promise<void> {
    const { database, secretKeys } = this.#parts
    const opened = secrets.flatMap(
      ({ secretId, sealed }) =>
        unsealWithAny(secretKeys, eventSecretPlace(to.tenant, secretId), sealed) ?? [],
    )
    const began = performance.now()
    const posted: Posted =
      opened.length === 0
        ? {
            status: null,
            text: null,
            failure:
              secrets.length === 0
                ? 'It has no secret any more: rotate its secret.'
                : 'None of its secrets can be decrypted.',
            retryAfterSeconds: null,
          }
        : await this.#post(url, this.#signed(event, to.endpointId, opened), {
            allowed: this.#allowed,
            stop: this.#cutOff.signal,
          })
    const ms = performance.now() - began
    const settlement = this.#settlement(event.attempt, posted, Math.random())
    const { status, text, failure } = posted
    if (settlement.state === 'dead') await this.#disable(to, event, status === 410)
    await runInBackground(() =>
      settleDelivery(database, to.tenant, to.endpointId, event, { ...settlement, status, text, failure, ms }),
    )
    this.#counts[settlement.state === 'due' ? 'failed' : settlement.state]++
    const key = keyOf(to)
    if (settlement.state === 'delivered') this.#failing.delete(key)
    else this.#failing.add(key)
  }

  #signed(event: ClaimedEvent, endpointId: number, secrets: readonly string[]) {
    const body = JSON.stringify(eventBody(event, endpointId))
    const message = { id: event.id, timestampSeconds: Math.floor(this.#parts.clock() / 1000), body }
    return {
      body,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': `Lanewise/${version}`,
        'webhook-id': message.id,
        'webhook-timestamp': String(message.timestampSeconds),
        'webhook-signature': webhookSignature(message, secrets),
      },
    }
  }

  /** Disables an endpoint that answered 410, or that has accepted nothing since an event that was given up. */
  async #disable({ tenant, endpointId }: DueEndpoint, event: ClaimedEvent, isGone: boolean): Promise<void> {
    const { database, clock, log } = this.#parts
    const why = isGone
      ? { reason: 'gone' as const }
      : { reason: 'failing' as const, eventNumber: event.number }
    const { reason } = why
    await runInBackground(() =>
      database.inTenant(tenant, async (transaction) => {
        if (!(await disableEventEndpoint(transaction, tenant, endpointId, why))) return
        this.#counts.disabled++
        log.warn({ tenant_id: tenant, endpoint_id: endpointId, reason }, 'an event endpoint was disabled')
        await recordEvent(
          transaction,
          { caller: { tenant, userId: null }, now: clock(), network: null, requestId: null },
          'event-endpoint-disabled',
          { about: { endpoint_id: endpointId, reason } },
        )
      }),
    )
  }

  #keptSince(): Date {
    return new Date(this.#parts.clock() - eventsKeptDaysMax * dayMs)
  }

  /** Writes the events about credentials that expire soon. The next look sends them. */
  async #announceExpiries(): Promise<void> {
    const { database } = this.#parts
    const tenants = await runInBackground(() =>
      database.acrossTenants((transaction) => unannouncedExpiries(transaction, tokenExpiryNoticeDays)),
    )
    for (const tenant of tenants) {
      if (this.#isStopping) return
      await runInBackground(() =>
        database.inTenant(tenant, (transaction) =>
          announceExpiries(transaction, tenant, tokenExpiryNoticeDays),
        ),
      )
    }
  }

  /** Deletes events older than the retention period. */
  async #prune(): Promise<void> {
    const { database } = this.#parts
    const { tenantsWithOld } = await this.queue()
    for (const tenant of tenantsWithOld) {
      let isMore = true
      while (isMore && !this.#isStopping) {
        isMore = await runInBackground(() =>
          database.inTenant(tenant, (transaction) => pruneEvents(transaction, tenant, this.#keptSince())),
        )
      }
    }
  }
}

/** The maximum number of due addresses read in one look. */
const endpointsLookedAtMax = 10_000

/** A brokerage's places in the sender, and the number of its last start; 0 if nothing has started. */
interface Standing {
  readonly places: number
  readonly lastStart: number
}

/**
 * Due addresses in the order in which they get places: a brokerage with fewer places comes first, then the one whose last start is
 * longest ago. The database lists them by brokerage, so without this order the first brokerages would always take all places.
 */
function inTurns(
  due: readonly DueEndpoint[],
  shareOf: (tenant: TenantId) => TenantId,
  standingOf: (sharesOf: TenantId) => Standing,
): readonly DueEndpoint[] {
  const standings = new Map<TenantId, Standing>()
  const ranked = due.map((to) => {
    const sharesOf = shareOf(to.tenant)
    const { places, lastStart } = standings.get(sharesOf) ?? standingOf(sharesOf)
    standings.set(sharesOf, { places: places + 1, lastStart })
    return { to, places, lastStart }
  })
  return ranked
    .sort((one, other) => one.places - other.places || one.lastStart - other.lastStart)
    .map(({ to }) => to)
}

const keyOf = ({ tenant, endpointId }: DueEndpoint) => `${tenant}/${endpointId}`
