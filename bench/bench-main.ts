import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { stopAbandonedPostgres } from '#server/embedded-postgres/index.ts'
import { passes } from '../evaluation/src/bar.ts'
import { allRows } from './all-rows.ts'
import type { Bench, BenchFindings, BenchOptions, BenchRow } from './bench-row.ts'
import { pinning, startLoadGenerator } from './processes.ts'
import { rowText } from './report.ts'
import type { ScalePlan } from './scale/plan.ts'
import { type ScaleDatabase, scaleDatabase } from './scale-database.ts'

const usage = `npm run bench -- [options]

  --list             list the rows, and what each promises
  --only A,B         run only these rows
  --quick            only the reads, with measurements of one second: about a minute
  --full             also a brokerage of a million quotes at work, and an import of a million rows
  --seconds N        the length of a measurement (2; for at-work 30, or 10 with --quick)
  --rounds N         the number of measurements per server, alternating between servers (3; 5 with --full)
  --connections N    the connections of the load generator (48)
  --quotes N         the quotes in the database (100000)
  --tenants N        the brokerages that send requests (5000)
  --import-rows N    the rows of the import (30000)
  --brokerage N      the quotes of the brokerage in the at-work row (12000 and 100000; with --full also 1000000)
  --data DIR         where to save databases for the next run (lanewise-bench in the system's temporary folder)
  --json FILE        write all figures to this file
`

function read() {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      quotes: { type: 'string' },
      tenants: { type: 'string' },
      'import-rows': { type: 'string' },
      brokerage: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const number = (name: string, text: string | undefined, otherwise: number) => {
    const value = text === undefined ? otherwise : Number(text)
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`)
    return value
  }
  const names = values.only?.split(',') ?? (values.quick ? ['markup', 'insight'] : undefined)
  const unknown = names?.filter((name) => !allRows.some((row) => row.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`Unknown row: ${unknown.join(', ')}.`)
  const { quick, full } = values
  const options: BenchOptions = {
    seconds: number('seconds', values.seconds, quick ? 1 : 2),
    rounds: Math.round(number('rounds', values.rounds, full ? 5 : 3)),
    connections: Math.round(number('connections', values.connections, 48)),
    quotes: Math.round(number('quotes', values.quotes, 100_000)),
    tenants: Math.round(number('tenants', values.tenants, 5_000)),
    seed: 1,
    importRows: Math.round(number('import-rows', values['import-rows'], full ? 1_000_000 : 30_000)),
    atWork: {
      brokerages:
        values.brokerage === undefined
          ? [12_000, 100_000, ...(full ? [1_000_000] : [])]
          : [Math.round(number('brokerage', values.brokerage, 12_000))],
      seconds: number('seconds', values.seconds, quick ? 10 : 30),
    },
  }
  return {
    ...values,
    options,
    root: resolve(process.env.INIT_CWD ?? process.cwd(), values.data ?? join(tmpdir(), 'lanewise-bench')),
    chosen: allRows.filter((row) => names === undefined || names.includes(row.name)),
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const printError = (line: string) => process.stderr.write(`${line}\n`)

interface MeasuredRow {
  readonly name: string
  readonly promise: string
  readonly seconds: number
  readonly findings: BenchFindings
}

/** Opens databases in a folder; each is open until `close`. */
function benchDatabases(
  root: string,
  { quotes, tenants, seed }: BenchOptions,
  { say, isStopping }: { say: (line: string) => void; isStopping: () => boolean },
): Pick<Bench, 'data' | 'freshData' | 'closeData'> & { close(): Promise<void> } {
  const databases = new Map<string, Promise<ScaleDatabase>>()
  const planOf = (asked: Partial<ScalePlan>): Omit<ScalePlan, 'until'> => ({
    quotes,
    tenants,
    seed,
    ...asked,
  })
  function openData(folder: string, plan: Omit<ScalePlan, 'until'>): Promise<ScaleDatabase> {
    let reportedAt = performance.now()
    return scaleDatabase(folder, plan, {
      now: Date.now(),
      isStopping,
      onProgress: (written, total) => {
        if (performance.now() - reportedAt < 3_000) return
        reportedAt = performance.now()
        say(`generating data: ${written.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} quotes`)
      },
    })
  }
  return {
    data(asked = {}) {
      const plan = planOf(asked)
      const key = JSON.stringify(plan)
      const open = databases.get(key) ?? openData(root, plan)
      databases.set(key, open)
      return open
    },
    async freshData(asked) {
      mkdirSync(root, { recursive: true })
      const folder = mkdtempSync(join(root, 'fresh-'))
      const data = await openData(folder, planOf(asked))
      const close = async () => {
        await data.close()
        for (const left of await stopAbandonedPostgres(data.directory))
          rmSync(left, { recursive: true, force: true })
        rmSync(folder, { recursive: true, force: true })
      }
      return { ...data, close }
    },
    async closeData(data) {
      for (const [key, opening] of databases) if ((await opening) === data) databases.delete(key)
      await data.close()
    },
    async close() {
      for (const opening of databases.values()) await opening.then((open) => open.close()).catch(() => {})
    },
  }
}

async function measureRows(
  chosen: readonly BenchRow[],
  bench: Bench,
  isStopping: () => boolean,
): Promise<MeasuredRow[]> {
  const measured: MeasuredRow[] = []
  for (const row of chosen) {
    if (isStopping()) break
    const began = performance.now()
    bench.say(`${row.name}: ${row.promise}`)
    const findings = await row.measure(bench)
    print(rowText(row, findings))
    const seconds = Math.round((performance.now() - began) / 1000)
    measured.push({ name: row.name, promise: row.promise, seconds, findings })
  }
  return measured
}

async function main(): Promise<boolean> {
  const { help, list, json, options, root, chosen } = read()
  if (help) {
    print(usage)
    return true
  }
  if (list) {
    for (const row of chosen) print(`${row.name.padEnd(16)} ${row.promise}`)
    return true
  }
  const began = performance.now()
  const secondsTaken = () => Math.round((performance.now() - began) / 1000)
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(130)
    stopping = true
    printError('stopping after the current row')
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  const isStopping = () => stopping
  const say = (line: string) => printError(`[${secondsTaken()} s] ${line}`)
  const load = startLoadGenerator()
  const { close, ...databases } = benchDatabases(root, options, { say, isStopping })
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}; ${pinning}`
  print(`${machine}\n${options.rounds} rounds of ${options.seconds} s; median (least..most)`)
  let rows: MeasuredRow[]
  try {
    rows = await measureRows(chosen, { load, options, say, ...databases }, isStopping)
  } finally {
    await load.stop()
    await close()
  }
  const bars = rows
    .flatMap(({ findings }) => findings.bars)
    .filter((bar) => bar.least !== undefined || bar.most !== undefined)
  const missed = bars.filter((bar) => !passes(bar))
  const faults = rows.flatMap(({ findings }) => findings.faults)
  print(
    `\n${bars.length - missed.length} of ${bars.length} figures within limits, ${faults.length} faults, ${secondsTaken()} s`,
  )
  if (json !== undefined) {
    writeFileSync(
      resolve(process.env.INIT_CWD ?? process.cwd(), json),
      `${JSON.stringify({ at: new Date().toISOString(), machine, options, rows }, null, 2)}\n`,
    )
  }
  return faults.length === 0 && !stopping
}

main().then(
  (sound) => {
    process.exitCode = sound ? 0 : 1
  },
  (error: unknown) => {
    printError(`${error instanceof Error ? (error.stack ?? error.message) : error}\n\n${usage}`)
    process.exitCode = 1
  },
)
