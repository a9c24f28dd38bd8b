import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  count,
  counted,
  countedQuotes,
  daysOf,
  Figures,
  Margin,
  percent,
  periodOf,
  TextLink,
} from '../shared-ui/index.ts'
import type { CustomerRecord } from './customer-record.ts'
import { hoursInWords } from './customer-words.ts'

/** The figures of a customer. Each links to the quotes that it counts. */
export function CustomerFigures({ customer }: { customer: CustomerRecord }) {
  const { name, totals, response } = customer
  const range = totals.win_rate_interval
  const quotes = (query: AddressParams, text: ReactNode) => (
    <TextLink to={pagePaths.quotes} query={countedQuotes({ customer: name, ...query })}>
      {text}
    </TextLink>
  )
  return (
    <Figures
      label={`Figures of ${name}`}
      loading={false}
      figures={[
        {
          label: 'Quotes',
          value: count(totals.quotes),
          note: (
            <>
              {quotes({ outcome: 'won' }, `${count(totals.won)} won`)},{' '}
              {quotes({ outcome: 'lost' }, `${count(totals.lost)} lost`)},{' '}
              {quotes({ outcome: 'pending' }, `${count(totals.pending)} pending`)}
            </>
          ),
        },
        {
          label: 'Win rate',
          value: percent(totals.win_rate_pct),
          note:
            range === null
              ? 'no quote is decided yet'
              : `${count(totals.won)} of ${count(totals.decided)} decided; 80% range ${percent(range.low_pct)} to ${percent(range.high_pct)}`,
        },
        { label: 'Win rate, trend', ...trendOf(customer, quotes) },
        {
          label: 'Margin',
          value: <Margin amount={totals.margin} isRounded />,
          note:
            totals.shipments === 0 ? (
              'no AR and AP yet'
            ) : (
              <>
                {percent(totals.margin_pct)} of AR,{' '}
                <TextLink to={pagePaths.shipments} query={{ customer: name, period: 'all' }}>
                  {counted(totals.shipments, 'shipment')}
                </TextLink>
              </>
            ),
        },
        {
          label: 'Response time',
          value: response.median_hours === null ? '–' : hoursInWords(response.median_hours),
          note:
            response.median_hours === null || response.slow_hours === null
              ? 'no decision came after its quote'
              : `median of ${counted(response.quotes, 'decision')}; 9 of 10 within ${hoursInWords(response.slow_hours)}`,
        },
      ]}
    />
  )
}

/** The win rate of the last days, compared with the days before. The link has the same first day as the API's count. */
function trendOf(
  { trend: { days, recent, before } }: CustomerRecord,
  quotes: (query: AddressParams, text: ReactNode) => ReactNode,
) {
  const { from } = daysOf(periodOf({ period: 'last-90-days' }, 'all', new Date()))
  return {
    value: percent(recent.win_rate_pct),
    note: (
      <>
        {quotes({ from }, `last ${days} days`)}, {count(recent.won)} of {count(recent.decided)} decided;
        before {percent(before.win_rate_pct)} of {count(before.decided)}
      </>
    ),
  }
}
