import type { AnswerOf } from '#contract/endpoint.ts'
import { laneRecord } from '#contract/lane-record.ts'
import { lanePointsMax } from '#contract/limits.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { Place } from '#engine/place.ts'
import type { EquipmentMonth } from '#engine/quote-statistics/lane-record.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { locate } from '#geography/locate.ts'
import { statisticsOfSome } from '../../book/index.ts'
import { idsOfQuotes, namesOfQuotes } from '../../database/queries/index.ts'
import { lanePlaces, readAskedLane } from '../../quotes/index.ts'
import { serve } from '../endpoint-call.ts'
import { basisAnswer } from '../performance/compared-basis.ts'

type Counts = Pick<EquipmentMonth, 'quotes' | 'won' | 'lost' | 'pending'>
type RecordAnswer = AnswerOf<typeof laneRecord>

/** One end of the lane for a map. An unknown place is shown as sent. */
function endOf(place: Place, sent: string): RecordAnswer['origin'] {
  const located = locate(place)
  return located === null
    ? { place: sent, latitude: null, longitude: null }
    : {
        place: `${located.city}, ${located.state}`,
        latitude: located.latitude,
        longitude: located.longitude,
      }
}

function sum<Row>(rows: readonly Row[], amount: (row: Row) => number): number {
  return rows.reduce((total, row) => total + amount(row), 0)
}

function countsOf(rows: readonly Counts[]): Counts {
  return {
    quotes: sum(rows, (row) => row.quotes),
    won: sum(rows, (row) => row.won),
    lost: sum(rows, (row) => row.lost),
    pending: sum(rows, (row) => row.pending),
  }
}

function equipmentOf(rows: readonly EquipmentMonth[]): RecordAnswer['equipment'] {
  return [...Map.groupBy(rows, (row) => row.equipmentCode)]
    .map(([equipment, months]) => ({ equipment, ...countsOf(months) }))
    .sort((a, b) => b.quotes - a.quotes || (a.equipment < b.equipment ? -1 : 1))
}

/** The months of one equipment type, or of all types together. */
function monthsOf(rows: readonly EquipmentMonth[]): RecordAnswer['months'] {
  return [...Map.groupBy(rows, (row) => row.month)].map(([month, types]) => {
    const counts = countsOf(types)
    const rates = sum(types, (row) => row.rates)
    const margins = sum(types, (row) => row.margins)
    const marginCents = sum(types, (row) => row.marginCents)
    return {
      month,
      ...counts,
      win_rate_pct: percentOf(counts.won, counts.won + counts.lost),
      avg_rate: rates === 0 ? 0 : dollarsFromCents(sum(types, (row) => row.rateCents) / rates),
      avg_margin: margins === 0 ? null : dollarsFromCents(marginCents / margins),
      margin_pct: percentOf(
        marginCents,
        sum(types, (row) => row.marginBaseCents),
      ),
    }
  })
}

/** The data of a lane's page besides its advice. It counts the exact city pair, as markup does. */
export const laneRecordEndpoint = serve(laneRecord, async ({ caller, query }, { books, database }) => {
  const {
    equipmentCode,
    places: { origin, destination },
  } = readAskedLane(query)

  const places = lanePlaces(origin, destination, null)
  const corridor = {
    originKey: places.origin_key,
    destinationKey: places.destination_key,
    ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
  }
  const { tenant } = caller
  const statistics = await statisticsOfSome({ books, database }, tenant, () =>
    database.inTenant(tenant, (transaction) => idsOfQuotes(transaction, tenant, corridor)),
  )
  const selection = { ...corridor, ...(equipmentCode === null ? {} : { equipmentCode }) }
  const { months, points } = await statistics.laneRecord(selection, lanePointsMax)
  const converted = await statistics.converted(selection)
  const names = await database.inTenant(caller.tenant, (transaction) =>
    namesOfQuotes(
      transaction,
      caller.tenant,
      points.map(({ quoteId }) => quoteId),
    ),
  )
  const asked = months.filter((row) => equipmentCode === null || row.equipmentCode === equipmentCode)
  return {
    origin: endOf(origin, query.origin),
    destination: endOf(destination, query.destination),
    miles: places.miles ?? null,
    equipment: equipmentOf(months),
    points: points.flatMap((point) => {
      const name = names.get(point.quoteId)
      // A quote can be deleted meanwhile.
      if (name === undefined) return []
      return {
        lane_ref: name.laneRef,
        rate: dollarsFromCents(point.rateCents),
        booked: point.booked,
        outcome: point.outcome,
        quoted_at: new Date(point.quotedAt).toISOString(),
        customer_name: name.customerName,
        margin: dollarsIfKnown(point.marginCents),
      }
    }),
    points_total: countsOf(asked).quotes,
    months: monthsOf(asked),
    basis: basisAnswer({ basis: statistics.basis, ...converted }),
  }
})
