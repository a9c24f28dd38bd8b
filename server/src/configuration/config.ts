import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { signUpsPerNetworkPerHour } from '#contract/limits.ts'
import { urlProblem } from '../database/hosts/index.ts'
import {
  areTooMany,
  isHost,
  isNameOrNetwork,
  isNetwork,
  isTooWide,
  type SecretKeys,
  secretKeys,
  weakness,
} from '../security/index.ts'
import { misspelledVariables } from './misspelled-variables.ts'
import { exposureOf } from './secret-key-file.ts'

/** All settings of the service, read from environment variables. */
export interface Config {
  readonly port: number
  readonly host: string
  /** The service's connection; null for the embedded database in `dataDirectory`. */
  readonly databaseUrl: string | null
  /** The most concurrent transactions of one brokerage in this process. */
  readonly transactionsPerBrokerage: number
  /** Multiplies how long the service waits for the database. */
  readonly deadlineFactor: number
  /** The connection of the schema owner, for migrations at start; null to run `npm run migrate` separately. */
  readonly migrationDatabaseUrl: string | null
  /** A superuser's connection to the coordinator of Citus. Only `npm run rebalance` reads it. */
  readonly clusterDatabaseUrl: string | null
  /** Sentences about variables that are set and no longer used. */
  readonly unused: readonly string[]
  readonly dataDirectory: string
  /** Null only with the embedded database: the key is generated once and saved in the data folder. */
  readonly secretKeys: SecretKeys | null
  /** The keys of tokens; null if the secret keys serve both. */
  readonly tokenKeys: SecretKeys | null
  /** When tokens end that another key than the first one signed, in epoch milliseconds; null if they only expire. */
  readonly oldTokensUntil: number | null
  readonly allowSignUp: boolean
  /** Sign-ups allowed from one network per hour. */
  readonly signUpsPerHour: number
  /** Addresses or networks of the proxies whose X-Forwarded-For is trusted; null if nobody said whether there is a proxy. */
  readonly trustProxy: readonly string[] | null
  readonly logLevel: LogLevel
  readonly staleWrites: 'reject' | 'apply'
  /** The private names and networks that events may be sent to; null if events are off. */
  readonly events: { readonly allowPrivate: readonly string[] } | null
  /** Whether to create a sample brokerage on the first start of an empty embedded database. */
  readonly sampleBrokerage: boolean
  /** The most memory, in megabytes, that a process may hold for the quotes of its brokerages. */
  readonly memoryMegabytes: number
  /** Where metrics are served; null if they are not served. */
  readonly metrics: { readonly port: number; readonly host: string } | null
  /** The OpenTelemetry variables, unchanged; null if tracing is off. */
  readonly traces: Readonly<Record<string, string>> | null
}

/** Which traces are exported. With `parentbased_`, a decision of the caller takes precedence. */
export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** Reports every problem of the environment at once. Thrown before anything is started. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Settings whose default is the less safe choice, and the sentence for an empty value, which somebody left to be filled in.
 * An empty value of another setting counts as absent, as is usual in compose files and for OpenTelemetry.
 */
const mayNotBeEmpty = {
  DATABASE_URL: 'name the database, or remove the variable to use the embedded one, which would begin empty.',
  DATA_DIR: 'name the folder of the data, or remove the variable to use ./data.',
  LANEWISE_TOKEN_KEY: 'name the key, or remove the variable to sign tokens with the secret key.',
  OLD_TOKENS_UNTIL: 'name a day, or remove the variable to let the tokens of old keys stay valid.',
  ALLOW_SIGN_UP: 'name false, or true to let anybody create a brokerage.',
  SAMPLE_BROKERAGE: 'name false, or true for a sample brokerage whose password is printed.',
  TRUST_PROXY:
    'name the network of the proxies in front of the service, such as that of the ingress controller’s pods, or none if callers connect to it directly.',
} as const

const isBlank = (text: string) => /^[\s,]*$/.test(text)

/**
 * Reads and checks every setting.
 *
 * @param asOwner for a command that connects to the database only as its owner
 * @throws ConfigError with every problem
 * @example readConfig({ PORT: '9000' }).port // 9000
 */
