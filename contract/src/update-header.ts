/** Why nothing of a shipment update was applied: newer signed values remain, or it only named its quote. */
export const notAppliedReasons = ['older-signature', 'nothing-to-apply'] as const
export type NotAppliedReason = (typeof notAppliedReasons)[number]

/**
 * The response header of an update that was accepted and not applied. Its status is 200 as for any update, so a client that reads
 * only the status can notice it here. For a call with many updates, `items` is how many were not applied for that reason.
 *
 * @example notAppliedHeader('older-signature') // { 'Lanewise-Update': 'not-applied; reason=older-signature' }
 */
export function notAppliedHeader(reason: NotAppliedReason, items?: number) {
  return {
    'Lanewise-Update': `not-applied; reason=${reason}${items === undefined ? '' : `; items=${items}`}`,
  } as const
}
