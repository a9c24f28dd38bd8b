import { invalid, problem } from '#contract/errors.ts'
import { formatDollars } from '#engine/money.ts'
import { bids } from '../../database/queries/index.ts'
import type { BidLaneRow, BidRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

export const noBid = (bidId: number) => problem('not-found', `There is no bid ${bidId} in this brokerage.`)

/** @throws Problem not-found */
export async function bidOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  options?: { readonly lock: boolean },
): Promise<BidRow> {
  const row = await bids.findBid(transaction, tenant, bidId, options)
  if (row === null) throw noBid(bidId)
  return row
}

/**
 * The lanes of a bid by number, for a change of some of them.
 *
 * @throws Problem invalid for a lane that the bid does not have, or that is named twice; state-conflict if another person changed a lane
 * since the version that the cell names
 */
export function seenLanes(
  rows: readonly BidLaneRow[],
  cells: readonly { readonly lane: number; readonly version: number }[],
): ReadonlyMap<number, BidLaneRow> {
  const known = new Map(rows.map((row) => [row.lane_number, row]))
  const named = new Set<number>()
  const conflicts: { pointer: string; code: string; detail: string }[] = []
  const wrong: { pointer: string; code: string; detail: string }[] = []
  for (const [index, { lane, version }] of cells.entries()) {
    const row = known.get(lane)
    const pointer = `/cells/${index}/lane`
    if (row === undefined) {
      wrong.push({ pointer, code: 'invalid', detail: `The bid has no lane ${lane}.` })
    } else if (named.has(lane)) {
      wrong.push({ pointer, code: 'invalid', detail: `Lane ${lane} must be in cells once.` })
    } else if (row.version !== version) {
      const now = row.rate_cents === null ? 'no rate' : formatDollars(row.rate_cents)
      conflicts.push({
        pointer: `/cells/${index}/rate`,
        code: 'changed',
        detail: `Lane ${lane} has ${now} by now.`,
      })
    }
    named.add(lane)
  }
  if (wrong.length > 0) throw invalid(wrong)
  if (conflicts.length > 0) {
    throw problem(
      'state-conflict',
      `Another person changed ${conflicts.length === 1 ? 'a lane' : `${conflicts.length} lanes`} meanwhile: ${conflicts[0]?.detail} Nothing was changed.`,
      { errors: conflicts },
    )
  }
  return known
}
