import { parseArgs } from 'node:util'
import { drillPrograms } from './drill-server.ts'
import { drillFigure, restoreDrill } from './restore-drill.ts'

const usage = `npm run drill -- [options]    deletes every row of a database made for the drill, and restores the second before

  --bin FOLDER      use the programs of another PostgreSQL (15 or newer), such as /usr/lib/postgresql/17/bin
  --quotes N        the number of quotes (default 100000)
`

async function main(): Promise<number> {
  let values: { bin?: string | undefined; quotes?: string | undefined }
  try {
    values = parseArgs({ options: { bin: { type: 'string' }, quotes: { type: 'string' } } }).values
  } catch {
    process.stderr.write(usage)
    return 2
  }
  const quotes = Number(values.quotes ?? 100_000)
  if (!Number.isInteger(quotes) || quotes < 2 || quotes > 10_000_000) {
    process.stderr.write(usage)
    return 2
  }
  const programs = drillPrograms(values.bin ?? null, { durable: true })
  const drilled = await restoreDrill(programs, quotes, (line) => process.stderr.write(`${line}\n`))
  for (const { table, rows, sum } of drilled.sums) {
    process.stdout.write(
      `${table.padEnd(26)} ${rows.toLocaleString('en-US').padStart(10)} rows  ${sum.slice(0, 32)}\n`,
    )
  }
  process.stdout.write(`${drillFigure(drilled)}\n`)
  const { before, after } = drilled.faults
  process.stdout.write(
    before.length === 0
      ? 'Restored the second before the deletion: every table has the same checksum, and every audit log is unbroken.\n'
      : `DIFFERENT after the restore:\n${before.join('\n')}\n`,
  )
  process.stdout.write(
    after.length > 0
      ? `The comparison detects a restore to the moment after the deletion (${after.length} differences).\n`
      : 'THE COMPARISON DOES NOT DETECT a restore to the moment after the deletion, so its result is worthless.\n',
  )
  return before.length === 0 && after.length > 0 ? 0 : 1
}

process.exitCode = await main()
