import {
  dashboardProcessorMsMax,
  dashboardProcessorMsPerSecond,
  dashboardRequestsAtOnceMax,
  dashboardRequestsWaitingMax,
} from '#contract/limits.ts'
import {
  BrokerageBusy,
  ProcessUnavailable,
  type TenantId,
  waitWithinDeadline,
} from '../database/session/index.ts'
import { orLate, takeTurn } from '../runtime/index.ts'

/** Bounds how much of this process the requests of one brokerage's people take. */
export interface DashboardShare {
  /**
   * Runs a request's work when it is the brokerage's turn. The work until its first `await` counts against the brokerage's
   * processor time.
   *
   * @throws BrokerageBusy if too many requests of the brokerage wait, or if this one waited for them until its deadline
   * @throws ProcessUnavailable if it waited for requests of others until its deadline
   */
  run<T>(tenant: TenantId, work: () => Promise<T>): Promise<T>
  /** Runs work at once, and counts its processor time. For the work of a request after its `await`. */
  charge<T>(tenant: TenantId, work: () => T): T
}

interface Share {
  running: number
  /** Processor time that is left, in milliseconds; below 0 if the last request took more. */
  leftMs: number
  /** When `leftMs` was current. */
  countedAt: number
  /** The number of its last start; 0 if nothing has started. */
  lastStart: number
  readonly waiting: (() => void)[]
}

/** The processor time of this thread in milliseconds, which does not pass while other processes run. */
const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const idleShare = (now: number): Share => ({
  running: 0,
  leftMs: dashboardProcessorMsMax,
  countedAt: now,
  lastStart: 0,
  waiting: [],
})

const mayStart = ({ running, leftMs }: Share) => running < dashboardRequestsAtOnceMax && leftMs > 0
const isIdle = ({ running, waiting, leftMs }: Share) =>
  running === 0 && waiting.length === 0 && leftMs >= dashboardProcessorMsMax

/**
 * The brokerage that starts next: of those that may start, the one whose last start is longest ago. If none may, the time
 * until one has processor time again.
 */
function nextOf(waiting: readonly Share[]): { next: Share | null; wakeInMs: number } {
  const able = waiting.filter(mayStart)
  const next = able.reduce<Share | null>(
    (first, one) => (first === null || one.lastStart < first.lastStart ? one : first),
    null,
  )
  const spent = waiting.filter(({ leftMs }) => leftMs <= 0)
  const waits = spent.map(({ leftMs }) => ((1 - leftMs) / dashboardProcessorMsPerSecond) * 1_000)
  return { next, wakeInMs: Math.min(...waits, Number.POSITIVE_INFINITY) }
}

/**
 * Waits until the brokerage's request is started.
 *
 * @throws BrokerageBusy after `leftMs`, if requests of the same brokerage delayed it
 * @throws ProcessUnavailable after `leftMs`, if requests of other brokerages did
 */
async function inLine(share: Share, leftMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  share.waiting.push(resolve)
  await orLate(promise, leftMs)
  const at = share.waiting.indexOf(resolve)
  if (at < 0) return
  const isNext = at === 0 && mayStart(share)
  share.waiting.splice(at, 1)
  throw isNext
    ? new ProcessUnavailable('busy', 'the turns of others take too long')
    : new BrokerageBusy('its own requests take too long')
}

/**
 * Three bounds per brokerage, so that other brokerages see no difference, however many expensive requests one sends:
 *
 * - `dashboardRequestsAtOnceMax` requests run at once; further ones wait in order of arrival.
 * - In one turn of the event loop, one request starts or a running one goes on for a slice, and the brokerages take turns. A
 *   hundred requests that arrive together delay another brokerage's request by the work of one of them, not of a hundred.
 * - Work that does not yield uses up the brokerage's processor time. While none is left, its requests wait. Work that yields
 *   (`yieldBetweenSteps`) takes turns, and uses up none.
 */
export function dashboardShare(
  monotonic: () => number = () => performance.now(),
  processorMs: () => number = threadMs,
): DashboardShare {
  const shares = new Map<TenantId, Share>()
  let starts = 0
  let startedThisTurn = false
  let waking: NodeJS.Timeout | undefined

  function shareOf(tenant: TenantId): Share {
    const now = monotonic()
    const share = shares.get(tenant) ?? idleShare(now)
    const gained = ((now - share.countedAt) / 1_000) * dashboardProcessorMsPerSecond
    share.leftMs = Math.min(dashboardProcessorMsMax, share.leftMs + Math.max(0, gained))
    share.countedAt = now
    shares.set(tenant, share)
    return share
  }

  /** Marks the start of a request. The next start takes turns with the slices of running requests. */
  function begin(share: Share): void {
    share.running++
    share.lastStart = ++starts
    startedThisTurn = true
    takeTurn(nextTurn)
  }

  function nextTurn(): void {
    startedThisTurn = false
    startNext()
  }

  /** Starts the request that waited longest, of the brokerage whose last start is longest ago. */
  function startNext(): void {
    if (startedThisTurn) return
    const { next, wakeInMs } = nextOf(
      [...shares].flatMap(([tenant, { waiting }]) => (waiting.length === 0 ? [] : shareOf(tenant))),
    )
    if (next !== null) {
      begin(next)
      next.waiting.shift()?.()
      return
    }
    clearTimeout(waking)
    if (Number.isFinite(wakeInMs)) waking = setTimeout(startNext, Math.ceil(wakeInMs)).unref()
  }

  async function startInTurn(tenant: TenantId): Promise<void> {
    const share = shareOf(tenant)
    if (!startedThisTurn && share.waiting.length === 0 && mayStart(share)) return begin(share)
    if (share.waiting.length >= dashboardRequestsWaitingMax) throw new BrokerageBusy('the queue is full')
    await waitWithinDeadline((leftMs) => {
      const started = inLine(share, leftMs)
      if (!startedThisTurn) startNext()
      return started
    })
  }

  function charge<T>(tenant: TenantId, work: () => T): T {
    const before = processorMs()
    try {
      return work()
    } finally {
      const share = shareOf(tenant)
      // Without this bound, one long request could delay the brokerage's other requests beyond their deadlines.
      share.leftMs = Math.max(-dashboardProcessorMsPerSecond, share.leftMs - (processorMs() - before))
    }
  }

  return {
    charge,
    async run(tenant, work) {
      await startInTurn(tenant)
      try {
        return await charge(tenant, work)
      } finally {
        const share = shareOf(tenant)
        share.running--
        startNext()
        // A brokerage without requests is forgotten once its processor time is whole again.
        if (isIdle(share)) shares.delete(tenant)
      }
    },
  }
}
