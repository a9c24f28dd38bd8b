import { Button, Group, Stack } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  FilterRow,
  isBackwards,
  Loading,
  Nothing,
  Page,
  type Period,
  PeriodInput,
  shownZone,
  TextLink,
  useAddress,
  usePeriod,
  ViewTabs,
  WhoFilters,
} from '../shared-ui/index.ts'
import { WhereMarginGoes } from './performance-margin.tsx'
import { Overview } from './performance-overview.tsx'
import {
  type ForecastView,
  firstViewOf,
  forecastNames,
  isForecast,
  selectionOf,
  tabNames,
  tabOf,
  type View,
  viewOf,
} from './performance-query.ts'

const Calibration = lazy(() => import('./performance-calibration.tsx'))
const RecordedForecasts = lazy(() => import('./performance-forecasts.tsx'))

/** The Results page: quoted, won and earned amounts, lost margin, and the accuracy of the forecasts, of one period. */
export default function Results() {
  const { search, change } = useAddress(pagePaths.results)
  const period = usePeriod(search)
  const view = viewOf(search)
  const open = (next: View) => change({ view: next, sort: undefined, order: undefined, by: undefined })
  return (
    <Page
      title="Results"
      hint={`Quotes count in the period in which they were made. Days and months are in the time zone ${shownZone()}.`}
      actions={<PeriodInput period={period} query={search} onChange={change} />}
    >
      <ViewTabs names={tabNames} view={tabOf(view)} onView={(tab) => open(firstViewOf[tab])}>
        {isForecast(view) ? (
          <Forecasts view={view} open={open} period={period} search={search} change={change} />
        ) : (
          <Figures view={view} period={period} search={search} change={change} />
        )}
      </ViewTabs>
    </Page>
  )
}

interface ViewProps {
  readonly period: Period
  readonly search: AddressParams
  readonly change: (params: AddressParams, options?: { replace?: boolean }) => void
}

function Forecasts({ view, open, ...props }: ViewProps & { view: ForecastView; open: (view: View) => void }) {
  return (
    <Stack gap="md">
      <Group gap="xs" role="group" aria-label="Show">
        {(Object.entries(forecastNames) as [ForecastView, string][]).map(([name, label]) => (
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
      <Suspense fallback={<Loading label="Loading the forecasts" rows={8} />}>
        {view === 'recorded' ? <RecordedForecasts {...props} /> : <Calibration period={props.period} />}
      </Suspense>
    </Stack>
  )
}

function Figures({ view, period, search, change }: ViewProps & { view: 'overview' | 'margin' }) {
  const [today] = useState(() => new Date())
  const View = view === 'overview' ? Overview : WhereMarginGoes
  return (
    <Stack gap="md">
      <FilterRow label="Filters">
        <WhoFilters search={search} change={change} error={null} />
      </FilterRow>
      {!isBackwards(period) && (
        <View
          period={period}
          selection={selectionOf(search, period)}
          search={{ ...search, period: search.period ?? period.choice }}
          today={today}
          change={change}
          empty={
            <NothingQuoted period={period} onAllTime={() => change({ period: 'all', from: '', to: '' })} />
          }
        />
      )}
    </Stack>
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
