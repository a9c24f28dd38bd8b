import { importBytesMax, importHeadBytesMax, workbookBytesMax } from '#contract/limits.ts'
import { type Answer, call } from '../api/index.ts'
import { encodingChoices } from '../shared-ui/index.ts'

/** The selected file with its header and first rows, as the service reads them. */
export interface ChosenFile {
  readonly file: File
  readonly header: readonly string[]
  /** The first rows. Each has as many values as the header. */
  readonly samples: readonly (readonly string[])[]
  /** The sheet of a workbook that is read; null for CSV text. */
  readonly sheet: string | null
  readonly sheets: readonly string[]
  /** The encoding that a person chose for text that fits two; null if the service tells it by the words. */
  readonly encoding: string | null
  /** The detected format of the file, in words. */
  readonly found: string
}

/** What a person chose to read the header of a file. */
export interface FileChoices {
  readonly sheet?: string
  readonly encoding?: string
}

/** A file that cannot be imported, detected before the upload. The message says how to fix it. */
export class UnfitFile extends Error {}

/** @example fileSize(5_452_595) // '5.2 MB' */
export function fileSize(bytes: number): string {
  const mega = 1024 * 1024
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < mega ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / mega).toFixed(1).replace('.0', '')} MB`
}

/**
 * Reads the header and the first rows of a file with the service. It sends the beginning of a text, or a whole workbook.
 *
 * @param sheet the sheet of a workbook; without it, the first one with a header
 * @param encoding that of text which fits two encodings, as in `macintosh`
 * @throws UnfitFile
 * @throws CallFailed if the service could not be asked
 */
export async function readChosenFile(file: File, { sheet, encoding }: FileChoices = {}): Promise<ChosenFile> {
  if (file.size === 0) throw new UnfitFile('The file is empty. Export it again.')
  if (file.size > importBytesMax) {
    throw new UnfitFile(
      `The file has ${fileSize(file.size)}, but the maximum is ${fileSize(importBytesMax)}. Split it, and repeat the header in each part.`,
    )
  }
  const read = await call('read-import-header', {
    query: {
      ...(sheet === undefined ? {} : { sheet }),
      ...(encoding === undefined ? {} : { map: `encoding=${encoding}` }),
    },
    body: await beginningOf(file),
  })
  return {
    file,
    header: read.header,
    samples: read.rows,
    sheet: read.sheet,
    sheets: read.sheets,
    encoding: encoding ?? null,
    found: foundWords(read, encoding),
  }
}

const delimiterNames: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}
/** @example foundWords(answer) // 'Header in line 3, values between semicolons, Windows-1252' */
function foundWords(
  { header_line, delimiter, encoding, sheet }: Answer<'read-import-header'>,
  chosen?: string,
): string {
  const header = `header in line ${header_line}`
  if (sheet !== null) return `Sheet “${sheet}”, ${header}`
  const between = delimiterNames[delimiter ?? ','] ?? `“${delimiter}”`
  // The beginning of a file can be ASCII, which is read as UTF-8, whichever encoding the rest has.
  const name =
    encodingChoices.find(({ value }) => value === chosen || value === encoding)?.label ??
    encoding.toUpperCase()
  return `H${header.slice(1)}, values between ${between}, ${name}`
}

/** The part of a file that contains its header: the first lines of a text, decompressed, or a whole workbook. */
async function beginningOf(file: File): Promise<Blob> {
  const start = await bytesOf(file.slice(0, importHeadBytesMax))
  if (start[0] === 0x50 && start[1] === 0x4b) {
    if (file.size <= workbookBytesMax) return file
    throw new UnfitFile(
      `The workbook has ${fileSize(file.size)}, but the maximum is ${fileSize(workbookBytesMax)}. Save the sheet as "CSV UTF-8".`,
    )
  }
  const isPacked = start[0] === 0x1f && start[1] === 0x8b
  const text = isPacked ? await unpackedBeginning(file) : start
  const isWhole = text.length < importHeadBytesMax
  return new Blob([isWhole ? text : wholeLines(text)] as BlobPart[])
}

async function unpackedBeginning(file: File): Promise<Uint8Array> {
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const pieces: Uint8Array[] = []
  try {
    for (let length = 0; length < importHeadBytesMax; ) {
      const { value } = await reader.read()
      if (value === undefined) break
      pieces.push(value)
      length += value.length
    }
  } catch {
    throw new UnfitFile('The gzip file cannot be decompressed. Compress it again.')
  }
  await reader.cancel().catch(() => {})
  return bytesOf(new Blob(pieces as BlobPart[]).slice(0, importHeadBytesMax))
}

/** A text up to the end of its last complete line, so that no character is cut. In UTF-16, a line feed has two bytes. */
function wholeLines(text: Uint8Array): Uint8Array {
  const end = Math.max(text.lastIndexOf(0x0a), text.lastIndexOf(0x0d))
  if (end < 0) return text
  const isLittleEndian = text[0] === 0xff && text[1] === 0xfe
  return text.subarray(0, end + (isLittleEndian ? 2 : 1))
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch {
    throw new UnfitFile('The file cannot be read. It may have been moved or changed. Choose it again.')
  }
}

/** Downloads a text as a file. */
export function saveText(fileName: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** Rows as CSV. Values that a spreadsheet would read as formulas are escaped. */
export async function csvText(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
) {
  const { default: Papa } = await import('papaparse')
  return Papa.unparse({ fields: [...header], data: rows.map((row) => [...row]) }, { escapeFormulae: true })
}
