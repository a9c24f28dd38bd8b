import {
  type ChangingLane,
  laneChanges as changes,
  type NewQuoteRequest,
  newLanes,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'

/** What a way in does: it changes a quote, which is locked; makes a new quote request; or quotes the load of a quote again. */
export type Entry =
  | ({ readonly kind: 'change' } & ChangingLane)
  | { readonly kind: 'create'; readonly request: NewQuoteRequest }
  | {
      readonly kind: 'requote'
      readonly quoted: LaneRow
      readonly next: Parameters<typeof newLanes.insertRequote>[4]
    }

export interface EnteringBy {
  readonly tenant: TenantId
  readonly identifiers: Database['identifiers']
  /** The time of the database's clock: when quotes are changed. Absent if none is. */
  readonly changedAt?: Date
}

/** The quotes of an entry, in the order of its request. `row` is the changed quote, or the requote; null for a new request. */
export interface Entered {
  readonly lanes: readonly { readonly laneId: number; readonly laneRef: string }[]
  readonly row: LaneRow | null
}

/**
 * Writes quotes, whichever way they came in: it changes quotes, with their history, inserts new ones, and announces both. Returns what
 * became of each entry, in order. Each quote is changed at most once. Quotes of a file are not announced as new.
 */
export async function enter(
  transaction: TenantTransaction,
  entries: readonly Entry[],
  by: EnteringBy,
): Promise<Entered[]> {
  const { tenant, identifiers } = by
  const entered = new Map<Entry, Entered>()
  const changing = entries.filter((entry) => entry.kind === 'change')
  if (changing.length > 0 && by.changedAt === undefined) throw new Error('A change has a time.')
  const changed = await changes.changeLanes(
    transaction,
    tenant,
    changing,
    by.changedAt ?? new Date(Number.NaN),
  )
  for (const [nth, row] of changed.entries()) {
    const entry = changing[nth]
    if (entry !== undefined) entered.set(entry, enteredLane(row))
  }
  const creating = entries.filter((entry) => entry.kind === 'create')
  const requests = creating.map(({ request }) => request)
  const made = await newLanes.insertRequests(transaction, tenant, identifiers, requests)
  let first = 0
  for (const entry of creating) {
    const { lanes } = entry.request
    entered.set(entry, { lanes: made.slice(first, first + lanes.length), row: null })
    first += lanes.length
  }
  for (const entry of entries) {
    if (entry.kind !== 'requote') continue
    const row = await newLanes.insertRequote(transaction, tenant, identifiers, entry.quoted, entry.next)
    const settled = await changes.settleOffers(transaction, tenant, [row.request_id], entry.next.createdAt)
    entered.set(entry, enteredLane(settled.get(row.lane_id) ?? row))
  }
  return entries.map((entry) => entered.get(entry) ?? { lanes: [], row: null })
}

const enteredLane = (row: LaneRow): Entered => ({
  lanes: [{ laneId: row.lane_id, laneRef: row.lane_ref }],
  row,
})
