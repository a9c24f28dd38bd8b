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

Writes seeded scale data: brokerages with people, a service token and a signing secret each, and two years of quotes.
The same command draws the same data; stopped with Ctrl-C, it goes on where it stopped.

  --quotes N         quotes of the ordinary brokerages together, such as 10000000
  --tenants N        brokerages (5000)
  --seed N           another seed gives other data (1)
  --until DAY        the day after the last quote, YYYY-MM-DD (today)
  --giant-lane N     one more brokerage, with N quotes on one lane
  --giant-tenant N   one more brokerage, with N quotes
  --into FOLDER      a data folder, as DATA_DIR; else DATABASE_URL with MIGRATION_DATABASE_URL, else DATA_DIR
  --access FILE      where tokens and secrets go, readable by you alone (generated-access.json in the data folder)
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
        'giant-lane': { type: 'string', default: '0' },
        'giant-tenant': { type: 'string', default: '0' },
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
  // npm runs scripts in the project's folder and says here where the person was.
  const here = process.env.INIT_CWD ?? process.cwd()
  const into = asked.into === undefined ? {} : { DATA_DIR: resolve(here, asked.into), DATABASE_URL: '' }
  const config = readConfig({ ...process.env, ...into })
  if (config.databaseUrl === null && !existsSync(config.dataDirectory)) {
    // As root PostgreSQL works under another account, which must pass through.
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
    // A run that goes on past midnight keeps to the day it was begun for.
    until: dayBefore(
      asked.until ?? readAccess(accessFile)?.plan.until ?? new Date().toISOString().slice(0, 10),
    ),
    giantLane: wholeNumber('giant-lane', asked['giant-lane'], 0, quotesMax),
    giantTenant: wholeNumber('giant-tenant', asked['giant-tenant'], 0, quotesMax),
  }
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  let stopping = false
  const stop = () => {
    if (stopping) process.exit(130)
    stopping = true
    remark('\nStopping after the rows at hand. The same command goes on from there.')
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return atDatabase({ config, remark }, async (database, owner) => {
    if (owner === null)
      throw new CommandRefused('Set MIGRATION_DATABASE_URL: the owner of the tables writes.')
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
      `${made.written.toLocaleString('en-US')} quotes in ${seconds.toFixed(1)} s (${Math.round(made.written / seconds).toLocaleString('en-US')} a second).`,
    )
    remark(`Tokens and signing secrets: ${accessFile}`)
    return made.finished ? 0 : 130
  })
}

/** A bar on a terminal; elsewhere a line every few seconds. */
function progressShown(total: number, remark: (line: string) => void) {
  if (!process.stderr.isTTY) {
    let toldAt = performance.now()
    return {
      update: (written: number) => {
        if (performance.now() - toldAt < 5_000) return
        toldAt = performance.now()
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
