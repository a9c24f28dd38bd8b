import { type Selectable, sql } from 'kysely'
import type { LaneRow, StoredExperiment, Tables, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, chainMoved, type TenantId, tenantId } from '../../session/index.ts'
import { insertRows } from '../insert-rows.ts'
import { chainEnd, type HashChain, hashAfter } from '../integration/hash-chain.ts'
import { readVersions } from '../quotes/tenant-quotes.ts'

export type PilotRow = Selectable<Tables['pilots']>
export type PilotEntryRow = Selectable<Tables['pilot_entries']>

/** An entry to append. The body is stored as the JSON text of this object. */
export interface NewPilotEntry {
  readonly kind: PilotEntryRow['kind']
  readonly laneId: number | null
  readonly body: object
}

/** The members that the hash of an entry covers, in addition to the hash of the previous entry. */
type Hashed = Omit<PilotEntryRow, 'at' | 'hash'> & { readonly atMicroseconds: number }

function pilotHash(before: Buffer, row: Hashed): Buffer {
  return hashAfter(before, [
    row.tenant_id,
    row.entry_number,
    row.atMicroseconds,
    row.kind,
    row.lane_id,
    row.body,
  ])
}

/** The chain of a pilot. docs/pilot.md describes how to verify it without the service. */
export const pilotChain: HashChain<PilotEntryRow & { readonly atMicroseconds: number }> = {
  name: 'pilot',
  rowsAfter: (transaction, tenant, after, limit) => pilotEntriesAfter(transaction, tenant, after, limit),
  hash: pilotHash,
}

/** Entries in order, after the number `after`. */
export async function pilotEntriesAfter(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: number,
  limit: number,
) {
  return (
    transaction
      .selectFrom('pilot_entries')
      .selectAll()
      // The database stores microseconds, which a Date would truncate.
      .select(sql<number>`(extract(epoch from at) * 1000000)::bigint`.as('atMicroseconds'))
      .where('tenant_id', '=', tenant)
      .where('entry_number', '>', after)
      .orderBy('entry_number')
      .limit(limit)
      .execute()
  )
}

/** The pilot of a tenant; null if it was never switched on. With `lock`, locks it until the end of the transaction. */
export async function findPilot(
  transaction: TenantTransaction,
  tenant: TenantId,
  { lock }: { readonly lock: boolean } = { lock: false },
): Promise<PilotRow | null> {
  const found = transaction.selectFrom('pilots').selectAll().where('tenant_id', '=', tenant)
  return (await (lock ? found.forUpdate() : found).executeTakeFirst()) ?? null
}

/** Switches the pilot of a tenant on, from the present version of its facts. */
export async function startPilot(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, at }: { readonly userId: number; readonly at: Date },
): Promise<void> {
  const { facts } = await readVersions(transaction, tenant)
  const started = { active: true, started_at: at, started_by: userId, stopped_at: null }
  await transaction
    .insertInto('pilots')
    .values({ tenant_id: tenant, ...started, sealed_version: facts })
    // Outcomes are recorded while the pilot is off, too, so its version stays.
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(started))
    .execute()
}

/** Switches the pilot of a tenant off. Outcomes of its forecasts are still recorded. */
export async function stopPilot(transaction: TenantTransaction, tenant: TenantId, at: Date): Promise<void> {
  await setExperiment(transaction, tenant, null)
  await transaction
    .updateTable('pilots')
    .set({ active: false, stopped_at: at })
    .where('tenant_id', '=', tenant)
    .execute()
}

/**
 * Appends entries to the chain of a pilot. Call it last in a transaction: see `chainEnd`. The times of a chain never decrease:
 * an entry gets the time of the one before it if that is later, as it may be on another instance.
 */
