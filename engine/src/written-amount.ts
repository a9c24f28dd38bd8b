/**
 * Rewrites an amount with a decimal comma, or with dots or spaces between thousands, as Americans write it. Only amounts with
 * one possible reading are rewritten: 1.850 may be 1.85 or 1,850, and 1,85 is more likely a mistyped 1,850 than a rate of
 * $1.85. They stay as they are, and the reader rejects them.
 *
 * @example americanAmount('2.150,50') // '2150.50', German
 * @example americanAmount('2 150,50 $') // '2150.50', Canadian French
 * @example americanAmount('1.850') // '1.850'
 */
export function americanAmount(text: string): string {
  const amount = text.replace(/(?<!\s)\s*\$$/, '').replace(/\s/g, ' ')
  if (/^\d{1,3}(\.\d{3})+,\d{1,2}$|^\d{1,3}(\.\d{3}){2,}$/.test(amount)) {
    return amount.replaceAll('.', '').replace(',', '.')
  }
  if (/^\d{1,3}( \d{3})+([.,]\d{1,2})?$/.test(amount)) return amount.replaceAll(' ', '').replace(',', '.')
  return /^\d{3,},\d{2}$/.test(amount) ? amount.replace(',', '.') : amount
}
