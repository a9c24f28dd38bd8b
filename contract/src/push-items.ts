import Type from 'typebox'
import { sentLaneRef, text } from './fields.ts'
import { ItemFieldError } from './insight-batch.ts'
import { batchLanesPerRequest, pushedItemsMax, tenantRequestsPerWindowMax } from './limits.ts'

/** The parts that all pushes share: several items under one signature, each with its own result. */

/** The part of a push that its signature covers. */
export const signsAddress = 'address and body'
/** An id that another system gave to a quote. */
export const externalId = (description: string) => text(description)
export const ownId =
  'Your own id of the quote, unique in the brokerage: 1 to 200 characters, compared exactly as sent'
/** How a push counts against the limit, for its description. */
export const countedAs = `Every ${batchLanesPerRequest} items, or a part of them, count as one request against the brokerage's limit of ${tenantRequestsPerWindowMax} per second, and are one transaction. The first hundred are admitted or refused like any request. For the others the call waits, and it leaves three requests per second to other callers. An item that is not reached in time has status 503: send it again.`
/** How wrong items are answered, for the description of a push. */
export const itemErrors = `An item that is not valid does not affect the others: its result has status 422 and names the fields. The same call again changes nothing. Within a call, an id may be used once.`

/** The result of an item that was not applied. */
export const RefusedItem = Type.Object({
  index: Type.Integer({ description: 'Index of the item in the request, from 0' }),
  external_id: Type.Optional(Type.String()),
  lane_ref: Type.Optional(Type.String()),
  status: Type.Union([Type.Literal(404), Type.Literal(422), Type.Literal(503)]),
  detail: Type.String(),
  errors: Type.Optional(Type.Array(ItemFieldError)),
})

/** The number of items of a push with each result. */
export const pushCounts = {
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  failed: Type.Integer({ description: 'Items with status 404, 422 or 503' }),
}

/** The result of an item that was applied, or that changes nothing. */
export const appliedItem = {
  index: Type.Integer({ description: 'Index of the item in the request, from 0' }),
  status: Type.Literal(200),
  external_id: Type.Optional(Type.String({ description: 'Your id of the quote, if it has one' })),
  lane_ref: Type.String(),
  lane_id: Type.Integer(),
  kept: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Fields of this item that were not applied, because the quote has a value that was signed later or that a person set later, or because the quote is booked, which is a win. Absent if all were applied',
    }),
  ),
}

/** A quote is named by its lane_ref or by its external_id. */
export const laneRefOrExternalId = {
  lane_ref: Type.Optional(
    sentLaneRef('The quote, by the name that the service assigned; or send external_id'),
  ),
  external_id: Type.Optional(externalId(`${ownId}; or send lane_ref`)),
}

/** The list of items in the body of a push. */
export const pushedItems = <Item extends Type.TSchema>(item: Item, what: string) =>
  Type.Array(item, {
    minItems: 1,
    maxItems: pushedItemsMax,
    'x-expected': `a list of 1 to ${pushedItemsMax} ${what}`,
  })
