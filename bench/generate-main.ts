import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { SingleBar } from 'cli-progress'
import { readConfig, secretKeysOf } from '#server/configuration/index.ts'
import { atDatabase, CommandRefused, exitCodeOf } from '#server/operations/index.ts'
import { readAccess } from './scale/access-file.ts'
import { GenerateRefused, generate } from './scale/generate.ts'
import { quotesMax, quotesOf, type ScalePlan, tenantsMax, tenantsOf } from './scale/plan.ts'

const usage = `npm run generate -- --quotes N [options]

Generates data from a seed: brokerages with users, a service token and a signing secret each, and two years of quotes.
The same command always generates the same data. After Ctrl+C, run it again to continue.

  --quotes N         the total number of quotes, such as 10000000
  --tenants N        the number of brokerages (5000)
  --seed N           the seed; another seed gives other data (1)
  --until DAY        the day after the last quote, YYYY-MM-DD (today)
  --into FOLDER      write to this data folder; default: DATABASE_URL with MIGRATION_DATABASE_URL, or else DATA_DIR
  --access FILE      save tokens and secrets in this file, readable only by you (generated-access.json in the data folder)
`

function wholeNumber(name: string, text: string, from: number, to: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < from || number > to)
    throw new CommandRefused(`--${name} must be a whole number from ${from} to ${to}.`)
  return number
}

function dayBefore(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new CommandRefused('--until must be a day such as 2026-11-01.')
  return text
}

function read() {
  try {
    return parseArgs({
      options: {
        quotes: { type: 'string' },
        tenants: { type: 'string', default: '5000' },
        seed: { type: 'string', default: '1' },
        until: { type: 'string' },
        into: { type: 'string' },
        access: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new CommandRefused(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  }
}

async function main(): Promise<number> {
  const asked = read()
  if (asked.help || asked.quotes === undefined) {
    process.stdout.write(usage)
    return asked.help ? 0 : 2
  }
  // npm runs scripts in the project's folder. INIT_CWD is the folder where the user ran npm.
  const here = process.env.INIT_CWD ?? process.cwd()
  const into =
    asked.into === undefined ? {} : { DATA_DIR: resolve(here, asked.into), DATABASE_URL: undefined }
  const config = readConfig({ ...process.env, ...into })
  if (config.databaseUrl === null && !existsSync(config.dataDirectory)) {
    // For root, PostgreSQL runs as another user, which must be able to enter the folder.
    mkdirSync(config.dataDirectory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  }
  const accessFile =
    asked.access === undefined
      ? join(config.dataDirectory, 'generated-access.json')
      : resolve(here, asked.access)
  const plan: ScalePlan = {
    quotes: wholeNumber('quotes', asked.quotes, 1, quotesMax),
    tenants: wholeNumber('tenants', asked.tenants, 1, tenantsMax),
    seed: wholeNumber('seed', asked.seed, 0, 2 ** 32 - 1),
    // A run that is continued after midnight keeps its original day.
    until: dayBefore(
      asked.until ?? readAccess(accessFile)?.plan.until ?? new Date().toISOString().slice(0, 10),
    ),
  }
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(130)
    stopping = true
    remark('\nStopping after the current rows. Run the same command again to continue.')
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return atDatabase({ config, remark }, async (database, owner) => {
    if (owner === null)
      throw new CommandRefused('Set MIGRATION_DATABASE_URL: only the owner of the tables can write the data.')
    const shown = progressShown(quotesOf(tenantsOf(plan)), remark)
    const began = performance.now()
    const made = await generate({
      owner,
      database,
      secretKeys: config.secretKeys ?? secretKeysOf(config.dataDirectory),
      plan,
      accessFile,
      now: Date.now(),
      onProgress: shown.update,
      isStopping: () => stopping,
    })
      .catch((error: unknown) => {
        throw error instanceof GenerateRefused ? new CommandRefused(error.message) : error
      })
      .finally(shown.end)
    const seconds = (performance.now() - began) / 1000
    remark(
      `${made.written.toLocaleString('en-US')} quotes in ${seconds.toFixed(1)} s (${Math.round(made.written / seconds).toLocaleString('en-US')} per second).`,
    )
    remark(`Tokens and signing secrets: ${accessFile}`)
    return made.finished ? 0 : 130
  })
}

/** Shows progress: a bar on a terminal, otherwise a line every 5 s. */
function progressShown(total: number, remark: (line: string) => void) {
  if (!process.stderr.isTTY) {
    let reportedAt = performance.now()
    return {
      update: (written: number) => {
        if (performance.now() - reportedAt < 5_000) return
        reportedAt = performance.now()
        remark(`${Math.floor((written / total) * 100)} %: ${written.toLocaleString('en-US')} quotes`)
      },
      end: () => {},
    }
  }
  const bar = new SingleBar({
    format: '{bar} {percentage} % | {value} of {total} quotes | {eta_formatted} left',
    stream: process.stderr,
    hideCursor: true,
    etaBuffer: 50,
  })
  bar.start(total, 0)
  return { update: (written: number) => bar.update(written), end: () => bar.stop() }
}

process.exitCode = await exitCodeOf(main)
