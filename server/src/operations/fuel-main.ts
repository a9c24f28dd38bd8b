import { parseArgs } from 'node:util'
import { formatMills } from '#engine/fuel-surcharge.ts'
import { counted } from '#engine/wording.ts'
import { readConfig } from '../configuration/index.ts'
import { exitCodeOf } from './command-database.ts'
import { loadDiesel } from './load-diesel.ts'

const usage = `npm run fuel -- load FILE         loads the weekly diesel prices of a file of the EIA for all brokerages; FILE may be
                                  an https address, such as one of its API with your key
           --tenant NAME          for one brokerage only, by name or number
`

/** `npm run fuel -- load FILE`: loads diesel prices. */
async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2))
  if (asked === null) {
    process.stderr.write(usage)
    return 2
  }
  const around = {
    config: readConfig(process.env),
    remark: (line: string) => process.stderr.write(`${line}\n`),
  }
  const { prices, loaded } = await loadDiesel(around, asked.file, { named: asked.tenant, now: Date.now() })
  const [first, last] = [prices.at(0), prices.at(-1)]
  if (first !== undefined && last !== undefined) {
    process.stdout.write(
      `${counted(prices.length, 'week')} read, from ${first.week} to ${last.week} (${formatMills(last.mills)} per gallon).\n`,
    )
  }
  for (const { name, changed } of loaded) {
    process.stdout.write(
      `${name}: ${changed === 0 ? 'all were stored before' : `${counted(changed, 'week')} new or with another price`}.\n`,
    )
  }
  return 0
}

/** The parsed command line; null when it is invalid. */
function readArguments(args: string[]): { file: string; tenant: string | undefined } | null {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { tenant: { type: 'string' } },
    })
    const [action, file = '', ...rest] = positionals
    if (action !== 'load' || file === '' || rest.length > 0) return null
    return { file, tenant: values.tenant }
  } catch {
    return null
  }
}

process.exitCode = await exitCodeOf(main)
