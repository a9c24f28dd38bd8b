import { Lanewise } from '#client/index.ts'
import { baseOf } from '#client/options.ts'
import type { Patience } from '#client/retry.ts'
import { type Brokerage, brokerageIdOf } from './brokerages.ts'
import type { GlobalOptions, Run } from './command.ts'
import { CommandFailed } from './exits.ts'
import { changeSettings, readSettings, type Settings, saveCredentials } from './settings.ts'
import type { Surroundings } from './surroundings.ts'

const defaultUrl = 'http://127.0.0.1:8080'

/** The URL of the service, from the command line, the environment, or the settings file. @throws CommandFailed */
export function urlOf(options: GlobalOptions, where: Surroundings): string {
  const url = options.url ?? where.env.LANEWISE_URL ?? readSettings(where).url ?? defaultUrl
  try {
    baseOf(url)
    return url
  } catch (error) {
    const scheme = /^[\w+.-]+:\/\//.exec(url)?.[0]
    const isWeb = scheme !== undefined && /^https?:/i.test(scheme)
    const wrong = isWeb
      ? (error as Error).message.replace(/^baseUrl must/, 'it must').replace(/; it is .*$/s, '.')
      : 'it must start with http:// or https://.'
    throw new CommandFailed(2, `The address of the service is "${url}": ${wrong}`, error)
  }
}

const loggedEventMembers = [
  'kind',
  'method',
  'path',
  'attempt',
  'status',
  'requestId',
  'replayed',
  'ignored',
  'ms',
  'waitMs',
  'offByMs',
]

function client(
  options: GlobalOptions,
  run: Run,
  credentials: { token?: string; secret?: string },
  patience: Partial<Patience> = {},
): Lanewise {
  return new Lanewise({
    baseUrl: urlOf(options, run),
    ...credentials,
    patience,
    cache: false,
    strict: options.lenient !== true,
    onEvent: (event) => {
      if (event.kind === 'answered' && event.ignored.length > 0) {
        const { ignored } = event
        run.report(
          'warning',
          { ignored },
          `Warning: the service ignored unknown fields: ${ignored.join(', ')}`,
        )
      }
      if (options.verbose !== true) return
      const line = JSON.stringify(event, loggedEventMembers)
      run.report('event', JSON.parse(line), line)
    },
  })
}

/** A client without credentials, for the sign-in. */
export function anonymousClient(options: GlobalOptions, where: Run): Lanewise {
  return client(options, where, {})
}

/** The saved settings, if they belong to the selected service. Credentials are never sent to another service. */
function settingsFor(options: GlobalOptions, where: Surroundings): Settings {
  const url = urlOf(options, where)
  const saved = readSettings(where)
  return saved.url === undefined || saved.url === url ? saved : {}
}

/**
 * A credential of the environment. While the settings are in a test brokerage, one of another brokerage is refused: the command
 * would change that brokerage.
 *
 * @throws CommandFailed
 */
function fromEnvironment(
  name: 'LANEWISE_SESSION' | 'LANEWISE_TOKEN',
  options: GlobalOptions,
  where: Surroundings,
): string | null {
  const token = where.env[name]?.trim()
  if (token === undefined) return null
  const { brokerage } = settingsFor(options, where)
  if (brokerage?.test !== true || brokerageIdOf(token) === brokerage.id) return token
  throw new CommandFailed(
    3,
    `${name} is not a token of ${brokerage.name}, which you entered with lanewise sandbox enter. Unset ${name} to work there, or leave it with\n  lanewise sign-in`,
  )
}

/** The service token, from the environment or the settings file; null if there is none. */
function serviceToken(options: GlobalOptions, where: Surroundings): string | null {
  return fromEnvironment('LANEWISE_TOKEN', options, where) ?? settingsFor(options, where).token ?? null
}

export function signingSecret(options: GlobalOptions, where: Surroundings): string | null {
  return where.env.LANEWISE_SECRET?.trim() ?? settingsFor(options, where).secret ?? null
}

/** A client with a service token and, for signed updates, the signing secret. */
export function serviceClient(
  options: GlobalOptions,
  where: Run,
  needs: 'token' | 'token and secret',
  patience?: Partial<Patience>,
): Lanewise {
  const token = serviceToken(options, where)
  const secret = signingSecret(options, where)
  if (token === null) {
    throw new CommandFailed(
      3,
      'A service token is required. Set LANEWISE_TOKEN. Or sign in as an admin (lanewise sign-in) and run\n  lanewise token create NAME --save',
    )
  }
  if (needs === 'token and secret' && secret === null) {
    throw new CommandFailed(
      3,
      'A signing secret is required. Set LANEWISE_SECRET. Or sign in as an admin (lanewise sign-in) and run\n  lanewise secret create tms --save',
    )
  }
  return client(options, where, { token, ...(secret === null ? {} : { secret }) }, patience)
}

/** A client with the session of the signed-in person. */
export function sessionClient(options: GlobalOptions, where: Run, patience?: Partial<Patience>): Lanewise {
  const token = sessionToken(options, where)
  if (token === null) {
    throw new CommandFailed(
      3,
      'This command requires a sign-in. Run first\n  lanewise sign-in --email YOU@EXAMPLE.COM',
    )
  }
  return client(options, where, { token }, patience)
}

/** The same for the commands about the test brokerage, which work from the brokerage beside it, too. */
export function outsideClient(options: GlobalOptions, where: Run, patience?: Partial<Patience>): Lanewise {
  const token = where.env.LANEWISE_SESSION?.trim()
  return token === undefined
    ? sessionClient(options, where, patience)
    : client(options, where, { token }, patience)
}

function sessionToken(options: GlobalOptions, where: Surroundings): string | null {
  const given = fromEnvironment('LANEWISE_SESSION', options, where)
  if (given !== null) return given
  const { session } = settingsFor(options, where)
  return session === undefined || Date.parse(session.expires_at) <= where.now() ? null : session.token
}

/**
 * The client for reading insights: with the service token if there is one, else with the session of the signed-in
 * person.
 */
export type Reader =
  | { readonly kind: 'machine'; readonly lanewise: Lanewise }
  | { readonly kind: 'person'; readonly lanewise: Lanewise }

export function reader(options: GlobalOptions, where: Run): Reader {
  return serviceToken(options, where) === null && sessionToken(options, where) !== null
    ? { kind: 'person', lanewise: sessionClient(options, where) }
    : { kind: 'machine', lanewise: serviceClient(options, where, 'token') }
}

/** The brokerage that the session belongs to, for credentials that it creates. */
function sessionBrokerage(options: GlobalOptions, where: Surroundings): Brokerage | null {
  const id = brokerageIdOf(sessionToken(options, where) ?? '')
  if (id === null) return null
  const { brokerage } = settingsFor(options, where)
  return brokerage?.id === id ? brokerage : { id, name: `brokerage ${id}`, test: false }
}

/** Saves a credential that the session created, as one of its brokerage. Returns the path of the settings file. */
export function saveCreated(
  options: GlobalOptions,
  where: Surroundings,
  created: Pick<Settings, 'token' | 'secret'>,
): string {
  const brokerage = sessionBrokerage(options, where)
  return brokerage === null
    ? changeSettings(where, created)
    : saveCredentials(where, urlOf(options, where), brokerage, created)
}
