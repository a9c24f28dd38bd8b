import type { Outcome } from '#engine/history.ts'
import { formatDollars } from '#engine/money.ts'
import {
  databaseNow,
  defaultBasisOf,
  differencesForApi,
  findImported,
  findLaneIds,
  findPushed,
  lanesById,
  lockImports,
  lockPushes,
  pushedLanes,
  type Setter,
  settersOf,
} from '../database/queries/index.ts'
import type { KeptValue, LaneRow, RowChange, RowError, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type Entry, enter } from '../entering/index.ts'
import type { Columns } from './columns.ts'
import { type KeptField, mergeRow, otherLane } from './merge-row.ts'
import type { ImportedBooking, ImportedLane, ReportedLane } from './rows.ts'

export interface SettledLane {
  readonly line: number
  readonly lane: ImportedLane
  readonly fingerprint: Buffer
  readonly said: string | null
}

export interface SettledBooking {
  readonly line: number
  readonly booking: ImportedBooking
  readonly said: string
}

/** The result of saving the valid rows of a batch. */
export interface KeptRows {
  rowsAdded: number
  rowsUpdated: number
  rowsRepeated: number
  rowsRefused: number
  rowsKept: number
  readonly refused: RowError[]
  /** The outcomes of the accepted rows. */
  readonly outcomes: Record<Outcome, number>
  readonly changes: RowChange[]
  readonly kept: KeptValue[]
}

/** Adds a row to the counts, or with -1 removes it. An expired quote got no answer; a booking may have no outcome. */
function count(outcomes: KeptRows['outcomes'], row: Pick<KnownRow, 'quote' | 'reported'>, by: 1 | -1): void {
  const outcome = row.quote === null ? row.reported.outcome : (row.quote.lane.outcome ?? 'pending')
  if (outcome !== null) outcomes[outcome === 'expired' ? 'pending' : outcome] += by
}

interface Job {
  readonly tenant: TenantId
  readonly importId: number
  readonly createdBy: number | null
  readonly file: { readonly columns: Columns }
  readonly dryRun: boolean
}

/** A row of an existing quote. */
interface KnownRow {
  readonly line: number
  readonly laneId: number
  readonly said: string
  readonly reported: ReportedLane
  /** The row as a quote, when it has no lane_ref. */
  readonly quote: ImportedLane | null
}

/** Columns that the list of changes leaves out, because they follow from others. */
const derivedFields = new Set(['outcome_source', 'truck_cost_source'])

/**
 * Saves the valid rows of a batch: inserts new quotes and updates existing ones. A dry run returns the same result and
 * writes nothing.
 */
export async function keepRows(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  {
    lanes,
    bookings,
  }: { readonly lanes: readonly SettledLane[]; readonly bookings: readonly SettledBooking[] },
): Promise<KeptRows> {
  const { tenant } = job
  const rows: KeptRows = {
    rowsAdded: 0,
    rowsUpdated: 0,
    rowsRepeated: 0,
    rowsRefused: 0,
    rowsKept: 0,
    refused: [],
    outcomes: { won: 0, lost: 0, pending: 0 },
    changes: [],
    kept: [],
  }
  if (!job.dryRun) {
    await lockImports(transaction, tenant)
    // A push of the same load must not create a second quote meanwhile.
    await lockPushes(transaction, tenant)
  }
  const here = await findImported(
    transaction,
    tenant,
    lanes.map((row) => row.fingerprint),
  )
  // A load that another system pushed before is the same load.
  const pushed = await findPushed(
    transaction,
    tenant,
    lanes.flatMap(({ fingerprint, lane }) =>
      lane.reference === null || here.has(fingerprint.toString('hex')) ? [] : lane.reference,
    ),
  )
  const fresh: SettledLane[] = []
  const known: KnownRow[] = []
  for (const row of lanes) {
    count(rows.outcomes, { quote: row.lane, reported: row.lane.reported }, 1)
    const before = here.get(row.fingerprint.toString('hex')) ?? pushed.get(row.lane.reference ?? '')
    if (before === undefined) fresh.push(row)
    // A row without an id is identified by all its values.
    else if (row.said === null || row.said === before.said) rows.rowsRepeated++
    else {
      const { line, said, lane } = row
      known.push({ line, laneId: before.laneId, said, reported: lane.reported, quote: lane })
    }
  }
  rows.rowsAdded += fresh.length
  if (!job.dryRun) {
    const reps = await repsOf(
      transaction,
      tenant,
      fresh.map(({ lane }) => lane.lane.rep_name),
    )
    const entries = fresh.map(({ lane, fingerprint, said }): Entry => {
      const request = {
        customerName: lane.customerName,
        reference: lane.reference,
        createdBy: reps(lane.lane.rep_name) ?? (lane.lane.rep_name == null ? job.createdBy : null),
        createdAt: new Date(lane.quotedAt),
        importId: job.importId,
        lanes: [{ ...lane.lane, import_fingerprint: fingerprint, import_said: said }],
      }
      return { kind: 'create', request }
    })
    await enter(transaction, entries, { ...job, identifiers: database.identifiers })
  }
  known.push(...(await bookedRows(transaction, job, bookings, rows)))
  if (known.length > 0) await updateLanes(transaction, database, job, known, rows)
  return rows
}

