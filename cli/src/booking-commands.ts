import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { operations } from '#client/operations.ts'
import { bodyBytes } from '#client/sign.ts'
import { readSentCharges } from '#server/csv/index.ts'
import {
  addressText,
  explainSignature,
  type KnownSecret,
  type Setting,
  type SignedOperation,
  signedTarget,
} from '#server/signing/index.ts'
import { serviceClient, signingSecret } from './clients.ts'
import { type AddCommands, decimal, type Run, withExample } from './command.ts'
import { CommandFailed, fileTrouble } from './exits.ts'

interface UpdateOptions {
  readonly customerRate?: string
  readonly truckCost?: string
  readonly customerName?: string
  readonly carrierName?: string
  readonly carrierMc?: string
  readonly bookedAt?: string
  readonly customerBasis?: string
  readonly customerFuel?: string
  readonly customerAccessorials?: string
  readonly customerCharges?: string
  readonly customerCurrency?: string
  readonly truckBasis?: string
  readonly truckFuel?: string
  readonly truckAccessorials?: string
  readonly truckCharges?: string
  readonly truckCurrency?: string
  readonly body?: string
}

interface VerifyOptions {
  readonly timestamp: string
  readonly signature: string
  readonly body: string
  readonly address: string
  readonly secretFile?: string
  readonly at?: string
}

const signedOperations: readonly SignedOperation[] = Object.values(operations).flatMap(
  ({ method, path, signs, bodyKind }) =>
    signs === null
      ? []
      : // The service checks the number of keys.
        [{ method, path, signs, isJson: bodyKind === 'json', keysMax: Number.MAX_SAFE_INTEGER }],
)

/** A test vector from docs/signing-vectors.json. Its secret is not used by any installation. */
const knownAnswer = `

A test vector for your signer:
  secret      lwsec_BGnd5fHs5RUZ4PyZ1a1zR1tzQPe8vwxEfaxkz0AuHsB1YxORM
  timestamp   1772373600
  body        {"lane_ref":"48211093754-1-1","customer_rate":2150,"truck_cost":1820.5}
  signature   sha256=a20943eebf5aaa85a17b511a74048c13a16bba0343fe66c4dd503f4937397776`

const addShipmentUpdate: AddCommands = (program, action) => {
  program
    .command('shipment-update [lane_ref]')
    .summary('send a signed update of booked revenue and cost for a quote')
    .description(
      'Signs and sends a shipment update. Amounts are sent exactly as typed. With --body, a JSON file is signed and sent byte for byte; - reads the standard input. The command can be repeated safely.',
    )
    .option('--customer-rate <dollars>', 'AR: the rate that the customer pays')
    .option('--truck-cost <dollars>', 'AP: what the carrier is paid')
    .option('--customer-name <name>', 'the final billable customer')
    .option('--carrier-name <name>', 'the carrier of the booking')
    .option('--carrier-mc <number>', "the carrier's MC number")
    .option('--booked-at <time>', 'the booking time, ISO 8601')
    .option('--customer-basis <basis>', 'what the customer rate includes: linehaul or all_in')
    .option('--customer-fuel <dollars>', 'the fuel charge of the customer rate')
    .option('--customer-accessorials <dollars>', 'the accessorial charges of the customer rate')
    .option('--customer-charges <charges>', 'accessorial charges by name: "detention 75; lumper 120"')
    .option('--customer-currency <currency>', 'the currency of the customer rate: USD or CAD')
    .option('--truck-basis <basis>', 'what the truck cost includes: linehaul or all_in')
    .option('--truck-fuel <dollars>', 'the fuel charge of the truck cost')
    .option('--truck-accessorials <dollars>', 'the accessorial charges of the truck cost')
    .option('--truck-charges <charges>', 'accessorial charges by name: "detention 75; lumper 120"')
    .option('--truck-currency <currency>', 'the currency of the truck cost: USD or CAD')
    .option('--body <file>', 'the whole body as JSON; - for the standard input')
    .addHelpText(
      'after',
      withExample('lanewise shipment-update 48211093754-1-1 --customer-rate 2150 --truck-cost 1820.50'),
    )
    .action(
      action<UpdateOptions>(async (run, [laneRef], own) => {
        if (own.body !== undefined && (laneRef !== undefined || Object.keys(own).length > 1)) {
          throw new CommandFailed(
            2,
            'With --body, the file is the whole update: remove the lane_ref and the other options.',
          )
        }
        const body = own.body === undefined ? updateText(laneRef, own) : await readBytes(run, own.body)
        const lanewise = serviceClient(run.options, run, 'token and secret')
        const answer = await lanewise.shipmentUpdate(body, { signal: run.signal })
        run.answer(
          answer,
          answer.updated
            ? `Booked (lane_id ${answer.lane_id}).`
            : 'Nothing was applied: the update has no values, or a newer update has already set them.',
        )
      }),
    )
}

