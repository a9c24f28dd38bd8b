import { useDebouncedValue } from '@mantine/hooks'
import { pastedLengthMax } from '#contract/limits.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { blankLane, type DeskLane } from './desk-draft.ts'

type Pasted = Answer<'read-pasted-lanes'>
export type PastedField = NonNullable<Pasted['columns'][number]['field']>
export type PastedRow = Pasted['rows'][number]

export interface ReadPaste {
  /** The service's reading of the current text; null while it is loading. */
  readonly pasted: Pasted | null
  /** The newest reading, perhaps of a text before: its table stays while a corrected cell is read. */
  readonly shown: Pasted | null
  readonly failure: CallFailed | null
  readonly retry: () => void
  readonly isTooLong: boolean
}

const typingPauseMs = 250

/**
 * Sends all rows to the service in one call. The service reads them by the same rules as an import.
 *
 * @param fields the fields of the columns, if the person chose them
 */
export function usePaste(
  text: string,
  fields: readonly (PastedField | null)[] | null,
  acceptUnknown: boolean,
): ReadPaste {
  const [settled] = useDebouncedValue(text, typingPauseMs)
  const isTooLong = text.length > pastedLengthMax
  const isSettled = settled === text && !isTooLong && text.trim() !== ''
  const read = useAnswer(
    'read-pasted-lanes',
    {
      body: {
        text: settled,
        ...(fields === null ? {} : { fields: fields.map((field) => field ?? 'ignored') }),
        ...(acceptUnknown ? { accept_unknown_places: true } : {}),
      },
    },
    { enabled: isSettled, keeps: true, staleMs: 60_000 },
  )
  return {
    pasted: isSettled && !read.isPlaceholderData ? (read.data ?? null) : null,
    shown: text.trim() === '' || isTooLong ? null : (read.data ?? null),
    failure: isSettled ? read.error : null,
    retry: () => void read.refetch(),
    isTooLong,
  }
}

/** The lane of a row, with all fields as text. */
export function laneOf(row: PastedRow): Omit<DeskLane, 'id'> {
  const { id: _, ...blank } = blankLane(0)
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
    rateType: row.rate_type ?? '',
    // The desk has an empty mode for a truckload.
    mode: row.mode === 'truckload' ? '' : (row.mode ?? ''),
    stops: row.stops.join('; '),
  }
}

/** What a column of pasted rows is, in words. */
export const fieldNames: Readonly<Record<PastedField, string>> = {
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
  rate_type: 'spot or contract',
  mode: 'mode',
  stops: 'stops in between',
}

/** How the amounts of a row were converted, in words. */
export const convertedWords: Readonly<Record<NonNullable<PastedRow['converted_by']>, string>> = {
  charges: 'Converted by its fuel charge',
  schedule: 'Converted by the fuel schedule',
  exchange: 'Converted from Canadian dollars',
}

/** The rows with one cell changed. */
export function withCell(
  rows: readonly Pick<PastedRow, 'text'>[],
  row: number,
  at: number,
  text: string,
): Pick<PastedRow, 'text'>[] {
  return rows.map((one, nth) => {
    if (nth !== row) return one
    const cells = one.text.split('\t')
    while (cells.length <= at) cells.push('')
    cells[at] = text.replaceAll(/\s+/g, ' ')
    return { text: cells.join('\t') }
  })
}

/** Rows as text. A cell with quotation marks is quoted, as a spreadsheet does it. */
export function textOf(header: string | null, rows: readonly Pick<PastedRow, 'text'>[]): string {
  const lines = rows.map(({ text }) => lineOf(text.split('\t')))
  return [...(header === null ? [] : [lineOf(header.split('\t'))]), ...lines].join('\n')
}

const lineOf = (cells: readonly string[]) =>
  cells.map((cell) => (cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell)).join('\t')
