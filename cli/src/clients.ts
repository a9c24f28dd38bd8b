import { Lanewise } from '#client/index.ts'
import { baseOf } from '#client/options.ts'
import type { Patience } from '#client/retry.ts'
import type { Run } from './command.ts'
import { CommandFailed } from './exits.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Surroundings } from './surroundings.ts'

/** Options that every command takes. */
export interface GlobalOptions {
  readonly url?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly lenient?: boolean
}

const usualUrl = 'http://127.0.0.1:8080'

/** Where the service is: from the command line, the environment, or the sign-in. @throws CommandFailed */
export function urlOf(options: GlobalOptions, where: Surroundings): string {
  const url = options.url ?? where.env.LANEWISE_URL ?? readSettings(where).url ?? usualUrl
  try {
    baseOf(url)
    return url
  } catch (error) {
    const scheme = /^[\w+.-]+:\/\//.exec(url)?.[0]
    const isWeb = scheme !== undefined && /^https?:/i.test(scheme)
    const wrong = isWeb
      ? (error as Error).message.replace(/^baseUrl must/, 'it must').replace(/; it is .*$/s, '.')
      : 'it must begin with http:// or https://.'
    throw new CommandFailed(2, `The address of the service is "${url}": ${wrong}`, error)
  }
}

const shownOfEvents = [
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
          `Warning: the service does not know and ignored: ${ignored.join(', ')}`,
        )
      }
      if (options.verbose !== true) return
      const line = JSON.stringify(event, shownOfEvents)
      run.report('event', JSON.parse(line), line)
    },
  })
}

/** A client without credentials, for a sign-in. */
export function strangersClient(options: GlobalOptions, where: Run): Lanewise {
  return client(options, where, {})
}

/** What is kept for the service that is asked: credentials of one are never sent to another. */
function keptFor(options: GlobalOptions, where: Surroundings): Settings {
  const url = urlOf(options, where)
  const kept = readSettings(where)
  return kept.url === undefined || kept.url === url ? kept : {}
}

/** The service token, from the environment or the settings; null where there is none. */
function serviceToken(options: GlobalOptions, where: Surroundings): string | null {
  return where.env.LANEWISE_TOKEN?.trim() ?? keptFor(options, where).token ?? null
}

export function signingSecret(options: GlobalOptions, where: Surroundings): string | null {
  return where.env.LANEWISE_SECRET?.trim() ?? keptFor(options, where).secret ?? null
}

/** A client with a service token, and for updates the signing secret. */
export function machinesClient(
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
      'A service token is needed: set LANEWISE_TOKEN, or sign in (lanewise sign-in) and as an admin run\n  lanewise token create NAME --save',
    )
  }
  if (needs === 'token and secret' && secret === null) {
    throw new CommandFailed(
      3,
      'A signing secret is needed: set LANEWISE_SECRET, or sign in (lanewise sign-in) and as an admin run\n  lanewise secret create tms --save',
    )
  }
  return client(options, where, { token, ...(secret === null ? {} : { secret }) }, patience)
}

/** A client with the session of a person who signed in. */
export function personsClient(options: GlobalOptions, where: Run, patience?: Partial<Patience>): Lanewise {
  const token = sessionToken(options, where)
  if (token === null) {
    throw new CommandFailed(
      3,
      'This is for people: sign in first with\n  lanewise sign-in --email YOU@EXAMPLE.COM',
    )
  }
  return client(options, where, { token }, patience)
}

function sessionToken(options: GlobalOptions, where: Surroundings): string | null {
  if (where.env.LANEWISE_SESSION !== undefined) return where.env.LANEWISE_SESSION.trim()
  const { session } = keptFor(options, where)
  return session === undefined || Date.parse(session.expires_at) <= where.now() ? null : session.token
}

/** A reader of insights: a machine with its token, or else the person who signed in. */
export type Reader =
  | { readonly kind: 'machine'; readonly lanewise: Lanewise }
  | { readonly kind: 'person'; readonly lanewise: Lanewise }

export function reader(options: GlobalOptions, where: Run): Reader {
  return serviceToken(options, where) === null && sessionToken(options, where) !== null
    ? { kind: 'person', lanewise: personsClient(options, where) }
    : { kind: 'machine', lanewise: machinesClient(options, where, 'token') }
}
