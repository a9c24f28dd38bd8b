import { splitCurrency } from '../csv/index.ts'

/** A longer cell is no number and no date. */
const valueLengthMax = 40

const number = /^[-+(]?\$? ?[-+(]?\d[\d.,' \u00a0]{0,30}\)?-? ?[%$]?\)?$/
const dates = [
  /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T, ].{0,30})?$/i,
  /^(?:\p{L}{2,9}[, ] ?)?\d{1,2}[- ]\p{L}{3,9}[-, ] ?\d{2,4}(?: .{0,30})?$/u,
  /^(?:\p{L}{2,9}[, ] ?)?\p{L}{3,9}\.? \d{1,2},? \d{4}(?: .{0,30})?$/u,
  /^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?$/i,
]

/**
 * Whether a cell is a number, an amount in any currency, a date or a time. Such a cell is no name of a column.
 *
 * @example isValue('C$1,850.00') // true
 */
export function isValue(cell: string): boolean {
  const text = cell.trim()
  if (text === '' || text.length > valueLengthMax || !/\d/.test(text)) return false
  if (number.test(text) || dates.some((form) => form.test(text))) return true
  // As in a name of a column, because "Top 10" is no amount in the currency TOP.
  const { rest, currencies } = splitCurrency(text, 'header')
  return currencies.length > 0 && number.test(rest)
}
