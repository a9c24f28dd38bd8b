import { setImmediate as othersTurn } from 'node:timers/promises'
import { bidFields, volumePeriods } from '#contract/bid-fields.ts'
import * as contract from '#contract/bids.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { bidChangesListedMax, bidLanesPageMax, bidPlacesListedMax, bidsListedMax } from '#contract/limits.ts'
import { bidTotals } from '#engine/bid/bid-lane.ts'
import { type LaneChoice, type Strategy, strategyRates, strategyWords } from '#engine/bid/bid-strategy.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { recordEvent } from '../../audit/index.ts'
import {
  type BidColumnMatch,
  filledBid,
  headerDigest,
  matchBidColumns,
  openBidFile,
  readBidLanes,
  readSentPlace,
  storedBidColumns,
} from '../../bids/index.ts'
import { bids, people } from '../../database/queries/index.ts'
import type { BidLaneRow, BidRow, ChangedCell, TenantTransaction } from '../../database/schema/index.ts'
import { forBrokerage, type TenantId } from '../../database/session/index.ts'
import { ImportFileError } from '../../imports/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { refuseHiddenCustomer } from '../quotes/hidden-customers.ts'
import { opened, readInTurn, reserveFile } from '../quotes/received-files.ts'
import {
  bidLaneOf,
  columnsAnswer,
  laneAnswer,
  summaryAnswer,
  totalsAnswer,
  totalsOfRows,
  unknownTexts,
} from './bid-answers.ts'
import { bidApprovalAnswer, refuseOutsideRates } from './bid-approvals.ts'
import { bidAwardEndpoints } from './bid-awards.ts'
import { bidPortfolioEndpoints } from './bid-portfolio.ts'
import { bidRoundEndpoints, continuedLanes, previousRound } from './bid-rounds.ts'
import { bidOf, noBid, seenLanes } from './find-bid.ts'
import { pushAwardEndpoints } from './push-awards.ts'

type BidAnswer = AnswerOf<typeof contract.getBid>

interface AskedColumns {
  readonly customer?: string
  readonly map?: string
  readonly volume_per?: string
}

/** The columns of a file, with those of an earlier file with its header. */
async function columnsOf(
  header: readonly string[],
  { customer, map, volume_per: volumePer }: AskedColumns,
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<BidColumnMatch & { readonly isRemembered: boolean }> {
  const stored = await database.inTenant(tenant, (transaction) =>
    bids.rememberedColumns(transaction, tenant, headerDigest(header), customer ?? ''),
  )
  const period = volumePeriods.find((known) => known === stored?.volumePer) ?? null
  const remembered = stored === null ? null : { positions: stored.positions, volumePer: period }
  return {
    ...matchBidColumns(header, { map, volumePer, remembered }),
    isRemembered: stored !== null,
  }
}

async function answerOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  row: BidRow,
  now: number,
): Promise<BidAnswer> {
  const lanes = await bids.lanesOfBid(transaction, tenant, row.bid_id)
  const names = await people.namesOfUsers(transaction, tenant)
  const totals = bidTotals(lanes.map(bidLaneOf))
  const unknown = unknownTexts(lanes)
  const places: BidAnswer['places'] = []
  for (const one of unknown.slice(0, bidPlacesListedMax)) {
    places.push({ ...one, closest: nearestSpellings(one.sent) })
    // Each takes some milliseconds.
    await othersTurn()
  }
  return {
    ...summaryAnswer(
      row,
      {
        rated: totals.rated,
        priced: totals.priced,
        value_cents: String(totals.revenueCents),
        unknown: lanes.filter(({ origin, destination }) => origin === null || destination === null).length,
      },
      names,
    ),
    totals: totalsAnswer(totals),
    approval: await bidApprovalAnswer(transaction, tenant, { bid: row, lanes, now }),
    lines_skipped: row.lines_skipped,
    sheet: row.sheet,
    columns: columnsAnswer(row),
    volume_per: volumePeriods.find((known) => known === row.columns.volumePer) ?? null,
    places,
    duplicates: lanes.filter((lane) => lane.duplicate_of !== null).length,
  }
}

