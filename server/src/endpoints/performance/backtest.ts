import { exportBacktest, getBacktest } from '#contract/backtest.ts'
import { problem } from '#contract/errors.ts'
import { TESTED_DAYS } from '#engine/backtest/backtest.ts'
import { backtestAnswer } from '../../backtests/index.ts'
import { statisticsOf } from '../../book/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { rulesToCompare, testOnHistory } from '../pricing/rule-test.ts'
import { basisAnswer } from './compared-basis.ts'
import { missedAnswer, missedCsv } from './missed-margin.ts'

const dayMs = 86_400_000

export const backtestEndpoints: ServedEndpoint[] = [
  serve(getBacktest, async ({ caller: { tenant }, body, now }, { backtests, books, database }) => {
    const { rule } = body
    const rules = rule === undefined ? null : await rulesToCompare(rule, tenant, { database })
    const state = await backtests.look(tenant, now)
    if (state.status === 'running') return state
    const { result, asOf } = state
    const statistics = await statisticsOf({ books, database }, tenant)
    const since = new Date(result.enough ? result.firstTestedAt : now - TESTED_DAYS * dayMs)
    return {
      status: state.status,
      as_of: new Date(asOf).toISOString(),
      current: state.current,
      basis: basisAnswer({ basis: statistics.basis, ...(await statistics.converted({})) }),
      result: backtestAnswer(result),
      missed: result.enough ? await missedAnswer({ statistics, tenant, database }, { result, asOf }) : null,
      rule: rules === null ? null : await testOnHistory(rules, { tenant, now, since }, { books, database }),
    }
  }),

  serve(exportBacktest, async ({ caller: { tenant }, now }, { backtests, books, database }) => {
    const state = await backtests.look(tenant, now)
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
      text: missedCsv({ tenant, judged }, { books, database }),
    }
  }),
]
