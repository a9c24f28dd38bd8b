import { readFileSync } from 'node:fs'
import { signUpsPerNetworkPerHour } from '#contract/limits.ts'
import { isNameOrNetwork, isNetwork, type SecretKeys, secretKeys } from '../security/index.ts'

/** Everything an operator can set. Made from the environment in one go: all that is wrong is said at once. */
export interface Config {
  readonly port: number
  readonly host: string
  /** Null: the embedded database under dataDirectory. */
  readonly databaseUrl: string | null
  /** A read replica of databaseUrl, for long reads that may be some seconds old; null: there is none. */
  readonly databaseReplicaUrl: string | null
  /** Where instances share the limit, instead of the database; null: in the database. */
  readonly redisUrl: string | null
  /** Owner's connection, for migrations; null with DATABASE_URL: migrate with `npm run migrate` and this set. */
  readonly migrationDatabaseUrl: string | null
  readonly dataDirectory: string
  /** Null with the embedded database only: made once and kept in the data folder. */
  readonly secretKeys: SecretKeys | null
  readonly allowSignUp: boolean
  /** Sign-ups from one network in an hour. */
  readonly signUpsPerHour: number
  /** Addresses or networks of proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[]
  readonly logLevel: LogLevel
  readonly staleWrites: 'reject' | 'apply'
  /** Whether events are sent, and which private names and networks they may be sent to; null: they are off. */
  readonly events: { readonly allowPrivate: readonly string[] } | null
  /** Make a sample brokerage on the first start of an empty embedded database. */
  readonly sampleBrokerage: boolean
  /** What prepared lanes, tokens and secrets may take in a process; all of it can be read again. */
  readonly memoryMegabytes: number
  /** Where metrics are served; null: nowhere. */
  readonly metrics: { readonly port: number; readonly host: string } | null
  /** The variables of OpenTelemetry, as they are; null where no traces are asked for. */
  readonly traces: Readonly<Record<string, string>> | null
}

/** Which traces are told of; those with `parentbased_` leave it to the caller where he says so. */
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

