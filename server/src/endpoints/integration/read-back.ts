import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { changesPageDefault } from '#contract/limits.ts'
import { readQuotes, readShipments } from '#contract/read-back.ts'
import type { ServiceCaller } from '../../access/index.ts'
import { type ChangePlace, pushedQuotes } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { quoteAnswers } from '../../quotes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'

type Changed = AnswerOf<typeof readQuotes>['quotes'][number]

const start: ChangePlace = { version: -1, quoteId: 0 }

function placeOf(cursor: string | undefined): ChangePlace {
  if (cursor === undefined) return start
  const [version, quoteId, ...more] = cursorPosition(cursor) ?? []
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(quoteId) || more.length > 0) {
    throw invalid([
      {
        parameter: 'cursor',
        code: 'invalid',
        detail: 'cursor must be the next_cursor of an earlier answer.',
      },
    ])
  }
  return { version: version as number, quoteId: quoteId as number }
}

/** A page of changed quotes. */
async function changesPage(
  transaction: TenantTransaction,
  tenant: TenantId,
  query: QueryOf<typeof readQuotes>,
  shipments: boolean,
): Promise<{ changed: Changed[]; next_cursor: string; more: boolean }> {
  const since = query.cursor === undefined ? query.updated_since : undefined
  const { changed, end, more } = await pushedQuotes.readQuoteChanges(
    transaction,
    tenant,
    placeOf(query.cursor),
    {
      updatedSince: since === undefined ? null : new Date(readTime(since) ?? Number.NaN),
      laneRef: query.lane_ref ?? null,
      externalId: query.external_id ?? null,
      shipments,
    },
    query.limit ?? changesPageDefault,
  )
  const answers = await quoteAnswers(
    transaction,
    tenant,
    changed.flatMap(({ quote }) => quote ?? []),
  )
  const answerOf = new Map(answers.map((quote) => [quote.lane_id, quote]))
  return {
    changed: changed.map(({ version, quoteId, removed }): Changed => {
      const quote = answerOf.get(quoteId)
      return quote === undefined
        ? {
            version,
            removed: true,
            lane_id: quoteId,
            lane_ref: removed?.laneRef ?? null,
            external_id: removed?.externalId ?? null,
          }
        : { version, removed: false, lane: quote }
    }),
    next_cursor: cursorText([end.version, end.quoteId]),
    more,
  }
}

function read<E extends typeof readQuotes | typeof readShipments>(
  { caller, query }: { readonly caller: ServiceCaller; readonly query: QueryOf<E> },
  { database }: Pick<Parts, 'database'>,
  shipments: boolean,
) {
  return database.inTenant(caller.tenant, (transaction) =>
    changesPage(transaction, caller.tenant, query, shipments),
  )
}

export const readBackEndpoints: ServedEndpoint[] = [
  serve(readQuotes, async (call, parts) => {
    const { changed, ...page } = await read(call, parts, false)
    return { quotes: changed, ...page }
  }),

  serve(readShipments, async (call, parts) => {
    const { changed, ...page } = await read(call, parts, true)
    return { shipments: changed, ...page }
  }),
]
