/** A longer cell is no number and no date. */
const valueLengthMax = 40

const currency = '(?:US|CA|MX|C)?[$€£¥]|USD|CAD|MXN|EUR|GBP'
const number = new RegExp(
  `^[-+(]?(?:${currency})? ?[-+(]?\\d[\\d.,' \\u00a0]{0,30}\\)?-? ?(?:%|${currency})?\\)?$`,
  'i',
)
const dates = [
  /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T, ].{0,30})?$/i,
  /^(?:\p{L}{2,9}[, ] ?)?\d{1,2}[- ]\p{L}{3,9}[-, ] ?\d{2,4}(?: .{0,30})?$/u,
  /^(?:\p{L}{2,9}[, ] ?)?\p{L}{3,9}\.? \d{1,2},? \d{4}(?: .{0,30})?$/u,
  /^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?$/i,
]

/**
 * Whether a cell is a number, an amount, a date or a time. Such a cell is no name of a column.
 *
 * @example isValue('$1,850.00') // true
 */
export function isValue(cell: string): boolean {
  const text = cell.trim()
  if (text === '' || text.length > valueLengthMax || !/\d/.test(text)) return false
  return number.test(text) || dates.some((form) => form.test(text))
}
