import { setImmediate } from 'node:timers/promises'
import { tenantId } from '#server/database/session/index.ts'
import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { cpuWithChildren } from '../processes.ts'
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
    const copied: Cost[] = []
    const imported: Cost[] = []
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
        copied.push(await copyCost(data, quotes))
        await setImmediate()
        const { added, ...cost } = await importCost(data, other.tenantId, files)
        imported.push(cost)
        if (added !== importRows) faults.push(`${added} of ${importRows} rows were added`)
      }
    } finally {
      await data.close()
    }
    const spreads = (costs: readonly Cost[]) => [
      spreadOf(costs.map(({ seconds }) => seconds)),
      spreadOf(costs.map(({ seconds }) => importRows / seconds)),
      spreadOf(costs.map(({ processorSeconds }) => processorSeconds)),
    ]
    const ratioOf = (cost: keyof Cost) =>
      spreadOf(
        ratios(
          imported.map((one) => one[cost]),
          copied.map((one) => one[cost]),
        ),
      ).median
    return {
      table: {
        columns: ['seconds', 'rows/s', 'processor seconds'],
        lines: [
          ['COPY', ...spreads(copied)],
          ['import', ...spreads(imported)],
        ],
      },
      bars: [
        { check: 'import', measure: 'time divided by that of COPY', value: ratioOf('seconds'), most: 2.5 },
        {
          check: 'import',
          measure: 'processor time divided by that of COPY',
          value: ratioOf('processorSeconds'),
        },
      ],
      faults,
      notes: [
        'COPY gets complete rows with keys, markets and miles; the import computes them from CSV',
        'both write to the same tables with all indexes, keys and checks, and both are flushed at the end',
        'COPY is one transaction, with fewer quote requests and without the data for undo and for recognizing repeated rows',
        'both run in the process of the benchmark, which is not pinned; the processor time is that of this process and of PostgreSQL',
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

interface Cost {
  readonly seconds: number
  readonly processorSeconds: number
}

/** What the work costs, in this process and in PostgreSQL. */
async function costOf(data: ScaleDatabase, work: () => Promise<void>): Promise<Cost> {
  const processor = () => {
    const { user, system } = process.cpuUsage()
    return (user + system + (cpuWithChildren(data.postgresPid) ?? Number.NaN)) / 1e6
  }
  const [began, cpu] = [performance.now(), processor()]
  await work()
  return { seconds: (performance.now() - began) / 1000, processorSeconds: processor() - cpu }
}

async function copyCost(data: ScaleDatabase, quotes: readonly ScaleQuote[]): Promise<Cost> {
  return withDatabase({ connectionString: data.url('service') }, (database) =>
    data.as('owner', async (client) => {
      const rows = await rowsOf(client, database.identifiers, quotes)
      const [requests, lanes] = [copyText(rows.requests), copyText(rows.lanes)]
      return costOf(data, () =>
        withoutForcedSecurity(client, ['quote_requests', 'quotes'], async () => {
          await copyIn(client, 'quote_requests', requestColumns, requests)
          await copyIn(client, 'quotes', laneColumns, lanes)
        }),
      )
    }),
  )
}

/** Imports the files one after the other. */
async function importCost(
  data: ScaleDatabase,
  id: number,
  files: readonly Buffer[],
): Promise<Cost & { readonly added: number }> {
  return withDatabase({ connectionString: data.url('service') }, async (database) => {
    let added = 0
    const cost = await costOf(data, async () => {
      for (const file of files) added += await importOne(database, tenantId(id), file)
    })
    return { ...cost, added }
  })
}