/** Reports every problem of the environment at once. Nothing has been started when it is thrown. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** @throws ConfigError with every problem. @example readConfig({ PORT: '9000' }).port // 9000 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const value = (name: string) => {
    const text = env[name]
    return text === undefined || text === '' ? undefined : text
  }
  const choice = <const Values extends readonly string[]>(
    name: string,
    values: Values,
    otherwise: Values[number],
  ) => {
    const text = value(name) ?? otherwise
    if (!values.includes(text)) problems.push(`${name} must be one of ${values.join(', ')}; it is "${text}".`)
    return text as Values[number]
  }
  const yesOrNo = (name: string, otherwise: boolean) =>
    choice(name, ['true', 'false'], otherwise ? 'true' : 'false') === 'true'
  const postgresUrl = (name: string) => {
    const text = value(name)
    if (text === undefined) return null
    if (!URL.canParse(text) || !/^postgres(ql)?:$/.test(new URL(text).protocol)) {
      problems.push(`${name} must be a URL such as postgres://user:password@host:5432/lanewise.`)
    }
    return text
  }

  const portOf = (name: string, text: string) => {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= 0 && number <= 65_535))
      problems.push(`${name} must be a number from 0 to 65535; it is "${text}".`)
    return number
  }
  const port = portOf('PORT', value('PORT') ?? '8080')

  const metricsHost = value('METRICS_HOST') ?? '127.0.0.1'
  const metricsPort = value('METRICS_PORT')
  const metrics =
    metricsPort === undefined ? null : { port: portOf('METRICS_PORT', metricsPort), host: metricsHost }
  if (metrics !== null && metrics.port === port && port !== 0) {
    problems.push('METRICS_PORT must be another port than PORT: what is for operators is not for callers.')
  }

  const memoryText = value('MEMORY_MEGABYTES') ?? '256'
  const memoryMegabytes = /^\d{1,5}$/.test(memoryText) ? Number(memoryText) : Number.NaN
  if (!(memoryMegabytes >= 1)) {
    problems.push(
      `MEMORY_MEGABYTES must be a number from 1 to 99999, for prepared lanes; it is "${memoryText}".`,
    )
  }

  const signUpsText = value('SIGN_UPS_PER_HOUR') ?? String(signUpsPerNetworkPerHour)
  const signUpsPerHour = /^\d{1,4}$/.test(signUpsText) ? Number(signUpsText) : 0
  if (signUpsPerHour < 1) {
    problems.push(
      `SIGN_UPS_PER_HOUR must be a number from 1 to 9999, of sign-ups from one network; it is "${signUpsText}".`,
    )
  }

  // A setting of the past. Ignored, it would leave all cores but one idle and nobody would know; 1 is what there is.
  if (!['', '1'].includes(env.THREADS ?? '')) {
    problems.push(
      'THREADS is gone: start one process per core over one DATABASE_URL, each with a PORT of its own (docs/scaling.md, "One machine: several processes"), and leave THREADS out.',
    )
  }

  const databaseUrl = postgresUrl('DATABASE_URL')
  const databaseReplicaUrl = postgresUrl('DATABASE_REPLICA_URL')
  if (databaseReplicaUrl !== null && databaseUrl === null) {
    problems.push(
      'DATABASE_REPLICA_URL is for a replica of DATABASE_URL. Leave it out with the embedded database.',
    )
  }
  const migrationDatabaseUrl = postgresUrl('MIGRATION_DATABASE_URL')
  const keyFile = value('LANEWISE_SECRET_KEY_FILE')
  const keyText = value('LANEWISE_SECRET_KEY') ?? (keyFile === undefined ? undefined : textOf(keyFile))
  if (keyFile !== undefined && value('LANEWISE_SECRET_KEY') !== undefined) {
    problems.push('Set LANEWISE_SECRET_KEY or LANEWISE_SECRET_KEY_FILE, not both.')
  }
  const keys = typeof keyText === 'string' ? secretKeys(keyText) : null
  if (keyText === null) {
    problems.push(`LANEWISE_SECRET_KEY_FILE must name a file that can be read; ${keyFile} cannot.`)
  } else if (keyText !== undefined && keys === null) {
    problems.push(
      'LANEWISE_SECRET_KEY (or the file of LANEWISE_SECRET_KEY_FILE) must be at least 32 random bytes in base64 or hex, such as the output of: openssl rand -base64 32. While keys change, it is a comma list: the new one first, then the old one.',
    )
  }
  if (databaseUrl !== null && keyText === undefined) {
    problems.push(
      'LANEWISE_SECRET_KEY (or LANEWISE_SECRET_KEY_FILE) is required with DATABASE_URL. Make one with: openssl rand -base64 32',
    )
  }
  const redisUrl = value('REDIS_URL') ?? null
  if (redisUrl !== null && (!URL.canParse(redisUrl) || !/^rediss?:$/.test(new URL(redisUrl).protocol))) {
    problems.push('REDIS_URL must be a URL such as redis://user:password@host:6379, or rediss:// for TLS.')
  }
  if (redisUrl !== null && databaseUrl === null) {
    problems.push(
      'REDIS_URL is for several instances on one DATABASE_URL. Leave it out with the embedded database.',
    )
  }

  const listOf = (name: string) =>
    (value(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  const trustProxy = listOf('TRUST_PROXY')
  for (const network of trustProxy) {
    if (!isNetwork(network)) {
      problems.push(
        `TRUST_PROXY must be a comma list of addresses or networks, such as 10.0.0.0/8,loopback; "${network}" is neither.`,
      )
    }
  }

  const eventsOn = choice('EVENTS', ['on', 'off'], 'off') === 'on'
  const allowPrivate = listOf('EVENTS_ALLOW_PRIVATE')
  for (const part of allowPrivate) {
    if (!isNameOrNetwork(part)) {
      problems.push(
        `EVENTS_ALLOW_PRIVATE must be a comma list of names, addresses or networks, such as hooks.corp,10.1.0.0/16; "${part}" is none of them.`,
      )
    }
  }

  const config: Config = {
    port,
    host: value('HOST') ?? '127.0.0.1',
    databaseUrl,
    databaseReplicaUrl,
    redisUrl,
    migrationDatabaseUrl,
    dataDirectory: value('DATA_DIR') ?? './data',
    secretKeys: keys,
    allowSignUp: yesOrNo('ALLOW_SIGN_UP', true),
    signUpsPerHour,
    trustProxy,
    logLevel: choice('LOG_LEVEL', logLevels, 'info'),
    staleWrites: choice('STALE_WRITES', ['reject', 'apply'], 'reject'),
    events: eventsOn ? { allowPrivate } : null,
    sampleBrokerage: yesOrNo('SAMPLE_BROKERAGE', true),
    memoryMegabytes,
    metrics,
    traces: tracesOf(env, problems),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

const protocols = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

/** The variables that OpenTelemetry's standard names, where they ask for traces; it says what each of them means. */
function tracesOf(env: Readonly<Record<string, string | undefined>>, problems: string[]): Config['traces'] {
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
      problems.push(
        `${name} must be http/json, which collectors take on their port for HTTP; it is "${text}".`,
      )
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

/** What a file holds, or null when it cannot be read. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