async function create(call: Call<typeof contract.createBid>, parts: Parts): Promise<BidAnswer> {
  const { caller, query, body, now } = call
  const { tenant, userId } = caller
  const previous = await previousRound(call, parts)
  const months = query.contract_months ?? previous?.contract_months ?? 12
  const { bytes, table } = await opened(() => openBidFile(body, query.sheet))
  const columns = await columnsOf(table.header, query, tenant, parts)
  if (columns.problems.length > 0) {
    throw invalid(columns.problems.map((detail) => ({ parameter: 'map', code: 'invalid', detail })))
  }
  const { lanes: read, skipped } = await opened(() => readBidLanes(table, columns, months))
  const answer = await parts.database.inTenant(tenant, async (transaction) => {
    await refuseHiddenCustomer(transaction, tenant, query.customer)
    const lanes = await continuedLanes(transaction, tenant, previous, read)
    const bidId = await bids.insertBid(
      transaction,
      tenant,
      {
        name: query.name.trim(),
        customer_name: query.customer.trim(),
        due_at: query.due_at === undefined ? null : new Date(readTime(query.due_at) ?? now),
        contract_months: months,
        file_name:
          query.file_name?.replace(/\.gz$/i, '') || (table.workbook === null ? 'bid.csv' : 'bid.xlsx'),
        file: bytes,
        sheet: table.workbook?.sheet ?? null,
        columns: storedBidColumns(columns),
        header_digest: headerDigest(table.header),
        previous_bid_id: previous?.bid_id ?? null,
        lines_skipped: skipped,
        created_by: userId,
        createdAt: new Date(now),
      },
      lanes,
    )
    const row = await bidOf(transaction, tenant, bidId)
    await recordEvent(transaction, call, 'bid-added', {
      about: { bid_id: bidId, name: row.name, customer_name: row.customer_name, lanes: row.lanes },
    })
    return answerOf(transaction, tenant, row, now)
  })
  await startPricing(parts, tenant, answer.bid_id)
  return answer
}

/** All lanes are priced, also if a team begins to hide customers from the person meanwhile. */
async function startPricing(
  { bids: pricer }: Pick<Parts, 'bids'>,
  tenant: TenantId,
  bidId: number,
): Promise<void> {
  await forBrokerage(async () => pricer.start(tenant, bidId))
}

async function setRates(
  { caller, params, body, now }: Call<typeof contract.setBidRates>,
  { database }: Parts,
) {
  const { tenant, userId } = caller
  const { bid_id: bidId } = params
  return database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, bidId, { lock: true })
    const rows = await bids.lanesOfBid(transaction, tenant, bidId)
    const known = seenLanes(rows, body.cells)
    const wanted = new Map(
      body.cells.map(({ lane, rate }) => [lane, rate === undefined ? null : centsFromDollars(rate)]),
    )
    const cells: ChangedCell[] = [...wanted].map(([lane, after]) => ({
      lane,
      before: known.get(lane)?.rate_cents ?? null,
      after,
    }))
    const change = await saveRates(transaction, tenant, bidId, {
      kind: 'rates',
      words: body.words ?? 'Rates by hand',
      cells,
      changedBy: userId,
      now: new Date(now),
    })
    const after = await bids.lanesOfBid(transaction, tenant, bidId)
    return {
      change,
      lanes: after.filter((row) => wanted.has(row.lane_number)).map(laneAnswer),
      totals: totalsOfRows(after),
    }
  })
}

type ChangeCall = Call<typeof contract.changeBid>

/** @throws a 422 for a date that is both sent and cleared */
function settingsOf({ body, now }: ChangeCall): bids.BidSettings {
  const { name, stage, due_at: due, starts_on: startsOn, clear = [] } = body
  const both = clear.flatMap((date, index) =>
    body[date] === undefined
      ? []
      : [
          {
            pointer: `/clear/${index}`,
            code: 'invalid',
            detail: `${date} cannot be sent and cleared in one call. Remove it from the body or from clear.`,
          },
        ],
  )
  if (both.length > 0) throw invalid(both)
  return {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(stage === undefined ? {} : { stage }),
    ...(due === undefined ? {} : { due_at: new Date(readTime(due) ?? now) }),
    ...(startsOn === undefined ? {} : { starts_on: startsOn }),
    ...Object.fromEntries(clear.map((date) => [date, null])),
  }
}

