import { exportBacktest, getBacktest } from '#contract/backtest.ts'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { TESTED_DAYS } from '#engine/backtest/backtest.ts'
import { backtestAnswer } from '../../backtests/index.ts'
import { statisticsOf } from '../../book/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { rulesToCompare, testOnHistory } from '../pricing/rule-test.ts'
import { basisAnswer } from './compared-basis.ts'
import { missedAnswer, missedCsv } from './missed-margin.ts'

const dayMs = 86_400_000

/** A backtest of the estimate, and what a sent pricing rule would have changed. @throws Problem role-required, 422 */
async function testOnPastQuotes(
  { caller, body: { rule }, now }: Call<typeof getBacktest>,
  { backtests, books, database }: Pick<Parts, 'backtests' | 'books' | 'database'>,
): Promise<AnswerOf<typeof getBacktest>> {
  const { tenant, role } = caller
  if (rule !== undefined && !roleAtLeast(role, 'admin')) {
    throw problem('role-required', 'Only an admin or an owner may test a pricing rule. Leave rule out.')
  }
  const rules = rule === undefined ? null : await rulesToCompare(rule, tenant, { database })
  const state = await backtests.look(caller.tenant, now)
  const isTested = state.status === 'done' && state.result.enough
  const since = new Date(isTested ? state.result.firstTestedAt : now - TESTED_DAYS * dayMs)
  const ruleAnswer =
    rules === null ? null : await testOnHistory(rules, { tenant, now, since }, { books, database })
  if (state.status === 'running') return { ...state, rule: ruleAnswer }
  const { result, asOf } = state
  const statistics = await statisticsOf({ books, database }, tenant)
  return {
    status: state.status,
    as_of: new Date(asOf).toISOString(),
    current: state.current,
    basis: basisAnswer({ basis: statistics.basis, ...(await statistics.converted({})) }),
    result: backtestAnswer(result),
    missed: result.enough ? await missedAnswer({ statistics, tenant, database }, { result, asOf }) : null,
    rule: ruleAnswer,
  }
}

export const backtestEndpoints: ServedEndpoint[] = [
  serve(getBacktest, testOnPastQuotes),

  serve(exportBacktest, async ({ caller, now }, { backtests, books, database }) => {
    const state = await backtests.look(caller.tenant, now)
    if (state.status === 'running' || !state.result.enough) {
      throw problem(
        'state-conflict',
        state.status === 'running'
          ? 'The quotes are being judged. Request get-backtest until its status is done.'
          : 'There are too few decided quotes to judge any.',
      )
    }
    const judged = { result: state.result, asOf: state.asOf }
    return {
      fileName: `lanewise-backtest-${new Date(now).toISOString().slice(0, 10)}.csv`,
      text: missedCsv({ tenant: caller.tenant, judged }, { books, database }),
    }
  }),
]
