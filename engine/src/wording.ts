/**
 * A count with its noun in the singular or plural.
 *
 * @example counted(1, 'quote') // '1 quote'
 * @example counted(4, 'quote') // '4 quotes'
 */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * A share in whole percent. Only a share of exactly 1 reads "100%", and only a share of exactly 0 reads "0%".
 *
 * @example percent(0.954545) // '95%'
 * @example percent(0.9975) // 'over 99%'
 */
export function percent(share: number): string {
  const rounded = Math.round(share * 100)
  if (rounded >= 100 && share < 1) return 'over 99%'
  if (rounded <= 0 && share > 0) return 'under 1%'
  return `${rounded}%`
}

/**
 * Wins among decided quotes, as words.
 *
 * @example wonOf(3, 3) // 'won all 3 decided quotes'
 * @example wonOf(4, 5) // 'won 4 of 5 decided quotes'
 */
export function wonOf(wins: number, decided: number): string {
  if (decided === 1) return `${wins === 1 ? 'won' : 'lost'} the only decided quote`
  if (wins === 0) return `won none of ${decided} decided quotes`
  if (wins < decided) return `won ${wins} of ${decided} decided quotes`
  return decided === 2 ? 'won both decided quotes' : `won all ${decided} decided quotes`
}