const settingsInWords = ({ name, stage, due_at, starts_on }: BidRow) => ({
  name,
  stage,
  due_at: due_at?.toISOString() ?? null,
  starts_on,
})

/** Changes the settings of a bid. The audit log names those that differ afterwards. */
async function changed(call: ChangeCall, { database }: Parts): Promise<BidAnswer> {
  const { tenant } = call.caller
  const { bid_id: bidId } = call.params
  const settings = settingsOf(call)
  return database.inTenant(tenant, async (transaction) => {
    const bid = await bidOf(transaction, tenant, bidId, { lock: true })
    if (settings.stage === 'submitted' && bid.stage !== 'submitted') {
      const lanes = await bids.lanesOfBid(transaction, tenant, bidId)
      await refuseOutsideRates(transaction, tenant, { bid, lanes }, { pointer: '/stage' })
    }
    const before = settingsInWords(bid)
    await bids.changeBid(transaction, tenant, bidId, settings, new Date(call.now))
    const row = await bidOf(transaction, tenant, bidId)
    const after = settingsInWords(row)
    const differing = (['name', 'stage', 'due_at', 'starts_on'] as const).filter(
      (key) => before[key] !== after[key],
    )
    if (differing.length > 0) {
      const only = (of: typeof after) => Object.fromEntries(differing.map((key) => [key, of[key]]))
      await recordEvent(transaction, call, 'bid-changed', {
        about: { bid_id: bidId, name: row.name, before: only(before), after: only(after) },
      })
    }
    return answerOf(transaction, tenant, row, call.now)
  })
}

async function saveRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  change: bids.NewBidChange,
): Promise<number> {
  const rates = change.cells.map(({ lane, after }) => ({ lane, cents: after as number | null }))
  await bids.setRates(transaction, tenant, bidId, rates)
  return bids.insertBidChange(transaction, tenant, bidId, change)
}

async function setPlace({ caller, params, body, now }: Call<typeof contract.setBidPlace>, parts: Parts) {
  const { tenant, userId } = caller
  const { bid_id: bidId } = params
  const place = readSentPlace(body.place)
  if (place === null) {
    const closest = nearestSpellings(body.place)
    const meant = closest.length === 0 ? '' : ` Similar: ${closest.join('; ')}.`
    throw invalid([
      {
        pointer: '/place',
        code: 'invalid',
        detail: `place must be a known place such as "Dallas, TX"; it is ${JSON.stringify(body.place)}.${meant}`,
      },
    ])
  }
  const answer = await parts.database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, bidId, { lock: true })
    const lanes = await bids.lanesOfBid(transaction, tenant, bidId)
    const before = new Map(lanes.map((row) => [row.lane_number, row[body.end]]))
    const changed = await bids.setPlace(transaction, tenant, bidId, { end: body.end, text: body.sent, place })
    if (changed.length === 0) {
      throw problem(
        'state-conflict',
        `No lane of the bid has the ${body.end} ${JSON.stringify(body.sent)} with another place than ${place}. Nothing was changed.`,
      )
    }
    await bids.signOfLife(transaction, tenant, bidId)
    const change = await bids.insertBidChange(transaction, tenant, bidId, {
      kind: 'place',
      words: `“${body.sent}” is ${place}`,
      cells: changed.map((lane) => ({ lane, before: before.get(lane) ?? null, after: place })),
      changedBy: userId,
      now: new Date(now),
    })
    return { change, lanes: changed.length }
  })
  await startPricing(parts, tenant, bidId)
  return answer
}

type AskedStrategy = Call<typeof contract.previewBidStrategy>['body']

