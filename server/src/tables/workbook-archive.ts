import { SaxesParser } from 'saxes'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { workbookCellLengthMax, workbookDepthMax, workbookPartsMax } from '#contract/limits.ts'
import { utf16Of } from './encoding.ts'

/** Why a workbook cannot be read, as a sentence with the remedy. */
export class UnreadableWorkbook extends Error {}

const damaged = () =>
  new UnreadableWorkbook('The workbook is damaged. Open it, save it again, and send the new file.')

/** The number of things of one kind that were read of a workbook, each of which takes memory or time. */
export class Count {
  readonly #what: keyof typeof workbookPartsMax
  #value = 0

  constructor(what: keyof typeof workbookPartsMax) {
    this.#what = what
  }

  /** @throws UnreadableWorkbook if there are more than a workbook may have */
  add(more = 1): void {
    this.#value += more
    const most = workbookPartsMax[this.#what]
    if (this.#value > most) throw tooMany(most.toLocaleString('en-US'), this.#what)
  }
}

function tooMany(most: string, what: string): UnreadableWorkbook {
  return new UnreadableWorkbook(
    `The workbook has more than ${most} ${what}, so it would take too much memory. Save the sheet as "CSV UTF-8" and send that file.`,
  )
}

/** @throws UnreadableWorkbook for a text that is longer than any cell */
export function refuseLongText(length: number): void {
  if (length > workbookCellLengthMax) {
    throw tooMany(workbookCellLengthMax.toLocaleString('en-US'), 'characters in one text')
  }
}

/** The parts of a workbook that contain cells. Pictures, macros and links to other files are not unpacked. */
const partsWithCells = /^xl\/(workbook|styles|sharedStrings|worksheets\/[^/]+)\.xml$/i

/** The parts by which other files are recognized that are ZIP archives, too. */
const otherFiles = [
  ['xl/workbook.bin', 'a binary workbook (.xlsb). Save it as .xlsx, and send that file.'],
  ['content.xml', 'an OpenDocument file (.ods). Save it as .xlsx, and send that file.'],
  ['index/document.iwa', 'a Numbers file. Export it as .xlsx, and send that file.'],
  ['word/document.xml', 'a Word document. Copy the table into a workbook, and send that file.'],
] as const

/** The parts of a workbook's file, unpacked piece by piece, so that a sheet is never held whole. */
export class Archive {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #unpackedBytesMax: number

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, unpackedBytesMax: number) {
    this.#zip = zip
    this.#entries = entries
    this.#unpackedBytesMax = unpackedBytesMax
  }

  /**
   * Reads the list of parts.
   *
   * @param unpackedBytesMax the maximum size of the parts with cells, uncompressed, in bytes
   * @throws UnreadableWorkbook
   */
  static async open(bytes: Uint8Array, unpackedBytesMax: number): Promise<Archive> {
    const entries = new Map<string, Entry>()
    let total = 0
    const zip = await (async () => {
      try {
        const opened = await yauzl.fromBufferPromise(
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
          { autoClose: false },
        )
        const parts = new Count('parts')
        for await (const entry of opened.eachEntry()) {
          parts.add()
          entries.set(entry.fileName.toLowerCase(), entry)
          if (partsWithCells.test(entry.fileName)) total += entry.uncompressedSize
        }
        return opened
      } catch (error) {
        throw error instanceof UnreadableWorkbook ? error : damaged()
      }
    })()
    if (total > unpackedBytesMax) throw tooLarge(unpackedBytesMax)
    const archive = new Archive(zip, entries, unpackedBytesMax)
    if (!archive.has('xl/workbook.xml')) {
      const other = otherFiles.find(([part]) => archive.has(part))
      throw new UnreadableWorkbook(
        other === undefined
          ? 'The file is a ZIP archive without a workbook. Send the CSV file or the workbook in it.'
          : `The file is ${other[1]}`,
      )
    }
    return archive
  }

  has(part: string): boolean {
    return this.#entries.has(part.toLowerCase())
  }

  /**
   * Reads the elements of a part; of a missing part none. Reading ends when `isDone` returns true.
   *
   * @throws UnreadableWorkbook also for a part that declares entities, which could be as large as one likes
   */
  async read(part: string, { open, close, text, isDone = () => false }: ElementReader): Promise<void> {
    const entry = this.#entries.get(part.toLowerCase())
    if (entry === undefined) return
    if (entry.uncompressedSize > this.#unpackedBytesMax) throw tooLarge(this.#unpackedBytesMax)
    const parser = new SaxesParser({ position: false, xmlns: false as const })
    let depth = 0
    // The parser collects a tag or text until its end.
    let collected = 0
    parser.on('opentag', ({ name, attributes }) => {
      collected = 0
      if (++depth > workbookDepthMax) throw tooMany(String(workbookDepthMax), 'levels of XML')
      open(localName(name), attributes)
    })
    parser.on('closetag', ({ name }) => {
      collected = 0
      depth--
      close(localName(name))
    })
    parser.on('text', text)
    parser.on('cdata', text)
    parser.on('doctype', () => {
      throw new UnreadableWorkbook(
        'The workbook declares a document type, which no spreadsheet program writes. Open it, save it again, and send the new file.',
      )
    })
    try {
      // The stream also fails if the part is larger than it says.
      let decoder: InstanceType<typeof TextDecoder> | null = null
      for await (const piece of await this.#zip.openReadStreamPromise(entry)) {
        const bytes = piece as Uint8Array
        decoder ??= new TextDecoder(utf16Of(bytes) ?? 'utf-8')
        const written = decoder.decode(bytes, { stream: true })
        collected += written.length
        parser.write(written)
        if (isDone()) return
        refuseLongText(collected)
      }
      parser.close()
    } catch (error) {
      throw error instanceof UnreadableWorkbook ? error : damaged()
    }
  }
}

/** Called with each element of a part, without the prefix of its name. */
export interface ElementReader {
  readonly open: (name: string, attributes: Readonly<Record<string, string>>) => void
  readonly close: (name: string) => void
  readonly text: (text: string) => void
  readonly isDone?: () => boolean
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? name : name.slice(colon + 1)
}

function tooLarge(bytesMax: number): UnreadableWorkbook {
  return new UnreadableWorkbook(
    `The sheets of the workbook have more than ${bytesMax / 1024 / 1024} MiB. Save the sheet as "CSV UTF-8" and send that file.`,
  )
}
