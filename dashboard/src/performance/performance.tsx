import { Button, Group, Stack, Text } from '@mantine/core'
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
import { Overview } from './performance-overview.tsx'
import {
  type ForecastView,
  firstViewOf,
  forecastNames,
  type GroupingView,
  isForecast,
  isGrouping,
  type MarginView,
  marginNames,
  orderOf,
  rowWords,
  selectionOf,
  tabNames,
  tabOf,
  useFigures,
  type View,
  viewOf,
} from './performance-query.ts'
import { PerformanceTable } from './performance-table.tsx'
import { PerformanceTotals } from './performance-totals.tsx'

const Calibration = lazy(() => import('./performance-calibration.tsx'))
const RecordedForecasts = lazy(() => import('./performance-forecasts.tsx'))

const monthsMax = 200

/** Removed from the address when another view is chosen. */
const paramsOfView = ['sort', 'order', 'by'] as const

/** The Results page: quoted, won and earned amounts, lost margin, and the accuracy of the forecasts. */
export default function Results() {
  const { search, change } = useAddress(pagePaths.results)
  const period = usePeriod(search)
  const view = viewOf(search)
  const selection = selectionOf(search, period)
  const open = (next: View) =>
    change({ ...Object.fromEntries(paramsOfView.map((name) => [name, undefined])), view: next })
  return (
    <Page
      title="Results"
      hint={`Quotes count in the period in which they were made. Days and months are in the time zone ${shownZone()}.`}
    >
      <ViewTabs names={tabNames} view={tabOf(view)} onView={(tab) => open(firstViewOf[tab])}>
        {isForecast(view) ? (
          <Forecasts view={view} open={open} search={search} change={change} />
        ) : (
          <Figures
            view={view}
            open={open}
            period={period}
            selection={selection}
            search={search}
            change={change}
          />
        )}
      </ViewTabs>
    </Page>
  )
}

/** A choice between the views of a tab. */
function ViewChoice<Name extends View>({
  names,
  view,
  open,
}: {
  names: Readonly<Record<Name, string>>
  view: Name
  open: (view: View) => void
}) {
  return (
    <Group gap="xs" role="group" aria-label="Show">
      {(Object.entries<string>(names) as [Name, string][]).map(([name, label]) => (
        <Button
          key={name}
          size="compact-sm"
          variant={name === view ? 'light' : 'default'}
          aria-pressed={name === view}
          onClick={() => open(name)}
        >
          {label}
        </Button>
      ))}
    </Group>
  )
}

function Forecasts({
  view,
  open,
  search,
  change,
}: Pick<FiguresProps, 'search' | 'change'> & { view: ForecastView; open: (view: View) => void }) {
  return (
    <Stack gap="md">
      <ViewChoice names={forecastNames} view={view} open={open} />
      <Suspense fallback={<Loading label="Loading the forecasts" rows={8} />}>
        {view === 'recorded' ? <RecordedForecasts search={search} change={change} /> : <Calibration />}
      </Suspense>
    </Stack>
  )
}

interface FiguresProps {
  readonly period: Period
  readonly selection: Query<'list-margin-gaps'>
  readonly search: AddressParams
  readonly change: (params: AddressParams, options?: { replace?: boolean }) => void
}

function Figures({
  view,
  open,
  ...props
}: FiguresProps & { view: 'overview' | MarginView; open: (view: View) => void }) {
  const { period, search, change } = props
  const [today] = useState(() => new Date())
  const isPossible = !isBackwards(period)
  const empty = (
    <NothingQuoted period={period} onAllTime={() => change({ period: 'all', from: '', to: '' })} />
  )
  return (
    <Stack gap="md">
      {view !== 'overview' && <ViewChoice names={marginNames} view={view} open={open} />}
      <FilterRow label="Filters">
        <PeriodInput period={period} query={search} onChange={change} />
        <WhoFilters search={search} change={change} error={null} />
      </FilterRow>
      {isPossible && view === 'overview' && <Overview {...props} today={today} empty={empty} />}
      {isPossible && view === 'money' && (
        <Money
          selection={props.selection}
          search={{ ...search, period: search.period ?? period.choice }}
          today={today}
          change={change}
          empty={empty}
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
            search={{ ...search, period: search.period ?? period.choice }}
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
