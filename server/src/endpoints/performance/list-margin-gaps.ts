import type { AnswerOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import type * as contract from '#contract/performance.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { shortfall } from '#engine/performance.ts'
import type { GapCursor, MarginGap } from '#engine/quote-statistics/margin-gaps.ts'
import { statisticsOf } from '../../book/index.ts'
import { quotesById } from '../../database/queries/index.ts'
import { quoteAnswers } from '../../quotes/index.ts'
import type { ReadCall } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisAnswer } from './compared-basis.ts'
import { readSelection } from './quote-selection.ts'

type Gap = AnswerOf<typeof contract.listMarginGaps>['gaps'][number]

function gapAnswer(quote: Gap['lane'] | undefined, shipment: MarginGap): Gap[] {
  const gap = shortfall(shipment)
  if (quote === undefined || gap === null) return []
  const { quotedRateCents, quotedCostCents, customerRateCents, truckCostCents } = shipment
  return [
    {
      lane: quote,
      quoted_margin: dollarsFromCents(quotedRateCents - quotedCostCents),
      margin: dollarsFromCents(customerRateCents - truckCostCents),
      shortfall: dollarsFromCents(gap.shortfallCents),
      compared: {
        quoted_rate: dollarsFromCents(quotedRateCents),
        expected_cost: dollarsFromCents(quotedCostCents),
        customer_rate: dollarsFromCents(customerRateCents),
        truck_cost: dollarsFromCents(truckCostCents),
      },
      because: gap.because,
    },
  ]
}

function readGapCursor(text: string | undefined): GapCursor | null {
  if (text === undefined) return null
  const [of, shortfallCents, quoteId] = cursorPosition(text) ?? []
  const isNumber = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value)
  if (of !== 'gap' || !isNumber(shortfallCents) || !isNumber(quoteId)) throw wrongCursor()
  return { shortfallCents: Number(shortfallCents), quoteId: Number(quoteId) }
}

/** The booked loads whose actual margin is below the quoted one, largest shortfall first. */
export async function listMarginGaps(
  { caller: { tenant }, query }: ReadCall<typeof contract.listMarginGaps>,
  { books, database }: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.listMarginGaps>> {
  const { selection, period } = readSelection(query, tenant)
  const limit = query.limit ?? pageSizeDefault
  const cursor = readGapCursor(query.cursor)
  const statistics = await statisticsOf({ books, database }, tenant)
  const found = await statistics.marginGaps(selection, { cursor, limit: limit + 1 })
  const converted = await statistics.converted({ ...selection, booked: true })
  const page = found.gaps.slice(0, limit)
  const last = page.at(-1)
  // Quotes are read again, because the book has their amounts on the default basis, and the answer shows them as saved.
  const quotes = await database.inTenant(tenant, async (transaction) => {
    const ids = page.map(({ quoteId }) => quoteId)
    return quoteAnswers(transaction, tenant, await quotesById(transaction, tenant, ids, { lock: false }))
  })
  const byId = new Map(quotes.map((quote) => [quote.lane_id, quote]))
  return {
    ...period,
    gaps: page.flatMap((gap) => gapAnswer(byId.get(gap.quoteId), gap)),
    next_cursor:
      found.gaps.length > limit && last !== undefined
        ? cursorText(['gap', last.shortfallCents, last.quoteId])
        : null,
    totals: {
      shipments_compared: found.compared,
      below: found.below,
      shortfall: dollarsFromCents(found.shortfallCents),
    },
    basis: basisAnswer({ basis: statistics.basis, ...converted }),
  }
}
