import { SCOPES } from '#engine/scopes.ts'
import { SCOPE_NAMES, SIGNAL_WORDS } from '#engine/summary.ts'
import type { Answer } from '../api/index.ts'
import { counted, dollars, percent } from './formats.ts'

type Insight = Pick<
  Extract<Answer<'lane-advice'>, { found: true }>,
  'query' | 'scope' | 'history' | 'signals'
>

/**
 * The history of a lane in one sentence, in the words of the pages. The API has a sentence of its own, in the words of its fields.
 *
 * @example historyInWords(insight)
 *   // 'On this lane with this equipment you won 7 of 12 answered quotes (58.3%) over 4 months, at an average of $2,140: strong
 *   // against your other lanes.'
 */
export function historyInWords({ query, scope, history, signals }: Insight): string {
  const asked = query.equipment === null ? 'corridor' : 'equipment'
  const place =
    scope === asked
      ? `On ${SCOPE_NAMES[asked]}`
      : `With too little history on ${SCOPE_NAMES[asked]}, this looks at ${SCOPE_NAMES[scope]}, where`
  const { wins, losses, total_quotes: quotes, months_active: months, win_rate_pct, avg_rate_usd } = history
  // The average of other lanes says little about this one.
  const isOwn =
    SCOPES.findIndex((one) => one.scope === scope) <= SCOPES.findIndex((one) => one.scope === 'corridor')
  const rate = isOwn && avg_rate_usd > 0 ? `, at an average of ${dollars(Math.round(avg_rate_usd))}` : ''
  const span = `over ${counted(months, 'month')}${rate}`
  if (wins + losses === 0)
    return `${place} you sent ${counted(quotes, 'quote')} ${span}. None is answered yet.`
  const won = `won ${wins} of ${counted(wins + losses, 'answered quote')} (${percent(win_rate_pct)})`
  const words = [
    // The scope `tenant` has all lanes, so there are no other lanes to compare with.
    scope === 'tenant' ? null : SIGNAL_WORDS.strength[signals.strength],
    SIGNAL_WORDS.trend[signals.trend],
    SIGNAL_WORDS.consistency[signals.consistency],
    SIGNAL_WORDS.timing[signals.timing],
  ].filter((one) => one !== null)
  return `${place} you ${won} ${span}${words.length === 0 ? '' : `: ${words.join(', ')}`}.`
}
