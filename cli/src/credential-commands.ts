import { personsClient } from './clients.ts'
import { type AddCommands, recordIdOf } from './command.ts'
import { changeSettings } from './settings.ts'
import { table } from './show.ts'

/** Service tokens and signing secrets, for admins and owners. */
export const addCredentialCommands: AddCommands = (program, action) => {
  const token = program.command('token').summary('service tokens: create, list, revoke (admins)')
  token
    .command('create <name>')
    .summary('make a service token for another system')
    .description(
      'Makes a service token. Its plaintext is shown once; --save keeps it in the file of settings too.',
    )
    .option('--save', 'use it for the commands that follow')
    .action(
      action<{ save?: boolean }>(async (run, [name = ''], { save }) => {
        const made = await personsClient(run.options, run).createServiceToken(
          { name },
          { signal: run.signal },
        )
        if (save === true) run.remark(`Kept in ${changeSettings(run, { token: made.token })}.`)
        run.remark(made.warning)
        run.answer(made, made.token)
      }),
    )
  token
    .command('list')
    .summary('every service token, without its plaintext')
    .action(
      action(async (run) => {
        const listed = await personsClient(run.options, run).listServiceTokens({ signal: run.signal })
        const rows = listed.tokens.map((one) => [
          one.id,
          one.name,
          one.expires_at,
          one.last_used_at,
          one.revoked_at === null ? 'live' : `revoked ${one.revoked_at}`,
        ])
        run.answer(listed, table(['id', 'name', 'expires', 'last used', 'state'], rows))
      }),
    )
  token
    .command('revoke <id>')
    .summary('refuse a service token from the next request on')
    .action(
      action(async (run, [id = '']) => {
        const revoked = await personsClient(run.options, run).revokeServiceToken(recordIdOf(id), {
          signal: run.signal,
        })
        run.answer(revoked, `Revoked "${revoked.name}".`)
      }),
    )

  const secret = program.command('secret').summary('signing secrets: create, list, rotate, revoke (admins)')
  secret
    .command('create <name>')
    .summary('make a signing secret; a TMS integration names it tms')
    .option('--save', 'use it for the commands that follow')
    .action(
      action<{ save?: boolean }>(async (run, [name = ''], { save }) => {
        const made = await personsClient(run.options, run).createSigningSecret(
          { name },
          { signal: run.signal },
        )
        if (save === true) run.remark(`Kept in ${changeSettings(run, { secret: made.secret })}.`)
        run.remark(made.warning)
        run.answer(made, made.secret)
      }),
    )
  secret
    .command('list')
    .summary('every signing secret, without its plaintext')
    .action(
      action(async (run) => {
        const listed = await personsClient(run.options, run).listSigningSecrets({ signal: run.signal })
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
  secret
    .command('rotate <id>')
    .summary('make the successor of a secret; both are accepted for a while')
    .option('--overlap-hours <hours>', 'for so long; 24 when absent')
    .option('--save', 'use it for the commands that follow')
    .action(
      action<{ overlapHours?: string; save?: boolean }>(async (run, [id = ''], { overlapHours, save }) => {
        const body = overlapHours === undefined ? {} : { overlap_hours: Number(overlapHours) }
        const made = await personsClient(run.options, run).rotateSigningSecret(recordIdOf(id), body, {
          signal: run.signal,
        })
        if (save === true) run.remark(`Kept in ${changeSettings(run, { secret: made.secret })}.`)
        run.remark(made.warning)
        run.answer(made, made.secret)
      }),
    )
  secret
    .command('revoke <id>')
    .summary('refuse a signing secret from the next request on')
    .action(
      action(async (run, [id = '']) => {
        const revoked = await personsClient(run.options, run).revokeSigningSecret(recordIdOf(id), {
          signal: run.signal,
        })
        run.answer(revoked, `Revoked "${revoked.name}".`)
      }),
    )
}
