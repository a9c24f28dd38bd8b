/** Why nothing of a shipment update was applied: newer signed values remain, or the body had only `lane_ref`. */
export const notAppliedReasons = ['older-signature', 'nothing-to-apply'] as const
export type NotAppliedReason = (typeof notAppliedReasons)[number]

/**
 * The response header of an update that was accepted and not applied. Its status is 200 as for any update, so a client that reads
 * only the status can notice it here.
 *
 * @example notAppliedHeader('older-signature') // { 'Lanewise-Update': 'not-applied; reason=older-signature' }
 */
export function notAppliedHeader(reason: NotAppliedReason) {
  return { 'Lanewise-Update': `not-applied; reason=${reason}` } as const
}