const addCancelBooking: AddCommands = (program, action) => {
  program
    .command('cancel-booking <lane_ref>')
    .summary('send a signed cancellation of the booking of a quote')
    .description(
      'Signs and sends a shipment update with cancelled: true. The booked rate, cost and carrier are cleared, and a win caused by the booking is reverted. A newer booking books the quote again. The command can be repeated safely.',
    )
    .option('--reason <text>', 'why the booking was cancelled')
    .addHelpText(
      'after',
      '\nExample:\n  lanewise cancel-booking 48211093754-1-1 --reason "Shipper pulled the load"',
    )
    .action(
      action<{ reason?: string }>(async (run, [laneRef = ''], { reason }) => {
        const lanewise = serviceClient(run.options, run, 'token and secret')
        const cancelled = { laneRef, ...(reason === undefined ? {} : { reason }) }
        const answer = await lanewise.cancelBooking(cancelled, { signal: run.signal })
        run.answer(
          answer,
          answer.updated
            ? `Cancelled the booking (lane_id ${answer.lane_id}).`
            : 'Nothing was cancelled: the quote has a newer booking.',
        )
      }),
    )
}

const addVerifySignature: AddCommands = (program, action) => {
  program
    .command('verify-signature')
    .summary('diagnose a signature offline')
    .description(
      'Checks the two headers and the body of a signed write exactly as sent, and reports which part is wrong (the timestamp, the signature, the body or the secret) and how to fix it. It also tries the five most frequent mistakes. It uses no network. The secret is read from LANEWISE_SECRET or from --secret-file, never from the command line.',
    )
    .requiredOption('--timestamp <seconds>', 'the value of X-Service-Timestamp')
    .requiredOption('--signature <value>', 'the value of X-Service-Signature')
    .requiredOption('--body <file>', 'the body exactly as sent; - for the standard input')
    .option('--secret-file <file>', 'a file that contains the secret')
    .option(
      '--address <address>',
      'the method and URL of the request; by default, those of a shipment update',
      'POST /api/integrations/tms/shipment-update',
    )
    .option('--at <seconds>', 'compare the timestamp with this Unix time instead of now')
    .addHelpText(
      'after',
      withExample(
        'lanewise verify-signature --timestamp 1772373600 --signature sha256=a209... --body sent.json --at 1772373600',
      ) + knownAnswer,
    )
    .action(
      action<VerifyOptions>(async (run, _args, own) => {
        const kept =
          own.secretFile === undefined
            ? signingSecret(run)
            : (await readBytes(run, own.secretFile)).toString('utf8')
        if (kept === null)
          throw new CommandFailed(3, 'No secret was given. Set LANEWISE_SECRET, or use --secret-file.')
        if (own.at !== undefined && !/^\d{1,12}$/.test(own.at)) {
          throw new CommandFailed(2, `--at must be the Unix time in seconds; it is "${own.at}".`)
        }
        const target = signedTarget(own.address, signedOperations)
        if (target === null) {
          throw new CommandFailed(
            2,
            `--address must be the method and URL of a signed request: ${signedOperations.map(addressText).join(', ')}.`,
          )
        }
        const bytes = await readBytes(run, own.body)
        const body = bytes.toString('utf8')
        if (!bytes.equals(Buffer.from(body))) {
          throw new CommandFailed(7, 'The body is not UTF-8: the service would reject it with any signature.')
        }
        const secret = kept.trim()
        const explained = explainSignature(
          { timestamp: own.timestamp, signature: own.signature, body, target },
          secretsToTry(secret),
          own.at === undefined ? run.now() : Number(own.at) * 1000,
          offline(own.at !== undefined),
        )
        const { parts } = explained
        const secretForm = /^lwsec_[0-9A-Za-z]{49}$/.test(secret)
          ? []
          : [
              '!  secret     The given secret does not have the form of a signing secret: lwsec_ and 49 letters and digits.',
            ]
        const lines = parts.flatMap(({ part, ok, detail, remedy }) => [
          `${ok === true ? 'ok' : ok === null ? '??' : '! '} ${part.padEnd(10)} ${detail}`,
          ...(remedy === null ? [] : [`${' '.repeat(14)}${remedy}`]),
        ])
        run.answer(
          { ok: explained.ok, bytes: bytes.length, parts },
          [verdict(explained, bytes.length), ...lines, ...secretForm].join('\n'),
        )
        if (!explained.ok) run.exitWith(7)
      }),
    )
}

