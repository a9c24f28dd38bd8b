import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startCluster } from '#testing/database-cluster.ts'
import { allProofs } from './all-proofs.ts'
import { isProven, prove, type Verdict } from './prove.ts'

const usage = `npm run prove -- [options]

  --list            the proofs, and what each of them shows
  --only r1,r4      these proofs alone
  --seed N          plays the random parts of an earlier run again
  --minutes M       takes about so long (30 at the most, which is also the usual length)
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
      json: { type: 'string' },
    },
  })
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !allProofs.some(({ proof }) => proof.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`There is no proof ${unknown.join(', ')}.`)
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number.')
  const minutes = values.minutes === undefined ? minutesMax : Number(values.minutes)
  if (!(minutes > 0 && minutes <= minutesMax)) throw new Error(`--minutes must be from 0 to ${minutesMax}.`)
  const chosen = allProofs.filter(({ proof }) => names === undefined || names.includes(proof.name))
  return { ...values, seed, minutes, chosen }
}

const say = (line: string) => process.stdout.write(`${line}\n`)

function table(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ name, claim, figure, seed, seconds, verdict, control, fault, faults }) =>
      [
        `${name.padEnd(12)} ${verdict}   control (${fault}): ${control}   seed ${seed}   ${seconds} s`,
        `             ${claim}`,
        `             ${figure}`,
        ...faults.map((one) => `             FAULT ${one}`),
      ].join('\n'),
    )
    .join('\n')
}

async function main(): Promise<boolean> {
  const { list, help, json, seed, minutes, chosen } = read()
  if (help === true) {
    say(usage)
    return true
  }
  if (list === true) {
    for (const { proof } of chosen) say(`${proof.name.padEnd(12)} ${proof.claim} (control: ${proof.fault})`)
    return true
  }
  const full = chosen.reduce((sum, one) => sum + one.minutes, 0)
  const share = Math.min(1, minutes / full)
  say(`seed ${seed}; ${chosen.length} proofs, about ${Math.ceil(full * share)} minutes`)
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
  say(`\n${table(verdicts)}`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(verdicts, null, 2)}\n`)
  return isProven(verdicts) && !stop.signal.aborted
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
