import { IconAlertTriangle } from 'virtual:tabler-icons'
import { Alert, Group, Stack, Text, Title } from '@mantine/core'
import { type Answer, addressOfCall, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  type Column,
  count,
  counted,
  DataTable,
  ExportLink,
  Failed,
  FilterRow,
  Loading,
  type Period,
  probability,
  RateTypeFilter,
  rateTypeNames,
  requestedRateType,
} from '../shared-ui/index.ts'
import { BesideDiagram, ReliabilityDiagram } from './performance-reliability.tsx'

type Report = Answer<'get-forecasts'>
type Month = Report['months'][number]

/** With fewer quotes, the ten groups of the diagram would be too small. */
const diagramQuotesMin = 50

type Asked = Query<'get-forecasts'>

const useReport = (query: Asked) => useAnswer('get-forecasts', { query }, { keeps: true, staleMs: 60_000 })

/** All time has no beginning, and the report without one covers a year only. */
const periodQuery = ({ from, to }: Period): Asked => ({
  from: from ?? new Date(0).toISOString(),
  ...(to === undefined ? {} : { to }),
})

/**
 * How well the forecasts that were saved with the quotes matched the outcomes: in a sentence, as a curve, compared with the lane's
 * win rate, and by month.
 */
export default function RecordedForecasts({
  period,
  search,
  change,
}: {
  period: Period
  search: AddressParams
  change: (params: AddressParams) => void
}) {
  const query = { ...requestedRateType(search), ...periodQuery(period) }
  const { data, error, refetch } = useReport(query)
  if (error !== null) {
    return <Failed error={error} title="The forecasts could not be loaded" retry={() => void refetch()} />
  }
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end">
        <FilterRow label="Filters">
          <RateTypeFilter search={search} change={change} />
        </FilterRow>
        <ExportLink href={addressOfCall('export-forecasts', query)} isEmpty={data?.forecasts === 0} />
      </Group>
      {data === undefined ? (
        <Loading label="Loading the forecasts" rows={8} />
      ) : (
        <>
          <Standing report={data} />
          <Text size="sm" c="dimmed" maw={820}>
            Each quote from the desk or another system is saved with the chance of winning that was forecast.
            In this period: {counted(data.forecasts, 'forecast')}, {count(data.scored)} scored on{' '}
            {counted(data.lanes, 'lane')}. {unscoredWords(data.unscored)}
          </Text>
          {data.scored > 0 && <Figures report={data} />}
        </>
      )}
    </Stack>
  )
}

/** Whether the recorded forecasts can be relied on, in one line. */
export function ForecastResult({ period }: { period: Period }) {
  const { data, error, refetch } = useReport(periodQuery(period))
  if (error !== null) {
    return <Failed error={error} title="The forecasts could not be loaded" retry={() => void refetch()} />
  }
  return data === undefined ? <Loading label="Loading the forecasts" rows={1} /> : <Standing report={data} />
}

function Standing({ report: { standing, sentence } }: { report: Report }) {
  if (standing === 'unknown' || standing === 'good') {
    return (
      <Text maw={820} role="status">
        {sentence}
      </Text>
    )
  }
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="The forecasts do not match the outcomes"
    >
      <Text size="sm" maw={820}>
        {sentence}
      </Text>
    </Alert>
  )
}

const unscoredNames: Readonly<Record<keyof Report['unscored'], string>> = {
  undecided: 'undecided',
  expired: 'expired',
  void: 'void',
  superseded: 'superseded by another offer',
  rate_changed: 'decided at another rate',
  late: 'decided before the forecast',
}

function unscoredWords(unscored: Report['unscored']): string {
  const some = Object.entries(unscoredNames).flatMap(([why, words]) => {
    const found = unscored[why as keyof Report['unscored']]
    return found === 0 ? [] : [`${count(found)} ${words}`]
  })
  return some.length === 0 ? '' : `Not scored: ${some.join(', ')}.`
}

function Figures({ report }: { report: Report }) {
  return (
    <BesideDiagram>
      {report.scored >= diagramQuotesMin && <ReliabilityDiagram reliability={report.calibration} />}
      <Stack gap="sm" component="section" aria-labelledby="forecast-months">
        <Title order={2} size="h4" id="forecast-months">
          Beside the win rate of the lane
        </Title>
        <Text size="sm">
          {betterWords(report.lane_rate)} The squared error is the mean over these quotes: lower is better, 0
          is perfect, and a coin flip scores 0.25. The table has it for both.
        </Text>
        <DataTable
          caption="Forecasts by month and rate type"
          rows={report.months}
          rowKey={({ month, rate_type }) => `${month} ${rate_type}`}
          columns={monthColumns}
        />
      </Stack>
    </BesideDiagram>
  )
}

const monthColumns: Column<Month>[] = [
  { key: 'month', header: 'Month', cell: ({ month }) => month },
  { key: 'type', header: 'Type', cell: ({ rate_type }) => rateTypeNames[rate_type] },
  { key: 'scored', header: 'Scored', align: 'right', cell: ({ scored }) => count(scored) },
  {
    key: 'forecast',
    header: 'Forecast',
    align: 'right',
    cell: ({ mean_forecast }) => probability(mean_forecast),
  },
  { key: 'won', header: 'Won', align: 'right', cell: ({ won, scored }) => probability(won / scored) },
  { key: 'brier', header: 'Squared error', align: 'right', cell: ({ brier }) => brier.toFixed(3) },
  {
    key: 'lane',
    header: 'Lane win rate',
    align: 'right',
    cell: ({ lane_rate_brier }) => lane_rate_brier?.toFixed(3) ?? '–',
  },
]

/** The forecasts compared with the lane's win rate, in words. */
function betterWords(compared: Report['lane_rate']): string {
  if (compared === null) return 'For these quotes, the win rate of the lane at the time is not known.'
  const { brier, lane_rate_brier: winRateOfLane, better } = compared
  const scores = `The squared error of the forecasts is ${brier.toFixed(3)}, and ${winRateOfLane.toFixed(3)} for the win rate of the lane at the time.`
  const range = better.range_95
  if (range === null) return `${scores} There are too few lanes to tell whether the difference is chance.`
  return range.low <= 0 && range.high >= 0 ? `${scores} The difference may be chance.` : scores
}
