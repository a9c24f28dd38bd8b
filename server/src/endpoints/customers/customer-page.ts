import type * as contract from '#contract/customers.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { customerLanesMax } from '#contract/limits.ts'
import { customerKey } from '#engine/customer-name.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { statisticsOf } from '../../book/index.ts'
import { customers } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { performancePage } from '../performance/performance-rows.ts'
import { customerAnswer } from './customer-answer.ts'

/** The days in each of the two periods whose comparison is a customer's trend. */
const trendDays = 90

/** The months on the page of a customer: ten years. */
const monthsMax = 120

const decisions = ({ won, lost }: { readonly won: number; readonly lost: number }) => ({
  decided: won + lost,
  won,
  win_rate_pct: percentOf(won, won + lost),
})

const oneDecimal = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10)

/** The record of a customer with its figures, months and lanes. @throws Problem not-found for a name that nobody used */
export async function customerPage(
  { caller: { tenant }, query, now }: Call<typeof contract.getCustomer>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.getCustomer>> {
  const { name, rate_type: rateType } = query
  const selection = { customerName: name, ...(rateType === undefined ? {} : { rateType }) }
  const statistics = await statisticsOf(parts, tenant)
  const answers = await statistics.customerAnswers(selection, { now, days: trendDays })
  const known = await parts.database.inTenant(tenant, async (transaction) => {
    const record = await customers.findCustomer(transaction, tenant, name)
    if (record === null && answers.quotes === 0) {
      throw problem('not-found', `No customer is called ${name.trim()}.`)
    }
    const named = { key: record?.key ?? customerKey(name), name: answers.name ?? name.trim() }
    return customerAnswer(transaction, tenant, named)
  })
  const page = (by: 'month' | 'lane', limit: number) =>
    performancePage(parts, tenant, { query: { by }, selection, cursor: null, limit })
  const months = await page('month', monthsMax)
  const lanes = await page('lane', customerLanesMax)
  return {
    ...known,
    totals: months.totals,
    last_quoted_at: answers.lastQuotedAt === null ? null : new Date(answers.lastQuotedAt).toISOString(),
    response: {
      quotes: answers.answered,
      median_hours: oneDecimal(answers.medianHours),
      slow_hours: oneDecimal(answers.slowHours),
    },
    trend: { days: trendDays, recent: decisions(answers.recent), before: decisions(answers.before) },
    basis: months.basis,
    months: months.rows,
    lanes: lanes.rows,
    lanes_total: lanes.rows_total,
  }
}
