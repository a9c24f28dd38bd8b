import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { importBytesMax } from '#contract/limits.ts'
import { refused } from './refused.ts'

/**
 * The bytes of a file as sent, plain or gzip, in pieces. Each iteration starts at the beginning: a file is read more
 * than once, and its unpacked content is never held whole.
 */
export type FileBytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** The maximum size of an unpacked piece, in bytes. */
const unpackedBytes = 64 * 1024

/**
 * The bytes of a file in pieces, unpacked when they are gzip (detected by content). Requests run before the next piece, whatever the
 * caller does with one.
 *
 * @throws ImportFileError when the unpacked file is too large, or cannot be unpacked
 */
export async function* unpacked(file: FileBytes): AsyncGenerator<Buffer> {
  const isPacked = await isGzip(file)
  let total = 0
  for await (const chunk of isPacked ? gunzipped(file) : file) {
    total += chunk.length
    if (total > importBytesMax) {
      const most = `at most ${importBytesMax / 1024 / 1024} MiB${isPacked ? ' when unpacked' : ''}`
      throw refused('file', `The file must be ${most}; split it.`)
    }
    for (let at = 0; at < chunk.length; at += unpackedBytes) {
      yield Buffer.from(chunk.buffer, chunk.byteOffset + at, Math.min(unpackedBytes, chunk.length - at))
      await othersTurn()
    }
  }
}

/** Whether a file is a workbook, or small or large text by its unpacked size. @throws ImportFileError when it cannot be unpacked */
export async function kindOfFile(
  file: FileBytes,
  smallBytesMax: number,
): Promise<'small' | 'large' | 'workbook'> {
  let total = 0
  let start = ''
  for await (const piece of unpacked(file)) {
    if (start.length < workbookStart.length) {
      start += piece.toString('latin1', 0, workbookStart.length - start.length)
      if (start === workbookStart) return 'workbook'
    }
    total += piece.length
    if (total > smallBytesMax) return 'large'
  }
  return 'small'
}

/** The first bytes of a workbook, which is a ZIP archive. */
export const workbookStart = 'PK\u0003\u0004'

async function isGzip(file: FileBytes): Promise<boolean> {
  const start: number[] = []
  for await (const chunk of file) {
    start.push(...chunk.subarray(0, 2))
    if (start.length >= 2) break
  }
  return start[0] === 0x1f && start[1] === 0x8b
}

async function* gunzipped(file: FileBytes): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: unpackedBytes })
  // Ignored here, because reading the unpacked bytes throws the same error.
  pipeline(Readable.from(file), gunzip).catch(() => {})
  try {
    yield* gunzip
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error
    throw refused(
      'file',
      'The file must be complete: it starts like gzip but cannot be unpacked. Send it again.',
    )
  }
}
