/** The raw bytes of HTTP requests, concatenated. */
export interface RequestPool {
  readonly bytes: Uint8Array
  /** The end offset of each request. */
  readonly ends: Uint32Array
  /** The tenant of each request, numbered from 0. */
  readonly tenants: Uint32Array
}

/** A run of the load generator on a pool. */
export interface LoadRun {
  /** The name of the pool. A later run continues where this one stops. */
  readonly pool: string
  readonly port: number
  readonly connections: number
  /** The maximum length of the run. */
  readonly seconds: number
  /** Ends the run when each request of the pool was sent once. */
  readonly once: boolean
  /** Delays requests so that no tenant exceeds ten per second. */
  readonly withinLimit: boolean
  /** Sleeps while there is nothing to do, instead of spinning. */
  readonly sleeps?: boolean
}

/** The results of a run. Times are microseconds. */
export interface LoadResult {
  readonly answers: number
  /** The number of responses by status, except 200. Status 0 is a broken connection. */
  readonly others: Readonly<Record<string, number>>
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  /** CPU use of the generator, as a share of one core. */
  readonly generatorBusy: number
  /** The share of the time in which a connection was idle because of the tenants' request limits. */
  readonly waitedShare: number
  /** Whether each request of the pool was sent before the run ended. */
  readonly wholePool: boolean
}

export type LoadOrder =
  | { readonly kind: 'pool'; readonly name: string; readonly pool: RequestPool }
  | { readonly kind: 'run'; readonly run: LoadRun }
export type LoadReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly reason: string }
