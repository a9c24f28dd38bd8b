import { sql } from 'kysely'
import { batchCalls, type TenantCall, type Told } from './batch-calls.ts'
import { ask, entering } from './connection.ts'
import { isConnectionLost, translated } from './database-failures.ts'
import type { FairConnections } from './fair-connections.ts'
import type { InTenant, TenantId, TenantVersions, VersionsListener } from './tenant.ts'

interface FunctionKind {
  /** It may have been done when its answer is lost. */
  readonly writes: boolean
  /** It moves a tenant on, and says so in the `versions` of its answer. */
  readonly moves: boolean
  /** Nobody waits for it. */
  readonly behind?: true
  /** The types of what is given to it, where its name with `_of_each` does the same for several tenants in one message. */
  readonly ofEach?: readonly string[]
}

/** The functions of the schema that are called for one tenant, without a decision of ours in between. */
const schemaFunctions = {
  keep_calls: { writes: true, moves: false, behind: true, ofEach: ['jsonb', 'integer', 'timestamptz'] },
  note_token_use: { writes: true, moves: false, behind: true, ofEach: ['integer', 'timestamptz', 'text'] },
  note_secret_use: { writes: true, moves: false, behind: true, ofEach: ['integer', 'timestamptz'] },
  take_place: { writes: true, moves: false },
  find_booking: { writes: false, moves: false, ofEach: ['bytea', 'text'] },
  book_shipment: { writes: true, moves: true, ofEach: ['bytea', 'text', 'jsonb'] },
  claim_deliveries: { writes: true, moves: false },
  settle_delivery: { writes: true, moves: false },
} as const satisfies Record<string, FunctionKind>
export type SchemaFunction = keyof typeof schemaFunctions

/** Calls a function of the schema for one tenant, and returns its one value. */
export type CallInTenant = <T>(
  tenant: TenantId,
  name: SchemaFunction,
  values: readonly unknown[],
) => Promise<T>

/**
 * Calls functions of the schema, each a transaction of its own in one message. Those of a kind that come at once for several
 * tenants go together, each behind its own wall; not on a distributed database, where tenants are on different machines.
 */
export function functionCalls(
  connections: FairConnections,
  { isDistributed, inTenant, tell }: { isDistributed: boolean; inTenant: InTenant; tell: VersionsListener },
): CallInTenant {
  async function message<T>(
    text: string,
    values: readonly unknown[],
    { writes, moves }: FunctionKind,
    { whose, calls }: { whose: TenantId | null; calls: readonly TenantCall[] },
  ): Promise<T> {
    const { client, release } = await connections.lend(whose)
    let broken = false
    try {
      const { rows } = await ask(client, text, values)
      return rows[0]?.value as T
    } catch (error) {
      // The message is its own commit: an error that PostgreSQL answers with was before it, a lost connection may not be.
      broken = isConnectionLost(error)
      if (broken && moves) for (const { tenant } of calls) tell(tenant, null)
      throw translated(error, broken && writes)
    } finally {
      release(broken)
    }
  }

  function tellVersions({ tenant }: TenantCall, value: unknown): void {
    const versions = (value as { versions?: TenantVersions } | null)?.versions
    if (versions != null) tell(tenant, versions)
  }

  async function alone<T>(name: SchemaFunction, call: TenantCall): Promise<T> {
    const { tenant, values } = call
    const kind: FunctionKind = schemaFunctions[name]
    // A distributed database opens the wall on a worker for what writes, and else in a transaction only that was begun.
    if (isDistributed && !kind.writes) {
      return inTenant(tenant, async (transaction) => {
        const given = sql.join([tenant, ...values])
        const { rows } = await sql<{ value: T }>`select ${sql.ref(name)}(${given}) as value`.execute(
          transaction,
        )
        return rows[0]?.value as T
      })
    }
    // The function gets its tenant from the wall: it cannot run before that stands.
    const text = `select ${name}(wall.tenant::integer${values.map((_, at) => `, $${at + 2}`).join('')}) as value
      from (select ${entering('$1')} as tenant offset 0) as wall`
    const value = await message<T>(text, [String(tenant), ...values], kind, { whose: tenant, calls: [call] })
    if (kind.moves) tellVersions(call, value)
    return value
  }

  async function together<T>(
    name: SchemaFunction,
    types: readonly string[],
    calls: readonly TenantCall[],
  ): Promise<readonly Told<T>[]> {
    const kind: FunctionKind = schemaFunctions[name]
    const lists = types.map((type, at) => `, $${at + 2}::${type}[]`)
    const answers = await message<readonly ([T] | null)[]>(
      `select ${name}_of_each($1::integer[]${lists.join('')}) as value`,
      [calls.map(({ tenant }) => tenant), ...types.map((_, at) => calls.map(({ values }) => values[at]))],
      kind,
      // It waits in no brokerage's line: each has at most one call in it, and one such message at a time.
      { whose: null, calls },
    )
    return calls.map((call, at) => {
      const answer = answers[at] ?? null
      if (answer === null) return null
      if (kind.moves) tellVersions(call, answer[0])
      return { value: answer[0] }
    })
  }

  /** On different machines: one after the other, so that what nobody waits for leaves the connections to the others. */
  async function oneByOne<T>(
    name: SchemaFunction,
    calls: readonly TenantCall[],
  ): Promise<readonly Told<T>[]> {
    const told: Told<T>[] = []
    for (const call of calls)
      told.push(
        await alone<T>(name, call).then(
          (value) => ({ value }),
          () => null,
        ),
      )
    return told
  }

  const gathered = new Map<SchemaFunction, (call: TenantCall) => Promise<unknown>>()
  for (const [name, kind] of Object.entries(schemaFunctions) as [SchemaFunction, FunctionKind][]) {
    const { writes, moves, behind, ofEach } = kind
    if (ofEach === undefined || (isDistributed && behind !== true)) continue
    gathered.set(
      name,
      batchCalls({
        together: (calls) => (isDistributed ? oneByOne(name, calls) : together(name, ofEach, calls)),
        alone: (call) => alone(name, call),
        unknown: ({ tenant }) => {
          if (moves) tell(tenant, null)
        },
        writes,
      }),
    )
  }

  return <T>(tenant: TenantId, name: SchemaFunction, values: readonly unknown[]) => {
    const call = { tenant, values }
    return (gathered.get(name)?.(call) ?? alone(name, call)) as Promise<T>
  }
}
