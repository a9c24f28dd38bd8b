import { setImmediate as othersTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Books, BrokerageBook } from '../book/index.ts'
import { bids } from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { type LanePricer, lanePricer } from './price-lane.ts'

/** Prices the lanes of bids in the background. On shutdown it stops after its current lanes, and another process goes on. */
export interface BidPricer {
  /** Prices the lanes of a bid that have no price. */
  start(tenant: TenantId, bidId: number): void
  drain(): Promise<void>
}

/** Lanes that are stored at a time: some tenths of a second of work, which is what a killed process loses. */
const lanesAtOnce = 50
/** How often the service looks for bids whose process died. */
const resumeEveryMs = 5_000

interface Parts {
  readonly database: Database
  readonly books: Books<BrokerageBook>
  /** Epoch milliseconds. */
  readonly clock: () => number
  readonly log: Log
}

interface Job {
  readonly tenant: TenantId
  readonly bidId: number
}

/**
 * Prices bids one after the other. With `resumeEveryMs` null, this instance does not look for bids of other processes.
 */
export function bidPricer(parts: Parts, options: { readonly resumeEveryMs?: number | null } = {}): BidPricer {
  const { database, log } = parts
  const waiting: Job[] = []
  let isStopping = false
  let isWorking = false
  let work: Promise<unknown> = Promise.resolve()
  let looking: Promise<unknown> = Promise.resolve()

  function start(tenant: TenantId, bidId: number): void {
    const job = { tenant, bidId }
    if (isStopping || waiting.some((one) => isDeepStrictEqual(one, job))) return
    waiting.push(job)
    if (isWorking) return
    isWorking = true
    work = runInBackground(workAll)
  }

  /** Lets any process go on with a bid at once. */
  async function release({ tenant, bidId }: Job): Promise<void> {
    await runInBackground(() =>
      database.inTenant(tenant, (transaction) => bids.releaseBid(transaction, tenant, bidId)),
    ).catch((error: unknown) => log.warn({ err: error }, 'a bid could not be released'))
  }

  async function workAll(): Promise<void> {
    for (let job = waiting[0]; job !== undefined && !isStopping; job = waiting[0]) {
      // Out of the queue before its work: what is changed meanwhile queues it again.
      waiting.shift()
      const about = { tenant_id: job.tenant, bid_id: job.bidId }
      try {
        const lanes = await priceBid(parts, job, () => isStopping)
        log.info({ ...about, lanes }, 'lanes of a bid were priced')
      } catch (error) {
        log.error({ err: error, ...about }, 'the pricing of a bid was interrupted')
        await release(job)
      }
    }
    isWorking = false
  }

  async function look(): Promise<void> {
    try {
      for (const { tenant, bidId } of await database.acrossTenants(bids.unpricedBids)) {
        if (isStopping) return
        const isMine = await database.inTenant(tenant, (transaction) =>
          bids.takeOverBid(transaction, tenant, bidId),
        )
        if (isMine) start(tenant, bidId)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not look for bids without prices')
    }
  }

  const everyMs = options.resumeEveryMs === undefined ? resumeEveryMs : options.resumeEveryMs
  const timer =
    everyMs === null
      ? undefined
      : setInterval(() => {
          looking = looking.then(() => runInBackground(look))
        }, everyMs)
  timer?.unref()

  return {
    start,
    async drain() {
      isStopping = true
      clearInterval(timer)
      await looking
      await work
      for (const job of waiting) await release(job)
    },
  }
}

/** Prices the lanes of a bid without a price, and returns their number. */
async function priceBid(parts: Parts, { tenant, bidId }: Job, isStopping: () => boolean): Promise<number> {
  const { database, clock } = parts
  const bid = await database.inTenant(tenant, (transaction) => bids.findBid(transaction, tenant, bidId))
  if (bid === null) return 0
  let price: LanePricer | null = null
  let count = 0
  for (;;) {
    if (isStopping()) {
      await database.inTenant(tenant, (transaction) => bids.releaseBid(transaction, tenant, bidId))
      return count
    }
    const lanes = await database.inTenant(tenant, (transaction) =>
      bids.unpricedLanes(transaction, tenant, bidId, lanesAtOnce),
    )
    if (lanes.length === 0) {
      if (await database.inTenant(tenant, (transaction) => bids.endPricing(transaction, tenant, bidId)))
        return count
      continue
    }
    price ??= await lanePricer({ tenant, customerName: bid.customer_name, now: clock() }, parts)
    const prices: bids.BidLanePrice[] = []
    for (const lane of lanes) {
      prices.push({ lane, priced: await price(lane) })
      // Requests run between two lanes.
      await othersTurn()
    }
    await database.inTenant(tenant, (transaction) => bids.savePrices(transaction, tenant, bidId, prices))
    count += lanes.length
  }
}