export function readConfig(env: Environment, { asOwner = false } = {}): Config {
  const problems = Object.entries(mayNotBeEmpty)
    .filter(([name]) => isBlank(env[name] ?? 'absent'))
    .map(([name, instead]) => `${name} is empty: ${instead}`)
  const settings = new Settings(env, problems)
  // THREADS was removed. If it were ignored, all cores but one would idle unnoticed. 1 is the current behavior.
  if (!['', '1'].includes(env.THREADS ?? '')) {
    problems.push(
      'THREADS was removed: start one process per core over one DATABASE_URL, each with its own PORT (docs/scaling.md, "Several processes"), and leave THREADS out.',
    )
  }
  const databaseUrl = settings.postgresUrl('DATABASE_URL')
  if (databaseUrl === null && !asOwner && settings.text('MIGRATION_DATABASE_URL') !== undefined) {
    problems.push(
      'MIGRATION_DATABASE_URL is set without DATABASE_URL: the service would use its embedded database. Set both, or neither.',
    )
  }
  const port = settings.port('PORT', '8080')
  const config: Config = {
    port,
    host: settings.host('HOST'),
    metrics: metricsOf(settings, port),
    databaseUrl,
    ...databasesOf(settings),
    unused: unusedVariables(settings),
    transactionsPerBrokerage: transactionsPerBrokerageOf(settings, databaseUrl),
    deadlineFactor: settings.wholeNumber('DEADLINE_FACTOR', {
      fallback: 1,
      max: 99,
      purpose: 'the factor of the deadlines of the database',
    }),
    dataDirectory: settings.text('DATA_DIR') ?? './data',
    secretKeys: secretKeysFrom(settings, databaseUrl),
    tokenKeys: keysFrom(settings, 'LANEWISE_TOKEN_KEY'),
    oldTokensUntil: settings.day('OLD_TOKENS_UNTIL'),
    memoryMegabytes: settings.wholeNumber('MEMORY_MEGABYTES', {
      fallback: 256,
      max: 99_999,
      purpose: 'the megabytes of memory for quotes',
    }),
    signUpsPerHour: settings.wholeNumber('SIGN_UPS_PER_HOUR', {
      fallback: signUpsPerNetworkPerHour,
      max: 9_999,
      purpose: 'the sign-ups from one network in an hour',
    }),
    allowSignUp: settings.choice('ALLOW_SIGN_UP', booleans, 'true') === 'true',
    trustProxy: trustedProxiesOf(settings, env),
    logLevel: settings.choice('LOG_LEVEL', logLevels, 'info'),
    staleWrites: settings.choice('STALE_WRITES', ['reject', 'apply'], 'reject'),
    events: eventsOf(settings),
    sampleBrokerage: settings.choice('SAMPLE_BROKERAGE', booleans, 'true') === 'true',
    traces: tracesOf(env, problems),
  }
  problems.push(...misspelledVariables(env, settings.names))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

const booleans = ['true', 'false'] as const

type Environment = Readonly<Record<string, string | undefined>>

/** Reads settings of common forms. Problems go to the list; the return value of an invalid setting is not used. */
class Settings {
  readonly #env: Environment
  readonly problems: string[]
  /** The variables that were asked for: all that the service knows. */
  readonly names = new Set<string>()

  constructor(env: Environment, problems: string[]) {
    this.#env = env
    this.problems = problems
  }

  text(name: string): string | undefined {
    this.names.add(name)
    const text = this.#env[name]
    if (text === undefined || text === '') return undefined
    return name in mayNotBeEmpty && isBlank(text) ? undefined : text
  }

  choice<const Values extends readonly string[]>(
    name: string,
    values: Values,
    fallback: Values[number],
  ): Values[number] {
    const text = this.text(name) ?? fallback
    if (!values.includes(text)) {
      this.problems.push(`${name} must be one of ${values.join(', ')}; it is "${text}".`)
    }
    return text
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  }

  /** A name or an address to listen on. */
  host(name: string): string {
    const text = this.text(name) ?? '127.0.0.1'
    if (!isHost(text)) {
      this.problems.push(`${name} must be an address or a name, such as 0.0.0.0 or ::1; it is "${text}".`)
    }
    return text
  }

  port(name: string, fallback: string): number {
    const text = this.text(name) ?? fallback
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= 0 && number <= 65_535)) {
      this.problems.push(`${name} must be a number from 0 to 65535; it is "${text}".`)
    }
    return number
  }

  /** A whole number from 1 to `max`. */
  wholeNumber(
    name: string,
    { fallback, max, purpose }: { fallback: number; max: number; purpose: string },
  ): number {
    const text = this.text(name) ?? String(fallback)
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= 1 && number <= max)) {
      this.problems.push(`${name} must be a number from 1 to ${max}, ${purpose}; it is "${text}".`)
    }
    return number
  }

  /** The beginning of a day in UTC, in epoch milliseconds; null if the variable is absent. */
  day(name: string): number | null {
    const text = this.text(name)
    if (text === undefined) return null
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
    // Date.parse reads February 30 as March 2.
    if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text)) {
      this.problems.push(`${name} must be a day such as 2027-03-01; it is "${text}".`)
    }
    return at
  }

  postgresUrl(name: string): string | null {
    const text = this.text(name)
    if (text === undefined) return null
    const problem = urlProblem(text)
    if (problem !== null) this.problems.push(`${name} ${problem}`)
    return text
  }
}

