import { type FieldError, invalid, type Problem, problem } from '#contract/errors.ts'
import { importBytesPerBrokerageMax, smallFileBytesMax } from '#contract/limits.ts'
import type { PersonCaller, ServiceCaller } from '../../access/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { ImportFileError, kindOfFile, type NoMemory } from '../../imports/index.ts'
import { QueueFull, TurnEnded } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** A request that has brought a file. */
export interface SentFile {
  readonly caller: Pick<PersonCaller | ServiceCaller, 'tenant'>
  readonly body: readonly Uint8Array[]
  /** Aborted when the caller hangs up. */
  readonly gone: AbortSignal
}

/**
 * Reads a file when it is its turn.
 *
 * @throws Problem unavailable if too many files are waiting already; validation with what is wrong in the file
 * @example const prices = await readInTurn(call, parts, () => readDieselFile(body, fileSettings(query, ['encoding', 'hidden'])))
 */
export async function readInTurn<T>(
  { caller, body, gone }: SentFile,
  { files }: Pick<Parts, 'files'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    const kind = await kindOfFile(body, smallFileBytesMax)
    const bytes = body.reduce((sum, piece) => sum + piece.length, 0)
    return await files.read(caller.tenant, { kind, bytes }, gone, read)
  } catch (error) {
    if (error instanceof ImportFileError) throw invalid(fileErrors(error))
    if (error instanceof TurnEnded)
      throw problem('malformed-request', 'The connection was closed while the file was read.')
    if (!(error instanceof QueueFull)) throw error
    throw problem(
      'unavailable',
      'Too many files are waiting to be read. Send the file again in ten seconds.',
      {
        headers: { 'Retry-After': '10' },
      },
    )
  }
}

/** The problems of a file as errors of the request. The map is a query parameter; the file is the body. */
function fileErrors(error: ImportFileError): FieldError[] {
  return error.problems.map(({ code, row, detail }) => ({
    ...(code === 'map' ? { parameter: 'map' } : { pointer: '' }),
    code,
    detail: row === null || detail.includes(`line ${row}`) ? detail : `Line ${row}: ${detail}`,
  }))
}

/** Reserves the place of the file of a call. */
export const placeForFile = async (
  { caller, bytes }: { readonly caller: { readonly tenant: TenantId }; readonly bytes: number },
  parts: Pick<Parts, 'imports'>,
) => reserveFile(parts, caller.tenant, bytes)

/**
 * Reserves the place of a file, one file at a time per brokerage with its test brokerage. The memory is taken as its bytes arrive.
 * Returns the function that releases both.
 *
 * @throws Problem state-conflict, unavailable
 */
export function reserveFile({ imports: runner }: Pick<Parts, 'imports'>, tenant: TenantId, bytes: number) {
  const place = runner.reserve(tenant, bytes)
  if (place === 'busy') {
    throw problem(
      'state-conflict',
      'Another file of this brokerage is being received. Wait until it is answered, and send this file again.',
    )
  }
  if (typeof place === 'string') throw noMemory(place)
  return Object.assign(() => runner.release(place), {
    take: (more: number) => {
      const refusal = runner.take(place, more)
      if (refusal !== null) throw noMemory(refusal)
    },
  })
}

/** The rest of the file is not read, so the connection ends. */
function noMemory(why: NoMemory): Problem {
  if (why === 'share') {
    return problem(
      'state-conflict',
      `The files of this brokerage that are being received or imported may have ${importBytesPerBrokerageMax / 1024 / 1024} MiB together. Wait until its import has ended, and send this file again.`,
      { headers: { Connection: 'close' } },
    )
  }
  return problem('unavailable', 'Too many files are being received. Send the file again in a minute.', {
    headers: { 'Retry-After': '60', Connection: 'close' },
  })
}