/** @throws a 422 without the percentage that the strategy needs */
function strategyOf(asked: AskedStrategy): { readonly strategy: Strategy; readonly choice: LaneChoice } {
  const wrong = (detail: string) => invalid([{ pointer: '/pct', code: 'invalid', detail }])
  const { strategy: kind, pct } = asked
  if (kind !== 'suggested' && pct === undefined) throw wrong(`pct must be sent with the strategy ${kind}.`)
  if ((kind === 'minimum_margin' || kind === 'meet_target') && !((pct ?? 0) < 100))
    throw wrong('pct must be below 100: a margin of the rate.')
  if (kind === 'target_share' && !((pct ?? 0) >= 0))
    throw wrong('pct must be from 0 to 100: a share of the loads.')
  return {
    strategy: kind === 'suggested' ? { kind } : { kind, pct: pct ?? 0 },
    choice: {
      ...(asked.lanes === undefined ? {} : { lanes: asked.lanes }),
      ...(asked.origin_state === undefined ? {} : { originState: asked.origin_state }),
      ...(asked.destination_state === undefined ? {} : { destinationState: asked.destination_state }),
      ...(asked.origin_region === undefined ? {} : { originRegion: asked.origin_region }),
      ...(asked.destination_region === undefined ? {} : { destinationRegion: asked.destination_region }),
      ...(asked.equipment === undefined ? {} : { equipment: asked.equipment }),
      ...(asked.miles_min === undefined ? {} : { milesMin: asked.miles_min }),
      ...(asked.miles_max === undefined ? {} : { milesMax: asked.miles_max }),
    },
  }
}

/** What a strategy does to the lanes as they are. */
function planned(rows: readonly BidLaneRow[], asked: AskedStrategy) {
  const { strategy, choice } = strategyOf(asked)
  const lanes = rows.map(bidLaneOf)
  const { rates, notKnown, heldAtMinimum, movedPct } = strategyRates(lanes, strategy, choice)
  const after = lanes.map((lane) => ({ ...lane, rateCents: rates.get(lane.lane) ?? lane.rateCents }))
  return {
    rates,
    words: strategyWords(strategy, choice),
    before: bidTotals(lanes),
    after: bidTotals(after),
    answer: {
      changed: rates.size,
      not_known: notKnown,
      held_at_minimum: heldAtMinimum,
      moved_pct: movedPct,
    },
  }
}

const rateBefore = (rows: readonly BidLaneRow[]) =>
  new Map(rows.map((row) => [row.lane_number, row.rate_cents]))

async function preview(
  { caller, params, body }: Call<typeof contract.previewBidStrategy>,
  { database }: Parts,
) {
  const { tenant } = caller
  const { row, lanes } = await database.inTenant(tenant, async (transaction) => ({
    row: await bidOf(transaction, tenant, params.bid_id),
    lanes: await bids.lanesOfBid(transaction, tenant, params.bid_id),
  }))
  const { rates, before, after, answer } = planned(lanes, body)
  const rateOf = rateBefore(lanes)
  return {
    ...answer,
    seen_change: row.last_change,
    before: totalsAnswer(before),
    after: totalsAnswer(after),
    rates: [...rates].map(([lane, cents]) => ({
      lane,
      before: dollarsIfKnown(rateOf.get(lane) ?? null),
      after: dollarsFromCents(cents),
    })),
  }
}

async function apply(
  { caller, params, body, now }: Call<typeof contract.applyBidStrategy>,
  { database }: Parts,
) {
  const { tenant, userId } = caller
  const { bid_id: bidId } = params
  return database.inTenant(tenant, async (transaction) => {
    const row = await bidOf(transaction, tenant, bidId, { lock: true })
    if (row.pricing_at !== null) {
      throw problem(
        'state-conflict',
        'The lanes of the bid are being priced. Wait until that has ended. Nothing was changed.',
      )
    }
    if (row.last_change !== body.seen_change) {
      throw problem(
        'state-conflict',
        'Rates of the bid were changed since the preview. Preview the strategy again. Nothing was changed.',
      )
    }
    const lanes = await bids.lanesOfBid(transaction, tenant, bidId)
    const { rates, words, after, answer } = planned(lanes, body)
    const totals = totalsAnswer(after)
    if (rates.size === 0) return { ...answer, change: null, totals }
    const rateOf = rateBefore(lanes)
    const change = await saveRates(transaction, tenant, bidId, {
      kind: 'strategy',
      words,
      cells: [...rates].map(([lane, cents]) => ({ lane, before: rateOf.get(lane) ?? null, after: cents })),
      changedBy: userId,
      now: new Date(now),
    })
    return { ...answer, change, totals }
  })
}