/** Returns a function from the name of a rep to the person of the brokerage with that name or e-mail address; null if there is none. */
async function repsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly (string | null | undefined)[],
): Promise<(name: string | null | undefined) => number | null> {
  const people = await pushedLanes.findReps(
    transaction,
    tenant,
    names.flatMap((name) => name ?? []),
  )
  return (name) => people.get(name ?? '') ?? null
}

/** The bookings of quotes that exist. The others are rejected. */
async function bookedRows(
  transaction: TenantTransaction,
  { tenant, file }: Job,
  bookings: readonly SettledBooking[],
  rows: KeptRows,
): Promise<KnownRow[]> {
  const refs = await findLaneIds(
    transaction,
    tenant,
    bookings.map(({ booking }) => booking.laneRef),
  )
  const column = file.columns.names.lane_ref ?? 'lane_ref'
  return bookings.flatMap(({ line, booking: { laneRef, reported }, said }) => {
    const laneId = refs.get(laneRef)
    if (laneId !== undefined) {
      count(rows.outcomes, { quote: null, reported }, 1)
      return [{ line, laneId, said, reported, quote: null }]
    }
    rows.rowsRefused++
    const detail = `${column} must be a quote of this brokerage; no quote was found for "${laneRef}".`
    rows.refused.push({ row: line, column, detail })
    return []
  })
}

async function updateLanes(
  transaction: TenantTransaction,
  database: Database,
  job: Job,
  known: readonly KnownRow[],
  rows: KeptRows,
): Promise<void> {
  const now = await databaseNow(transaction)
  const { tenant, importId, createdBy, dryRun } = job
  const assumed = await defaultBasisOf(transaction, tenant)
  const reps = await repsOf(
    transaction,
    tenant,
    known.map(({ reported }) => reported.quote.repName),
  )
  const nameOf = (field: keyof Columns['names']) => job.file.columns.names[field] ?? field
  const laneIds = [...new Set(known.map(({ laneId }) => laneId))]
  const lanes = new Map(
    (await lanesById(transaction, tenant, laneIds, { lock: !dryRun })).map((lane) => [lane.lane_id, lane]),
  )
  const changing: Extract<Entry, { kind: 'change' }>[] = []
  const kept: { readonly line: number; readonly lane: LaneRow; readonly field: KeptField }[] = []
  async function write(): Promise<void> {
    const by = { tenant, identifiers: database.identifiers, changedAt: now }
    for (const { row } of await enter(transaction, changing.splice(0), by)) {
      if (row !== null) lanes.set(row.lane_id, row)
    }
  }
  for (const { line, laneId, said, reported, quote } of known.toSorted((a, b) => a.line - b.line)) {
    // A second row of the same quote must see the changes of the first.
    if (changing.some((one) => one.lane.lane_id === laneId)) await write()
    const lane = lanes.get(laneId)
    if (lane === undefined) throw new Error('A quote that was found is not there.')
    if (said === lane.import_said) {
      rows.rowsRepeated++
      continue
    }
    const other = quote === null ? [] : otherLane(lane, quote.lane)
    if (other.length > 0) {
      rows.rowsRefused++
      count(rows.outcomes, { quote, reported }, -1)
      rows.refused.push(...other.map((one) => errorOfOther(one, line, nameOf)))
      continue
    }
    const decidedAt = quote === null ? now.getTime() : lane.created_at.getTime()
    const merged = mergeRow(lane, reported, { decidedAt, assumed })
    const isChanged = Object.keys(merged.values).length > 0
    kept.push(...merged.kept.map((field) => ({ line, lane, field })))
    if (!isChanged && merged.kept.length === 0) {
      rows.rowsRepeated++
      continue
    }
    if (isChanged) {
      rows.rowsUpdated++
      rows.changes.push({
        row: line,
        lane_ref: lane.lane_ref,
        fields: differencesForApi(lane, merged.values).filter(({ field }) => !derivedFields.has(field)),
      })
    } else rows.rowsKept++
    const { rep_name: rep } = merged.values
    const credited = rep === undefined ? {} : { created_by: reps(rep) }
    const next = { ...merged.values, ...credited, import_said: said }
    if (dryRun) lanes.set(laneId, { ...lane, ...next })
    else {
      changing.push({
        kind: 'change',
        lane,
        next,
        origin: {
          source: 'import',
          importId,
          rule: merged.rule,
          ...(createdBy === null ? {} : { userId: createdBy }),
        },
      })
    }
  }
  await write()
  rows.kept.push(...(await keptValues(transaction, tenant, kept, nameOf)))
}

