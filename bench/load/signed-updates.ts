import { shipmentUpdate } from '#contract/shipment-update.ts'
import { signatureHeader, signaturePrefix, timestampHeader } from '#contract/signature.ts'
import { signatureOf } from '#server/signing/index.ts'
import type { TenantAccess } from '../scale/access-file.ts'
import type { PooledRequest } from './request-pool.ts'

/** Returns a signed shipment update as a TMS sends it. Amounts are dollars; `now` is epoch milliseconds. */
export function signedUpdate(
  access: TenantAccess,
  tenant: number,
  booked: { laneRef: string; customerRate: number; truckCost: number },
  now: number,
): PooledRequest {
  const body = JSON.stringify({
    lane_ref: booked.laneRef,
    customer_rate: booked.customerRate,
    truck_cost: booked.truckCost,
    carrier_name: 'Blue Mesa Trucking',
    carrier_mc: 'MC-481920',
  })
  const timestamp = String(Math.floor(now / 1000))
  const signature = signatureOf(access.secret, {
    timestamp,
    address: null,
    bodyBytes: Buffer.from(body),
  }).toString('hex')
  return {
    tenant,
    token: access.token,
    method: 'POST',
    path: shipmentUpdate.path,
    headers: { [timestampHeader]: timestamp, [signatureHeader]: `${signaturePrefix}${signature}` },
    body,
  }
}
