import { serviceClient } from './clients.ts'
import { type AddCommands, decimal, given, withExample } from './command.ts'
import { basisText, leftOutText, money, pairs, percent, shownExtras, unknownPlacesText } from './show.ts'

const addMarkup: AddCommands = (program, action) => {
  program
    .command('markup <origin> <destination> <rate>')
    .summary('win probability, suggested rate and rate band for a rate')
    .description('Compares a rate with the quotes won and lost on exactly this lane.')
    .option('-e, --equipment <code>', 'V, R, F or another code; default all')
    .option('--market-rate <dollars>', 'market rate, used as the reference of the markup')
    .option(
      '--include <extras>',
      'comma-separated list of estimate, curve, optimum, evidence; shown with --json',
    )
    .addHelpText('after', withExample('lanewise markup "Dallas, TX" "Atlanta, GA" 2150 -e V'))
    .action(
      action<{ equipment?: string; marketRate?: string; include?: string }>(
        async (run, [origin = '', destination = '', rate = ''], own) => {
          const query = {
            origin,
            destination,
            proposed_rate: Number(decimal(rate, 'The rate')),
            ...given({
              equipment: own.equipment,
              market_rate:
                own.marketRate === undefined ? undefined : Number(decimal(own.marketRate, '--market-rate')),
            }),
            include: [...shownExtras, ...(own.include === undefined ? [] : [own.include])].join(),
          }
          const lanewise = serviceClient(run.options, run, 'token')
          const answer = await lanewise.markup(query, { signal: run.signal })
          if (!answer.found) {
            const nothing = ['No quotes on this lane yet.', ...leftOutText(answer.basis)]
            run.answer(answer, [...nothing, ...unknownPlacesText(answer)].join('\n'))
            return
          }
          const { floor, median, ceiling } = answer.rate_band
          const { estimate, optimum } = answer
          run.answer(
            answer,
            `${[answer.verdict, ...unknownPlacesText(answer)].join('\n')}\n\n${pairs([
              ['win probability', percent(answer.win_probability)],
              ['confidence', answer.confidence],
              ['markup vs reference', answer.markup_pct === null ? '-' : `${answer.markup_pct.toFixed(1)} %`],
              ['suggested rate', money(answer.suggested_rate)],
              ['rate band', `${money(floor)} to ${money(ceiling)}, median ${money(median)}`],
              ['basis', basisText(answer.basis)],
              ...(estimate === undefined
                ? []
                : ([
                    ['calibrated estimate', `${percent(estimate.probability)}. ${estimate.sentence}`],
                  ] as const)),
              ...(optimum === undefined || optimum === null
                ? []
                : ([['best rate for the margin', money(optimum.floored_rate)]] as const)),
            ])}`,
          )
        },
      ),
    )
}

const addLane: AddCommands = (program, action) => {
  program
    .command('lane <origin> <destination>')
    .summary('insight about a lane')
    .description('Shows history, scores, signals and a summary of a lane, with fallback to wider scopes.')
    .option('-e, --equipment <code>', 'V, R, F or another code; default corridor-wide')
    .addHelpText('after', withExample('lanewise lane "Dallas, TX" "Atlanta, GA" --json'))
    .action(
      action<{ equipment?: string }>(async (run, [origin = '', destination = ''], own) => {
        const query = {
          origin,
          destination,
          ...given({ equipment: own.equipment }),
          include: shownExtras.join(),
        }
        const lanewise = serviceClient(run.options, run, 'token')
        const answer = await lanewise.laneInsight(query, { signal: run.signal })
        if (!answer.found) {
          const nothing = 'There is not enough data for this lane or for wider scopes.'
          run.answer(answer, [nothing, ...leftOutText(answer.basis), ...unknownPlacesText(answer)].join('\n'))
          return
        }
        const { history, scores, signals } = answer
        run.answer(
          answer,
          `${[answer.summary, ...unknownPlacesText(answer)].join('\n')}\n\n${pairs([
            ['scope', answer.scope.replace('_', ' ')],
            [
              'quotes',
              `${history.total_quotes}, ${history.wins} won, ${history.losses} lost (${history.win_rate_pct.toFixed(1)} %)`,
            ],
            ['months active', history.months_active],
            ['average rate', money(history.avg_rate_usd)],
            ['basis', basisText(answer.basis)],
            [
              'scores',
              Object.entries(scores)
                .map(([name, score]) => `${name} ${score.toFixed(2)}`)
                .join(', '),
            ],
            [
              'signals',
              Object.entries(signals)
                .map(([name, word]) => `${name} ${word}`)
                .join(', '),
            ],
          ])}`,
        )
      }),
    )
}

/** Commands for markup and lane insight. */
export const addInsightCommands: AddCommands = (program, action) => {
  for (const add of [addMarkup, addLane]) add(program, action)
}
