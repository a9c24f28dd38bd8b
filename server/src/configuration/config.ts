import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { isEmail } from '#contract/fields.ts'
import { signUpsPerNetworkPerHour } from '#contract/limits.ts'
import { urlProblem } from '../database/hosts/index.ts'
import { isNameOrNetwork, isNetwork, type SecretKeys, secretKeys } from '../security/index.ts'
import { configWarnings } from './config-warnings.ts'

/** All settings of the service, read from environment variables. */
export interface Config {
  readonly port: number
  readonly host: string
  /** Null for the embedded database in `dataDirectory`. */
  readonly databaseUrl: string | null
  /** Concurrent transactions of one brokerage in this process. */
  readonly transactionsPerBrokerage: number
  /** The connection of the schema owner, for migrations at start; null to run `npm run migrate` separately. */
  readonly migrationDatabaseUrl: string | null
  /** A superuser's connection to the coordinator of Citus. Only `npm run rebalance` reads it. */
  readonly clusterDatabaseUrl: string | null
  /** Sentences about settings that are accepted, but probably mistakes. */
  readonly warnings: readonly string[]
  readonly dataDirectory: string
  /** Null only with the embedded database: the key is generated once and kept in the data folder. */
  readonly secretKeys: SecretKeys | null
  /** The keys that sign tokens and verify them; null for the secret keys. */
  readonly tokenKeys: SecretKeys | null
  /** When tokens that another key than the first one signed end, in epoch milliseconds; null if they only expire. */
  readonly formerKeyTokensUntil: number | null
  readonly allowSignUp: boolean
  /** Sign-ups allowed from one network per hour. */
  readonly signUpsPerHour: number
  /** Addresses or networks of the proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly string[]
  readonly logLevel: LogLevel
  readonly staleWrites: 'reject' | 'apply'
  /** The private names and networks that events may be sent to; null if events are off. */
  readonly events: { readonly allowPrivate: readonly string[] } | null
  /** The operator's mail server, whether brokerages may set their own, and the address that links in mails begin with. */
  readonly mail: {
    readonly operators: {
      readonly host: string
      readonly port: number
      readonly isTls: boolean
      readonly user: string | null
      readonly password: string | null
      readonly from: string
    } | null
    readonly byBrokerage: boolean
    /** The private names and networks that a brokerage may set. */
    readonly allowPrivate: readonly string[]
    readonly publicUrl: string | null
  }
  /** The private names and networks that a mailbox may be at; null if brokerages may have none read. */
  readonly mailboxes: { readonly allowPrivate: readonly string[] } | null
  /** Where mails that brokerages forward are taken over SMTP, and the domain of their addresses; null if they are not. */
  readonly mailAddresses: {
    readonly domain: string
    readonly port: number
    readonly host: string
    /** The certificate and its key, in PEM; null for no TLS. */
    readonly tls: { readonly cert: string; readonly key: string } | null
    readonly nameServers: readonly string[]
  } | null
  /** Where the market rates of providers are asked for, and which private names are allowed; null if adapters are off. */
  readonly marketAdapters: {
    readonly greenscreensUrl: string
    readonly datIdentityUrl: string
    readonly datAnalyticsUrl: string
    readonly allowPrivate: readonly string[]
  } | null
  /** Sign-in through a company's identity provider. */
  readonly company: {
    readonly isOn: boolean
    /** The private names and networks that a provider may be in. */
    readonly allowPrivate: readonly string[]
    /** The name servers that are asked for the proof of a domain; empty for those of the system. */
    readonly nameServers: readonly string[]
  }
  /** Whether to create a sample brokerage on the first start of an empty embedded database. */
  readonly sampleBrokerage: boolean
  /** The size of the cache of a process, in megabytes: prepared lanes, tokens, and secrets. */
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
 * Reads and checks every setting.
 *
 * @throws ConfigError with every problem
 * @example readConfig({ PORT: '9000' }).port // 9000
 */
export function readConfig(env: Environment): Config {
  const problems: string[] = []
  const settings = new Settings(env, problems)
  // THREADS was removed. If it were ignored, all cores but one would idle unnoticed. 1 is the current behavior.
  if (!['', '1'].includes(env.THREADS ?? '')) {
    problems.push(
      'THREADS was removed: start one process per core over one DATABASE_URL, each with its own PORT (docs/scaling.md, "2. Several processes"), and leave THREADS out.',
    )
  }
  const databaseUrl = settings.postgresUrl('DATABASE_URL')
  const port = settings.port('PORT', '8080')
  const company = companyOf(settings)
  const config: Omit<Config, 'warnings'> = {
    port,
    host: settings.text('HOST') ?? '127.0.0.1',
    metrics: metricsOf(settings, port),
    databaseUrl,
    ...databasesOf(settings),
    transactionsPerBrokerage: transactionsPerBrokerageOf(settings, databaseUrl),
    dataDirectory: settings.text('DATA_DIR') ?? './data',
    secretKeys: secretKeysFrom(settings, databaseUrl),
    tokenKeys: keysFrom(settings, 'LANEWISE_TOKEN_KEY'),
    formerKeyTokensUntil: settings.day('FORMER_KEY_TOKENS_UNTIL'),
    memoryMegabytes: settings.wholeNumber('MEMORY_MEGABYTES', {
      fallback: 256,
      max: 99_999,
      purpose: 'for prepared lanes',
    }),
    signUpsPerHour: settings.wholeNumber('SIGN_UPS_PER_HOUR', {
      fallback: signUpsPerNetworkPerHour,
      max: 9_999,
      purpose: 'of sign-ups from one network',
    }),
    allowSignUp: settings.choice('ALLOW_SIGN_UP', booleans, 'true') === 'true',
    trustProxy: trustedProxiesOf(settings, env),
    logLevel: settings.choice('LOG_LEVEL', logLevels, 'info'),
    staleWrites: settings.choice('STALE_WRITES', ['reject', 'apply'], 'reject'),
    events: eventsOf(settings),
    mail: mailOf(settings),
    mailboxes: mailboxesOf(settings),
    mailAddresses: mailAddressesOf(settings, port, company.nameServers),
    marketAdapters: marketAdaptersOf(settings),
    company,
    sampleBrokerage: settings.choice('SAMPLE_BROKERAGE', booleans, 'true') === 'true',
    traces: tracesOf(env, problems),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const keyFiles = ['LANEWISE_SECRET_KEY_FILE', 'LANEWISE_TOKEN_KEY_FILE'].flatMap(
    (name) => settings.text(name) ?? [],
  )
  const warnings = configWarnings({ env, known: settings.names, trustProxy: config.trustProxy, keyFiles })
  const signing = config.tokenKeys ?? config.secretKeys
  return {
    ...config,
    warnings:
      config.formerKeyTokensUntil !== null && signing?.length === 1
        ? [
            ...warnings,
            'FORMER_KEY_TOKENS_UNTIL ends no token: the list of keys has no former key. Keep it in the list until that day.',
          ]
        : warnings,
  }
}

const booleans = ['true', 'false'] as const

type Environment = Readonly<Record<string, string | undefined>>

/** Reads settings of common forms. Problems go to the list; the return value of an invalid setting is not used. */
class Settings {
  readonly #env: Environment
  readonly problems: string[]
  /** The names of the variables that were asked for. */
  readonly names = new Set<string>()

  constructor(env: Environment, problems: string[]) {
    this.#env = env
    this.problems = problems
  }

  text(name: string): string | undefined {
    this.names.add(name)
    const text = this.#env[name]
    return text === undefined || text === '' ? undefined : text
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

  port(name: string, fallback: string): number {
    const text = this.text(name) ?? fallback
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= 0 && number <= 65_535)) {
      this.problems.push(`${name} must be a number from 0 to 65535; it is "${text}".`)
    }
    return number
  }

  /** A whole number from 1 to `max`. All digits of `max` are nines, so a number of as many digits is never above it. */
  wholeNumber(
    name: string,
    { fallback, max, purpose }: { fallback: number; max: number; purpose: string },
  ): number {
    const text = this.text(name) ?? String(fallback)
    const number = /^\d+$/.test(text) && text.length <= String(max).length ? Number(text) : Number.NaN
    if (!(number >= 1)) {
      this.problems.push(`${name} must be a number from 1 to ${max}, ${purpose}; it is "${text}".`)
    }
    return number
  }

  /** The beginning of a day in UTC, in epoch milliseconds; null if absent. */
  day(name: string): number | null {
    const text = this.text(name)
    if (text === undefined) return null
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
    // Date.parse reads February 30 as March 2.
    if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text) {
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
 * other brokerages wait for a core (decision 43).
 */
function transactionsPerBrokerageOf(settings: Settings, databaseUrl: string | null): number {
  const ofCores = Math.min(transactionsMax, availableParallelism() + 1)
  return settings.wholeNumber('TRANSACTIONS_PER_BROKERAGE', {
    fallback: databaseUrl === null ? ofCores : transactionsMax,
    max: 20,
    purpose: 'of one brokerage at a time in the database',
  })
}

function metricsOf(settings: Settings, servicePort: number): Config['metrics'] {
  const host = settings.text('METRICS_HOST') ?? '127.0.0.1'
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

function secretKeysFrom(settings: Settings, databaseUrl: string | null): SecretKeys | null {
  const name = 'LANEWISE_SECRET_KEY'
  const keys = keysFrom(settings, name)
  const isGiven = settings.text(name) !== undefined || settings.text(`${name}_FILE`) !== undefined
  if (!isGiven && databaseUrl !== null) {
    settings.problems.push(
      `${name} (or ${name}_FILE) is required with DATABASE_URL. Generate one with: openssl rand -base64 32`,
    )
  }
  return keys
}

/** The keys in a variable, or in the file that the variable of the same name with _FILE names; null without both. */
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
  const keys = secretKeys(text)
  if (keys === null) {
    problems.push(
      `${name} (or the file of ${name}_FILE) must be at least 32 random bytes in base64 or hex, such as the output of: openssl rand -base64 32. During a key rotation, it is a comma-separated list: the new key first, then the old key.`,
    )
  }
  return keys
}

/** No proxy is trusted if the variable is absent or `none`. An empty value is one that somebody left to be filled in. */
function trustedProxiesOf(settings: Settings, { TRUST_PROXY: given }: Environment): string[] {
  const networks = settings.list('TRUST_PROXY')
  if (given === undefined || networks.join() === 'none') return []
  if (networks.length === 0) {
    settings.problems.push(
      'TRUST_PROXY is empty: name the network of the proxies in front of the service, such as that of the ingress controller’s pods, or none if callers connect to it directly.',
    )
  }
  for (const network of networks) {
    if (!isNetwork(network)) {
      settings.problems.push(
        `TRUST_PROXY must be a comma-separated list of addresses or networks, such as 10.0.7.0/24,loopback, or none; "${network}" is neither.`,
      )
    }
  }
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
    }
  }
  return isOn ? { allowPrivate } : null
}

function mailOf(settings: Settings): Config['mail'] {
  const publicUrl = settings.text('PUBLIC_URL') ?? null
  if (publicUrl !== null && !/^https?:$/.test(URL.parse(publicUrl)?.protocol ?? '')) {
    settings.problems.push('PUBLIC_URL must be a URL such as https://lanewise.example.com.')
  }
  return {
    operators: operatorsMailServer(settings),
    byBrokerage: settings.choice('BROKERAGE_SMTP', ['on', 'off'], 'off') === 'on',
    allowPrivate: settings.list('EVENTS_ALLOW_PRIVATE'),
    publicUrl: publicUrl?.endsWith('/') === true ? publicUrl.slice(0, -1) : publicUrl,
  }
}

function mailboxesOf(settings: Settings): Config['mailboxes'] {
  const isOn = settings.choice('BROKERAGE_IMAP', ['on', 'off'], 'off') === 'on'
  return isOn ? { allowPrivate: settings.list('EVENTS_ALLOW_PRIVATE') } : null
}

function mailAddressesOf(
  settings: Settings,
  servicePort: number,
  nameServers: readonly string[],
): Config['mailAddresses'] {
  const domain = settings.text('RECEIVE_MAIL_DOMAIN')
  const host = settings.text('RECEIVE_MAIL_HOST') ?? '127.0.0.1'
  const port = settings.port('RECEIVE_MAIL_PORT', '2525')
  const tls = receivingTls(settings)
  if (domain === undefined) return null
  if (!isEmail(`quotes@${domain}`)) {
    settings.problems.push(`RECEIVE_MAIL_DOMAIN must be a domain, such as in.example.com; it is "${domain}".`)
  }
  if (port === servicePort && port !== 0) {
    settings.problems.push('RECEIVE_MAIL_PORT must differ from PORT: it takes mail, not requests.')
  }
  return { domain, port, host, tls, nameServers }
}

function receivingTls(settings: Settings): NonNullable<Config['mailAddresses']>['tls'] {
  const [cert, key] = ['RECEIVE_MAIL_CERT_FILE', 'RECEIVE_MAIL_KEY_FILE'].map((name) => {
    const path = settings.text(name)
    if (path === undefined) return null
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      settings.problems.push(`${name} cannot be read: ${(error as Error).message}`)
      return null
    }
  })
  if (
    (settings.text('RECEIVE_MAIL_CERT_FILE') === undefined) !==
    (settings.text('RECEIVE_MAIL_KEY_FILE') === undefined)
  ) {
    settings.problems.push('Set RECEIVE_MAIL_CERT_FILE and RECEIVE_MAIL_KEY_FILE together.')
  }
  return typeof cert === 'string' && typeof key === 'string' ? { cert, key } : null
}