/** The error of a row whose id is that of a quote of another lane. */
function errorOfOther(
  { field, is, was }: ReturnType<typeof otherLane>[number],
  row: number,
  nameOf: (field: keyof Columns['names']) => string,
): RowError {
  const column = nameOf(field)
  const id = nameOf('reference')
  const detail = `${column} must be "${was}", as in the quote that has this ${id}; it is "${is}". A quote of another lane needs its own ${id}.`
  return { row, column, detail }
}

/** The values that were not applied, with the source of the values that were kept. */
async function keptValues(
  transaction: TenantTransaction,
  tenant: TenantId,
  kept: readonly { readonly line: number; readonly lane: LaneRow; readonly field: KeptField }[],
  nameOf: (field: KeptField['field']) => string,
): Promise<KeptValue[]> {
  if (kept.length === 0) return []
  const setters = await settersOf(
    transaction,
    tenant,
    kept.map(({ lane, field }) => ({ laneId: lane.lane_id, column: field.column })),
  )
  return kept.map(({ line, lane, field }, index) => {
    const { column, fileValue, keptValue, because } = field
    const name = nameOf(field.field)
    const set_by = setterOf(lane, field, setters[index] ?? null)
    const who = set_by.source === 'tms' ? 'the TMS' : (set_by.name ?? 'a person')
    const stands = lane.cancelled_at === null ? `which ${who} set` : 'because the TMS cancelled the booking'
    const money = column.endsWith('_cents')
    const text = (value: string | number | null) =>
      value === null ? 'empty' : money ? formatDollars(Math.round(Number(value) * 100)) : `"${value}"`
    return {
      row: line,
      lane_ref: lane.lane_ref,
      column: name,
      file_value: fileValue,
      kept_value: keptValue,
      set_by,
      detail: `${name} stays ${text(keptValue)}, ${because ?? stands}; the file has ${text(fileValue)}.`,
    }
  })
}

/** The source of a value that was kept: that of its last change, or else of the quote. */
function setterOf(lane: LaneRow, { column, because }: KeptField, setter: Setter | null): KeptValue['set_by'] {
  if (because !== undefined) {
    const quotedIn = lane.import_id !== null ? 'import' : lane.external_id !== null ? 'tms' : 'dashboard'
    return setter ?? { source: quotedIn, name: null }
  }
  const isOutcome = column === 'outcome' || column === 'outcome_reason'
  const source = isOutcome ? (lane.outcome_source ?? 'tms') : 'tms'
  // A signed update that only confirmed a value recorded no change.
  const isPersons = setter?.source === 'dashboard' && (!isOutcome || source === 'dashboard')
  return isPersons ? setter : { source, name: null }
}
