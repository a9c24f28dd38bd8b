import { type BenchFindings, type BenchRow, spreadOf } from '../bench-row.ts'
import { startServer } from '../processes.ts'
import { tenantsOf } from '../scale/plan.ts'
import { workbookOf } from '../scale/quotes-csv.ts'
import { quotesFor } from './import.ts'

const rowsOfWorkbook = 100_000

interface Imported {
  readonly added: number
  /** Processor time. */
  readonly seconds: number
  readonly growthBytes: number
}

async function askAndStop(
  server: Awaited<ReturnType<typeof startServer>>,
  question: { readonly file: Uint8Array; readonly tenant: number },
): Promise<Imported> {
  try {
    return await server.ask<Imported>(question)
  } finally {
    await server.stop()
  }
}

/** Processor time and memory of the import of a large workbook. */
export const workbookRow: BenchRow = {
  name: 'workbook',
  promise: 'a workbook of 100,000 rows is imported in at most 60 s of processor time and 300 MB',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.freshData({ quotes: 100, tenants: 2 })
    try {
      const [tenant] = tenantsOf(data.access.plan)
      if (tenant === undefined) throw new Error('There is no tenant to import into.')
      bench.say(`workbook: ${rowsOfWorkbook.toLocaleString('en-US')} rows`)
      const file = workbookOf(quotesFor(data, tenant.tenantId, rowsOfWorkbook, 0))
      const env = { DATABASE_URL: data.url('service') }
      const server = await startServer('import', './workbook-import-main.ts', env, 'ready', 'any')
      const imported = await askAndStop(server, { file, tenant: tenant.tenantId })
      const megabytes = imported.growthBytes / 1024 / 1024
      return {
        table: {
          columns: ['processor seconds', 'MB more at the peak'],
          lines: [['import', spreadOf([imported.seconds]), spreadOf([megabytes])]],
        },
        bars: [
          { check: 'workbook', measure: 'processor seconds', value: imported.seconds, most: 60 },
          { check: 'workbook', measure: 'MB more at the peak', value: megabytes, most: 300 },
        ],
        faults: imported.added === rowsOfWorkbook ? [] : [`${imported.added} rows were added`],
        notes: [
          `the file has 20 columns and ${(file.length / 1024 / 1024).toFixed(0)} MB`,
          'the process starts for this import; the work of the database is not counted',
        ],
      }
    } finally {
      await data.close()
    }
  },
}
