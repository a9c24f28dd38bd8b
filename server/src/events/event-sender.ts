import {
  deliveriesPerEndpointMax,
  deliveryDelaysSeconds,
  deliverySecondsMax,
  endpointsAtOnceMax,
  eventsKeptDaysMax,
  failingEndpointsAtOnceMax,
} from '#contract/limits.ts'
import { eventSecretPlace } from '../access/index.ts'
import { recordEvent } from '../audit/index.ts'
import type { Config } from '../configuration/index.ts'
import {
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
} from '../database/queries/index.ts'
import { type Database, runInBackground } from '../database/session/index.ts'
import { type Log, version } from '../runtime/index.ts'
import { allowedPrivate, type SecretKeys, unsealWithAny, webhookSignature } from '../security/index.ts'
import { eventBody } from './event-body.ts'
import { type Posted, postEvent } from './post-event.ts'

const lookEveryMs = 1_000
/** Longer than an attempt can take, with the wait to write down what came of it. */
const leaseSeconds = deliverySecondsMax + 20
/** Rounds of deliveries to one address before the others have their turn. */
const roundsMax = 20
/** After a stop: how long what is under way may take before it is cut off, to be tried again by whoever comes next. */
const stopPatienceMs = 5_000
const pruneEveryMs = 600_000
const dayMs = 86_400_000
/** A receiver may ask for patience, but not for longer than the schedule would have it in the end. */
const retryAfterSecondsMax = 3_600

/** Attempts since the start, by what became of them. */
export interface EventCounts {
  readonly delivered: number
  /** To be tried again. */
  readonly failed: number
  /** Given up. */
  readonly dead: number
  /** Addresses that were switched off. */
  readonly disabled: number
}

export interface EventSender {
  counts(): EventCounts
  queue(): Promise<EventQueue>
  /** Lets what is on its way arrive for a few seconds, and begins nothing more. */
  drain(): Promise<void>
}

/**
 * What becomes of an event after an attempt: 2xx is delivered, 410 never again, anything else tried again until the
 * schedule ends. `random` is from 0 up to 1.
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

/**
 * Sends what the outbox holds, of all brokerages. Several instances share the work: each takes deliveries for a while, and
 * what a crash leaves unsettled comes due again. Every address has a queue of its own, so that one that stalls holds up
 * nobody else; one that has just failed is tried with one delivery at a time.
 */
