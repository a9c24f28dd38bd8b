import { resolve } from 'node:path'
import { readConfig } from './configuration/index.ts'
import type { SampleAccess } from './sample/index.ts'
import { startService } from './start.ts'
import { describe, startFailure } from './start-failure.ts'

/** One `curl` line for each of the three integration calls, to paste into a shell with curl and Node. */
function curlLines(address: string, sample: SampleAccess): string[] {
  const { openQuote, busyLane, token, secret } = sample
  const rate = openQuote.quoted_rate_cents / 100
  const body = JSON.stringify({
    lane_ref: openQuote.lane_ref,
    customer_rate: rate,
    truck_cost: Math.round(rate * 86) / 100,
    carrier_name: 'Blue Mesa Trucking',
    carrier_mc: 'MC-481920',
  })
  const digest = `node -e 'process.stdout.write(require("crypto").createHmac("sha256",process.argv[1]).update(process.argv[2]).digest("hex"))'`
  const bearer = `-H 'Authorization: Bearer ${token}'`
  const lane = [
    `--data-urlencode 'origin=${shellQuoted(busyLane.origin)}'`,
    `--data-urlencode 'destination=${shellQuoted(busyLane.destination)}'`,
    `--data-urlencode 'equipment=${busyLane.equipment}'`,
  ].join(' ')
  const insights = `${address}/api/integrations/insights`
  return [
    `BODY='${body}'; TS=$(date +%s); SIG=$(${digest} '${secret}' "$TS.$BODY"); curl -s '${address}/api/integrations/tms/shipment-update' ${bearer} -H 'Content-Type: application/json' -H "X-Service-Timestamp: $TS" -H "X-Service-Signature: sha256=$SIG" --data-binary "$BODY"; echo`,
    `curl -s -G '${insights}/markup' ${bearer} ${lane} --data-urlencode 'proposed_rate=${busyLane.quoted_rate_cents / 100}'; echo`,
    `curl -s -G '${insights}/lane' ${bearer} ${lane}; echo`,
  ]
}

/** Escapes a text for single quotes in a shell. */
function shellQuoted(text: string): string {
  return text.replaceAll("'", `'\\''`)
}

function greeting(address: string, sample: SampleAccess | null): string {
  const [update, markup, lane] = sample === null ? [] : curlLines(address, sample)
  return [
    '',
    `Lanewise is ready at ${address}    (API reference: ${address}/docs)`,
    ...(sample === null
      ? ['Lost a password? npm run reset-password -- EMAIL']
      : [
          '',
          `A sample brokerage, ${sample.company}, with ${sample.count.toLocaleString('en-US')} quotes. Shown once:`,
          `  sign-in          ${sample.email}  ${sample.password}`,
          `  service token    ${sample.token}`,
          `  signing secret   ${sample.secret}`,
          '',
          '1. Push a booking (signed):',
          update,
          '',
          '2. How likely is a rate to win?',
          markup,
          '',
          '3. What do we know about this lane?',
          lane,
        ]),
    '',
  ].join('\n')
}

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const say = (line: string) => process.stdout.write(`lanewise: ${line}\n`)
  let stopping: Promise<void> | undefined
  const starting = startService(config, {
    say,
    onDatabaseExit: (reason) => {
      process.stderr.write(`lanewise: the embedded database exited: ${reason}\n`)
      process.exit(1)
    },
    onUnsafe: (reason) => {
      process.stderr.write(`lanewise: ${reason}\n`)
      process.exit(1)
    },
  })
  const stop = (signal: NodeJS.Signals) => {
    if (stopping !== undefined) return
    say(`${signal}: answering requests in flight, then stopping`)
    stopping = starting
      .then((service) => service.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      )
  }
  // A reader of the output that leaves (`| head`) must not end a stop before the database is stopped.
  process.stdout.on('error', () => {})
  // Registered before the start completes, because the embedded database has its own session and would run on.
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const service = await starting
  if (stopping === undefined) process.stdout.write(`${greeting(service.address, service.sample)}\n`)
}

/** Ends the process with one line that says what is wrong and what to do. */
function fail(error: unknown): never {
  const { DATA_DIR = './data', LOG_LEVEL } = process.env
  process.stderr.write(`lanewise: ${startFailure(error, resolve(DATA_DIR))}\n`)
  if (LOG_LEVEL === 'debug') process.stderr.write(`${describe(error)}\n`)
  process.exit(1)
}

main().catch(fail)
