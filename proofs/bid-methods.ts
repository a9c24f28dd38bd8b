import { bidAwards, bids } from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'

const priced = {
  suggestedCents: 1,
  costCents: null,
  costLowCents: null,
  costHighCents: null,
  marketCents: null,
  minimumCents: null,
  miles: null,
  equipment: null,
  scope: 'none',
  decided: 0,
  reasons: [],
  curve: [],
} as const

/** The database functions of bids. */
export const bidMethods: Readonly<Record<string, Method>> = {
  'bids.insertBid': changesRows(({ transaction, tenant, user, now }) =>
    bids.insertBid(
      transaction,
      tenant,
      {
        name: 'Walk',
        customer_name: 'Walk',
        due_at: null,
        contract_months: 12,
        file_name: 'walk.csv',
        file: Buffer.from('Origin\n'),
        sheet: null,
        columns: { positions: {}, volumePer: null },
        header_digest: 'walk',
        previous_bid_id: null,
        lines_skipped: 0,
        created_by: user.user_id,
        createdAt: now,
      },
      [],
    ),
  ),
  'bid-awards.setAwards': changesRows(({ transaction, tenant, ids, now }) =>
    bidAwards.setAwards(
      transaction,
      tenant,
      ids.import,
      [{ lane: 1, award: 'lost', cents: null, loads: null }],
      now,
    ),
  ),
  'bid-awards.awardedLanes': returnsResult(({ transaction, tenant }) =>
    bidAwards.awardedLanes(transaction, tenant, 100),
  ),
  'bid-awards.awardedRates': noEvidence(({ transaction, tenant, now }) =>
    bidAwards.awardedRates(transaction, tenant, {
      customer: 'walk',
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipmentCode: null,
      day: '2026-06-01',
      now,
      max: 5,
    }),
  ),
  'bid-awards.contractDays': noEvidence(({ transaction, tenant }) =>
    bidAwards.contractDays(transaction, tenant, { since: '2020-01-01', max: 100 }),
  ),
  'bid-awards.customerKeyOf': noEvidence(({ transaction, tenant }) =>
    bidAwards.customerKeyOf(transaction, tenant, 'Walk'),
  ),
  'bids.listBids': returnsCanary(({ transaction, tenant }) => bids.listBids(transaction, tenant, 50)),
  'bids.findBid': returnsCanary(({ transaction, tenant, ids }) =>
    bids.findBid(transaction, tenant, ids.import, { lock: true }),
  ),
  'bids.bidFile': returnsResult(({ transaction, tenant, ids }) =>
    bids.bidFile(transaction, tenant, ids.import),
  ),
  'bids.rememberedColumns': noEvidence(({ transaction, tenant }) =>
    bids.rememberedColumns(transaction, tenant, 'walk', 'Walk'),
  ),
  'bids.lanesOfBid': returnsCanary(({ transaction, tenant, ids }) =>
    bids.lanesOfBid(transaction, tenant, ids.import, { after: 0, limit: 10 }),
  ),
  'bids.lanesOfBids': returnsResult(({ transaction, tenant, ids }) =>
    bids.lanesOfBids(transaction, tenant, [ids.import]),
  ),
  'bids.changeBid': changesRows(({ transaction, tenant, ids, now }) =>
    bids.changeBid(transaction, tenant, ids.import, { name: 'Other' }, now),
  ),
  'bids.removeBid': changesRows(({ transaction, tenant, ids }) =>
    bids.removeBid(transaction, tenant, ids.import),
  ),
  'bids.unpricedLanes': noEvidence(({ transaction, tenant, ids }) =>
    bids.unpricedLanes(transaction, tenant, ids.import, 10),
  ),
  'bids.savePrices': changesRows(({ transaction, tenant, ids }) =>
    bids.savePrices(transaction, tenant, ids.import, [
      { lane: { lane_number: 1, origin: 'Dallas, TX', destination: 'Atlanta, GA' }, priced },
    ]),
  ),
  'bids.takeOverBid': noEvidence(({ transaction, tenant, ids }) =>
    bids.takeOverBid(transaction, tenant, ids.import),
  ),
  'bids.signOfLife': changesRows(({ transaction, tenant, ids }) =>
    bids.signOfLife(transaction, tenant, ids.import),
  ),
  'bids.releaseBid': noEvidence(({ transaction, tenant, ids }) =>
    bids.releaseBid(transaction, tenant, ids.import),
  ),
  'bids.endPricing': noEvidence(({ transaction, tenant, ids }) =>
    bids.endPricing(transaction, tenant, ids.import),
  ),
  'bids.setRates': changesRows(({ transaction, tenant, ids }) =>
    bids.setRates(transaction, tenant, ids.import, [{ lane: 1, cents: 1 }]),
  ),
  'bids.setPlace': changesRows(({ transaction, tenant, ids }) =>
    bids.setPlace(transaction, tenant, ids.import, { end: 'origin', text: 'Dalas', place: 'Dallas, TX' }),
  ),
  'bids.insertBidChange': changesRows(({ transaction, tenant, ids, user, now }) =>
    bids
      .insertBidChange(transaction, tenant, ids.import, {
        kind: 'rates',
        words: 'Walk',
        cells: [],
        changedBy: user.user_id,
        now,
      })
      // A bid of another tenant is not there.
      .catch((error: unknown) => {
        if (!(error instanceof Error) || error.constructor.name !== 'NoResultError') throw error
      }),
  ),
  'bids.listBidChanges': returnsCanary(({ transaction, tenant, ids }) =>
    bids.listBidChanges(transaction, tenant, ids.import, { lane: 1, limit: 10 }),
  ),
  'bids.findBidChange': returnsCanary(({ transaction, tenant, ids }) =>
    bids.findBidChange(transaction, tenant, ids.import, 2),
  ),
  'bids.markUndone': changesRows(({ transaction, tenant, ids }) =>
    bids.markUndone(transaction, tenant, ids.import, { change: 1, by: 2 }),
  ),
}
