import { setImmediate } from 'node:timers/promises'
import { tenantId } from '#server/database/session/index.ts'
import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { copyIn, copyText, withoutForcedSecurity } from '../scale/copy-rows.ts'
import { importOne } from '../scale/import-one.ts'
import { tenantsOf } from '../scale/plan.ts'
import { csvOf } from '../scale/quotes-csv.ts'
import { chunksOf, quotesOfChunk, type ScaleQuote } from '../scale/scale-quotes.ts'
import { withDatabase } from '../scale/with-database.ts'
import { laneColumns, requestColumns, rowsOf } from '../scale/write-quotes.ts'
import type { ScaleDatabase } from '../scale-database.ts'

/** With this many rows one round is enough. */
const rowsOfOneRound = 200_000
const roundsMax = 2
/** Rows per file, because a million rows with all columns exceed the maximum file size. */
const rowsOfOneFile = 500_000

/** Duration of the service's import of a CSV file, compared with COPY of the same quotes into the same tables. */
export const importRow: BenchRow = {
  name: 'import',
  promise: 'a CSV file is imported in at most 2.5 times the time of COPY',
  async measure(bench): Promise<BenchFindings> {
    const { importRows } = bench.options
    const rounds = importRows > rowsOfOneRound ? 1 : Math.min(roundsMax, bench.options.rounds)
    const data = await bench.freshData({ quotes: 100, tenants: 2 * rounds })
    const copied: number[] = []
    const imported: number[] = []
    const faults: string[] = []
    try {
      const tenants = tenantsOf(data.access.plan)
      for (let round = 0; round < rounds; round++) {
        bench.say(`import: round ${round + 1} of ${rounds}, ${importRows.toLocaleString('en-US')} rows`)
        const [one, other] = tenants.slice(2 * round)
        if (one === undefined || other === undefined) throw new Error('There is no tenant to import into.')
        const quotes = quotesFor(data, one.tenantId, importRows, round)
        const files = Array.from({ length: Math.ceil(importRows / rowsOfOneFile) }, (_, at) =>
          csvOf(quotes.slice(at * rowsOfOneFile, (at + 1) * rowsOfOneFile)),
        )
        // Yield after the long synchronous step, because the connection timeout would otherwise already be over.
        await setImmediate()
        copied.push(await copySeconds(data, quotes))
        await setImmediate()
        const { seconds, added } = await importSeconds(data, other.tenantId, files)
        imported.push(seconds)
        if (added !== importRows) faults.push(`${added} of ${importRows} rows were added`)
      }
    } finally {
      await data.close()
    }
    const perSecond = (seconds: readonly number[]) => spreadOf(seconds.map((one) => importRows / one))
    return {
      table: {
        columns: ['seconds', 'rows/s'],
        lines: [
          ['COPY', spreadOf(copied), perSecond(copied)],
          ['import', spreadOf(imported), perSecond(imported)],
        ],
      },
      bars: [
        {
          check: 'import',
          measure: 'time divided by that of COPY',
          value: spreadOf(ratios(imported, copied)).median,
          most: 2.5,
        },
      ],
      faults,
      notes: [
        'COPY gets complete rows with keys, markets and miles; the import computes them from CSV',
        'both write to the same tables with all indexes, keys and checks, and both are flushed at the end',
        'COPY is one transaction, with fewer quote requests and without the data for undo and for recognizing repeated rows',
        'both run in the process of the benchmark, which is not pinned',
      ],
    }
  },
}

/** Generates quotes of a brokerage. */
export function quotesFor(data: ScaleDatabase, id: number, count: number, round: number): ScaleQuote[] {
  const tenant = { index: round, tenantId: id, kind: 'ordinary' as const, quotes: count, firstQuote: 0 }
  return Array.from({ length: chunksOf(count) }, (_, chunk) =>
    quotesOfChunk({ ...data.access.plan, seed: 100 + round }, [tenant], chunk),
  ).flat()
}

async function copySeconds(data: ScaleDatabase, quotes: readonly ScaleQuote[]): Promise<number> {
  return withDatabase({ connectionString: data.url('service') }, (database) =>
    data.as('owner', async (client) => {
      const rows = await rowsOf(client, database.identifiers, quotes)
      const [requests, lanes] = [copyText(rows.requests), copyText(rows.lanes)]
      const began = performance.now()
      await withoutForcedSecurity(client, ['quote_requests', 'quotes'], async () => {
        await copyIn(client, 'quote_requests', requestColumns, requests)
        await copyIn(client, 'quotes', laneColumns, lanes)
      })
      return (performance.now() - began) / 1000
    }),
  )
}

/** Imports the files one after the other. */
async function importSeconds(
  data: ScaleDatabase,
  id: number,
  files: readonly Buffer[],
): Promise<{ seconds: number; added: number }> {
  return withDatabase({ connectionString: data.url('service') }, async (database) => {
    const began = performance.now()
    let added = 0
    for (const file of files) added += await importOne(database, tenantId(id), file)
    return { seconds: (performance.now() - began) / 1000, added }
  })
}
