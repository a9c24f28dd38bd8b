import { createHash } from 'node:crypto'
import pg from 'pg'
import { ask, entering, enteringStatement, messageTimeouts, timeoutsNow } from './connection.ts'
import { isConnectionLost, isStatementUnknown, translated } from './database-failures.ts'
import type { Deadlines } from './deadlines.ts'
import type { FairConnections } from './fair-connections.ts'
import { runInBackground } from './request-deadline.ts'
import type { TenantId, TenantVersions, VersionsListener } from './tenant.ts'
import type { WriteCheck } from './write-check.ts'

interface FunctionKind {
  /** Whether a call whose answer was lost may have changed data. */
  readonly writes: boolean
  /** Whether the function changes the tenant's versions, and returns them as `versions`. */
  readonly moves: boolean
  /** Whether the function reads rows before it writes any. */
  readonly readsFirst?: true
  /** Set for background work: no request waits for the answer. */
  readonly background?: true
}

/** The functions of the schema that the service calls for one tenant as a whole transaction. */
const schemaFunctions = {
  keep_calls: { writes: true, moves: false, background: true },
  note_token_use: { writes: true, moves: false, background: true },
  note_secret_use: { writes: true, moves: false, background: true },
  take_permit: { writes: true, moves: false },
  find_booking: { writes: false, moves: false },
  book_shipment: { writes: true, moves: true },
  claim_deliveries: { writes: true, moves: false, readsFirst: true },
  settle_delivery: { writes: true, moves: false },
} as const satisfies Record<string, FunctionKind>
export type SchemaFunction = keyof typeof schemaFunctions

/** Calls a function of the schema for one tenant, and returns its single value. */
export type CallInTenant = <T>(
  tenant: TenantId,
  name: SchemaFunction,
  values: readonly unknown[],
) => Promise<T>

interface FunctionCallParts {
  readonly connections: FairConnections
  readonly deadlines: Deadlines
  /** The statement timeout of the role, in milliseconds; 0 if it has none. */
  readonly roleMs: number
  readonly isDistributed: boolean
  /** Called with the new versions of each tenant that a function changed. */
  readonly onVersions: VersionsListener
  readonly writes: WriteCheck
}

/** Calls functions of the schema. Each call is one message and one transaction of one tenant. */
export function functionCalls(parts: FunctionCallParts): CallInTenant {
  const calls = new FunctionCalls(parts)
  return (tenant, name, values) => calls.call(tenant, name, values)
}

/** A value as SQL text. */
function literal(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'::bytea`
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  if (typeof value === 'string') return pg.escapeLiteral(value)
  throw new TypeError(`No SQL text for a value of the type ${typeof value}.`)
}

class FunctionCalls {
  readonly #parts: FunctionCallParts
  /** Statement names by text. A name has a hash of the text: through a pooler, another version may use the same session. */
  readonly #names = new Map<string, string>()
  /**
   * Whether calls reuse named statements without parsing and planning, which take a third of a call. A pooler in transaction mode
   * may give the next call another session, which does not know the names.
   */
  #keepsNames: boolean

  constructor(parts: FunctionCallParts) {
    this.#parts = parts
    // Citus plans for the tenant that it finds in the values, so a reused plan does not help.
    this.#keepsNames = !parts.isDistributed
  }

  async call<T>(tenant: TenantId, name: SchemaFunction, values: readonly unknown[]): Promise<T> {
    const kind: FunctionKind = schemaFunctions[name]
    const send = () => this.#send<T>(tenant, name, values, kind)
    const value = await (kind.background === true ? runInBackground(send) : send())
    if (kind.moves) this.#reportVersions(tenant, value)
    return value
  }

  #send<T>(
    tenant: TenantId,
    name: SchemaFunction,
    values: readonly unknown[],
    kind: FunctionKind,
  ): Promise<T> {
    // On a distributed database, a worker knows the tenant only inside a transaction, which the first write or an explicit
    // `begin` opens there. PostgreSQL accepts no parameters in a message with several statements, so the values are part of
    // the text.
    const { isDistributed, deadlines, roleMs } = this.#parts
    if (isDistributed && (!kind.writes || kind.readsFirst === true)) {
      const text = `begin; select ${entering(`'${Number(tenant)}'`, timeoutsNow(deadlines))};
        select ${name}(${[Number(tenant), ...values.map(literal)].join(', ')}) as value; commit`
      return this.#message<T>(tenant, text, undefined, kind)
    }
    const timeouts = messageTimeouts(deadlines, roleMs)
    // The function takes its tenant from the subquery, so it cannot run before row-level security is set.
    const text = `select ${name}(entered.tenant::integer${values.map((_, at) => `, $${at + 2}`).join('')}) as value
      from (select ${isDistributed ? `${entering('$1', timeouts)} as tenant` : enteringStatement('$1', timeouts)} offset 0) as entered`
    return this.#message<T>(tenant, text, [String(tenant), ...values], kind)
  }

  async #message<T>(
    tenant: TenantId,
    text: string,
    values: readonly unknown[] | undefined,
    { writes, moves }: FunctionKind,
  ): Promise<T> {
    const { client, release, releaseAfterRollback } = await this.#parts.connections.lend(tenant)
    try {
      // A message with several statements has a result for each.
      const results = [await this.#ask(client, text, values)].flat()
      const value = results.flatMap(({ rows }) => rows).find((row) => 'value' in row)?.value as T
      release()
      return value
    } catch (error) {
      this.#parts.writes.see(error)
      // The message commits itself. So an error from PostgreSQL came before the commit, but a connection may be lost after it.
      const lost = isConnectionLost(error)
      // A message with parameters is one statement, so after an error of PostgreSQL, there is nothing to roll back.
      if (lost || values === undefined) releaseAfterRollback(error)
      else release()
      if (lost && moves) this.#parts.onVersions(tenant, null)
      throw translated(error, lost && writes, this.#parts.isDistributed)
    }
  }

  async #ask(client: pg.PoolClient, text: string, values: readonly unknown[] | undefined) {
    const { deadlines } = this.#parts
    if (values === undefined || !this.#keepsNames) return ask(client, deadlines, text, values)
    try {
      return await ask(client, deadlines, text, values, this.#nameOf(text))
    } catch (error) {
      // PostgreSQL refused the name before it executed anything.
      if (!isStatementUnknown(error)) throw error
      this.#keepsNames = false
      return ask(client, deadlines, text, values)
    }
  }

  #nameOf(text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `lanewise_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    this.#names.set(text, name)
    return name
  }

  #reportVersions(tenant: TenantId, value: unknown): void {
    const versions = (value as { versions?: TenantVersions } | null)?.versions
    if (versions != null) this.#parts.onVersions(tenant, versions)
  }
}
