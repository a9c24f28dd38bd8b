import { Button, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Query } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  Failed,
  FilterRow,
  isBackwards,
  Loading,
  MonthCharts,
  Nothing,
  Page,
  PageTurner,
  type Period,
  PeriodInput,
  shownZone,
  TextLink,
  useAddress,
  usePeriod,
  ViewTabs,
  WhoFilters,
} from '../shared-ui/index.ts'
import { MarginGaps } from './performance-gaps.tsx'
import { Money } from './performance-money.tsx'
import {
  type GroupingView,
  isGrouping,
  orderOf,
  rowWords,
  selectionOf,
  useFigures,
  viewNames,
  viewOf,
} from './performance-query.ts'
import { PerformanceTable } from './performance-table.tsx'
import { PerformanceTotals } from './performance-totals.tsx'

const Calibration = lazy(() => import('./performance-calibration.tsx'))
const MissedMargin = lazy(() => import('./performance-missed.tsx'))
const Pilot = lazy(() => import('./performance-pilot.tsx'))

const fallback = 'last-12-months'
const monthsMax = 200

/** Money lost, win rates and margins by month, lane, customer, rep and equipment, and the calibration of the advice. */
export default function Performance() {
  const { search, change } = useAddress(pagePaths.performance)
  const period = usePeriod(search, fallback)
  const view = viewOf(search)
  const selection = selectionOf(search, period)
  return (
    <Page
      title="Performance"
      hint={`Lanes count in the period in which they were quoted. Days and months are in the time zone ${shownZone()}.`}
    >
      <ViewTabs
        names={viewNames}
        view={view}
        onView={(next) =>
          change({
            view: next,
            sort: undefined,
            order: undefined,
            by: undefined,
            rows: undefined,
            origin: undefined,
            destination: undefined,
          })
        }
      >
        {view === 'calibration' ? (
          <Suspense fallback={<Loading label="Loading the calibration" rows={8} />}>
            <Calibration />
          </Suspense>
        ) : view === 'missed' ? (
          <Stack gap="md">
            <FilterRow label="Filters">
              <WhoFilters search={search} change={change} error={null} />
            </FilterRow>
            <Suspense fallback={<Loading label="Loading the missed margin" rows={8} />}>
              <MissedMargin search={search} change={change} />
            </Suspense>
          </Stack>
        ) : view === 'pilot' ? (
          <Suspense fallback={<Loading label="Loading the pilot" rows={6} />}>
            <Pilot />
          </Suspense>
        ) : (
          <Figures view={view} period={period} selection={selection} search={search} change={change} />
        )}
      </ViewTabs>
    </Page>
  )
}

interface FiguresProps {
  readonly period: Period
  readonly selection: Query<'list-margin-gaps'>
  readonly search: AddressParams
  readonly change: (params: AddressParams, options?: { replace?: boolean }) => void
}

function Figures({ view, ...props }: FiguresProps & { view: 'money' | GroupingView | 'gaps' }) {
  const { period, search, change } = props
  const [today] = useState(() => new Date())
  const isPossible = !isBackwards(period)
  return (
    <Stack gap="md">
      <FilterRow label="Filters">
        <PeriodInput period={period} query={search} onChange={change} />
        <WhoFilters search={search} change={change} error={null} />
      </FilterRow>
      {isPossible && view === 'money' && (
        <Money
          selection={props.selection}
          search={{ ...search, period: search.period ?? fallback }}
          today={today}
          change={change}
          empty={
            <NothingQuoted period={period} onAllTime={() => change({ period: 'all', from: '', to: '' })} />
          }
        />
      )}
      {isPossible && view === 'gaps' && <MarginGaps {...props} />}
      {isPossible && isGrouping(view) && <Grouped by={view} {...props} />}
    </Stack>
  )
}

function Grouped({ by, period, selection, search, change }: FiguresProps & { by: GroupingView }) {
  const order = orderOf(search)
  const { data, totals, isOld, error, retry } = useFigures(
    { by, ...selection, ...order, ...(by === 'month' ? { limit: monthsMax } : {}) },
    search,
  )
  if (error !== null) return <Failed error={error} title="The figures could not be loaded" retry={retry} />
  if (totals?.quotes === 0) {
    return <NothingQuoted period={period} onAllTime={() => change({ period: 'all', from: '', to: '' })} />
  }
  return (
    <>
      <PerformanceTotals totals={totals} />
      {by === 'month' && (data === null ? <div style={{ height: 220 }} /> : <MonthCharts rows={data.rows} />)}
      {data === null ? (
        <Loading label="Loading the figures" rows={8} height={56} />
      ) : (
        <Stack gap="sm" style={{ opacity: isOld ? 0.6 : 1 }}>
          <PerformanceTable
            by={by}
            rows={data.rows}
            search={{ ...search, period: search.period ?? fallback }}
            order={order}
            onOrder={(next) => change({ ...next })}
          />
          <PageTurner
            search={search}
            change={change}
            nextCursor={data.next_cursor}
            rows={data.rows.length}
            total={data.rows_total}
            one={rowWords[by].one}
            many={rowWords[by].many}
          />
        </Stack>
      )}
      <Text component="p" size="sm" c="dimmed">
        Win rate = won quotes ÷ decided quotes (won and lost). Its 80% range shows the uncertainty for this
        number of quotes. Margin = AR − AP of shipments where both are known.
      </Text>
      <BasisNote basis={data?.basis} />
    </>
  )
}

function NothingQuoted({ period, onAllTime }: { period: Period; onAllTime: () => void }) {
  return (
    <Nothing
      title="No quotes in this selection"
      actions={
        period.choice === 'all' ? undefined : (
          <Button variant="default" onClick={onAllTime}>
            Show all time
          </Button>
        )
      }
    >
      Figures appear after the first quote, and win rates after the first outcome. Quote a lane on the{' '}
      <TextLink to={pagePaths.desk}>quote desk</TextLink>, or{' '}
      <TextLink to={pagePaths.imports}>import</TextLink> past quotes.
    </Nothing>
  )
}
