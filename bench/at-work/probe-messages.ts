/** What the benchmark asks of the probe inside the service process. */
export type ProbeOrder =
  /** Watches the event loop from now on, anew. */
  | { readonly kind: 'watch' }
  /** Ends the watch and says what it saw. */
  | { readonly kind: 'watched' }
  /** Collects garbage and says what is left. */
  | { readonly kind: 'memory' }
  /** Moves the service's clock on to a time of its present or next day (UTC). */
  | { readonly kind: 'clock'; readonly millisecondOfDay: number }

/** A moment in which the event loop did nothing else. */
export interface Block {
  readonly ms: number
  /** What the thread itself computed of that: the rest it waited, for the system or for another process on its core. */
  readonly cpuMs: number
}

/** How the event loop did. Times are milliseconds. */
export interface Watched {
  readonly maxMs: number
  readonly p999Ms: number
  readonly medianMs: number
  /** The longest first. */
  readonly blocks: readonly Block[]
  /** The longest that the thread computed in one go, as far as the system counts it: whoever shares its core adds nothing. */
  readonly computedMaxMs: number
  /** The longest that memory was collected at once. */
  readonly longestCollectionMs: number
  /** The share of one core that the process used, its helpers with it. */
  readonly busy: number
}

/** Bytes after a collection. `external` is what is kept beside the heap, array buffers with it. */
export interface MemoryUse {
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly resident: number
}

/** How far the service's clock goes ahead of the machine's. */
export interface ClockMoved {
  readonly aheadMs: number
}
