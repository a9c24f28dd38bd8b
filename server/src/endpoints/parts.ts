import type { CallLog, Refusals } from '../audit/index.ts'
import type { BacktestRunner } from '../backtests/index.ts'
import type { Books, BrokerageBook } from '../book/index.ts'
import type { TenantMemory } from '../cache/index.ts'
import type { Config } from '../configuration/index.ts'
import type { Database } from '../database/session/index.ts'
import type { ImportRunner } from '../imports/index.ts'
import type { FileTurns, TenantLimit } from '../limits/index.ts'
import type { Log } from '../runtime/index.ts'
import type { RateLimit, SecretKeys, SignInAttempts, Tokens } from '../security/index.ts'
import type { Metrics, Traces } from '../watching/index.ts'

/** The parts of the service, passed to every endpoint. */
export interface Parts {
  readonly config: Config
  readonly database: Database
  readonly tokens: Tokens
  readonly secretKeys: SecretKeys
  /** The names of this version's migrations. */
  readonly migrations: readonly string[]
  readonly signInAttempts: SignInAttempts
  readonly signUps: Pick<RateLimit, 'admit'>
  readonly imports: ImportRunner
  readonly files: FileTurns
  readonly backtests: BacktestRunner
  readonly books: Books<BrokerageBook>
  readonly memory: TenantMemory
  /** The rate limit of a tenant, over all integration endpoints and instances. */
  readonly tenantLimit: TenantLimit
  readonly signatureCheckLimit: RateLimit
  readonly eventTestLimit: RateLimit
  readonly calls: CallLog
  readonly refusals: Refusals
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly traces: Traces
}
