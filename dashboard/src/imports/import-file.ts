import { importBytesMax, importColumnsMax, importHeadBytesMax } from '#contract/limits.ts'
import { csvForm } from './csv-form.ts'

/** The selected file with its header and first rows. */
export interface ChosenFile {
  readonly file: File
  readonly header: readonly string[]
  /** The first rows. Each has as many values as the header. */
  readonly samples: readonly (readonly string[])[]
}

/** A file that cannot be imported, detected before the upload. The message says how to fix it. */
export class UnfitFile extends Error {}

const samplesMax = 5
const blankLinesMax = 100

/** @example fileSize(5_452_595) // '5.2 MB' */
export function fileSize(bytes: number): string {
  const mega = 1024 * 1024
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < mega ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / mega).toFixed(1).replace('.0', '')} MB`
}

/**
 * Reads the beginning of a file, compressed or not, without uploading it.
 *
 * @throws UnfitFile
 */
export async function readChosenFile(file: File): Promise<ChosenFile> {
  if (file.size === 0) throw new UnfitFile('The file is empty. Export it again.')
  if (file.size > importBytesMax) {
    throw new UnfitFile(
      `The file has ${fileSize(file.size)}, but the maximum is ${fileSize(importBytesMax)}. Split it, and repeat the header in each part.`,
    )
  }
  const bytes = await beginningOf(file)
  refuseOtherKinds(bytes)
  const head = new TextDecoder('utf-8').decode(bytes, { stream: true })
  const { delimiter, skipped } = csvForm(head)
  const { default: Papa } = await import('papaparse')
  const { data } = Papa.parse<string[]>(head.slice(skipped), {
    delimiter,
    newline: head.includes('\n') || !head.includes('\r') ? '\n' : '\r',
    preview: blankLinesMax + samplesMax,
  })
  const rows = data.filter((cells) => cells.some((cell) => cell.trim() !== ''))
  const header = rows[0]?.map((name) => name.trim())
  if (header === undefined) throw new UnfitFile('The file is empty. It needs a header and rows.')
  if (header.length > importColumnsMax) {
    throw new UnfitFile(`The file has ${header.length} columns, but the maximum is ${importColumnsMax}.`)
  }
  const samples = rows
    .slice(1, samplesMax + 1)
    .map((cells) => header.map((_, position) => (cells[position] ?? '').trim()))
  return { file, header, samples }
}

async function beginningOf(file: File): Promise<Uint8Array> {
  const start = await bytesOf(file.slice(0, importHeadBytesMax))
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start
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

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch {
    throw new UnfitFile('The file cannot be read. It may have been moved or changed. Choose it again.')
  }
}

function refuseOtherKinds(bytes: Uint8Array): void {
  const [first, second, third] = bytes
  if (first === 0x50 && second === 0x4b) {
    throw new UnfitFile(
      'This is an Excel workbook or a ZIP file. Save the sheet as "CSV UTF-8" and choose that file.',
    )
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new UnfitFile('The file is UTF-16. Save it as "CSV UTF-8" and choose that file.')
  }
  if (bytes.includes(0) || (first === 0xd0 && second === 0xcf && third === 0x11)) {
    throw new UnfitFile('This is not a text file. Export the rows as CSV and choose that file.')
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
