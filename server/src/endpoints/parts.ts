import type { CallLog } from '../audit/call-log.ts'
import type { Refusals } from '../audit/refusals.ts'
import type { BacktestRunner } from '../backtests/backtest-runner.ts'
import type { Books } from '../book/books.ts'
import type { BrokerageBook } from '../book/brokerage-book.ts'
import type { TenantMemory } from '../cache/tenant-memory.ts'
import type { Config } from '../configuration/config.ts'
import type { Database } from '../database/session/open-database.ts'
import type { Replica, StaleReads } from '../database/session/replica.ts'
import type { ImportRunner } from '../imports/import-runner.ts'
import type { TenantLimit } from '../limits/tenant-limit.ts'
import type { Log } from '../runtime/log.ts'
import type { RateLimit } from '../security/rate-limit.ts'
import type { SecretKeys } from '../security/sealed-secret.ts'
import type { SignInAttempts } from '../security/sign-in-back-off.ts'
import type { SignUps } from '../security/sign-up-limit.ts'
import type { Tokens } from '../security/token.ts'
import type { Metrics, Traces } from '../watching/watching.ts'

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
