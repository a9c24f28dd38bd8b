import { quoted } from '../csv/index.ts'

/**
 * The exports of Lanewise that list sums and judgments of quotes, each by two columns that no other file has. Read as quotes, they would
 * be loads that nobody quoted.
 */
const reports = [
  { name: 'missed margin', columns: ['Finding', 'Better rate (estimate)'] },
  { name: 'the performance', columns: ['Landed vs quoted', 'Lost to cost'] },
  { name: 'the market standing', columns: ['Paid above market', 'Market area'] },
  { name: 'forecasts', columns: ['Forecast made at', 'Not scored because'] },
] as const

/**
 * Why a file is no list of quotes: it is a report that Lanewise exported. Null for every other file.
 *
 * @example reportFault(['Quote', 'Finding', 'Better rate (estimate)']) // 'The file is the export of missed margin ...'
 */
export function reportFault(header: readonly string[]): string | null {
  const names = new Set(header.map((name) => name.trim()))
  const report = reports.find(({ columns }) => columns.every((name) => names.has(name)))
  if (report === undefined) return null
  const [one, other] = report.columns
  return `The file is the export of ${report.name} (it has the columns ${quoted(one)} and ${quoted(other)}), which says how quotes did and has no quotes to import. To edit quotes, export them on the page Quotes or Shipments.`
}
