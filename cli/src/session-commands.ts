import { brokerageIdOf, brokerageOf, ownerOf } from './brokerages.ts'
import { anonymousClient, sessionClient, urlOf } from './clients.ts'
import { type AddCommands, given, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { changeSettings, readSettings, saveCredentials, settingsPath } from './settings.ts'
import { pairs } from './show.ts'

const addSignIn: AddCommands = (program, action) => {
  program
    .command('sign-in')
    .summary('sign in as a person')
    .description(
      'Signs in and saves the session, which lasts 12 hours, in the settings file. Saved tokens and secrets of another brokerage are put aside until you sign in there again. The password is read from a prompt, from LANEWISE_PASSWORD, or with --password-stdin from the standard input. It is never an argument, because other users can see the arguments of a process.',
    )
    .option('--email <address>', 'your e-mail address; default LANEWISE_EMAIL, else a prompt')
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
        if (email === undefined)
          throw new CommandFailed(2, 'Give your e-mail address: --email YOU@EXAMPLE.COM')
        const password =
          own.passwordStdin === true
            ? (await run.input()).toString('utf8').replace(/\r?\n$/, '')
            : (run.env.LANEWISE_PASSWORD ?? (await run.ask?.('Password: ', true)))
        if (password === undefined) {
          throw new CommandFailed(
            2,
            'Without a terminal there is no password prompt. Set LANEWISE_PASSWORD or use --password-stdin.',
          )
        }
        const signedIn = await anonymousClient(run.options, run).call(
          'sign-in',
          { body: { email, password } },
          { signal: run.signal },
        )
        const { token, expires_at, user, tenant } = signedIn
        const path = saveCredentials(run, urlOf(run.options, run), brokerageOf(tenant), {
          session: { token, expires_at, email },
        })
        run.answer(
          { user, tenant, expires_at },
          `Signed in to ${tenant.name} as ${user.name} (${user.role}) until ${expires_at}. Saved in ${path}.`,
        )
      }),
    )
}

const addSignOut: AddCommands = (program, action) => {
  program
    .command('sign-out')
    .summary('end the session')
    .description(
      'Ends the session at the service and removes it from the settings file. Saved tokens and secrets are kept, and stay those of the same brokerage.',
    )
    .addHelpText('after', withExample('lanewise sign-out'))
    .action(
      action(async (run) => {
        const { session } = readSettings(run)
        if (session !== undefined) {
          // The sign-out fails if the session has already expired, which is not an error.
          await sessionClient(run.options, run)
            .call('sign-out', { body: {} }, { signal: run.signal })
            .catch(() => undefined)
          changeSettings(run, { session: undefined })
        }
        run.answer({ status: 'ok' }, session === undefined ? 'You were not signed in.' : 'Signed out.')
      }),
    )
}

const addStatus: AddCommands = (program, action) => {
  program
    .command('status')
    .summary('show the URL of the service, the signed-in person and the available credentials')
    .description(
      'Shows the settings that commands would use, and the brokerage of each credential. It sends no request and shows no credentials.',
    )
    .addHelpText('after', withExample('lanewise status', 'lanewise status --json'))
    .action(
      action(async (run) => {
        const settings = readSettings(run)
        const lasts = settings.session !== undefined && Date.parse(settings.session.expires_at) > run.now()
        const from = (name: 'LANEWISE_TOKEN' | 'LANEWISE_SECRET', saved: string | undefined) =>
          run.env[name] !== undefined ? `from ${name}` : saved === undefined ? 'none' : 'kept'
        const nameOf = (id: number | null) =>
          id === null
            ? undefined
            : id === settings.brokerage?.id
              ? settings.brokerage.name
              : `brokerage ${id}`
        const token = run.env.LANEWISE_TOKEN?.trim() ?? settings.token
        // A secret does not say whose it is.
        const secretOf =
          run.env.LANEWISE_SECRET !== undefined
            ? 'unknown'
            : settings.secret === undefined
              ? undefined
              : (nameOf(ownerOf(settings)?.id ?? null) ?? 'unknown')
        const status = {
          url: urlOf(run.options, run),
          settings: settingsPath(run),
          ...given({ signed_in_as: lasts ? settings.session?.email : undefined }),
          ...given({ signed_in_until: lasts ? settings.session?.expires_at : undefined }),
          ...given({
            signed_in_to: lasts ? nameOf(brokerageIdOf(settings.session?.token ?? '')) : undefined,
          }),
          service_token: from('LANEWISE_TOKEN', settings.token),
          ...given({ service_token_of: token === undefined ? undefined : nameOf(brokerageIdOf(token)) }),
          signing_secret: from('LANEWISE_SECRET', settings.secret),
          ...given({ signing_secret_of: secretOf }),
        }
        run.answer(
          status,
          pairs(Object.entries(status).map(([name, value]) => [name.replaceAll('_', ' '), value])),
        )
      }),
    )
}

/** Commands to sign in and out, and to show the saved credentials. */
export const addSessionCommands: AddCommands = (program, action) => {
  for (const add of [addSignIn, addSignOut, addStatus]) add(program, action)
}