/** The first line of the result. A signature that is wrong only in its timestamp is called correct. */
function verdict({ ok, parts }: ReturnType<typeof explainSignature>, bytes: number): string {
  const wrong = parts.filter((one) => one.ok !== true)
  if (ok || wrong.every(({ part }) => part === 'timestamp')) {
    return `The signature is correct for these ${bytes} bytes${ok ? '.' : ', but the service would reject its timestamp.'}`
  }
  return `The signature is not correct for these ${bytes} bytes.`
}

/** Commands for signed shipment updates, and for checking a signature. */
export const addBookingCommands: AddCommands = (program, action) => {
  for (const add of [addShipmentUpdate, addCancelBooking, addVerifySignature]) add(program, action)
}

/**
 * The given secret, and also the secret with its prefix if the prefix is missing, which is the most common copying
 * error.
 */
function secretsToTry(secret: string): KnownSecret[] {
  const known = (id: number, name: string, plaintext: string) => ({ id, name, plaintext, ended: null })
  const whole = secret.startsWith('lwsec_') ? [] : [known(2, 'whole', `lwsec_${secret}`)]
  return [known(1, 'given', secret), ...whole]
}

/** The texts of `explainSignature` for offline use, with this machine's clock and the single given secret. */
function offline(isTimeGiven: boolean): Setting {
  return {
    clock: isTimeGiven ? 'the time given with --at' : 'the clock of this machine',
    nameOf: ({ name }) =>
      name === 'given' ? 'this secret' : 'this secret with the prefix lwsec_, which is missing here',
    unmatched: {
      detail:
        'It has the correct form, but this secret does not produce it from these bytes, even with the frequent mistakes.',
      remedy:
        'Check three things: that timestamp, signature and body are from the same request; that the body file contains exactly the bytes that were sent; and that the signer uses this secret. To test only the signer, let it sign the test vector in: lanewise verify-signature --help',
    },
    unknownSecret:
      'Unknown whether the signer uses this secret, because the signature matches nothing that was tried.',
    behind:
      'If the request was just signed, the clock of the signer is slow (or the clock of this machine is fast): correct it and sign again. To check an old request, give its arrival time with --at.',
    ahead:
      'The clock of the signer is fast (or the clock of this machine is slow): correct it and sign again. To check an old request, give its arrival time with --at.',
  }
}

/** Reads a file, or the standard input for `-`. @throws CommandFailed */
export async function readBytes(run: Run, name: string): Promise<Buffer> {
  if (name === '-') return run.input()
  try {
    return await readFile(resolve(run.folder, name))
  } catch (error) {
    throw new CommandFailed(2, fileTrouble(error, name) ?? `${name} cannot be read: ${String(error)}`)
  }
}

/** Charges by name, as they are sent. @throws CommandFailed */
export function chargesTyped(text: string, option: string) {
  const read = readSentCharges(text)
  if ('value' in read) return read.value
  throw new CommandFailed(2, `${option} must be ${read.wrong}; it is ${JSON.stringify(text)}.`)
}

/** The body of an update, with amounts exactly as typed. */
function updateText(laneRef: string | undefined, own: UpdateOptions): Uint8Array {
  if (laneRef === undefined)
    throw new CommandFailed(2, 'Give the lane_ref, or the complete body with --body.')
  const texts = {
    lane_ref: laneRef,
    customer_name: own.customerName,
    carrier_name: own.carrierName,
    carrier_mc: own.carrierMc,
    booked_at: own.bookedAt,
    customer_basis: own.customerBasis,
    customer_currency: own.customerCurrency,
    truck_basis: own.truckBasis,
    truck_currency: own.truckCurrency,
  }
  const amounts = [
    ['customer_rate', own.customerRate, '--customer-rate'],
    ['truck_cost', own.truckCost, '--truck-cost'],
    ['customer_fuel', own.customerFuel, '--customer-fuel'],
    ['customer_accessorials', own.customerAccessorials, '--customer-accessorials'],
    ['truck_fuel', own.truckFuel, '--truck-fuel'],
    ['truck_accessorials', own.truckAccessorials, '--truck-accessorials'],
  ] as const
  const charges = [
    ['customer_charges', own.customerCharges, '--customer-charges'],
    ['truck_charges', own.truckCharges, '--truck-charges'],
  ] as const
  const members = [
    ...Object.entries(texts).flatMap(([name, value]) =>
      value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`],
    ),
    ...amounts.flatMap(([name, value, option]) =>
      value === undefined ? [] : [`"${name}":${decimal(value, option)}`],
    ),
    ...charges.flatMap(([name, value, option]) =>
      value === undefined ? [] : [`"${name}":${JSON.stringify(chargesTyped(value, option))}`],
    ),
  ]
  return bodyBytes(`{${members.join(',')}}`)
}