const transactionsMax = 4

/**
 * The embedded database computes on the cores of this machine: with many more transactions of one brokerage than cores,
 * other brokerages wait for a core (decision 43 has the measurements).
 */
function transactionsPerBrokerageOf(settings: Settings, databaseUrl: string | null): number {
  const ofCores = Math.min(transactionsMax, availableParallelism() + 1)
  return settings.wholeNumber('TRANSACTIONS_PER_BROKERAGE', {
    fallback: databaseUrl === null ? ofCores : transactionsMax,
    max: 20,
    purpose: 'the transactions of one brokerage at a time',
  })
}

function metricsOf(settings: Settings, servicePort: number): Config['metrics'] {
  const host = settings.host('METRICS_HOST')
  if (settings.text('METRICS_PORT') === undefined) return null
  const port = settings.port('METRICS_PORT', '')
  if (port === servicePort && port !== 0) {
    settings.problems.push('METRICS_PORT must differ from PORT: metrics are for operators, not for callers.')
  }
  return { port, host }
}

function databasesOf(settings: Settings): Pick<Config, 'migrationDatabaseUrl' | 'clusterDatabaseUrl'> {
  return {
    migrationDatabaseUrl: settings.postgresUrl('MIGRATION_DATABASE_URL'),
    clusterDatabaseUrl: settings.postgresUrl('CLUSTER_DATABASE_URL'),
  }
}

const marketRatesArePushed = 'Market rates are pushed or loaded from a file (docs/market-rates.md).'

/** Variables of earlier versions, and why nothing is lost without them. */
const formerVariables = {
  REDIS_URL: 'Instances share the rate limit in the database.',
  DATABASE_REPLICA_URL: 'Each process holds the quotes in memory, and reads the rest from DATABASE_URL.',
  MARKET_ADAPTERS: marketRatesArePushed,
  GREENSCREENS_URL: marketRatesArePushed,
  DAT_IDENTITY_URL: marketRatesArePushed,
  DAT_ANALYTICS_URL: marketRatesArePushed,
} as const

/** A sentence for each variable that is set and no longer used. A service with such a variable starts all the same. */
function unusedVariables(settings: Settings): string[] {
  return Object.entries(formerVariables).flatMap(([name, why]) =>
    settings.text(name) === undefined ? [] : [`${name} is no longer used: remove it. ${why}`],
  )
}

function secretKeysFrom(settings: Settings, databaseUrl: string | null): SecretKeys | null {
  const name = 'LANEWISE_SECRET_KEY'
  const keys = keysFrom(settings, name)
  if (databaseUrl !== null && [name, `${name}_FILE`].every((one) => settings.text(one) === undefined)) {
    settings.problems.push(
      `${name} (or ${name}_FILE) is required with DATABASE_URL. Generate one with: openssl rand -base64 32`,
    )
  }
  return keys
}

