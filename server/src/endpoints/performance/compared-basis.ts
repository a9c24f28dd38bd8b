import type { ComparedBasis } from '#contract/rate-basis.ts'
import { type ConvertedCounts, noneConverted } from '#engine/quote-statistics/basis-counts.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { type BrokerageBook, type OpenBook, statisticsOf } from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { AskedLane } from '../../quotes/index.ts'
import type { Parts } from '../parts.ts'

/** The basis on which amounts are compared, and the counts of quotes that were converted or could not be. */
export interface BasisCounts extends ConvertedCounts {
  readonly basis: RateBasis
}

/** The basis of an answer, in the form of the API. */
export function basisAnswer({
  basis,
  convertedBy,
  notConverted,
  notConvertedInCad,
  notDirect,
}: BasisCounts): ComparedBasis {
  const { charges, schedule, exchange } = convertedBy
  return {
    currency: 'USD',
    amounts: basis,
    converted: charges + schedule + exchange,
    converted_by: { charges, schedule, exchange },
    kept_apart: notConverted,
    kept_apart_in_cad: notConvertedInCad,
    ...(notDirect === 0 ? {} : { other_modes: notDirect }),
  }
}

/** The last columns of a CSV file of statistics: the basis and the currency of all its amounts. */
export const basisHeaders = ['Basis', 'Currency'] as const
export const basisCells = (basis: RateBasis): [RateBasis, 'USD'] => [basis, 'USD']

/** The basis of an answer about a lane. Its counts are of the exact city pair, and of the requested equipment, if any. */
export async function basisOfLane(
  { settings, quotes }: OpenBook<BrokerageBook>,
  { places: { origin, destination }, equipmentCode }: AskedLane,
  tenant: TenantId,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<ComparedBasis> {
  // If all amounts are on one basis and all quotes of direct truckloads, there is nothing to count.
  if (!settings.mixed && quotes.quotes.apart.size === 0)
    return basisAnswer({ basis: settings.basis, ...noneConverted })
  const statistics = await statisticsOf(parts, tenant)
  const converted = await statistics.converted({
    originKey: origin.key,
    destinationKey: destination.key,
    ...(equipmentCode === null ? {} : { equipmentCode }),
  })
  return basisAnswer({ basis: statistics.basis, ...converted })
}
