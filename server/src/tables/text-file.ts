import type { FileBytes } from './file-bytes.ts'
import { refused } from './refused.ts'

/**
 * The bytes of a file that was sent as text.
 *
 * @param sheet the sheet of a workbook that a person must save as CSV
 * @throws ImportFileError if the text is no text: a workbook, a web page saved as .xls, a PDF, or UTF-16 sent as UTF-8
 */
export function bytesOfText(text: string, sheet = 'the sheet with the rates'): FileBytes {
  refuseOtherText(text, sheet)
  return [Buffer.from(text)]
}

function refuseOtherText(text: string, sheet: string): void {
  const start = text.slice(0, 200)
  const other = isWorkbook(start)
    ? `an Excel workbook. Save ${sheet} as "CSV UTF-8"`
    : /^\s*<(!doctype|html|\?xml|table)/i.test(start)
      ? 'a web page, as some sites save as .xls. Open it in a spreadsheet, save it as "CSV UTF-8"'
      : start.startsWith('%PDF')
        ? 'a PDF. Export the rates as CSV'
        : start.includes('\0')
          ? 'UTF-16 text. Save it as "CSV UTF-8"'
          : null
  if (other === null) return
  throw refused('file', `The file must be CSV text; it is ${other}, and send that file.`)
}

/** Whether a text is an Excel workbook that was read as text: a ZIP archive or a compound document. */
function isWorkbook(text: string): boolean {
  return (
    text.startsWith('PK\u0003\u0004') || text.startsWith('\u00D0\u00CF') || text.startsWith('\uFFFD\uFFFD')
  )
}
