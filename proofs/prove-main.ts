import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startCluster } from '#testing/database-cluster.ts'
import { allProofs } from './all-proofs.ts'
import { isProven, prove, type Verdict } from './prove.ts'

const usage = `npm run prove -- [options]

  --list            the proofs, and what each of them shows
  --only r1,r4      these proofs alone, and not the long tests (*.long.test.ts) that follow them otherwise
  --seed N          plays the random parts of an earlier run again
  --minutes M       takes about so long (30 at the most, which is also the usual length)
  --requests N      so many requests in hostile-input and concurrency, however long that takes
  --request K       the request of this number alone in hostile-input, of the seed that is given
  --json FILE       writes the verdicts there as well`

const minutesMax = 30

function read() {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean' },
      help: { type: 'boolean' },
      only: { type: 'string' },
      seed: { type: 'string' },
      minutes: { type: 'string' },
      requests: { type: 'string' },
      request: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !allProofs.some(({ proof }) => proof.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`There is no proof ${unknown.join(', ')}.`)
  const whole = (name: 'seed' | 'requests' | 'request') => {
    const value = values[name]
    if (value === undefined) return undefined
    if (!/^\d{1,15}$/.test(value)) throw new Error(`--${name} must be a whole number.`)
    return Number(value)
  }
  const seed = whole('seed') ?? randomInt(2 ** 31)
  const requests = whole('requests')
  const request = whole('request')
  const minutes = values.minutes === undefined ? minutesMax : Number(values.minutes)
  if (!(minutes > 0 && minutes <= minutesMax)) throw new Error(`--minutes must be from 0 to ${minutesMax}.`)
  const chosen = allProofs.filter(({ proof }) => names === undefined || names.includes(proof.name))
  return { ...values, names, seed, minutes, requests, request, chosen }
}

const say = (line: string) => process.stdout.write(`${line}\n`)

function table(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ name, claim, figure, seed, seconds, verdict, control, fault, faults }) =>
      [
        `${name.padEnd(14)} ${verdict}   control (${fault}): ${control}   seed ${seed}   ${seconds} s`,
        `               ${claim}`,
        `               ${figure}`,
        ...faults.map((one) => `               FAULT ${one}`),
      ].join('\n'),
    )
    .join('\n')
}

/** Runs a program to its end. Ctrl-C reaches it as well, because it shares the terminal. */
function succeeds(program: string, ...args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}

/** Runs the tests that are too long for `npm test`; those in the browser look at the dashboard as it is built. */
async function passLongTests(): Promise<boolean> {
  say('\nlong tests: *.long.test.ts')
  return (
    (await succeeds(process.execPath, 'dashboard/build.ts')) &&
    (await succeeds('npm', 'exec', '--', 'vitest', 'run', '--project=long'))
  )
}

async function main(): Promise<boolean> {
  const { list, help, json, names, seed, minutes, requests, request, chosen } = read()
  if (help === true) {
    say(usage)
    return true
  }
  if (list === true) {
    for (const { proof } of chosen) say(`${proof.name.padEnd(14)} ${proof.claim} (control: ${proof.fault})`)
    return true
  }
  const full = chosen.reduce((sum, one) => sum + one.minutes, 0)
  const share = Math.min(1, minutes / full)
  const length = requests === undefined ? `about ${Math.ceil(full * share)} minutes` : 'as long as that takes'
  say(`seed ${seed}; ${chosen.length} ${chosen.length === 1 ? 'proof' : 'proofs'}, ${length}`)
  const stop = new AbortController()
  const stopSoon = () => {
    say('stopping: what is under way is taken down first')
    stop.abort()
  }
  process.once('SIGINT', stopSoon)
  process.once('SIGTERM', stopSoon)
  const server = await startCluster()
  const verdicts: Verdict[] = []
  try {
    for (const { proof } of chosen) {
      if (stop.signal.aborted) break
      say(`\n${proof.name}: ${proof.claim}`)
      let last = 0
      const onProgress = (line: string) => {
        if (performance.now() - last < 2_000) return
        last = performance.now()
        say(`  ${line}`)
      }
      verdicts.push(
        await prove(proof, {
          seed,
          share,
          slackMs: 0,
          requests,
          request,
          cluster: server.cluster,
          onProgress,
          signal: stop.signal,
        }),
      )
      const { verdict, control, figure } = verdicts.at(-1) ?? {}
      say(`  ${verdict}: ${figure}; control ${control}`)
    }
  } finally {
    await server.stop()
  }
  const longTestsPass = names !== undefined || stop.signal.aborted || (await passLongTests())
  say(`\n${table(verdicts)}`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(verdicts, null, 2)}\n`)
  return isProven(verdicts) && longTestsPass && !stop.signal.aborted
}

main().then(
  (proven) => {
    process.exitCode = proven ? 0 : 1
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}\n`)
    process.exitCode = 1
  },
)
