import type { QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import type * as contract from '#contract/performance.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import type { QuoteFilter } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readEquipment } from '../../quotes/index.ts'

type Selection = Pick<
  QueryOf<typeof contract.listMarginGaps>,
  'from' | 'to' | 'equipment' | 'rate_type' | 'customer' | 'quoted_by'
>

/** The selection of quotes that a query states, for the book and for the database, and its period. */
export function readSelection(
  query: Selection,
  tenant: TenantId,
): {
  selection: QuoteSelection
  filter: QuoteFilter
  period: { from: string | null; to: string | null }
} {
  const errors: FieldError[] = []
  const equipmentCode =
    query.equipment === undefined ? null : readEquipment(query.equipment, { parameter: 'equipment' }, errors)
  if (errors.length > 0) throw invalid(errors)
  const moment = (text: string | undefined) => {
    const time = text === undefined ? null : readTime(text)
    return time === null ? null : new Date(time)
  }
  const [from, to] = [moment(query.from), moment(query.to)]
  return {
    selection: {
      ...(equipmentCode === null ? {} : { equipmentCode }),
      ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
      ...(query.customer === undefined ? {} : { customerName: query.customer }),
      ...(query.quoted_by === undefined ? {} : { quotedBy: query.quoted_by }),
      ...(from === null ? {} : { from: from.getTime() }),
      ...(to === null ? {} : { to: to.getTime() }),
    },
    filter: {
      ...(equipmentCode === null ? {} : { equipmentCode }),
      ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
      ...(query.customer === undefined ? {} : { customer: { tenant, name: query.customer } }),
      ...(query.quoted_by === undefined ? {} : { quotedBy: query.quoted_by }),
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
    },
    period: { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null },
  }
}
