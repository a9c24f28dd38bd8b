import type { ComparedBasis } from '#contract/rate-basis.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { BrokerageBook, OpenBook } from '../../book/index.ts'
import {
  type BasisCounts,
  type LaneFilter,
  noneConverted,
  readBasisCounts,
} from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { AskedLane } from '../../lanes/index.ts'
import type { Parts } from '../parts.ts'

/** The basis of an answer, in the form of the API. */
export function basisAnswer({ basis, convertedBy, keptApart, keptApartInCad }: BasisCounts): ComparedBasis {
  const { charges, schedule, exchange } = convertedBy
  return {
    currency: 'USD',
    amounts: basis,
    converted: charges + schedule + exchange,
    converted_by: { charges, schedule, exchange },
    kept_apart: keptApart,
    kept_apart_in_cad: keptApartInCad,
  }
}

/** The last columns of a CSV file of statistics: what all its amounts include, and their currency. */
export const basisHeaders = ['Basis', 'Currency'] as const
export const basisCells = (basis: RateBasis): [RateBasis, 'USD'] => [basis, 'USD']

/** The basis of an answer about a lane: counts are of the exact city pair, and of the equipment if one was asked about. */
export async function basisOfLane(
  { settings }: OpenBook<BrokerageBook>,
  { places: { origin, destination }, equipmentCode }: AskedLane,
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<ComparedBasis> {
  // Without amounts on the other basis, there is nothing to count.
  if (!settings.mixed) return basisAnswer({ basis: settings.basis, ...noneConverted })
  const filter: LaneFilter = {
    originKey: origin.key,
    destinationKey: destination.key,
    ...(equipmentCode === null ? {} : { equipmentCode }),
  }
  return database.inTenant(tenant, async (transaction) =>
    basisAnswer(await readBasisCounts(transaction, tenant, filter)),
  )
}
