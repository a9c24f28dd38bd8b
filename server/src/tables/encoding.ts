import type { FileBytes } from './file-bytes.ts'

/** The encodings in which spreadsheets save text. `broken`: damaged text, such as UTF-8 with invalid bytes. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'broken'

/** Bytes without a character in Windows-1252. */
const undefinedBytes: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])

/**
 * The encoding of a UTF-16 file, from its first bytes: by its byte-order mark, or because every second byte of its letters is
 * zero; null for another encoding.
 *
 * @example utf16Of(Buffer.from('Origin', 'utf16le')) // 'utf-16le'
 */
export function utf16Of(first: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le'
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be'
  const start = first.subarray(0, 64)
  if (start.length < 4) return null
  const zeros = [0, 0]
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const most = start.length * 0.4
  if ((zeros[1] ?? 0) > most && zeros[0] === 0) return 'utf-16le'
  if ((zeros[0] ?? 0) > most && zeros[1] === 0) return 'utf-16be'
  return null
}

/**
 * The encoding of a file that is not UTF-8: Windows-1252, in which Excel saves "CSV" in North America, unless most of its
 * characters beyond ASCII are UTF-8 or a byte has no character in Windows-1252. Such a file is damaged.
 */
export async function singleByteEncodingOf(pieces: FileBytes): Promise<'windows-1252' | 'broken'> {
  let utf8 = 0
  let others = 0
  let expected = 0
  for await (const piece of pieces) {
    for (const byte of piece) {
      if (byte < 0x80) {
        if (expected > 0) others++
        expected = 0
      } else if (undefinedBytes.has(byte) && expected === 0) return 'broken'
      else if ((byte & 0xc0) === 0x80 && expected > 0) {
        expected--
        if (expected === 0) utf8++
      } else {
        if (expected > 0) others++
        expected = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0
        if (expected === 0) others++
      }
    }
  }
  return utf8 > others + expected ? 'broken' : 'windows-1252'
}

/** The text of a file in UTF-8, decoded each time that it is read. Bytes that are no character become U+FFFD. */
export function inUtf8(pieces: () => AsyncIterable<Uint8Array>, encoding: Encoding): FileBytes {
  return {
    async *[Symbol.asyncIterator]() {
      const decoder = new TextDecoder(encoding)
      for await (const piece of pieces()) yield Buffer.from(decoder.decode(piece, { stream: true }))
      yield Buffer.from(decoder.decode())
    },
  }
}