export function eventSender(
  {
    config,
    database,
    secretKeys,
    clock,
    log,
  }: { config: Config; database: Database; secretKeys: SecretKeys; clock: () => number; log: Log },
  { post = postEvent, everyMs = lookEveryMs }: { post?: typeof postEvent; everyMs?: number } = {},
): EventSender | null {
  if (config.events === null) return null
  const allowed = allowedPrivate(config.events.allowPrivate)
  const counts = { delivered: 0, failed: 0, dead: 0, disabled: 0 }
  const sending = new Map<string, { readonly failing: boolean; readonly work: Promise<void> }>()
  /** Addresses whose last attempt failed, as far as this instance knows. */
  const failing = new Set<string>()
  const cutOff = new AbortController()
  let stopping = false
  let isDown = false
  let prunedAt = Number.NEGATIVE_INFINITY

  async function send(
    to: DueEndpoint,
    { url, secrets }: ClaimedDeliveries,
    event: ClaimedEvent,
  ): Promise<void> {
    const opened = secrets.flatMap(
      ({ secretId, sealed }) =>
        unsealWithAny(secretKeys, eventSecretPlace(to.tenant, secretId), sealed) ?? [],
    )
    const began = performance.now()
    const posted: Posted =
      opened.length === 0
        ? { status: null, text: null, failure: 'No secret of it can be opened.', retryAfterSeconds: null }
        : await post(url, signed(event, to.endpointId, opened), { allowed, stop: cutOff.signal })
    const ms = performance.now() - began
    const settlement = settlementOf(event.attempt, posted, Math.random())
    const { status, text, failure } = posted
    if (settlement.state === 'dead') await giveUp(to, event, status === 410)
    await runInBackground(() =>
      settleDelivery(database, to.tenant, to.endpointId, event, { ...settlement, status, text, failure, ms }),
    )
    counts[settlement.state === 'due' ? 'failed' : settlement.state]++
    const key = keyOf(to)
    if (settlement.state === 'delivered') failing.delete(key)
    else failing.add(key)
  }

  function signed(event: ClaimedEvent, endpointId: number, secrets: readonly string[]) {
    const body = JSON.stringify(eventBody(event, endpointId))
    const message = { id: event.id, timestampSeconds: Math.floor(clock() / 1000), body }
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

  /** Switches an address off that wants no more, or has taken nothing since an event that was given up. */
  async function giveUp(
    { tenant, endpointId }: DueEndpoint,
    event: ClaimedEvent,
    isGone: boolean,
  ): Promise<void> {
    const reason = isGone ? ('gone' as const) : ('failing' as const)
    await runInBackground(() =>
      database.inTenant(tenant, async (transaction) => {
        const why = isGone
          ? { reason: 'gone' as const }
          : { reason: 'failing' as const, eventNumber: event.number }
        if (!(await disableEventEndpoint(transaction, tenant, endpointId, why))) return
        counts.disabled++
        log.warn(
          { tenant_id: tenant, endpoint_id: endpointId, reason },
          'events are sent to an address no more',
        )
        await recordEvent(
          transaction,
          { caller: { tenant, userId: null }, now: clock(), network: null, requestId: null },
          'event-endpoint-disabled',
          { about: { endpoint_id: endpointId, reason } },
        )
      }),
    )
  }

  /** Sends to one address until nothing more is due there, it fails, or others are to have their turn. */
  async function sendTo(to: DueEndpoint): Promise<void> {
    const key = keyOf(to)
    const isCrowded = () => sending.size >= endpointsAtOnceMax
    for (let round = 0; !stopping && (round < roundsMax || !isCrowded()); round++) {
      const most = failing.has(key) ? 1 : deliveriesPerEndpointMax
      const claimed = await runInBackground(() =>
        claimDeliveries(database, to.tenant, to.endpointId, { most, leaseSeconds }),
      )
      if (claimed === null || claimed.events.length === 0) return
      await Promise.all(claimed.events.map((event) => send(to, claimed, event)))
    }
  }

  function begin(to: DueEndpoint): void {
    const key = keyOf(to)
    const isFailing = failing.has(key)
    const already = [...sending.values()].filter((one) => one.failing).length
    if (stopping || sending.has(key) || sending.size >= endpointsAtOnceMax) return
    if (isFailing && already >= failingEndpointsAtOnceMax) return
    const work = sendTo(to)
      .catch((error: unknown) => log.warn({ err: error, tenant_id: to.tenant }, 'events were not sent'))
      .finally(() => sending.delete(key))
    sending.set(key, { failing: isFailing, work })
  }

  const keptSince = () => new Date(clock() - eventsKeptDaysMax * dayMs)
  const queue = () =>
    runInBackground(() => database.outsideTenants((transaction) => eventQueue(transaction, keptSince())))

  /** Takes away what is older than is kept. */
  async function prune(): Promise<void> {
    const { tenantsWithOld } = await queue()
    for (const tenant of tenantsWithOld) {
      let isMore = true
      while (isMore && !stopping) {
        isMore = await runInBackground(() =>
          database.inTenant(tenant, (transaction) => pruneEvents(transaction, tenant, keptSince())),
        )
      }
    }
  }

  async function look(): Promise<void> {
    try {
      const due = await runInBackground(() =>
        database.outsideTenants((transaction) => dueEndpoints(transaction, endpointsLookedAtMax)),
      )
      for (const to of due) begin(to)
      if (performance.now() - prunedAt > pruneEveryMs) {
        prunedAt = performance.now()
        await prune()
      }
      isDown = false
    } catch (error) {
      // Said once: until the database is back, every look fails.
      if (!isDown) log.warn({ err: error }, 'the queue of events could not be looked at')
      isDown = true
    }
  }

  let timer: NodeJS.Timeout
  let looking = Promise.resolve()
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      looking = look().finally(() => {
        if (!stopping) schedule(everyMs)
      })
    }, ms)
    timer.unref()
  }
  schedule(everyMs)

  return {
    counts: () => ({ ...counts }),
    queue,
    async drain() {
      stopping = true
      clearTimeout(timer)
      const patience = setTimeout(() => cutOff.abort(), stopPatienceMs)
      await looking
      await Promise.all([...sending.values()].map(({ work }) => work))
      clearTimeout(patience)
    },
  }
}

/** More addresses than this that wait at once are not looked at in one look. */
const endpointsLookedAtMax = 10_000

const keyOf = ({ tenant, endpointId }: DueEndpoint) => `${tenant}/${endpointId}`
