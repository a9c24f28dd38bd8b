import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { termsBehind } from '#engine/rate-basis.ts'
import { type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  counted,
  Failed,
  type Figure,
  Figures,
  Loading,
  laneName,
  Margin,
  MonthCharts,
  type Period,
  percent,
  periodBefore,
  roundDollars,
  signedDollars,
  TextLink,
} from '../shared-ui/index.ts'
import { nameOfRow } from './performance-margin.tsx'
import {
  type PerformanceFigures,
  paramsOfRow,
  quotesParams,
  sharedParams,
  useFigures,
} from './performance-query.ts'

const monthsMax = 200

interface OverviewProps {
  readonly period: Period
  readonly selection: Query<'list-margin-gaps'>
  /** The address parameters, with the period. */
  readonly search: AddressParams
  readonly today: Date
  /** Replaces the figures if there are no quotes. */
  readonly empty: ReactNode
}

/** Four figures against the period before, their trend by month, and the lane that lost the most after booking. */
export function Overview({ period, selection, search, today, empty }: OverviewProps) {
  const before = periodBefore(period, today)
  const { data, totals, isOld, error, retry } = useFigures(
    { by: 'month', ...selection, limit: monthsMax },
    {},
  )
  const earlier = useFigures({ by: 'month', ...selection, ...before, limit: 1 }, {}, before !== null)
  if (error !== null) return <Failed error={error} title="The figures could not be loaded" retry={retry} />
  if (totals?.quotes === 0) return empty
  return (
    <Stack gap="md" style={{ opacity: isOld ? 0.6 : 1 }}>
      <Figures
        label="Overview of the selection"
        loading={totals === undefined}
        figures={figuresOf(totals, before === null ? null : earlier.totals)}
      />
      <LargestLeak selection={selection} search={search} today={today} />
      <BookedLosses selection={selection} search={search} today={today} />
      {data === null ? (
        <Loading label="Loading the months" rows={4} height={56} />
      ) : (
        <MonthCharts rows={data.rows} />
      )}
      <Text component="p" size="sm" c="dimmed">
        Margin is AR − AP of the shipments where both are known. Win rate is won quotes ÷ answered quotes.
      </Text>
      <BasisNote basis={data?.basis} />
    </Stack>
  )
}

/** @param before null if there is no period before this one; undefined while its figures load */
function figuresOf(
  totals: PerformanceFigures | undefined,
  before: PerformanceFigures | null | undefined,
): Figure[] {
  const against = (
    of: (figures: PerformanceFigures) => number | null,
    inWords: (change: number) => string,
  ): ReactNode => {
    const [now, then] = [
      totals === undefined ? null : of(totals),
      before === null || before === undefined ? null : of(before),
    ]
    if (before === null) return 'all time'
    if (before === undefined) return ' '
    if (now === null || then === null) return 'nothing to compare in the period before'
    return `${inWords(now - then)} against the period before`
  }
  const points = (change: number) => `${signed(change, 1)} points`
  return [
    {
      label: 'Margin',
      value: <Margin amount={totals?.margin} isRounded />,
      note: against(
        ({ margin }) => margin,
        (change) => signedDollars(Math.round(change)),
      ),
    },
    {
      label: 'Margin %',
      value: percent(totals?.margin_pct),
      note: against(({ margin_pct }) => margin_pct, points),
    },
    {
      label: 'Win rate',
      value: percent(totals?.win_rate_pct),
      note: against(({ win_rate_pct }) => win_rate_pct, points),
    },
    {
      label: 'Quotes',
      value: (totals?.quotes ?? 0).toLocaleString('en-US'),
      note: against(
        ({ quotes }) => quotes,
        (change) => signed(change, 0),
      ),
    },
  ]
}

/** @example signed(-1.25, 1) // '−1.3' */
function signed(change: number, digits: number): string {
  const size = Math.abs(change).toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return `${change < 0 ? '−' : '+'}${size}`
}

/** The lane whose landed margin is furthest below its quoted margin, as a link to its quotes. Empty if no lane earned less than quoted. */
function LargestLeak({ selection, search, today }: Omit<OverviewProps, 'empty' | 'period'>) {
  const { data } = useFigures(
    { by: 'lane', ...selection, sort: 'landed_vs_quoted', order: 'asc', limit: 1 },
    {},
  )
  const [row] = data?.rows ?? []
  const lost = row?.landed_vs_quoted ?? 0
  if (row === undefined || lost >= 0) return null
  const params = paramsOfRow('lane', row, search, today)
  return (
    <Text>
      Largest leak:{' '}
      {params === null ? (
        nameOfRow('lane', row)
      ) : (
        <TextLink
          to={pagePaths.quotes}
          query={{ ...quotesParams(params, today), finding: 'landed_vs_quoted' }}
        >
          {nameOfRow('lane', row)}
        </TextLink>
      )}{' '}
      earned {roundDollars(-lost)} less than quoted.
    </Text>
  )
}

/** The bookings with a cost above the rate, as a link to them. Empty if there are none. */
function BookedLosses({ selection, search, today }: Omit<OverviewProps, 'empty' | 'period'>) {
  const finding = 'booked_at_a_loss'
  const query = { ...selection, finding, offers: 'last', sort: 'updated', limit: 1 } as const
  const { data } = useAnswer('list-quotes', { query })
  const [newest] = data?.lanes ?? []
  if (newest === undefined) return null
  const name = laneName(newest.origin, newest.destination)
  return (
    <Text>
      Booked at a loss:{' '}
      <TextLink
        to={pagePaths.quotes}
        query={{ ...quotesParams(sharedParams(search), today), finding, sort: 'updated' }}
      >
        {counted(data?.total ?? 0, 'quote')}
      </TextLink>
      , the newest{' '}
      <TextLink
        to={`${pagePaths.quotes}/${encodeURIComponent(newest.lane_ref)}`}
        label={`Quote ${newest.lane_ref}, ${name}`}
      >
        {name}
      </TextLink>{' '}
      for {newest.customer_name}: <Margin amount={newest.margin} isRounded />
      {termsBehind({ basis: null, currency: newest.margin_currency })}.
    </Text>
  )
}
