import type { TenantIds } from './seeded-ids.ts'

/** A bid with a lane, a lane with an unknown place, and a change. */
export function bidRowsOf(ids: TenantIds, { canary, at }: { readonly canary: string; readonly at: Date }) {
  const text = (column: string) => `${canary}${column}`
  const priced = {
    suggestedCents: 215_000,
    costCents: 180_500,
    costLowCents: 160_000,
    costHighCents: 202_000,
    marketCents: null,
    minimumCents: null,
    miles: 781,
    equipment: 'V',
    scope: 'lane',
    decided: 5,
    reasons: [text('bid_lanes-priced')],
    curve: [
      [190_000, 0.6, 0.5, 0.7],
      [230_000, 0.2, 0.1, 0.3],
    ],
  }
  const lane = {
    bid_id: ids.import,
    equipment_code: 'V',
    loads: 52,
    duplicate_of: null,
    target_cents: 210_000,
    rank: 2,
    previous_lane: null,
    previous_rate_cents: 212_000,
    miles: 781,
    rate_cents: 214_000,
    award: 'awarded',
    award_cents: 214_000,
    award_loads: 52,
    version: 0,
    problems: JSON.stringify([text('bid_lanes-problems')]),
    priced: JSON.stringify(priced),
  }
  return {
    bids: [
      {
        bid_id: ids.import,
        stage: 'open',
        contract_months: 12,
        starts_on: '2026-01-01',
        file: Buffer.from(`Lane,Origin,Destination,Rate\n"${text('bids-file')}",a,b,\n`),
        sheet: null,
        columns: JSON.stringify({
          positions: { lane_id: 0, origin: 1, destination: 2, rate: 3 },
          volumePer: text('bids-columns'),
        }),
        header_digest: text('bids-header_digest'),
        lanes: 3,
        lines_skipped: 0,
        // Its own round before, so that the walks see what a round shows of both.
        previous_bid_id: ids.import,
        last_change: 2,
        pricing_at: null,
        due_at: at,
        created_by: ids.owner,
        created_at: at,
        changed_at: at,
      },
    ],
    bid_lanes: [
      { ...lane, lane_number: 1, row_number: 2, origin: 'Dallas, TX', destination: 'Atlanta, GA' },
      {
        ...lane,
        lane_number: 2,
        row_number: 3,
        origin_sent: 'Dalas',
        origin: null,
        destination: 'Atlanta, GA',
        priced: null,
        rate_cents: null,
        award: null,
      },
      // The database accepts any text as a place. The lane is priced already.
      {
        ...lane,
        lane_number: 3,
        row_number: 4,
        origin: text('bid_lanes-origin'),
        destination: text('bid_lanes-destination'),
        equipment_code: text('bid_lanes-equipment_code'),
        award: null,
      },
    ],
    bid_changes: [
      {
        bid_id: ids.import,
        change_number: 1,
        kind: 'rates',
        cells: JSON.stringify([{ lane: 1, before: 210_000, after: 214_000 }]),
        undone_by: null,
        changed_by: ids.owner,
        changed_at: at,
      },
      {
        bid_id: ids.import,
        change_number: 2,
        kind: 'place',
        cells: JSON.stringify([{ lane: 1, before: null, after: text('bid_changes-cells') }]),
        undone_by: null,
        changed_by: ids.owner,
        changed_at: at,
      },
    ],
  }
}