/** The keys in a variable, or in the file that the variable with the same name and _FILE names; null without both. */
function keysFrom(settings: Settings, name: string): SecretKeys | null {
  const { problems } = settings
  const inline = settings.text(name)
  const file = settings.text(`${name}_FILE`)
  if (inline !== undefined && file !== undefined) problems.push(`Set ${name} or ${name}_FILE, not both.`)
  const text = inline ?? (file === undefined ? undefined : textOf(file))
  if (text === undefined) return null
  if (text === null) {
    problems.push(`${name}_FILE must name a readable file; ${file} is not readable.`)
    return null
  }
  const either = `${name} (or the file of ${name}_FILE)`
  const keys = secretKeys(text)
  if (keys === null) {
    problems.push(
      `${either} must be at least 32 random bytes in base64 or hex, such as the output of: openssl rand -base64 32. During a key rotation, it is a comma-separated list: the new key first, then the old key.`,
    )
    return null
  }
  const weak = weakness(keys[0])
  if (weak !== null) problems.push(`${either} ${weak}`)
  const exposed = file === undefined ? null : exposureOf(file)
  if (exposed !== null) problems.push(exposed)
  return keys
}

const tooMany = (name: string) =>
  `${name} names networks that together hold more addresses than three of /8: name only those in use.`

/** No proxy is trusted if the variable is absent or `none`. */
function trustedProxiesOf(settings: Settings, { TRUST_PROXY: given }: Environment): string[] | null {
  const networks = settings.list('TRUST_PROXY')
  if (given === undefined) return null
  if (networks.join() === 'none') return []
  for (const network of networks) {
    if (!isNetwork(network)) {
      settings.problems.push(
        `TRUST_PROXY must be a comma-separated list of addresses or networks, such as 10.0.7.0/24,loopback, or none; "${network}" is neither.`,
      )
    } else if (isTooWide(network)) {
      settings.problems.push(
        `TRUST_PROXY must name the proxies only: from "${network}", most callers could choose the address that they are counted and logged under. Name a network of /8 or narrower.`,
      )
    }
  }
  if (areTooMany(networks)) settings.problems.push(tooMany('TRUST_PROXY'))
  return networks
}

function eventsOf(settings: Settings): Config['events'] {
  const isOn = settings.choice('EVENTS', ['on', 'off'], 'off') === 'on'
  const allowPrivate = settings.list('EVENTS_ALLOW_PRIVATE')
  for (const part of allowPrivate) {
    if (!isNameOrNetwork(part)) {
      settings.problems.push(
        `EVENTS_ALLOW_PRIVATE must be a comma-separated list of names, addresses, or networks, such as hooks.corp,10.1.0.0/16; "${part}" is none of them.`,
      )
    } else if (isNetwork(part) && isTooWide(part)) {
      settings.problems.push(
        `EVENTS_ALLOW_PRIVATE must name private hosts only: "${part}" holds most addresses. Name a network of /8 or narrower.`,
      )
    }
  }
  if (areTooMany(allowPrivate)) settings.problems.push(tooMany('EVENTS_ALLOW_PRIVATE'))
  return isOn ? { allowPrivate } : null
}

const protocols = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

/** The variables of the OpenTelemetry standard, if they turn tracing on; null otherwise. */
function tracesOf(env: Environment, problems: string[]): Config['traces'] {
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) =>
      /^OTEL_/.test(name) && text !== undefined && text !== '' ? [[name, text] as const] : [],
    ),
  )
  const exporter =
    variables.OTEL_TRACES_EXPORTER ?? (endpoints.some((name) => name in variables) ? 'otlp' : 'none')
  if (exporter === 'none' || variables.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  if (exporter !== 'otlp') problems.push(`OTEL_TRACES_EXPORTER must be otlp or none; it is "${exporter}".`)
  for (const name of endpoints) {
    const text = variables[name]
    if (text !== undefined && !/^https?:$/.test(URL.parse(text)?.protocol ?? '')) {
      problems.push(`${name} must be a URL such as http://127.0.0.1:4318.`)
    }
  }
  for (const name of protocols) {
    const text = variables[name]
    if (text !== undefined && text !== 'http/json') {
      problems.push(`${name} must be http/json, which collectors accept on their HTTP port; it is "${text}".`)
    }
  }
  const sampler = variables.OTEL_TRACES_SAMPLER
  if (sampler !== undefined && !(samplers as readonly string[]).includes(sampler)) {
    problems.push(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}; it is "${sampler}".`)
  }
  const share = variables.OTEL_TRACES_SAMPLER_ARG
  if (share !== undefined && !(Number(share) >= 0 && Number(share) <= 1)) {
    problems.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is "${share}".`)
  }
  return variables
}

/** The content of a file; null if it is not readable. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