/** The problems do not repeat the URL: it contains a password. */
function operatorsMailServer(settings: Settings): Config['mail']['operators'] {
  const text = settings.text('SMTP_URL')
  const from = settings.text('MAIL_FROM')
  if (text === undefined && from === undefined) return null
  if (text === undefined || from === undefined) {
    settings.problems.push('Set SMTP_URL and MAIL_FROM together: the mail server, and the sender of mails.')
    return null
  }
  if (!isEmail(from)) {
    settings.problems.push('MAIL_FROM must be one mail address, such as lanewise@example.com.')
  }
  const url = URL.parse(text)
  const isTls = url?.protocol === 'smtps:'
  if (url === null || (!isTls && url.protocol !== 'smtp:') || url.hostname === '') {
    settings.problems.push(
      'SMTP_URL must be a URL such as smtps://user:password@mail.example.com or smtp://mail.example.com:587; special characters of the password are percent-encoded.',
    )
    return null
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
    isTls,
    user: url.username === '' ? null : decoded(url.username),
    password: url.password === '' ? null : decoded(url.password),
    from,
  }
}

/** A part of a URL without percent-encoding. A % that encodes nothing is meant as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function marketAdaptersOf(settings: Settings): Config['marketAdapters'] {
  const isOn = settings.choice('MARKET_ADAPTERS', ['on', 'off'], 'off') === 'on'
  const address = (name: string, usual: string) => {
    const url = settings.text(name) ?? usual
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      settings.problems.push(`${name} must be a URL such as ${usual}.`)
    }
    return url
  }
  const urls = {
    greenscreensUrl: address('GREENSCREENS_URL', 'https://api.greenscreens.ai'),
    datIdentityUrl: address('DAT_IDENTITY_URL', 'https://identity.api.dat.com'),
    datAnalyticsUrl: address('DAT_ANALYTICS_URL', 'https://analytics.api.dat.com'),
  }
  return isOn ? { ...urls, allowPrivate: settings.list('EVENTS_ALLOW_PRIVATE') } : null
}

function companyOf(settings: Settings): Config['company'] {
  const nameServers = settings.list('NAME_SERVERS')
  for (const server of nameServers) {
    const [, v6, v4 = server] = /^\[(.+)\](?::\d{1,5})?$|^([^:]+):\d{1,5}$/.exec(server) ?? []
    if (isIP(v6 ?? v4) === 0) {
      settings.problems.push(
        `NAME_SERVERS must be a comma-separated list of addresses, such as 10.0.0.2,10.0.0.3:5353; "${server}" is none.`,
      )
    }
  }
  return {
    isOn: settings.choice('COMPANY_SIGN_IN', ['on', 'off'], 'off') === 'on',
    allowPrivate: settings.list('EVENTS_ALLOW_PRIVATE'),
    nameServers,
  }
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
