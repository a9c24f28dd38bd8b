import { Lanewise } from '#client/index.ts'
import { baseOf } from '#client/options.ts'
import type { Patience } from '#client/retry.ts'
import type { GlobalOptions, Run } from './command.ts'
import { CommandFailed } from './exits.ts'
import type { Surroundings } from './surroundings.ts'

/** The address of a service that `npm start` started on this machine. */
export const defaultUrl = 'http://127.0.0.1:8080'

/** The URL of the service, from the command line or the environment. @throws CommandFailed */
export function urlOf(options: GlobalOptions, where: Surroundings): string {
  const url = options.url ?? where.env.LANEWISE_URL ?? defaultUrl
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

/** The signing secret of the environment; null if there is none. */
export function signingSecret({ env }: Pick<Surroundings, 'env'>): string | null {
  return env.LANEWISE_SECRET?.trim() || null
}

/** A client with the service token and, if there is one, the signing secret. @throws CommandFailed */
export function serviceClient(
  options: GlobalOptions,
  run: Run,
  needs: 'token' | 'token and secret',
  patience: Partial<Patience> = {},
): Lanewise {
  const token = run.env.LANEWISE_TOKEN?.trim() || null
  const secret = signingSecret(run)
  if (token === null) throw missing('LANEWISE_TOKEN', 'service token')
  if (needs === 'token and secret' && secret === null) throw missing('LANEWISE_SECRET', 'signing secret')
  return new Lanewise({
    baseUrl: urlOf(options, run),
    token,
    ...(secret === null ? {} : { secret }),
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

const missing = (variable: string, what: string) =>
  new CommandFailed(
    3,
    `A ${what} is required: set ${variable}. An admin creates a ${what} on the page Developers.`,
  )