export async function appendPilotEntries(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: number,
  entries: readonly NewPilotEntry[],
): Promise<void> {
  if (entries.length === 0) return
  const end = await chainEnd(transaction, tenant, 'pilot', entries.length)
  const at = new Date(Math.max(now, end.at?.getTime() ?? 0))
  let before = end.hash
  const rows = entries.map(({ kind, laneId, body }, nth) => {
    const row = {
      tenant_id: tenant,
      entry_number: end.next + nth,
      kind,
      lane_id: laneId,
      body: JSON.stringify(body),
    }
    before = pilotHash(before, { ...row, atMicroseconds: at.getTime() * 1000 })
    return { ...row, hash: before }
  })
  await insertRows(
    transaction,
    tenant,
    'pilot_entries',
    [
      { name: 'entry_number', type: 'bigint', values: rows.map((row) => row.entry_number) },
      { name: 'kind', type: 'text', values: rows.map((row) => row.kind) },
      { name: 'lane_id', type: 'bigint', values: rows.map((row) => row.lane_id) },
      { name: 'body', type: 'text', values: rows.map((row) => row.body) },
      {
        name: 'hash',
        type: 'text',
        values: rows.map((row) => `\\x${row.hash.toString('hex')}`),
        cast: '::bytea',
      },
    ],
    [['at', sql`${at}::timestamptz`]],
  )
  chainMoved(transaction, { chain: 'pilot', tenant, entry: end.next + entries.length - 1, hash: before })
}

/** The tenants whose quotes have changed since their pilot recorded outcomes last. */
export async function tenantsWithPilotsBehind(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_pilots_behind() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** A lane with a forecast that changed, and the body of the newest outcome entry about it; null before the first. */
export type ChangedPilotLane = LaneRow & { readonly version: number; readonly recorded: string | null }

/** Lanes with forecasts that changed after the version `after`, in the order of their changes. */
export async function changedPilotLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ChangedPilotLane[]> {
  const { rows } = await sql<ChangedPilotLane>`
    select lanes.*, changed.version, (
      select entry.body from pilot_entries as entry
      where entry.tenant_id = ${tenant} and entry.lane_id = lanes.lane_id and entry.kind = 'outcome'
      order by entry.entry_number desc limit 1
    ) as recorded
    from lane_versions as changed
    join lanes on lanes.tenant_id = changed.tenant_id and lanes.lane_id = changed.lane_id
    where changed.tenant_id = ${tenant} and changed.version > ${after} and exists (
      select from pilot_entries as forecast
      where forecast.tenant_id = ${tenant} and forecast.lane_id = changed.lane_id and forecast.kind = 'forecast'
    )
    order by changed.version, changed.lane_id limit ${limit}
  `.execute(transaction)
  return rows
}

/** Records that the outcomes up to a version of the facts are in the chain. */
export async function pilotSealed(
  transaction: TenantTransaction,
  tenant: TenantId,
  version: number,
): Promise<void> {
  await transaction
    .updateTable('pilots')
    .set({ sealed_version: version })
    .where('tenant_id', '=', tenant)
    .execute()
}

/** The tenants with an active pilot whose newest entry was not announced since `before`. */
export async function tenantsWithHeadsToAnnounce(
  transaction: TenantTransaction,
  before: Date,
): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_heads_to_announce(${before}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Records which entry was announced last. */
export async function headAnnounced(
  transaction: TenantTransaction,
  tenant: TenantId,
  { entry, at }: { readonly entry: number; readonly at: Date },
): Promise<void> {
  await transaction
    .updateTable('pilots')
    .set({ announced_entry: entry, announced_at: at })
    .where('tenant_id', '=', tenant)
    .execute()
}

/** Starts an experiment, or ends the running one with null. */
export async function setExperiment(
  transaction: TenantTransaction,
  tenant: TenantId,
  experiment: StoredExperiment | null,
): Promise<void> {
  // Books keep it with the settings of the brokerage.
  accessChanged(transaction)
  await transaction
    .updateTable('pilots')
    .set({ experiment: experiment === null ? null : JSON.stringify(experiment) })
    .where('tenant_id', '=', tenant)
    .execute()
}
