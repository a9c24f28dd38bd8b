import { isDisplayText } from '#contract/fields.ts'
import { milesMax, nameLengthMax } from '#contract/limits.ts'
import { equipmentCode, equipmentFault } from '#engine/equipment.ts'
import { isScientific } from '#engine/not-given.ts'
import { withoutGuards } from './csv-lines.ts'

/** The result of reading one cell: its value, or what it must be, worded to follow "must be". */
export type Cell<T> = { readonly value: T } | { readonly wrong: string }

/** The most characters of a cell: the longest value, 20 charges by name, has some 1,000. */
export const cellLengthMax = 1_000

/** Signs that nobody sees, and that web pages and e-mails put around values: an id with one would be another id. */
const invisible = /[\u200b\u200e\u200f\u2060\ufeff]/g

/**
 * The trimmed text of a cell, without invisible signs. Unwraps ="0012", by which spreadsheets keep leading zeros. Null when empty.
 * All readers of files and pasted text use it. A cell above `cellLengthMax` is cut and gets an ellipsis, which `readCell` and every
 * reader refuse.
 */
export function cellText(raw: string | undefined): string | null {
  if (raw === undefined) return null
  const whole = raw.replace(invisible, '').trim()
  const trimmed = whole.length > cellLengthMax ? `${whole.slice(0, cellLengthMax)}…` : whole
  if (trimmed.startsWith('="') && trimmed.endsWith('"') && !trimmed.slice(2, -1).includes('"')) {
    return trimmed.slice(2, -1).trim() || null
  }
  return trimmed || null
}

/** Reads the text of a cell, and refuses one above `cellLengthMax`. */
export function readCell<T>(text: string, reader: (text: string) => Cell<T>): Cell<T> {
  return text.length > cellLengthMax
    ? { wrong: `at most ${cellLengthMax.toLocaleString('en-US')} characters long` }
    : reader(text)
}

/** A value for an error message: shortened to 60 characters, without control characters. */
export function quoted(text: string): string {
  const shown = [...text.slice(0, 240).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')].slice(0, 60).join('')
  return `"${shown}${shown.length < text.length ? '…' : ''}"`
}

/** The text of `quoted` without its quotes. @example shortened('Rate') // 'Rate' */
export const shortened = (text: string): string => quoted(text).slice(1, -1)

/** Rejects a formula: a spreadsheet that opens an export would run it, and its result is not in the file. */
export function isFormula(text: string): boolean {
  return text.startsWith('=')
}

export const formulaWrong = 'a value, not a formula; save the file with values instead of formulas'

/**
 * A name or an id of at most 200 characters. Line breaks become spaces, and the apostrophe that an exported file has before a name
 * that looks like a formula is taken away.
 */
export function readText(text: string): Cell<string> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const value = withoutGuards(text).replace(/\s+/g, ' ')
  if ([...value].length > nameLengthMax) return { wrong: `at most ${nameLengthMax} characters long` }
  return isDisplayText(value) ? { value } : { wrong: 'text without control characters' }
}

/**
 * Reads an id: a text as `readText` reads it, without the `.0` with which programs write a number that they held as a decimal.
 * Refuses scientific notation, in which a spreadsheet writes the long numbers of a column that is not formatted as text: different
 * ids look the same in it.
 *
 * @example readId('0012') // { value: '0012' }
 * @example readId('100234.0') // { value: '100234' }
 */
export function readId(text: string): Cell<string> {
  return isScientific(text)
    ? {
        wrong:
          'the whole id, not a number in scientific notation, which lacks digits; in the original file, format the column as text and save again',
      }
    : readText(text.replace(/^(\d+)\.0$/, '$1'))
}

/** The words of a text in lower case, with single spaces, without signs and accents. @example foldedWords('Refusé - prix') // 'refuse prix' */
export function foldedWords(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

/** Reads yes or no, also as true and false, 1 and 0, or X. @example readYesNo('TRUE') // { value: true } */
export function readYesNo(text: string): Cell<boolean> {
  const word = foldedWords(text)
  if (/^(yes|y|true|t|1|x|cancell?ed|void|voided)$/.test(word)) return { value: true }
  return /^(no|n|false|f|0|active|not cancell?ed)$/.test(word) ? { value: false } : { wrong: 'yes or no' }
}
/** Reads an equipment code or name. @example readEquipment("53' reefer") // { value: 'R' } */
export function readEquipment(text: string): Cell<string> {
  const code = equipmentCode(text)
  return code === null ? { wrong: equipmentFault(text) } : { value: code }
}
/** Reads miles up to 10,000. Zero means unknown. */
export function readMiles(text: string): Cell<number | null> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const number = text.replace(/(?<!\s)\s*(mi|miles?)\.?$/i, '')
  if (!/^(\d+|\d{1,3}(,\d{3})+)(\.\d*)?$|^\.\d+$/.test(number)) {
    return { wrong: 'a number of miles such as 780.5' }
  }
  const miles = Number(number.replaceAll(',', ''))
  if (miles > milesMax) return { wrong: `at most ${milesMax.toLocaleString('en-US')} miles` }
  return { value: miles === 0 ? null : miles }
}
