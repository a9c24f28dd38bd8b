import { LocalClock } from '#engine/local-clock.ts'
import {
  cellText,
  type DateReader,
  dateColumns,
  dateReader,
  noDates,
  orderConflict,
  seeDate,
} from '../csv/index.ts'
import type { Line } from '../tables/index.ts'
import { type DateSettings, orderNote } from './file-dates.ts'
import type { ImportNote } from './import-notes.ts'
import { publishedDates } from './market-cells.ts'
import { type MarketDateField, marketDateFields, type Reading } from './market-rows.ts'

interface MarketDates {
  readonly readers: Readonly<Record<MarketDateField, DateReader>>
  /** Sentences about the order of day and month. */
  readonly notes: readonly ImportNote[]
  /** Why the dates of a column cannot be read. */
  readonly conflicts: readonly string[]
}

/** How the dates of a file of market rates are read: by its lines, the chosen order, and the settings of the brokerage. */
export function marketDates(
  lines: readonly Line[],
  { header, chosen, defaults }: Omit<Reading, 'dates'>,
  { order, timeZone }: DateSettings,
): MarketDates {
  const columns = marketDateFields.map((field) => {
    const at = chosen.rates[0]?.at.get(field) ?? -1
    const seen = noDates()
    for (const { cells, line } of lines) {
      for (const date of publishedDates(cellText(cells[at]) ?? '')) seeDate(seen, date, line)
    }
    return { name: header[at]?.trim() ?? field, seen }
  })
  const clock = new LocalClock(timeZone)
  const choice = { chosen: defaults.dates ?? null, setting: order }
  const { readers, notes } = dateColumns(columns, choice, clock)
  const fallback = dateReader(order, clock)
  return {
    readers: { as_of: readers[0] ?? fallback, valid_until: readers[1] ?? fallback },
    notes: notes.map(orderNote),
    conflicts: columns.flatMap(({ name, seen }) => orderConflict(name, seen, choice.chosen)?.detail ?? []),
  }
}