async function undo({ caller, params, now }: Call<typeof contract.undoBidChange>, { database }: Parts) {
  const { tenant, userId } = caller
  const { bid_id: bidId, change: number } = params
  return database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, bidId, { lock: true })
    const change = await bids.findBidChange(transaction, tenant, bidId, number)
    if (change === null) throw problem('not-found', `Bid ${bidId} has no change ${number}.`)
    if (change.kind === 'place' || change.kind === 'awards') {
      throw problem(
        'state-conflict',
        change.kind === 'place'
          ? 'Choose another place for the text instead of undoing a place. Nothing was changed.'
          : 'Say again what became of the lanes instead of undoing awards. Nothing was changed.',
      )
    }
    if (change.undone_by !== null) {
      throw problem('state-conflict', `Change ${number} is undone already. Nothing was changed.`)
    }
    const lanes = await bids.lanesOfBid(transaction, tenant, bidId)
    const rateOf = rateBefore(lanes)
    const later = change.cells.filter(({ lane, after }) => rateOf.get(lane) !== after)
    if (later.length > 0) {
      const some = later
        .slice(0, 5)
        .map(({ lane }) => lane)
        .join(', ')
      throw problem(
        'state-conflict',
        `Rates of this change were changed since: lane ${some}${later.length > 5 ? ` and ${later.length - 5} more` : ''}. Undo the later changes first. Nothing was changed.`,
      )
    }
    const undone = await saveRates(transaction, tenant, bidId, {
      kind: 'undo',
      words: `Undo of change ${number}: ${change.words}`,
      cells: change.cells.map(({ lane, before, after }) => ({ lane, before: after, after: before })),
      changedBy: userId,
      now: new Date(now),
    })
    await bids.markUndone(transaction, tenant, bidId, { change: number, by: undone })
    return { change: undone, totals: totalsOfRows(await bids.lanesOfBid(transaction, tenant, bidId)) }
  })
}

const contentTypes = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const

async function exported({ caller, params, query }: Call<typeof contract.exportBid>, { database }: Parts) {
  const { tenant } = caller
  const { row, lanes, file } = await database.inTenant(tenant, async (transaction) => {
    const bid = await bidOf(transaction, tenant, params.bid_id)
    const rows = await bids.lanesOfBid(transaction, tenant, params.bid_id)
    await refuseOutsideRates(transaction, tenant, { bid, lanes: rows }, {})
    return { row: bid, lanes: rows, file: await bids.bidFile(transaction, tenant, params.bid_id) }
  })
  const { rate } = row.columns.positions
  const column = query.column === undefined ? rate : query.column - 1
  if (file === null) throw noBid(params.bid_id)
  if (column === undefined) {
    throw problem(
      'state-conflict',
      'The bid has no column for rates. Send column with the number of the column that the shipper wants them in.',
    )
  }
  const cells = lanes.flatMap(({ row_number, rate_cents }) =>
    rate_cents === null ? [] : [{ row: row_number, cents: rate_cents }],
  )
  const filled = await readInTurn(() => filledBid(file, row.sheet, { column, cells })).catch(
    (error: unknown) => {
      if (error instanceof ImportFileError) throw problem('state-conflict', error.message)
      throw error
    },
  )
  return {
    file_name: row.file_name,
    content_type: row.sheet === null ? contentTypes.csv : contentTypes.xlsx,
    filled: cells.length,
    base64: Buffer.from(filled.buffer, filled.byteOffset, filled.length).toString('base64'),
  }
}

/** The newest bids, for a person or a system. */
async function listed(
  { caller: { tenant } }: { readonly caller: { readonly tenant: TenantId } },
  { database }: Parts,
): Promise<AnswerOf<typeof contract.listBids>> {
  return database.inTenant(tenant, async (transaction) => {
    const rows = await bids.listBids(transaction, tenant, bidsListedMax)
    const sums = await bids.lanesOfBids(
      transaction,
      tenant,
      rows.map((row) => row.bid_id),
    )
    const sumsOf = new Map(sums.map((one) => [one.bid_id, one]))
    const none = { rated: 0, priced: 0, value_cents: null, unknown: 0 }
    const names = await people.namesOfUsers(transaction, tenant)
    return { bids: rows.map((row) => summaryAnswer(row, sumsOf.get(row.bid_id) ?? none, names)) }
  })
}

