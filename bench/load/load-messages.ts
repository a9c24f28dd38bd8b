/** Requests as they go over the wire, one after the other. */
export interface RequestPool {
  readonly bytes: Uint8Array
  /** Where each request ends. */
  readonly ends: Uint32Array
  /** Whose each request is: a number from 0. */
  readonly tenants: Uint32Array
}

/** What the load generator is asked to do with a pool it holds. */
export interface LoadRun {
  /** The name of the pool that is sent from. A later run on it goes on where this one stops. */
  readonly pool: string
  readonly port: number
  readonly connections: number
  /** For so long, or until each request of the pool was sent once. */
  readonly seconds: number
  readonly once: boolean
  /** Requests a second, sent when their time has come whatever became of those before; null: as fast as answers come. */
  readonly perSecond: number | null
  /** Holds back a request that would be its tenant's eleventh within a second. */
  readonly withinLimit: boolean
  /** Leaves its core to others while there is nothing to do. */
  readonly sleeps?: boolean
}

/** What came of a run. Times are microseconds. */
export interface LoadResult {
  readonly answers: number
  /** How often each status other than 200 came; 0 is a connection that broke. */
  readonly others: Readonly<Record<string, number>>
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The share of one core that the generator itself used. */
  readonly generatorBusy: number
  /** The share of the time in which a connection had nothing to send because a tenant had had its ten. */
  readonly heldBack: number
  /** False when the time was over before each request of the pool was sent. */
  readonly wholePool: boolean
}

export type LoadOrder =
  | { readonly kind: 'pool'; readonly name: string; readonly pool: RequestPool }
  | { readonly kind: 'run'; readonly run: LoadRun }
export type LoadReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly reason: string }
