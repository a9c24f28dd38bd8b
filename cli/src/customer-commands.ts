import { sessionClient } from './clients.ts'
import { type AddCommands, given, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { money, pairs, table } from './show.ts'

const listedDefault = 50
const share = (pct: number | null) => (pct === null ? '-' : `${pct.toFixed(1)} %`)

const addReads: AddCommands = (customer, action) => {
  customer
    .command('list')
    .summary('list customers with their win rate and margin')
    .option('--search <text>', 'only customers with a name that contains this text')
    .addHelpText('after', withExample('lanewise customer list --search harvest'))
    .action(
      action<{ search?: string }>(async (run, _words, own) => {
        const answer = await sessionClient(run.options, run).call(
          'list-customers',
          { query: { limit: listedDefault, ...given({ q: own.search }) } },
          { signal: run.signal },
        )
        const rows = answer.customers.map((one) => [
          one.name,
          one.tier,
          one.quotes,
          share(one.win_rate_pct),
          money(one.margin),
          one.last_quoted_at.slice(0, 10),
        ])
        run.answer(answer, table(['customer', 'tier', 'quotes', 'win rate', 'margin', 'last quote'], rows))
        const more = answer.customers_total - answer.customers.length
        if (more > 0) run.remark(`${more} more customers: narrow the list with --search.`)
      }),
    )
  customer
    .command('show <name>')
    .summary('one customer, by any of its names')
    .addHelpText('after', withExample('lanewise customer show "Harvest Table Foods"'))
    .action(
      action(async (run, [name = '']) => {
        const answer = await sessionClient(run.options, run).call(
          'get-customer',
          { query: { name } },
          { signal: run.signal },
        )
        const { totals, response } = answer
        run.answer(
          answer,
          pairs([
            ['customer', answer.name],
            ['other names', answer.aliases.map((alias) => alias.name).join(', ') || null],
            ['tier', answer.tier],
            ['pays in days', answer.payment_days],
            ['quotes', totals.quotes],
            ['win rate', `${share(totals.win_rate_pct)}, ${totals.won} of ${totals.decided} decided`],
            ['margin', `${money(totals.margin)}, ${totals.shipments} shipments`],
            ['response', response.median_hours === null ? null : `${response.median_hours} hours (median)`],
            ['lanes', answer.lanes_total],
          ]),
        )
      }),
    )
}

/** Reads a number of days. @throws CommandFailed otherwise: the error of the service would name a JSON field, not the option */
function paymentDaysOf(text: string): number {
  if (!/^\d+$/.test(text)) {
    throw new CommandFailed(2, `--payment-days must be a whole number of days; it is "${text}".`)
  }
  return Number(text)
}

const addChanges: AddCommands = (customer, action) => {
  customer
    .command('set <name>')
    .summary('set the tier and the payment terms (admins)')
    .description('Replaces both: an option that is left out removes the value.')
    .option('--tier <tier>', 'such as A')
    .option('--payment-days <days>', 'the days in which the customer pays')
    .addHelpText(
      'after',
      withExample('lanewise customer set "Harvest Table Foods" --tier A --payment-days 30'),
    )
    .action(
      action<{ tier?: string; paymentDays?: string }>(async (run, [name = ''], { tier, paymentDays }) => {
        const payment_days = paymentDays === undefined ? undefined : paymentDaysOf(paymentDays)
        const answer = await sessionClient(run.options, run).call(
          'change-customer',
          { body: { name, ...given({ tier, payment_days }) } },
          { signal: run.signal, isRepeatable: true },
        )
        run.answer(
          answer,
          `${answer.name}: tier ${answer.tier ?? '-'}, pays in days ${answer.payment_days ?? '-'}`,
        )
      }),
    )
  customer
    .command('rename <name> <new_name>')
    .summary('rename a customer (admins)')
    .description('The quotes keep their name, and the old name counts for the new one. `unmerge` undoes it.')
    .addHelpText(
      'after',
      withExample('lanewise customer rename "Harvest Table Foods, Inc." "Harvest Table Foods"'),
    )
    .action(
      action(async (run, [name = '', new_name = '']) => {
        const answer = await sessionClient(run.options, run).call(
          'rename-customer',
          { body: { name, new_name } },
          { signal: run.signal },
        )
        run.answer(answer, answer.name)
      }),
    )
  customer
    .command('merge <from> <into>')
    .summary('count the quotes of a name for another customer (admins)')
    .addHelpText(
      'after',
      withExample('lanewise customer merge "Harvest Table Foods, Inc." "Harvest Table Foods"'),
    )
    .action(
      action(async (run, [from = '', into = '']) => {
        const answer = await sessionClient(run.options, run).call(
          'merge-customers',
          { body: { from, into } },
          { signal: run.signal },
        )
        run.answer(answer, `${answer.name}: ${answer.aliases.map((alias) => alias.name).join(', ')}`)
      }),
    )
  customer
    .command('unmerge <name>')
    .summary('undo the merge of a name (admins)')
    .addHelpText('after', withExample('lanewise customer unmerge "Harvest Table Foods, Inc."'))
    .action(
      action(async (run, [name = '']) => {
        const answer = await sessionClient(run.options, run).call(
          'unmerge-customer',
          { query: { name } },
          { signal: run.signal },
        )
        run.answer(answer, answer.name)
      }),
    )
}

/** Commands for customers. */
export const addCustomerCommands: AddCommands = (program, action) => {
  const customer = program
    .command('customer')
    .summary('customers: list, show, set, rename, merge, unmerge')
    .addHelpText(
      'after',
      withExample('lanewise customer list', 'lanewise customer show "Harvest Table Foods"'),
    )
  for (const add of [addReads, addChanges]) add(customer, action)
}
