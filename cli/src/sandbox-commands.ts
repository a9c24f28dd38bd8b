import { sandboxSessionHours } from '#contract/limits.ts'
import { brokerageOf } from './brokerages.ts'
import { outsideClient, urlOf } from './clients.ts'
import { type AddCommands, withExample } from './command.ts'
import { saveCredentials } from './settings.ts'
import { pairs } from './show.ts'

const addCreateAndShow: AddCommands = (sandbox, action) => {
  sandbox
    .command('create')
    .summary('create the test brokerage; if it exists, show it')
    .addHelpText('after', withExample('lanewise sandbox create'))
    .action(
      action(async (run) => {
        const made = await outsideClient(run.options, run).call(
          'create-sandbox',
          {},
          { signal: run.signal, isRepeatable: true },
        )
        run.answer(made, `${made.name} (${made.id}). Enter it with: lanewise sandbox enter`)
      }),
    )
  sandbox
    .command('show')
    .summary('show the test brokerage')
    .addHelpText('after', withExample('lanewise sandbox show', 'lanewise sandbox show --json'))
    .action(
      action(async (run) => {
        const found = await outsideClient(run.options, run).call('get-sandbox', {}, { signal: run.signal })
        run.answer(
          found,
          found.sandbox === null
            ? 'There is no test brokerage. Create it with: lanewise sandbox create'
            : pairs(
                Object.entries(found.sandbox).map(([name, value]) => [
                  name.replaceAll('_', ' '),
                  String(value),
                ]),
              ),
        )
      }),
    )
}

const addEnterAndReset: AddCommands = (sandbox, action) => {
  sandbox
    .command('enter')
    .summary(`sign in to the test brokerage for ${sandboxSessionHours} hour`)
    .description(
      'Saves a session in the test brokerage in the settings file. All following commands work there, also those that create tokens and secrets. The saved token and secret of your brokerage are put aside, so create and save those of the test brokerage before you push or update (lanewise token create NAME --save, lanewise secret create NAME --save). A command refuses LANEWISE_SESSION and LANEWISE_TOKEN of another brokerage. To return, sign in again: your own token and secret are then used again.',
    )
    .addHelpText('after', withExample('lanewise sandbox enter'))
    .action(
      action(async (run) => {
        const entered = await outsideClient(run.options, run).call(
          'enter-sandbox',
          {},
          { signal: run.signal },
        )
        const { token, expires_at, user, tenant } = entered
        saveCredentials(
          run,
          urlOf(run.options, run),
          { ...brokerageOf(tenant), test: true },
          { session: { token, expires_at, email: user.email } },
        )
        for (const name of ['LANEWISE_SESSION', 'LANEWISE_TOKEN', 'LANEWISE_SECRET']) {
          if (run.env[name] === undefined) continue
          run.remark(
            `${name} is set, and is not of the test brokerage: unset it, or commands refuse to use it.`,
          )
        }
        run.answer(
          { user, tenant, expires_at },
          `Signed in to ${tenant.name} until ${expires_at}. To return: lanewise sign-in`,
        )
      }),
    )
  sandbox
    .command('reset')
    .summary('erase the data of the test brokerage; its tokens and secrets stay')
    .addHelpText('after', withExample('lanewise sandbox reset'))
    .action(
      action(async (run) => {
        const done = await outsideClient(run.options, run, {
          timeoutMs: 300_000,
          attemptTimeoutMs: 300_000,
        }).call('reset-sandbox', {}, { signal: run.signal, isRepeatable: true })
        run.answer(done, `Reset ${done.name}: ${done.rows_erased.toLocaleString('en-US')} rows erased.`)
      }),
    )
}

/** Commands for the test brokerage, for admins and owners. */
export const addSandboxCommands: AddCommands = (program, action) => {
  const sandbox = program
    .command('sandbox')
    .summary('the test brokerage: create, show, enter, reset (admins)')
    .addHelpText(
      'after',
      withExample('lanewise sandbox create', 'lanewise sandbox enter', 'lanewise sandbox reset'),
    )
  for (const add of [addCreateAndShow, addEnterAndReset]) add(sandbox, action)
}
