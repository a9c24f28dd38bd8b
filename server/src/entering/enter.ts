import { quoteFields, quoteTable } from '#engine/quote-fields.ts'
import type { Pricing } from '../book/index.ts'
import {
  type ChangingLane,
  laneChanges as changes,
  type NewQuoteRequest,
  newLanes,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type QuoteToForecast, quoteToForecast, repOf, sealForecasts } from '../pilot/index.ts'

/** What a way in does with a quote: a change of a lane that is locked, a new request, or the next quote of a lane. */
export type Entry =
  | ({ readonly kind: 'change' } & ChangingLane)
  | { readonly kind: 'create'; readonly request: NewQuoteRequest }
  | {
      readonly kind: 'requote'
      readonly quoted: LaneRow
      readonly next: Parameters<typeof newLanes.insertRequote>[4]
      /** An outcome that is known already is no test of a forecast. */
      readonly isDecided: boolean
    }

export interface EnteringBy {
  readonly tenant: TenantId
  readonly identifiers: Database['identifiers']
  /** The time of the database's clock: when lanes are changed. Absent if none is. */
  readonly changedAt?: Date
  /** Absent if the quotes are not live: those of a file are not forecast. */
  readonly live?: {
    /** When the quotes came in, epoch milliseconds. */
    readonly now: number
    /** What the forecasts of new and repriced quotes are computed from; null if it was not read. */
    readonly pricing: Pricing | null
  }
}

/** The lanes of an entry, in the order of its request. `row` is the lane that was changed or requoted; null for a new request. */
export interface Entered {
  readonly lanes: readonly { readonly laneId: number; readonly laneRef: string }[]
  readonly row: LaneRow | null
}

/**
 * Writes quotes, whichever way they came in: it changes lanes with their history, inserts new ones, announces both, and seals the
 * forecasts of quotes that are new or have another price. Returns what became of each entry, in order. Each lane is changed at most
 * once. Quotes of a file are neither announced as new nor forecast.
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
  const results = entries.map((entry) => entered.get(entry) ?? { lanes: [], row: null })
  const { live } = by
  if (live !== undefined) {
    const quotes = entries.flatMap((entry, nth) => toForecast(entry, results[nth], live.now))
    await sealForecasts(transaction, tenant, live, quotes)
  }
  return results
}

const enteredLane = (row: LaneRow): Entered => ({
  lanes: [{ laneId: row.lane_id, laneRef: row.lane_ref }],
  row,
})

/** The columns whose change makes another forecast necessary. */
const forecastFrom = quoteFields.flatMap((field) => quoteTable[field].forecastBy ?? [])

/** The quotes of an entry whose forecasts are sealed. Imported quotes are not live. */
function toForecast(entry: Entry, entered: Entered | undefined, now: number): QuoteToForecast[] {
  const row = entered?.row ?? null
  switch (entry.kind) {
    case 'create':
      return newToForecast(entry.request, entered?.lanes ?? [])
    case 'requote':
      return row === null || entry.isDecided ? [] : [quoteToForecast(row)]
    case 'change': {
      if (row === null || row.outcome !== 'pending' || row.import_id !== null) return []
      // An undecided quote whose rate or lane was changed is forecast again.
      const { lane: before } = entry
      return forecastFrom.some((column) => before[column] !== row[column])
        ? [quoteToForecast(row, new Date(now))]
        : []
    }
  }
}

function newToForecast(request: NewQuoteRequest, made: Entered['lanes']): QuoteToForecast[] {
  const { customerName, createdAt, createdBy } = request
  return made.flatMap((inserted, nth) => {
    const lane = request.lanes[nth]
    if (lane === undefined) return []
    return {
      ...inserted,
      externalId: lane.external_id ?? null,
      rep: repOf(lane.rep_name ?? null, createdBy),
      quotedAt: createdAt,
      outcome: lane.outcome ?? 'pending',
      lane,
      createdAt,
      quotedFor: { customerName, repId: createdBy, rateType: lane.rate_type ?? null },
    }
  })
}
