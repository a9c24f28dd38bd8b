import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { pushBytesMax, pushedItemsMax } from './limits.ts'
import {
  appliedItem,
  countedAs,
  itemErrors,
  laneRefOrExternalId,
  pushCounts,
  pushedItems,
  RefusedItem,
  signsAddress,
} from './push-items.ts'
import { shipmentUpdate } from './shipment-update.ts'

const { lane_ref: _, ...bookingFields } = shipmentUpdate.body.properties

/** One shipment update of a bulk call. Each is validated on its own. */
export const bulkShipmentUpdate = Type.Object({ ...laneRefOrExternalId, ...bookingFields })

export const pushShipmentUpdates = endpoint({
  name: 'push-shipment-updates',
  method: 'POST',
  path: '/api/integrations/tms/shipment-updates',
  summary: 'Push booked revenue and cost for many quotes',
  description: `Takes 1 to ${pushedItemsMax} shipment updates under one signature, and returns a result for each, in the order of the request. Each has the fields, the rules and the effect of ${shipmentUpdate.path}; its quote is named by lane_ref or external_id. Without such a quote, its result has status 404. ${itemErrors} ${countedAs}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'integrations:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ updates: pushedItems(bulkShipmentUpdate, 'shipment updates') }),
  itemsOf: 'updates',
  status: 200,
  mayNotApply: true,
  answer: Type.Object({
    applied: Type.Integer({ description: 'Items whose updated is true' }),
    failed: pushCounts.failed,
    results: Type.Array(
      Type.Union([
        Type.Object({
          index: appliedItem.index,
          status: Type.Literal(200),
          external_id: appliedItem.external_id,
          lane_ref: Type.String(),
          lane_id: Type.Integer(),
          updated: shipmentUpdate.answer.properties.updated,
        }),
        RefusedItem,
      ]),
    ),
  }),
  problems: ['request-in-progress'],
  examples: {
    body: {
      updates: [
        { lane_ref: '48211093754-1-1', customer_rate: 2150, truck_cost: 1820.5 },
        { external_id: 'TMS-10443', cancelled: true, cancel_reason: 'Shipper pulled the load' },
      ],
    },
    answer: {
      applied: 1,
      failed: 1,
      results: [
        {
          index: 0,
          status: 200,
          lane_ref: '48211093754-1-1',
          lane_id: 52840917233,
          updated: true,
        },
        {
          index: 1,
          external_id: 'TMS-10443',
          status: 404,
          detail: 'No lane was found for external_id "TMS-10443".',
        },
      ],
    },
  },
})
