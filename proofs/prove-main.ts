import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startCluster } from '#testing/database-cluster.ts'
import { allProofs } from './all-proofs.ts'
import { runMutants } from './mutants/mutation-run.ts'
import { isProven, prove, type Verdict } from './prove.ts'

const usage = `npm run prove -- [options]
npm run prove -- mutants --help    plant faults, and count those that the tests notice

  --list            list the proofs and their claims
  --only A,B        run only these proofs, and not the tests with the tags "long" and "measure"
  --seed N          repeat the random choices of an earlier run
  --minutes M       the approximate duration (at most 30, which is also the default)
  --requests N      the number of requests in hostile-input and concurrent-tenants, however long they take
  --request K       send only this request of hostile-input, with the given seed
  --json FILE       also write the verdicts to this file`

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
  if (unknown.length > 0) throw new Error(`Unknown proof: ${unknown.join(', ')}.`)
  const wholeNumber = (name: 'seed' | 'requests' | 'request') => {
    const value = values[name]
    if (value === undefined) return undefined
    if (!/^\d{1,15}$/.test(value)) throw new Error(`--${name} must be a whole number.`)
    return Number(value)
  }
  const seed = wholeNumber('seed') ?? randomInt(2 ** 31)
  const requests = wholeNumber('requests')
  const request = wholeNumber('request')
  const minutes = values.minutes === undefined ? minutesMax : Number(values.minutes)
  if (!(minutes > 0 && minutes <= minutesMax)) throw new Error(`--minutes must be from 0 to ${minutesMax}.`)
  const chosen = allProofs.filter(({ proof }) => names === undefined || names.includes(proof.name))
  return { ...values, names, seed, minutes, requests, request, chosen }
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const nameWidth = Math.max(...allProofs.map(({ proof }) => proof.name.length))
const indent = ' '.repeat(nameWidth + 1)

function table(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ name, claim, figure, seed, seconds, verdict, control, fault, faults }) =>
      [
        `${name.padEnd(nameWidth)} ${verdict}   control (${fault}): ${control}   seed ${seed}   ${seconds} s`,
        `${indent}${claim}`,
        `${indent}${figure}`,
        ...faults.map((one) => `${indent}FAULT ${one}`),
      ].join('\n'),
    )
    .join('\n')
}

/** Runs a program, and returns whether it succeeded. Ctrl+C also reaches it, because it shares the terminal. */
function succeeds(program: string, ...args: string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
}

/** Runs the tests that are too long for `npm test` and `npm run test:pages`, after `passMeasures`, which builds the dashboard. */
async function passLongTests(): Promise<boolean> {
  print('\nthe tests tagged `long`, then those that have more values with every value')
  process.env.PROPERTY_SEED = 'random'
  const vitest = (...args: string[]) =>
    succeeds('npm', 'exec', '--', 'vitest', 'run', '--tags-filter=long && !measure', ...args)
  const passed = await vitest()
  const pages = await succeeds('npm', 'exec', '--', 'playwright', 'test', '--grep', '@long')
  process.env.EVERY_VALUE = 'yes'
  return (await vitest('proofs/fuzzer.test.ts', 'proofs/delivery-order.test.ts')) && passed && pages
}

/** Runs the tests of time, speed and memory, one after another. They need a machine that does nothing else. */
function passMeasures(): Promise<boolean> {
  print('\nthe tests tagged `measure`')
  return succeeds('npm', 'run', 'measure')
}

async function main(): Promise<boolean> {
  const [first, ...rest] = process.argv.slice(2)
  if (first === 'mutants') return runMutants(rest)
  const { list, help, json, names, seed, minutes, requests, request, chosen } = read()
  if (help === true) {
    print(usage)
    return true
  }
  if (list === true) {
    for (const { proof } of chosen)
      print(`${proof.name.padEnd(nameWidth)} ${proof.claim} (control: ${proof.fault})`)
    return true
  }
  const full = chosen.reduce((sum, one) => sum + one.minutes, 0)
  const share = Math.min(1, minutes / full)
  const length =
    requests === undefined ? `about ${Math.ceil(full * share)} minutes` : 'however long that takes'
  print(`seed ${seed}; ${chosen.length} ${chosen.length === 1 ? 'proof' : 'proofs'}, ${length}`)
  const stop = new AbortController()
  const stopSoon = () => {
    print('stopping: cleaning up the current proof first')
    stop.abort()
  }
  process.once('SIGINT', stopSoon)
  process.once('SIGTERM', stopSoon)
  const server = await startCluster()
  const verdicts: Verdict[] = []
  try {
    for (const { proof } of chosen) {
      if (stop.signal.aborted) break
      print(`\n${proof.name}: ${proof.claim}`)
      let last = 0
      const onProgress = (line: string) => {
        if (performance.now() - last < 2_000) return
        last = performance.now()
        print(`  ${line}`)
      }
      verdicts.push(
        await prove(proof, {
          seed,
          share,
          requests,
          request,
          cluster: server.cluster,
          onProgress,
          signal: stop.signal,
        }),
      )
      const { verdict, control, figure } = verdicts.at(-1) ?? {}
      print(`  ${verdict}: ${figure}; control ${control}`)
    }
  } finally {
    await server.stop()
  }
  const runsTests = names === undefined && !stop.signal.aborted
  const measuresPass = !runsTests || (await passMeasures())
  const testsPass = (!runsTests || (await passLongTests())) && measuresPass
  print(`\n${table(verdicts)}`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(verdicts, null, 2)}\n`)
  return isProven(verdicts) && testsPass && !stop.signal.aborted
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
