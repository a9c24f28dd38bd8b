import { getBacktest } from '#contract/backtest.ts'
import { backtestAnswer } from '../../backtests/index.ts'
import { serve } from '../endpoint-call.ts'

export const backtestEndpoint = serve(getBacktest, async ({ caller, now }, { backtests }) => {
  const state = await backtests.look(caller.tenant, now)
  if (state.status === 'running') return state
  return {
    status: state.status,
    as_of: new Date(state.asOf).toISOString(),
    current: state.current,
    result: backtestAnswer(state.result),
  }
})
