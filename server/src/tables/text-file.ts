import { ImportFileError } from './table-file.ts'

/** Refuses what a person uploads in place of CSV text: a workbook, a web page saved as .xls, a PDF, or UTF-16 sent as UTF-8. */
export function refuseOtherText(text: string): void {
  const start = text.slice(0, 200)
  const other = isWorkbook(start)
    ? 'an Excel workbook. Open it, save the sheet with the rates as "CSV UTF-8"'
    : /^\s*<(!doctype|html|\?xml|table)/i.test(start)
      ? 'a web page, as some sites save as .xls. Open it in a spreadsheet, save it as "CSV UTF-8"'
      : start.startsWith('%PDF')
        ? 'a PDF. Export the rates as CSV'
        : start.includes('\0')
          ? 'UTF-16 text. Save it as "CSV UTF-8"'
          : null
  if (other === null) return
  const detail = `The file must be CSV text; it is ${other}, and send that file.`
  throw new ImportFileError([{ code: 'file', row: null, column: null, detail }])
}

/** Whether a text is an Excel workbook that was read as text: a ZIP archive or a compound document. */
export function isWorkbook(text: string): boolean {
  return (
    text.startsWith('PK\u0003\u0004') || text.startsWith('\u00D0\u00CF') || text.startsWith('\uFFFD\uFFFD')
  )
}
