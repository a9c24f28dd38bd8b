import type { CallLog, Refusals } from '../audit/index.ts'
import type { BacktestRunner } from '../backtests/index.ts'
import type { Books, BrokerageBook } from '../book/index.ts'
import type { TenantMemory } from '../cache/index.ts'
import type { Config } from '../configuration/index.ts'
import type { Database, Replica, StaleReads } from '../database/session/index.ts'
import type { ImportRunner } from '../imports/index.ts'
import type { TenantLimit } from '../limits/index.ts'
import type { Log } from '../runtime/index.ts'
import type { RateLimit, SecretKeys, SignInAttempts, SignUps, Tokens } from '../security/index.ts'
import type { Metrics, Traces } from '../watching/index.ts'

/** What the program is made of. Handed to every endpoint, so that nothing is reached for. */
export interface Parts {
  readonly config: Config
  readonly database: Database
  /** For long reads that may be some seconds old; the database itself where there is no replica. */
  readonly staleReads: StaleReads
  /** Null where there is none. */
  readonly replica: Replica | null
  readonly tokens: Tokens
  readonly secretKeys: SecretKeys
  /** The names of the migrations that this version was written for. */
  readonly migrations: readonly string[]
  readonly signInAttempts: SignInAttempts
  readonly signUps: SignUps
  readonly imports: ImportRunner
  readonly backtests: BacktestRunner
  readonly books: Books<BrokerageBook>
  readonly memory: TenantMemory
  /** The interface's limit, over all integration endpoints and instances. */
  readonly tenantLimit: TenantLimit
  readonly signatureCheckLimit: RateLimit
  readonly calls: CallLog
  readonly refusals: Refusals
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** Milliseconds that never jump. */
  readonly monotonic: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly traces: Traces
}
