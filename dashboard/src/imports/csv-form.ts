/** Detects the format of a CSV file from its first lines, for the preview of an import. */

/**
 * The delimiter of a CSV file, and the number of characters to skip before its header. Excel may write a line `sep=;`
 * before the header.
 *
 * @example csvForm('sep=;\nShip From;Ship To\n') // { delimiter: ';', skipped: 6 }
 * @example csvForm('Ship From\tShip To\n') // { delimiter: '\t', skipped: 0 }
 */
export function csvForm(head: string): { delimiter: string; skipped: number } {
  const separator = /^sep=([^"])\r?[\n\r]/i.exec(head)
  return { delimiter: separator?.[1] ?? likelyDelimiter(head), skipped: separator?.[0].length ?? 0 }
}

const delimiters = [',', ';', '\t', '|']

/** The delimiter that occurs most often in the header, outside double quotes. */
function likelyDelimiter(head: string): string {
  const counts = new Map(delimiters.map((one) => [one, 0]))
  let inQuotes = false
  let started = false
  for (const letter of head) {
    if (letter === '"') inQuotes = !inQuotes
    else if (!inQuotes && (letter === '\n' || letter === '\r')) {
      if (started) break
      continue
    } else if (!inQuotes && counts.has(letter)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    started = true
  }
  return delimiters.reduce((best, one) => ((counts.get(one) ?? 0) > (counts.get(best) ?? 0) ? one : best))
}
