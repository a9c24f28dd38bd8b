import {
  liveSecretsPerNameMax,
  secretOverlapHoursDefault,
  secretOverlapHoursMax,
  serviceTokenLifetimeDays,
} from '#contract/limits.ts'
import { defaultScope, tokenScopeNames, tokenScopes } from '#contract/token-scopes.ts'
import { saveCreated, sessionClient } from './clients.ts'
import { type AddCommands, recordIdOf, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { table } from './show.ts'

const scopeLines = tokenScopeNames
  .map((name) => `  ${name.padEnd(20)} ${tokenScopes[name].permits}`)
  .join('\n')

const addTokenCommands: AddCommands = (program, action) => {
  const token = program
    .command('token')
    .summary('service tokens: create, list, revoke (admins)')
    .addHelpText(
      'after',
      withExample('lanewise token create "TMS production"', 'lanewise token list', 'lanewise token revoke 7'),
    )
  token
    .command('create <name>')
    .summary('create a service token for another system')
    .description(
      `Creates a service token, with which another system calls the integration interface. Writes also need a signing secret. Requires the role admin or owner. The token is shown once, on the standard output: store it in a vault immediately. It expires after ${serviceTokenLifetimeDays} days. It stops working earlier if it is revoked, or if you leave the brokerage or lose your role. The name is shown in the list and in the audit log.`,
    )
    .option(
      '--scope <scopes>',
      `what the token permits, separated by spaces or as several options; default ${defaultScope}`,
      (scopes, before?: string) => (before === undefined ? scopes : `${before} ${scopes}`),
    )
    .option('--save', 'also save it in the settings file for later commands')
    .addHelpText('after', `\nScopes:\n${scopeLines}\n`)
    .addHelpText(
      'after',
      withExample(
        'lanewise token create "TMS production"',
        'lanewise token create "quoting tool" --scope "quotes:write read"',
        'lanewise token create "my laptop" --save',
        'LANEWISE_TOKEN=$(lanewise token create "nightly job")',
        'lanewise token create "TMS production" --json',
      ),
    )
    .action(
      action<{ save?: boolean; scope?: string }>(async (run, [name = ''], { save, scope }) => {
        const made = await sessionClient(run.options, run).createServiceToken(
          { name, ...(scope === undefined ? {} : { scope }) },
          { signal: run.signal },
        )
        if (save === true) run.remark(`Saved in ${saveCreated(run.options, run, { token: made.token })}.`)
        run.remark(made.warning)
        run.answer(made, made.token)
      }),
    )
  token
    .command('list')
    .summary('list the service tokens, without plaintext')
    .addHelpText('after', withExample('lanewise token list', 'lanewise token list --json'))
    .action(
      action(async (run) => {
        const listed = await sessionClient(run.options, run).listServiceTokens({ signal: run.signal })
        const rows = listed.tokens.map((one) => [
          one.id,
          one.name,
          one.scope,
          one.expires_at,
          one.last_used_at,
          one.revoked_at === null ? 'live' : `revoked ${one.revoked_at}`,
        ])
        run.answer(listed, table(['id', 'name', 'scope', 'expires', 'last used', 'state'], rows))
      }),
    )
  token
    .command('revoke <id>')
    .summary('revoke a service token, effective with the next request')
    .addHelpText('after', withExample('lanewise token revoke 7'))
    .action(
      action(async (run, [id = '']) => {
        const revoked = await sessionClient(run.options, run).revokeServiceToken(recordIdOf(id), {
          signal: run.signal,
        })
        run.answer(revoked, `Revoked "${revoked.name}".`)
      }),
    )
}

const addSecretCommands: AddCommands = (program, action) => {
  const secret = program
    .command('secret')
    .summary('signing secrets: create, list, rotate, revoke (admins)')
    .addHelpText(
      'after',
      withExample(
        'lanewise secret create tms',
        'lanewise secret list',
        'lanewise secret rotate 3',
        'lanewise secret revoke 3',
      ),
    )
  secret
    .command('create <name>')
    .summary('create a signing secret; the TMS integration uses the name tms')
    .description(
      `Creates a signing secret for shipment updates. Requires the role admin or owner. The secret is shown once, on the standard output: store it in a vault immediately. It does not expire; rotate it if it may have leaked. At most ${liveSecretsPerNameMax} secrets with the same name can be live at a time.`,
    )
    .option('--save', 'also save it in the settings file for later commands')
    .addHelpText('after', withExample('lanewise secret create tms', 'lanewise secret create tms --save'))
    .action(
      action<{ save?: boolean }>(async (run, [name = ''], { save }) => {
        const made = await sessionClient(run.options, run).createSigningSecret(
          { name },
          { signal: run.signal },
        )
        if (save === true) run.remark(`Saved in ${saveCreated(run.options, run, { secret: made.secret })}.`)
        run.remark(made.warning)
        run.answer(made, made.secret)
      }),
    )
  secret
    .command('list')
    .summary('list the signing secrets, without plaintext')
    .addHelpText('after', withExample('lanewise secret list'))
    .action(
      action(async (run) => {
        const listed = await sessionClient(run.options, run).listSigningSecrets({ signal: run.signal })
        const rows = listed.secrets.map((one) => [
          one.id,
          one.name,
          one.created_at,
          one.last_used_at,
          one.revoked_at === null ? 'live' : `revoked ${one.revoked_at}`,
        ])
        run.answer(listed, table(['id', 'name', 'created', 'last used', 'state'], rows))
      }),
    )
  addRotateAndRevokeCommands(secret, action)
}

/** Adds the commands that replace or end a signing secret to `lanewise secret`. */
const addRotateAndRevokeCommands: AddCommands = (secret, action) => {
  secret
    .command('rotate <id>')
    .summary('create the successor of a secret; both are accepted during the overlap')
    .option(
      '--overlap-hours <hours>',
      `how long both are accepted, 0 to ${secretOverlapHoursMax}; ${secretOverlapHoursDefault} by default`,
    )
    .option('--save', 'also save it in the settings file for later commands')
    .addHelpText('after', withExample('lanewise secret rotate 3 --overlap-hours 48'))
    .action(
      action<{ overlapHours?: string; save?: boolean }>(async (run, [id = ''], { overlapHours, save }) => {
        const body = overlapHours === undefined ? {} : { overlap_hours: hoursOf(overlapHours) }
        const made = await sessionClient(run.options, run).rotateSigningSecret(recordIdOf(id), body, {
          signal: run.signal,
        })
        if (save === true) run.remark(`Saved in ${saveCreated(run.options, run, { secret: made.secret })}.`)
        run.remark(made.warning)
        run.answer(made, made.secret)
      }),
    )
  secret
    .command('revoke <id>')
    .summary('revoke a signing secret, effective with the next request')
    .addHelpText('after', withExample('lanewise secret revoke 3'))
    .action(
      action(async (run, [id = '']) => {
        const revoked = await sessionClient(run.options, run).revokeSigningSecret(recordIdOf(id), {
          signal: run.signal,
        })
        run.answer(revoked, `Revoked "${revoked.name}".`)
      }),
    )
}

/** Commands for service tokens and signing secrets, for admins and owners. */
export const addCredentialCommands: AddCommands = (program, action) => {
  for (const add of [addTokenCommands, addSecretCommands]) add(program, action)
}

/** @throws CommandFailed */
function hoursOf(text: string): number {
  if (/^\d{1,4}(\.\d+)?$/.test(text)) return Number(text)
  throw new CommandFailed(2, `--overlap-hours must be a number of hours; it is "${text}".`)
}
