import iconv from 'iconv-lite'
import { type SingleByteEncoding, scoresOfWords, singleByteEncodings } from './encoding-words.ts'
import type { FileBytes } from './file-bytes.ts'

/** The encodings in which spreadsheets save text. */
export type Encoding = 'utf-8' | 'utf-16' | SingleByteEncoding

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

/** How a file that is not UTF-8 reads in an encoding: its first words in which the encodings differ. */
export interface Reading {
  readonly encoding: SingleByteEncoding
  readonly words: readonly string[]
}

export interface FoundEncoding {
  /** `broken`: damaged text, such as UTF-8 with invalid bytes. `doubtful`: two encodings are as plausible. */
  readonly encoding: SingleByteEncoding | 'broken' | 'doubtful'
  /** The best first. */
  readonly readings: readonly Reading[]
}

/** A lead of one plausible letter is needed, and of a fifth of the words. */
const leadMin = 1
const leadShare = 0.2
/** Text in no known encoding has more implausible characters than plausible ones. */
const brokenBelow = -1
const examplesMax = 3

/**
 * The encoding of a file that is not UTF-8: that of Windows, of the Macintosh or of DOS, whichever gives its words letters of North
 * American names. Text of which most characters beyond ASCII are UTF-8 is damaged.
 */
export async function singleByteEncodingOf(pieces: FileBytes): Promise<FoundEncoding> {
  const { words, isUtf8 } = await wordsBeyondAscii(pieces)
  if (isUtf8) return { encoding: 'broken', readings: [] }
  const ranked = scoresOfWords(words).sort((one, other) => other.score - one.score)
  const readings = ranked.map(({ encoding, decoded }) => ({
    encoding,
    words: decoded
      .flatMap((word, at) => (ranked.some((other) => other.decoded[at] !== word) ? [word.slice(0, 40)] : []))
      .slice(0, examplesMax),
  }))
  const [best] = ranked
  if (best === undefined || best.score < brokenBelow * words.length) return { encoding: 'broken', readings }
  const lead = Math.max(leadMin, leadShare * best.score)
  const rival = ranked.find(
    (other) => other.score > best.score - lead && other.decoded.some((word, at) => word !== best.decoded[at]),
  )
  return { encoding: rival === undefined ? best.encoding : 'doubtful', readings }
}

/** The different words of a file that are compared. */
const wordsMax = 5_000
const wordLengthMax = 60

/** The words with characters beyond ASCII, as Latin-1, and whether most of those characters are UTF-8. */
async function wordsBeyondAscii(
  pieces: FileBytes,
): Promise<{ readonly words: readonly string[]; readonly isUtf8: boolean }> {
  const words = new Set<string>()
  let utf8 = 0
  let others = 0
  let expected = 0
  let word = ''
  let isBeyond = false
  for await (const piece of pieces) {
    for (const byte of piece) {
      const isHigh = byte >= 0x80
      if (isHigh || isLetter(byte)) {
        if (word.length < wordLengthMax) word += String.fromCharCode(byte)
        isBeyond ||= isHigh
      } else if (word !== '') {
        if (isBeyond && words.size < wordsMax) words.add(word)
        word = ''
        isBeyond = false
      }
      if (!isHigh) {
        if (expected > 0) others++
        expected = 0
      } else if ((byte & 0xc0) === 0x80 && expected > 0) {
        expected--
        if (expected === 0) utf8++
      } else {
        if (expected > 0) others++
        expected = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0
        if (expected === 0) others++
      }
    }
  }
  if (isBeyond) words.add(word)
  return { words: [...words], isUtf8: utf8 > others + expected }
}

const isLetter = (byte: number) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)

/** The text of a file in UTF-8, decoded each time that it is read. Bytes that are no character become U+FFFD. */
export function inUtf8(
  pieces: () => AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be' | SingleByteEncoding,
): FileBytes {
  return {
    async *[Symbol.asyncIterator]() {
      const decode = decoderOf(encoding)
      for await (const piece of pieces()) yield Buffer.from(decode(piece))
      yield Buffer.from(decode())
    },
  }
}

/** A function that decodes a text in pieces. Without a piece, it ends the text. */
function decoderOf(encoding: 'utf-16le' | 'utf-16be' | SingleByteEncoding): (piece?: Uint8Array) => string {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const decoder = new TextDecoder(encoding)
    return (piece) => (piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true }))
  }
  const decoder = iconv.getDecoder(encoding)
  return (piece) => (piece === undefined ? (decoder.end() ?? '') : decoder.write(Buffer.from(piece)))
}

export const isSingleByteEncoding = (name: string): name is SingleByteEncoding =>
  (singleByteEncodings as readonly string[]).includes(name)
