/** Messages from the benchmark to the probe inside the service process. */
export type ProbeOrder =
  /** Starts a new observation of the event loop. */
  | { readonly kind: 'watch' }
  /** Ends the observation and returns its results. */
  | { readonly kind: 'watched' }
  /** Collects garbage and returns the remaining memory use. */
  | { readonly kind: 'memory' }
  /** Moves the service's clock forward to a time of the current or next day (UTC). */
  | { readonly kind: 'clock'; readonly millisecondOfDay: number }

/** A period in which the event loop was blocked. */
export interface Block {
  readonly ms: number
  /** CPU time of the thread in that period. In the rest of it, the thread waited for the system or for another process. */
  readonly cpuMs: number
}

/** Results of an observation of the event loop. Times are milliseconds. */
export interface Watched {
  readonly maxMs: number
  readonly p999Ms: number
  readonly medianMs: number
  /** The longest blocks, in descending order. */
  readonly blocks: readonly Block[]
  /** The most CPU time of the thread in one block, which other processes on its core do not change. */
  readonly computedMaxMs: number
  /** The longest garbage collection. */
  readonly longestCollectionMs: number
  /** CPU use of the process with all threads, as a share of one core. */
  readonly busy: number
}

/** Memory use in bytes after a garbage collection. `external` is memory outside the heap, including array buffers. */
export interface MemoryUse {
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly resident: number
}

/** How far the service's clock is ahead of the machine's clock. */
export interface ClockMoved {
  readonly aheadMs: number
}
