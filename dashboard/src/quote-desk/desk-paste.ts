import { useDebouncedValue } from '@mantine/hooks'
import { pastedLengthMax } from '#contract/limits.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { blankQuote, type DeskQuote } from './desk-draft.ts'

type Pasted = Answer<'read-pasted-quotes'>
type PastedColumn = Pasted['columns'][number]
export type PastedRow = Pasted['rows'][number]

export interface ReadPaste {
  /** The service's reading of the current text; null while it is loading. */
  readonly pasted: Pasted | null
  readonly failure: CallFailed | null
  readonly retry: () => void
  readonly isTooLong: boolean
}

const typingPauseMs = 250

/** Sends all rows to the service in one call. The service reads them by the same rules as an import. */
export function usePaste(text: string): ReadPaste {
  const [settled] = useDebouncedValue(text, typingPauseMs)
  const isTooLong = text.length > pastedLengthMax
  const isSettled = settled === text && !isTooLong && text.trim() !== ''
  const read = useAnswer(
    'read-pasted-quotes',
    { body: { text: settled } },
    { enabled: isSettled, staleMs: 60_000 },
  )
  return {
    pasted: isSettled ? (read.data ?? null) : null,
    failure: isSettled ? read.error : null,
    retry: () => void read.refetch(),
    isTooLong,
  }
}

/** The quote of a row, with all fields as text. */
export function quoteOf(row: PastedRow): Omit<DeskQuote, 'id'> {
  const { id: _, ...blank } = blankQuote(0)
  const amount = (dollars: number | null) => (dollars === null ? '' : String(dollars))
  return {
    ...blank,
    origin: row.origin ?? '',
    destination: row.destination ?? '',
    equipment: row.equipment ?? blank.equipment,
    rate: amount(row.rate),
    cost: amount(row.cost),
    market: amount(row.market),
    pickup: row.pickup ?? '',
    rateType: '',
  }
}

const fieldNames: Readonly<Record<NonNullable<PastedColumn['field']>, string>> = {
  origin: 'origin',
  origin_state: 'state of the origin',
  origin_zip: 'ZIP code of the origin',
  destination: 'destination',
  destination_state: 'state of the destination',
  destination_zip: 'ZIP code of the destination',
  equipment: 'equipment',
  rate: 'rate',
  cost: 'estimated cost',
  cost_basis: 'basis of the cost',
  cost_currency: 'currency of the cost',
  fuel: 'fuel charge',
  accessorials: 'accessorial charges',
  basis: 'basis',
  market: 'market rate',
  pickup: 'pickup date',
  customer: 'customer',
  currency: 'currency',
}

/** How the amounts of a row were converted, in words. */
export const convertedWords: Readonly<Record<NonNullable<PastedRow['converted_by']>, string>> = {
  charges: 'Converted by its fuel charge',
  schedule: 'Converted by the fuel schedule',
  exchange: 'Converted from Canadian dollars',
}

/** @example columnWords({ column: 4, name: 'Sell Rate', field: 'rate' }) // 'Sell Rate: rate' */
export function columnWords({ column, name, field }: PastedColumn): string {
  return `${name ?? `Column ${column}`}: ${field === null ? 'not used' : fieldNames[field]}`
}
