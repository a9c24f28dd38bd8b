import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import type { Block, ClockMoved, MemoryUse, ProbeOrder, Watched } from './probe-messages.ts'

/**
 * Goes into the service process with `--import`, before the service: looks at its event loop and its memory from the inside
 * and answers over the channel to the benchmark, so that the service itself knows nothing of being measured.
 */

/** Fine enough for a bar of 30 ms; a finer one would itself be work. */
const resolutionMs = 2
const blocksKept = 5
/** Shorter ones are not looked at one by one. */
const blockMsMin = 8
const dayMs = 86_400_000

interface Watch {
  readonly end: () => Watched
}

function watch(): Watch {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
  histogram.enable()
  const blocks: Block[] = []
  let computedMaxMs = 0
  let longestCollectionMs = 0
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries())
      longestCollectionMs = Math.max(longestCollectionMs, duration)
  })
  collections.observe({ entryTypes: ['gc'] })
  const began = { at: performance.now(), cpu: process.cpuUsage() }
  let at = performance.now()
  let cpu = process.threadCpuUsage()
  // The histogram says how long, this says why: whether the thread was at work in a block or was kept waiting.
  const timer = setInterval(() => {
    const now = performance.now()
    const used = process.threadCpuUsage()
    const ms = now - at
    const cpuMs = (used.user + used.system - cpu.user - cpu.system) / 1000
    computedMaxMs = Math.max(computedMaxMs, cpuMs)
    if (ms >= blockMsMin) {
      blocks.push({ ms, cpuMs })
      blocks.sort((one, other) => other.ms - one.ms)
      blocks.length = Math.min(blocks.length, blocksKept)
    }
    at = now
    cpu = used
  }, resolutionMs)
  return {
    end() {
      histogram.disable()
      clearInterval(timer)
      collections.disconnect()
      const all = process.cpuUsage(began.cpu)
      const ms = (nanoseconds: number) => nanoseconds / 1e6
      return {
        maxMs: ms(histogram.max),
        p999Ms: ms(histogram.percentile(99.9)),
        medianMs: ms(histogram.percentile(50)),
        blocks: [...blocks],
        computedMaxMs,
        longestCollectionMs,
        busy: (all.user + all.system) / 1000 / (performance.now() - began.at),
      }
    },
  }
}

function memoryUse(): MemoryUse {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What the first one finds to be finalized, the second one lets go.
  collect()
  collect()
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  return { heapUsed, external, arrayBuffers, resident: rss }
}

const systemNow = Date.now
let aheadMs = 0

function moveClock(millisecondOfDay: number): ClockMoved {
  const now = Date.now()
  const wanted = Math.floor(now / dayMs) * dayMs + millisecondOfDay
  aheadMs += (wanted > now ? wanted : wanted + dayMs) - now
  return { aheadMs }
}

if (isMainThread && process.send !== undefined) {
  // The service takes this for its clock when it starts.
  Date.now = () => systemNow() + aheadMs
  let watching: Watch | undefined
  const obey = (order: ProbeOrder): Watched | MemoryUse | ClockMoved | null => {
    switch (order.kind) {
      case 'watch':
        watching?.end()
        watching = watch()
        return null
      case 'watched': {
        const seen = watching?.end() ?? null
        watching = undefined
        return seen
      }
      case 'memory':
        return memoryUse()
      case 'clock':
        return moveClock(order.millisecondOfDay)
    }
  }
  process.on('message', (order: ProbeOrder) => process.send?.(obey(order)))
  // The service ends when it wants to.
  process.channel?.unref()
}
