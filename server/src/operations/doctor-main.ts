import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readConfig } from '../configuration/index.ts'
import { exitCodeOf } from './command-database.ts'
import { examine, type Finding } from './doctor.ts'

const usage = `npm run doctor -- [--json]

Checks the configuration, the database, tenant isolation, the secret key, clocks and connections. It changes nothing,
reports problems with remedies, and exits with 1 when there is a problem.
`

const marks = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const

const lineOf = ({ about, state, says, mend }: Finding) =>
  `${marks[state]}  ${about.padEnd(17)} ${says}${mend === undefined ? '' : `\n                         ${mend}`}\n`

/** How many files this process may open. Node has raised its limit to the most that the system permits. Only Linux tells it. */
function openFilesMax(): number | null {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** `npm run doctor`: checks everything that a service needs. */
async function main(): Promise<number> {
  const options = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values } = parseArgs({ options, strict: true })
  if (values.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const findings = await examine(() => readConfig(process.env), {
    clock: Date.now,
    openFilesMax: openFilesMax(),
    tell: (finding) => {
      if (values.json !== true) process.stdout.write(lineOf(finding))
    },
  })
  if (values.json === true) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
  return findings.some(({ state }) => state === 'wrong') ? 1 : 0
}

process.exitCode = await exitCodeOf(main)
