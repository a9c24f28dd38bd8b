import { type FieldError, invalid, problem } from '#contract/errors.ts'
import { filesReadAtOnceMax, filesWaitingMax } from '#contract/limits.ts'
import type { TenantId } from '../../database/session/index.ts'
import { ImportFileError } from '../../imports/index.ts'
import { concurrencyLimit, QueueFull } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

const readLimit = concurrencyLimit<'file'>(filesReadAtOnceMax, filesWaitingMax)

/**
 * Reads a file when it is its turn, because only a few files are read at the same time, over all brokerages.
 *
 * @throws Problem unavailable if too many files are waiting already; validation with what is wrong in the file
 * @example const prices = await readInTurn(() => readDieselFile(body, fileSettings(query, ['encoding', 'hidden'])))
 */
export async function readInTurn<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await readLimit('file', read)
  } catch (error) {
    if (error instanceof ImportFileError) throw invalid(fileErrors(error))
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

/** Reserves memory for the file of a call. */
export const placeForFile = async (
  { caller, bytes }: { readonly caller: { readonly tenant: TenantId }; readonly bytes: number },
  parts: Pick<Parts, 'imports'>,
) => reserveFile(parts, caller.tenant, bytes)

/**
 * Reserves memory for a file, one file per brokerage at a time. Returns the function that releases it.
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
  if (place === 'full') {
    throw problem('unavailable', 'Too many files are being received. Send the file again in a minute.', {
      headers: { 'Retry-After': '60' },
    })
  }
  return () => runner.release(place)
}
