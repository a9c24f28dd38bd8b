import type { Static } from 'typebox'
import type { SavedAwards } from '#contract/bid-awards.ts'
import { formatDollars } from '#engine/money.ts'
import { announceToSubscribers, bidAwards, bids } from '../../database/queries/index.ts'
import type { BidLaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { bidOf } from './find-bid.ts'

const inWords = ({ award, award_cents: cents }: Pick<BidLaneRow, 'award' | 'award_cents'>) =>
  award === 'awarded' && cents !== null ? `awarded at ${formatDollars(cents)}` : award

function wordsOf(awards: readonly bidAwards.LaneAward[], how: string): string {
  const parts = (['awarded', 'lost', null] as const).flatMap((state) => {
    const count = awards.filter(({ award }) => award === state).length
    return count === 0 ? [] : [`${count} ${state ?? 'open'}`]
  })
  return `Lanes${how}: ${parts.join(', ')}`
}

/** Whether an award differs from what is stored of its lane. */
export function isNewAward(row: BidLaneRow, { award, cents, loads }: bidAwards.LaneAward): boolean {
  return row.award !== award || row.award_cents !== cents || row.award_loads !== loads
}

/**
 * Stores awards as one change of the history: those that a person enters, those of a file, and pushed ones. The caller has locked the bid.
 * An award that repeats what is stored is no change, but its time counts: an older award that comes later must not replace it.
 *
 * @param rows the lanes of the bid
 */
export async function saveAwards(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  rows: readonly BidLaneRow[],
  {
    awards,
    how = '',
    userId,
    signedAt,
    now,
  }: {
    readonly awards: readonly bidAwards.LaneAward[]
    /** How they came, after the word "Lanes", such as " of award.csv". */
    readonly how?: string
    /** Null: a system sent them. */
    readonly userId: number | null
    readonly signedAt: Date
    readonly now: Date
  },
): Promise<Static<typeof SavedAwards>> {
  const known = new Map(rows.map((row) => [row.lane_number, row]))
  const changed = awards.filter((award) => {
    const row = known.get(award.lane)
    return row !== undefined && isNewAward(row, award)
  })
  const repeated = awards.filter((award) => {
    const row = known.get(award.lane)
    if (row === undefined || isNewAward(row, award)) return false
    return row.award_signed_at === null || row.award_signed_at < signedAt
  })
  const after = new Map(rows.map((row) => [row.lane_number, row.award]))
  for (const { lane, award } of changed) after.set(lane, award)
  const counted = (state: 'awarded' | 'lost') => [...after.values()].filter((award) => award === state).length
  const counts = { changed: changed.length, awarded: counted('awarded'), lost: counted('lost') }
  const stored = [...changed, ...repeated]
  if (stored.length > 0) await bidAwards.setAwards(transaction, tenant, bidId, stored, signedAt)
  if (changed.length === 0) return { change: null, ...counts }
  const change = await bids.insertBidChange(transaction, tenant, bidId, {
    kind: 'awards',
    words: wordsOf(changed, how),
    cells: changed.map((award) => {
      const row = known.get(award.lane)
      return {
        lane: award.lane,
        before: row === undefined ? null : inWords(row),
        after: inWords({ award: award.award, award_cents: award.cents }),
      }
    }),
    changedBy: userId,
    now,
  })
  const { name, customer_name } = await bidOf(transaction, tenant, bidId)
  await announceToSubscribers(transaction, tenant, {
    type: 'bid.awarded',
    about: { bid: { bid_id: bidId, name, customer_name, change, ...counts } },
  })
  return { change, ...counts }
}
