import type { AnswerOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import * as contract from '#contract/performance.ts'
import type { PerformanceCursor } from '#engine/quote-statistics/performance-groups.ts'
import type { TenantId } from '../../database/session/index.ts'
import { csvPages, groupsExportedAtOnce } from '../csv-pages.ts'
import { type ReadCall, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorText } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { listMarginGaps } from './list-margin-gaps.ts'
import { performanceCsvHead, performanceCsvLines } from './performance-csv.ts'
import { type AskedRows, orderOf, performancePage, readPerformanceCursor } from './performance-rows.ts'
import { readSelection } from './quote-selection.ts'

function csvOf(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  asked: Pick<AskedRows, 'query' | 'selection'>,
): AsyncGenerator<string, void> {
  const { by } = asked.query
  return csvPages(performanceCsvHead(by), async (cursor: PerformanceCursor | null) => {
    const piece = { ...asked, cursor, limit: groupsExportedAtOnce }
    const { rows, next, basis } = await performancePage(parts, tenant, piece)
    return { lines: performanceCsvLines(by, rows, basis.amounts), next }
  })
}

/** Win rates and margins of the selected quotes, by lane, customer, rep, month, carrier or equipment. */
async function getPerformance(
  { caller, query }: ReadCall<typeof contract.getPerformance>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.getPerformance>> {
  const { selection, period } = readSelection(query, caller.tenant)
  const limit = query.limit ?? pageSizeDefault
  const { name } = orderOf(query)
  const cursor = readPerformanceCursor(query.cursor, name)
  const asked = { query, selection, cursor, limit }
  const { next, lastQuoted: _, ...page } = await performancePage(parts, caller.tenant, asked)
  return {
    by: query.by,
    ...period,
    ...page,
    next_cursor: next === null ? null : cursorText([name, next.rank, next.quotes, next.key]),
  }
}

export const performanceEndpoints: ServedEndpoint[] = [
  serve(contract.getPerformance, getPerformance),
  serve(contract.exportPerformance, async ({ caller, query, now }, { books, database }) => ({
    fileName: `lanewise-performance-by-${query.by}-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf({ books, database }, caller.tenant, {
      query,
      selection: readSelection(query, caller.tenant).selection,
    }),
  })),
  serve(contract.listMarginGaps, listMarginGaps),
]
