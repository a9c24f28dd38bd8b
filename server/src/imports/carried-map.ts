import { mapPairs, withoutQuotes } from '#contract/import-map.ts'
import { refusedColumn } from '#contract/refused-column.ts'
import { wordKey } from './word-meanings.ts'

/** Whether a name is that of the column of reasons in a file of refused rows. */
export const isReason = (name: string) => name.trim().startsWith(refusedColumn)

/** The name of the column of reasons, with the pairs of a map that the rows need. @example reasonsName(['dates=day_first']) // 'Why refused (dates=day_first)' */
export function reasonsName(pairs: readonly string[]): string {
  return pairs.length === 0 ? refusedColumn : `${refusedColumn} (${pairs.join(',')})`
}

/** What tells pairs of a map apart: their field or setting, and the word whose meaning one states. */
function subjectOf(left: string): string {
  const at = left.indexOf(':')
  const name = left.slice(0, at < 0 ? undefined : at).trim()
  return at < 0
    ? name.toLowerCase()
    : `${name.toLowerCase()}:${wordKey(withoutQuotes(left.slice(at + 1).trim()))}`
}

/**
 * A map with the pairs that the name of a column of reasons states, unless the map states them itself.
 *
 * @example withCarried(['Origin', 'Why refused (dates=day_first)'], 'basis=linehaul') // 'dates=day_first,basis=linehaul'
 */
export function withCarried(header: readonly string[], map: string): string {
  const text = header.find(isReason)?.trim().slice(refusedColumn.length).trim() ?? ''
  if (!text.startsWith('(') || !text.endsWith(')')) return map
  const stated = new Set(
    [...mapPairs(map)].flatMap((pair) => (typeof pair === 'string' ? [] : [subjectOf(pair.left)])),
  )
  const carried = [...mapPairs(text.slice(1, -1))].flatMap((pair) =>
    typeof pair === 'string' || stated.has(subjectOf(pair.left)) ? [] : [pair.text],
  )
  return [...carried, ...(map === '' ? [] : [map])].join(',')
}
