import type { RateBasis } from '#engine/rate-basis.ts'
import { type ImportFieldName, quoted } from '../csv/index.ts'
import type { AssumedBasis, Columns, FieldWithBasis } from './columns.ts'

/** The field with the basis of each amount. */
export const basisFields = {
  quoted_rate: 'quoted_basis',
  customer_rate: 'customer_basis',
  truck_cost: 'truck_basis',
} as const satisfies Record<FieldWithBasis, ImportFieldName>

const byName = ' (by the name of the column)'

/**
 * The columns in the form that is saved with an import: the name of each field's column, the values for all rows, and the basis of
 * amounts without a basis column.
 */
export function storedColumns({ names, bases, constants }: Columns): Readonly<Record<string, string>> {
  const assumed = (Object.entries(bases) as [FieldWithBasis, AssumedBasis][]).flatMap(([field, one]) => {
    const at = basisFields[field]
    return names[at] === undefined ? [[at, `${one.basis}${one.from === 'map' ? ' (chosen)' : byName}`]] : []
  })
  const stated = Object.entries(constants).map(([field, text]) => [field, `${quoted(text)} in all rows`])
  return { ...names, ...Object.fromEntries([...assumed, ...stated]) }
}

/** The basis that was guessed from the name of a column, in stored columns. */
export function guessedBasis(stored: string | undefined): RateBasis | null {
  return stored === `linehaul${byName}` ? 'linehaul' : stored === `all_in${byName}` ? 'all_in' : null
}
