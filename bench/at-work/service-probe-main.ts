import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'
import type { Block, ClockMoved, MemoryUse, ProbeOrder, Watched } from './probe-messages.ts'

/**
 * Node loads this probe into the service process, before the service (`--import`). It observes the event loop and the memory, and
 * reports to the benchmark over the IPC channel: the service needs no code for the benchmark.
 */

/** Fine enough for the limit of 30 ms. A finer resolution would itself use CPU time. */
const resolutionMs = 2
const blocksMax = 5
/** Shorter blocks are not recorded individually. */
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
  // The histogram gives the length of a block; the CPU time shows whether the thread worked or waited.
  const timer = setInterval(() => {
    const now = performance.now()
    const used = process.threadCpuUsage()
    const ms = now - at
    const cpuMs = (used.user + used.system - cpu.user - cpu.system) / 1000
    computedMaxMs = Math.max(computedMaxMs, cpuMs)
    if (ms >= blockMsMin) {
      blocks.push({ ms, cpuMs })
      blocks.sort((one, other) => other.ms - one.ms)
      blocks.length = Math.min(blocks.length, blocksMax)
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
  // The second collection frees objects that the first one finalized.
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
  // The service uses this function as its clock.
  Date.now = () => systemNow() + aheadMs
  let watching: Watch | undefined
  const execute = (order: ProbeOrder): Watched | MemoryUse | ClockMoved | null => {
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
  process.on('message', (order: ProbeOrder) => process.send?.(execute(order)))
  // The open channel must not prevent the service from ending.
  process.channel?.unref()
}
