import { personsClient, strangersClient, urlOf } from './clients.ts'
import { type AddCommands, given, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { changeSettings, readSettings, settingsPath } from './settings.ts'
import { pairs } from './show.ts'

/** Signing in and out, and what this machine holds. */
export const addSessionCommands: AddCommands = (program, action) => {
  program
    .command('sign-in')
    .summary('sign in as a person')
    .description(
      'Signs in and keeps the session for 12 hours in the file of settings. The password is asked for, read from LANEWISE_PASSWORD, or taken from the standard input with --password-stdin; never from the command line, where others could see it.',
    )
    .option('--email <address>', 'your address; LANEWISE_EMAIL by default, else you are asked')
    .option('--password-stdin', 'read the password from the standard input')
    .addHelpText(
      'after',
      withExample(
        'lanewise sign-in --url https://lanewise.example.com --email you@example.com',
        'pass show lanewise | lanewise sign-in --email you@example.com --password-stdin',
      ),
    )
    .action(
      action<{ email?: string; passwordStdin?: boolean }>(async (run, _args, own) => {
        const email = own.email ?? run.env.LANEWISE_EMAIL ?? (await run.ask?.('E-mail address: ', false))
        if (email === undefined) throw new CommandFailed(2, 'Say who signs in: --email YOU@EXAMPLE.COM')
        const password =
          own.passwordStdin === true
            ? (await run.input()).toString('utf8').replace(/\r?\n$/, '')
            : (run.env.LANEWISE_PASSWORD ?? (await run.ask?.('Password: ', true)))
        if (password === undefined) {
          throw new CommandFailed(
            2,
            'There is nobody to ask for the password: set LANEWISE_PASSWORD or use --password-stdin.',
          )
        }
        const signedIn = await strangersClient(run.options, run).call(
          'sign-in',
          { body: { email, password } },
          { signal: run.signal },
        )
        const { token, expires_at, user, tenant } = signedIn
        const path = changeSettings(run, {
          url: urlOf(run.options, run),
          session: { token, expires_at, email },
        })
        run.answer(
          { user, tenant, expires_at },
          `Signed in to ${tenant.name} as ${user.name} (${user.role}) until ${expires_at}. Kept in ${path}.`,
        )
      }),
    )

  program
    .command('sign-out')
    .summary('end the session of the sign-in')
    .description(
      'Ends the session at the service and forgets it here. Tokens and secrets that were saved stay.',
    )
    .addHelpText('after', withExample('lanewise sign-out'))
    .action(
      action(async (run) => {
        const { session } = readSettings(run)
        if (session !== undefined) {
          // A session that has ended by itself needs no ending.
          await personsClient(run.options, run)
            .call('sign-out', { body: {} }, { signal: run.signal })
            .catch(() => undefined)
          changeSettings(run, { session: undefined })
        }
        run.answer({ status: 'ok' }, session === undefined ? 'Nobody was signed in.' : 'Signed out.')
      }),
    )

  program
    .command('status')
    .summary('where the service is, who is signed in, which credentials are there')
    .description('Shows what this machine would use. It asks the service nothing, and shows no credential.')
    .addHelpText('after', withExample('lanewise status', 'lanewise status --json'))
    .action(
      action(async (run) => {
        const settings = readSettings(run)
        const lasts = settings.session !== undefined && Date.parse(settings.session.expires_at) > run.now()
        const from = (name: 'LANEWISE_TOKEN' | 'LANEWISE_SECRET', kept: string | undefined) =>
          run.env[name] !== undefined ? `from ${name}` : kept === undefined ? 'none' : 'kept'
        const status = {
          url: urlOf(run.options, run),
          settings: settingsPath(run),
          ...given({ signed_in_as: lasts ? settings.session?.email : undefined }),
          ...given({ signed_in_until: lasts ? settings.session?.expires_at : undefined }),
          service_token: from('LANEWISE_TOKEN', settings.token),
          signing_secret: from('LANEWISE_SECRET', settings.secret),
        }
        run.answer(
          status,
          pairs(Object.entries(status).map(([name, value]) => [name.replaceAll('_', ' '), value])),
        )
      }),
    )
}
