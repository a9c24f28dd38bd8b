import { problem } from '#contract/errors.ts'
import type { TenantId } from '../database/session/index.ts'
import { concurrencyLimit } from '../runtime/index.ts'
import type { Parts } from './parts.ts'

/** Files that are read at the same time, over all brokerages. Each takes up to a second. */
export const filesAtOnce = concurrencyLimit<'file'>(2)

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