/** A page of the lanes of a bid, for a person or a system. */
async function lanesListed(
  {
    caller: { tenant },
    params,
    query,
  }: Pick<Call<typeof contract.integrationListBidLanes>, 'params' | 'query'> & {
    readonly caller: { readonly tenant: TenantId }
  },
  { database }: Parts,
): Promise<AnswerOf<typeof contract.listBidLanes>> {
  const rows = await database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, params.bid_id)
    return bids.lanesOfBid(transaction, tenant, params.bid_id, {
      after: query.after ?? 0,
      limit: bidLanesPageMax + 1,
    })
  })
  const page = rows.slice(0, bidLanesPageMax)
  return {
    lanes: page.map(laneAnswer),
    next_after: rows.length > page.length ? (page.at(-1)?.lane_number ?? null) : null,
  }
}

export const bidEndpoints: ServedEndpoint[] = [
  serve(
    contract.readBidHeader,
    async ({ caller, body, query }, parts) => {
      const { table } = await opened(() => openBidFile(body, query.sheet))
      const { positions, volumePer, problems, isRemembered } = await columnsOf(
        table.header,
        query,
        caller.tenant,
        parts,
      )
      return {
        header: table.header.map((name) => name.trim()),
        header_line: table.rowsStart.line - 1,
        rows: table.samples.map((cells) => table.header.map((_, at) => cells[at] ?? '')),
        sheet: table.workbook?.sheet ?? null,
        sheets: [...(table.workbook?.sheets ?? [])],
        columns: bidFields.map((field) => {
          const at = positions[field]
          return { field, column: at === undefined ? null : at + 1 }
        }),
        volume_per: volumePer,
        is_remembered: isRemembered,
        problems: [...problems],
      }
    },
    { beforeBody: async ({ caller: { tenant }, bytes }, parts) => reserveFile(parts, tenant, bytes) },
  ),

  serve(contract.createBid, create, {
    beforeBody: async ({ caller: { tenant }, bytes }, parts) => reserveFile(parts, tenant, bytes),
  }),

  serve(contract.listBids, listed),
  serve(contract.integrationListBids, listed),

  serve(contract.getBid, async ({ caller: { tenant }, params, now }, { database }) =>
    database.inTenant(tenant, async (transaction) =>
      answerOf(transaction, tenant, await bidOf(transaction, tenant, params.bid_id), now),
    ),
  ),

  serve(contract.changeBid, changed),

  serve(contract.removeBid, async (call, { database }) => {
    const { caller, params } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const row = await bidOf(transaction, caller.tenant, params.bid_id, { lock: true })
      await bids.removeBid(transaction, caller.tenant, params.bid_id)
      await recordEvent(transaction, call, 'bid-removed', {
        about: { bid_id: row.bid_id, name: row.name, customer_name: row.customer_name },
      })
      return { removed: row.bid_id }
    })
  }),

  serve(contract.listBidLanes, lanesListed),
  serve(contract.integrationListBidLanes, lanesListed),

  serve(contract.setBidRates, setRates),
  serve(contract.setBidPlace, setPlace),
  serve(contract.previewBidStrategy, preview),
  serve(contract.applyBidStrategy, apply),
  ...bidPortfolioEndpoints,
  ...bidAwardEndpoints,
  ...pushAwardEndpoints,
  ...bidRoundEndpoints,

  serve(contract.listBidChanges, async ({ caller: { tenant }, params, query }, { database }) => {
    const lane = query.lane ?? null
    const { rows, names } = await database.inTenant(tenant, async (transaction) => {
      await bidOf(transaction, tenant, params.bid_id)
      return {
        rows: await bids.listBidChanges(transaction, tenant, params.bid_id, {
          lane,
          limit: bidChangesListedMax,
        }),
        names: await people.namesOfUsers(transaction, tenant),
      }
    })
    const shown = (value: number | string | null) =>
      typeof value === 'number' ? dollarsFromCents(value) : value
    return {
      changes: rows.map((row) => {
        const cell = row.cells.find((one) => one.lane === lane)
        return {
          change: row.change_number,
          kind: row.kind,
          words: row.words,
          cells: row.cells.length,
          of_lane: cell === undefined ? null : { before: shown(cell.before), after: shown(cell.after) },
          undone_by: row.undone_by,
          changed_by:
            row.changed_by === null
              ? null
              : { user_id: row.changed_by, name: names.get(row.changed_by) ?? '' },
          changed_at: row.changed_at.toISOString(),
        }
      }),
    }
  }),

  serve(contract.undoBidChange, undo),
  serve(contract.exportBid, exported),
]
