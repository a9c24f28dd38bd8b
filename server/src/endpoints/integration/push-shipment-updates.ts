import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import { bulkShipmentUpdate, pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { type NotAppliedReason, notAppliedHeader, notAppliedReasons } from '#contract/update-header.ts'
import {
  type ChangingQuote,
  quoteChanges as changes,
  pushedQuotes,
  type RecordedUpdate,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { Reply, type ServedEndpoint, serve } from '../endpoint-call.ts'
import {
  type CheckedItem,
  itemChecker,
  itemDigest,
  namesOf,
  type PushedBy,
  pushItems,
  type RefusedItem,
  unknownQuote,
  type WithQuote,
} from './pushed-items.ts'
import { decideUpdate, notAppliedReason, type UpdateFields, updateErrors } from './shipment-update.ts'

type Update = Static<typeof bulkShipmentUpdate>
type Result = Exclude<AnswerOf<typeof pushShipmentUpdates>['results'][number], RefusedItem>

const checkUpdates = itemChecker<Update>(bulkShipmentUpdate, 'A shipment update')

function fieldsOf({ lane_ref: _, external_id: __, ...fields }: Update): UpdateFields {
  return fields
}

/** Applies up to a hundred valid updates, in order. An update that was acknowledged before gets its stored answer. */
async function applyHundred(
  transaction: TenantTransaction,
  valid: readonly WithQuote<CheckedItem<Update>>[],
  { caller, signed }: PushedBy,
  staleWrites: 'reject' | 'apply',
): Promise<(Result | RefusedItem)[]> {
  const { tenant, tokenId } = caller
  const digests = valid.map(({ index }) => itemDigest(signed, index))
  const recorded = await pushedQuotes.findRecordedUpdates(transaction, tenant, digests)
  const now = await changes.databaseNow(transaction)
  const changing: ChangingQuote[] = []
  const recording: RecordedUpdate[] = []
  const by = { tokenId, timestampSeconds: signed.timestampSeconds }
  // The quotes so far. A push may name a quote twice: by its external_id and by its lane_ref.
  const seen = new Set<number>()
  const results = valid.map((one, nth): Result | RefusedItem => {
    const { index, item, quote } = one
    const digest = digests[nth]
    if (quote === null || digest === undefined) return unknownQuote(one)
    const answer = (updated: boolean): Result => ({
      index,
      status: 200,
      ...(quote.external_id === null ? {} : { external_id: quote.external_id }),
      lane_ref: quote.lane_ref,
      lane_id: quote.lane_id,
      updated,
    })
    const before = recorded.get(digest.toString('hex'))
    if (before !== undefined) return answer(before)
    if (seen.has(quote.lane_id)) return namedTwice(one)
    seen.add(quote.lane_id)
    const fields = fieldsOf(item)
    const booking = decideUpdate(quote, fields, by, now.getTime(), staleWrites)
    if (booking.next !== null) changing.push({ quote, next: booking.next, origin: booking.origin })
    recording.push({ ...booking, carried: item, digest, quoteId: quote.lane_id, receivedAt: now })
    return answer(booking.updated)
  })
  await changes.changeQuotes(transaction, tenant, changing, now)
  await pushedQuotes.insertRecordedUpdates(transaction, tenant, recording)
  return results
}

function namedTwice({ index, item }: CheckedItem<Update>): RefusedItem {
  const detail =
    'Another item of this call names the same quote by its other name. Send this one in another call.'
  return {
    index,
    ...namesOf(item),
    status: 422,
    detail,
    errors: [{ pointer: '', code: 'repeated', detail }],
  }
}

export const pushShipmentUpdatesEndpoint: ServedEndpoint = serve(
  pushShipmentUpdates,
  async ({ caller, body, signed, now }, parts) => {
    const checked = await checkUpdates(body.updates)
    for (const { item, errors } of checked) {
      if (errors.length === 0) errors.push(...updateErrors(fieldsOf(item)))
    }
    const by = { caller, signed, now }
    const results = await pushItems<CheckedItem<Update>, Result>(checked, by, parts, (transaction, valid) =>
      applyHundred(transaction, valid, by, parts.config.staleWrites),
    )
    const answer = {
      applied: results.filter((result) => 'updated' in result && result.updated).length,
      failed: results.filter(({ status }) => status !== 200).length,
      results,
    }
    return notAppliedReply(answer, checked)
  },
)

const whyNotApplied: Readonly<Record<NotAppliedReason, string>> = {
  'older-signature': 'their quotes have values with a newer signature',
  'nothing-to-apply': 'they only name their quotes',
}

/** The answer, with the header and the remark that say how many updates were accepted and not applied. */
function notAppliedReply(
  answer: AnswerOf<typeof pushShipmentUpdates>,
  checked: readonly CheckedItem<Update>[],
): Reply<AnswerOf<typeof pushShipmentUpdates>> {
  const reasons = answer.results.flatMap((result, nth) => {
    const sent = checked[nth]
    const isLeft = sent !== undefined && 'updated' in result && !result.updated
    return isLeft ? [notAppliedReason(fieldsOf(sent.item))] : []
  })
  const reason = notAppliedReasons.find((one) => reasons.includes(one))
  if (reason === undefined) return new Reply(answer, {})
  const items = reasons.filter((one) => one === reason).length
  return new Reply(
    answer,
    notAppliedHeader(reason, items),
    `Not applied: ${items} of ${checked.length} updates, because ${whyNotApplied[reason]}.`,
  )
}
