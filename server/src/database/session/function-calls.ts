import pg from 'pg'
import { type BatchAnswer, batchCalls, type TenantCall } from './batch-calls.ts'
import { ask, entering, timeoutsNow } from './connection.ts'
import { isConnectionLost, translated } from './database-failures.ts'
import type { FairConnections } from './fair-connections.ts'
import type { TenantId, TenantVersions, VersionsListener } from './tenant.ts'

interface FunctionKind {
  /** Whether a call whose answer was lost may have changed data. */
  readonly writes: boolean
  /** Whether the function changes the tenant's versions, and returns them as `versions`. */
  readonly moves: boolean
  /** Whether it reads rows before it writes any. */
  readonly readsFirst?: true
  /** Set for background work: no request waits for the answer. */
  readonly background?: true
  /** The SQL types of the arguments, if a function `<name>_batch` does the same for several tenants in one message. */
  readonly ofEach?: readonly string[]
}

/** The functions of the schema that the service calls for one tenant as a whole transaction. */
const schemaFunctions = {
  keep_calls: {
    writes: true,
    moves: false,
    background: true,
    ofEach: ['jsonb', 'integer', 'timestamptz'],
  },
  note_token_use: {
    writes: true,
    moves: false,
    background: true,
    ofEach: ['integer', 'timestamptz', 'text'],
  },
  note_secret_use: { writes: true, moves: false, background: true, ofEach: ['integer', 'timestamptz'] },
  take_permit: { writes: true, moves: false },
  find_booking: { writes: false, moves: false, ofEach: ['bytea', 'text'] },
  book_shipment: { writes: true, moves: true, ofEach: ['bytea', 'text', 'jsonb'] },
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
  readonly isDistributed: boolean
  /** Called with the new versions of each tenant that a function changed. */
  readonly onVersions: VersionsListener
}

/**
 * Calls functions of the schema, each as a transaction of its own in one message. Concurrent calls of the same function
 * for several tenants share a message, with row-level security applied per tenant. On a distributed database they do not
 * share a message, because the tenants are on different machines.
 */
export function functionCalls(parts: FunctionCallParts): CallInTenant {
  const calls = new FunctionCalls(parts)
  return (tenant, name, values) => calls.call(name, { tenant, values })
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
  readonly #batched = new Map<SchemaFunction, (call: TenantCall) => Promise<unknown>>()

  constructor(parts: FunctionCallParts) {
    this.#parts = parts
    for (const [name, kind] of Object.entries(schemaFunctions) as [SchemaFunction, FunctionKind][]) {
      const { writes, moves, background, ofEach } = kind
      if (ofEach === undefined || (parts.isDistributed && background !== true)) continue
      const batched = batchCalls({
        sendBatch: (calls) =>
          parts.isDistributed ? this.#sendOneByOne(name, calls) : this.#sendBatch(name, ofEach, calls),
        sendAlone: (call) => this.#sendAlone(name, call),
        onOutcomeUnknown: ({ tenant }) => {
          if (moves) parts.onVersions(tenant, null)
        },
        writes,
      })
      this.#batched.set(name, batched)
    }
  }

  call<T>(name: SchemaFunction, call: TenantCall): Promise<T> {
    return (this.#batched.get(name)?.(call) ?? this.#sendAlone(name, call)) as Promise<T>
  }

  async #sendAlone<T>(name: SchemaFunction, call: TenantCall): Promise<T> {
    const { tenant, values } = call
    const kind: FunctionKind = schemaFunctions[name]
    // On a distributed database, a worker knows the tenant only inside a transaction, which the first write or an explicit
    // `begin` opens there.
    if (this.#parts.isDistributed && (!kind.writes || kind.readsFirst === true))
      return this.#sendAsTransaction(name, call, kind)
    // The function takes its tenant from the subquery, so it cannot run before row-level security is set.
    const text = `select ${name}(entered.tenant::integer${values.map((_, at) => `, $${at + 2}`).join('')}) as value
      from (select ${entering('$1')} as tenant offset 0) as entered`
    const value = await this.#message<T>(text, [String(tenant), ...values], kind, {
      owner: tenant,
      calls: [call],
    })
    if (kind.moves) this.#reportVersions(call, value)
    return value
  }

  /** One message with a whole transaction. PostgreSQL accepts no parameters in it, so the values are part of the text. */
  async #sendAsTransaction<T>(name: SchemaFunction, call: TenantCall, kind: FunctionKind): Promise<T> {
    const { tenant, values } = call
    const text = `begin; select ${entering(`'${Number(tenant)}'`, timeoutsNow())};
      select ${name}(${[Number(tenant), ...values.map(literal)].join(', ')}) as value; commit`
    return this.#message<T>(text, undefined, kind, { owner: tenant, calls: [call] })
  }

  async #sendBatch<T>(
    name: SchemaFunction,
    types: readonly string[],
    calls: readonly TenantCall[],
  ): Promise<readonly BatchAnswer<T>[]> {
    const kind: FunctionKind = schemaFunctions[name]
    const lists = types.map((type, at) => `, $${at + 2}::${type}[]`)
    const answers = await this.#message<readonly ([T] | null)[]>(
      `select ${name}_batch($1::integer[]${lists.join('')}) as value`,
      [calls.map(({ tenant }) => tenant), ...types.map((_, at) => calls.map(({ values }) => values[at]))],
      kind,
      // A batch does not wait in the queue of a brokerage: each brokerage has at most one call in one such batch.
      { owner: null, calls },
    )
    return calls.map((call, at) => {
      const answer = answers[at] ?? null
      if (answer === null) return null
      if (kind.moves) this.#reportVersions(call, answer[0])
      return { value: answer[0] }
    })
  }

  /** For a distributed database: sends calls sequentially, so that background work leaves connections to requests. */
  async #sendOneByOne<T>(
    name: SchemaFunction,
    calls: readonly TenantCall[],
  ): Promise<readonly BatchAnswer<T>[]> {
    const answers: BatchAnswer<T>[] = []
    for (const call of calls) {
      const answer = await this.#sendAlone<T>(name, call).then(
        (value) => ({ value }),
        () => null,
      )
      answers.push(answer)
    }
    return answers
  }

  async #message<T>(
    text: string,
    values: readonly unknown[] | undefined,
    { writes, moves }: FunctionKind,
    { owner, calls }: { owner: TenantId | null; calls: readonly TenantCall[] },
  ): Promise<T> {
    const { client, release, releaseAfterRollback } = await this.#parts.connections.lend(owner)
    try {
      // A message with several statements has a result for each.
      const results = [await ask(client, text, values)].flat()
      const value = results.flatMap(({ rows }) => rows).find((row) => 'value' in row)?.value as T
      release()
      return value
    } catch (error) {
      // The message commits itself: an error from PostgreSQL came before the commit, but a lost connection may not have.
      const lost = isConnectionLost(error)
      // A message with parameters is one statement: after an error of PostgreSQL, there is nothing to roll back.
      if (lost || values === undefined) releaseAfterRollback(error)
      else release()
      if (lost && moves) for (const { tenant } of calls) this.#parts.onVersions(tenant, null)
      throw translated(error, lost && writes, this.#parts.isDistributed)
    }
  }

  #reportVersions({ tenant }: TenantCall, value: unknown): void {
    const versions = (value as { versions?: TenantVersions } | null)?.versions
    if (versions != null) this.#parts.onVersions(tenant, versions)
  }
}
