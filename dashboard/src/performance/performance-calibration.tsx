import { IconInfoCircle } from 'virtual:tabler-icons'
import { Alert, Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import {
  type Column,
  calendarDay,
  counted,
  DataTable,
  Failed,
  Figures,
  Loading,
  moment,
  type Period,
  roundDollars,
  signedDollars,
  TextLink,
} from '../shared-ui/index.ts'
import { ForecastResult } from './performance-forecasts.tsx'
import { MissedMargin } from './performance-missed.tsx'
import { BesideDiagram, ReliabilityDiagram } from './performance-reliability.tsx'

type Done = Extract<Answer<'get-backtest'>, { status: 'done' }>
type Tested = Extract<Done['result'], { enough: true }>
type TooFew = Extract<Done['result'], { enough: false }>
type Quality = Tested['quality']['model']

const pollEveryMs = 2_000

/** Whether the recorded forecasts match the outcomes, then the report on past quotes: how accurate the advice was, and missed margin. */
export default function Calibration({ period }: { period: Period }) {
  return (
    <Stack gap="md">
      <ForecastResult period={period} />
      <Backtest />
    </Stack>
  )
}

/** The report on past quotes. Each quote is forecast only from earlier days. */
function Backtest() {
  const answer = useAnswer(
    'get-backtest',
    { body: {} },
    { everyMs: (last) => (last?.status === 'running' ? pollEveryMs : false), staleMs: 60_000 },
  )
  const { data, error } = answer
  if (error !== null) {
    return (
      <Failed error={error} title="The calibration could not be loaded" retry={() => void answer.refetch()} />
    )
  }
  if (data === undefined) return <Loading label="Loading the calibration" rows={8} />
  if (data.status === 'running') return <JudgingProgress progress={data.progress} />
  const { result } = data
  return (
    <Stack gap="md">
      {result.enough ? <Result result={result} /> : <TooFewQuotes result={result} />}
      {data.missed !== null && <MissedMargin missed={data.missed} basis={data.basis} />}
      <AsOf data={data} isFetching={answer.isFetching} refetch={() => void answer.refetch()} />
    </Stack>
  )
}

/** When the quotes were read, and a button to read them again if they have changed. */
function AsOf({
  data,
  isFetching,
  refetch,
}: {
  data: Pick<Done, 'as_of' | 'current'>
  isFetching: boolean
  refetch: () => void
}) {
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed">
        Quotes as of {moment(data.as_of)}
        {data.current ? '.' : '. Some quotes have changed since then.'}
      </Text>
      {!data.current && (
        <Button size="compact-sm" variant="default" loading={isFetching} onClick={refetch}>
          Run the test again
        </Button>
      )}
    </Group>
  )
}

function JudgingProgress({ progress }: { progress: number }) {
  const percent = Math.round(progress * 100)
  return (
    <Paper withBorder p="md" mih={160}>
      <Stack gap="sm">
        <Text role="status">
          {/* Before the first forecast, nobody knows whether there are enough quotes. */}
          {progress === 0
            ? 'Reading your quotes'
            : `Forecasting each of your quotes from earlier days: ${percent}% done`}
        </Text>
        <Progress value={percent} aria-label="Progress of the test" />
        <Text size="sm" c="dimmed">
          The test takes seconds for a few thousand quotes, and minutes for a hundred thousand. You can leave
          this page meanwhile.
        </Text>
      </Stack>
    </Paper>
  )
}

function TooFewQuotes({ result }: { result: TooFew }) {
  const [have, need, what] =
    result.why === 'too_few_decided'
      ? [result.decided, result.needed.decided, 'decided quotes']
      : [result.tested, result.needed.tested, 'recent decided quotes']
  return (
    <Paper withBorder p="md" mih={160}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          Too few quotes to test the advice
        </Title>
        <Text>{result.sentence}</Text>
        <Progress value={Math.min(100, (have / need) * 100)} aria-label={`${have} of ${need} ${what}`} />
        <Text size="sm">
          {have.toLocaleString('en-US')} of {need.toLocaleString('en-US')} {what}
        </Text>
        <Text size="sm" c="dimmed">
          Mark quotes won or lost on the <TextLink to={pagePaths.quotes}>Quotes page</TextLink>, or{' '}
          <TextLink to={pagePaths.imports}>import</TextLink> past quotes with their outcomes.
        </Text>
      </Stack>
    </Paper>
  )
}

function Result({ result }: { result: Tested }) {
  return (
    <>
      <Text maw={820}>{result.sentence}</Text>
      <Text size="sm" c="dimmed" maw={820}>
        Tested: {counted(result.tested, 'decided quote')} from {calendarDay(result.first_tested_on)} to{' '}
        {calendarDay(result.last_tested_on)} ({result.tested_won.toLocaleString('en-US')} won), of{' '}
        {counted(result.decided, 'decided quote')} in total. The test always covers the last{' '}
        {result.window_days} days, of all customers and reps.
        {result.left_out > 0 &&
          ` ${counted(result.left_out, 'quote')} excluded, because estimates exclude them too.`}
      </Text>
      <BesideDiagram>
        <ReliabilityDiagram reliability={result.reliability} />
        <Score result={result} />
      </BesideDiagram>
      <Dollars result={result} />
    </>
  )
}

const methods: readonly (readonly [name: keyof Tested['quality'], label: string])[] = [
  ['model', 'Calibrated estimate'],
  ['lane_rate', 'Win rate of the lane'],
  ['overall', 'Win rate of the brokerage'],
  ['at_or_below', 'Share won of quotes at this rate or lower'],
  ['literal', 'Wins at this rate or lower, of all decided quotes'],
]

/** The columns for each forecast rule: its squared error, how often it ranks a win above a loss, and its average error. */
const scoreColumns = (quality: Tested['quality']): Column<(typeof methods)[number]>[] => [
  { key: 'by', header: 'Forecast by', cell: ([, label]) => label, wraps: true },
  {
    key: 'brier',
    header: 'Squared error',
    align: 'right',
    cell: ([name]) => quality[name].brier.toFixed(3),
  },
  {
    key: 'measure',
    header: 'Ranks a win above a loss',
    align: 'right',
    cell: ([name]) => {
      const { auc } = quality[name]
      return auc === null ? '–' : `${Math.round(auc * 100)} times in 100`
    },
  },
  {
    key: 'error',
    header: 'Average error',
    align: 'right',
    cell: ([name]) => `${(quality[name].calibration_error * 100).toFixed(1)} points`,
  },
]

/** The error of the estimate compared with the lane's own win rate, in words. */
function errorInWords(model: Quality, winRateOfLane: Quality): string {
  const less = (1 - model.brier / winRateOfLane.brier) * 100
  const scores = `Its squared error is ${model.brier.toFixed(3)}, and ${winRateOfLane.brier.toFixed(3)} for the win rate of the lane`
  if (Math.abs(less) < 0.5) return `${scores}, which is practically no difference.`
  return less > 0
    ? `${scores}: ${less.toFixed(0)}% less error than the lane's win rate alone.`
    : `${scores}: ${(-less).toFixed(0)}% more error than the lane's win rate alone, so do not rely on the estimate yet.`
}

function Score({ result: { quality, tested } }: { result: Tested }) {
  return (
    <section aria-labelledby="calibration-score">
      <Title order={2} size="h4" id="calibration-score">
        Comparison with simple rules
      </Title>
      <Text size="sm" my="xs" maw={820}>
        {errorInWords(quality.model, quality.lane_rate)} The squared error is the mean over all forecasts:
        lower is better, 0 is perfect, and a coin flip scores 0.25. Based on {counted(tested, 'quote')}.
      </Text>
      <details>
        <summary>Show all rules as a table</summary>
        <DataTable
          caption="Quality of the forecasts, by rule"
          rows={methods}
          rowKey={([name]) => name}
          columns={scoreColumns(quality)}
        />
      </details>
    </section>
  )
}

function Dollars({ result }: { result: Tested }) {
  const { dollars, not_priced: left } = result
  const notPriced = left.without_cost + left.without_best_rate + left.unlikely_cost
  return (
    <section aria-labelledby="calibration-dollars">
      <Title order={2} size="h4" id="calibration-dollars" mb="xs">
        Estimated dollars at stake
      </Title>
      {dollars === null ? (
        <Text size="sm">Too few tested quotes have a known cost for an estimate in dollars.</Text>
      ) : (
        <Stack gap="sm">
          <Figures
            label="Dollars at stake"
            loading={false}
            figures={[
              {
                label: 'Margin earned',
                value: roundDollars(dollars.margin_earned),
                note: `actual, on ${counted(dollars.quotes, 'quote')}`,
              },
              {
                label: 'Expected as quoted',
                value: roundDollars(dollars.expected_margin_quoted),
                note: 'by the model, at the quoted rates',
              },
              {
                label: 'Expected at best rates',
                value: roundDollars(dollars.expected_margin_best),
                note: 'by the model, at the recommended rates',
              },
              {
                label: 'Estimated difference',
                value: signedDollars(Math.round(dollars.difference)),
                note: `80% range: ${signedDollars(Math.round(dollars.difference_80.low))} to ${signedDollars(Math.round(dollars.difference_80.high))}, ${counted(dollars.lanes, 'lane')}`,
              },
              {
                label: 'Quoted below the best rate',
                value: dollars.quoted_below.toLocaleString('en-US'),
                note: `${dollars.quoted_as_good.toLocaleString('en-US')} as good as best, ${dollars.quoted_above.toLocaleString('en-US')} too high`,
              },
            ]}
          />
          <Alert
            color="gray"
            variant="outline"
            icon={<IconInfoCircle aria-hidden />}
            title="How to read this"
          >
            <Text size="sm">{dollars.caveat}</Text>
            {dollars.at_edge > 0 && (
              <Text size="sm" mt="xs">
                For {counted(dollars.at_edge, 'quote')}, the best rate was at the limit of the evaluated
                rates.
              </Text>
            )}
          </Alert>
        </Stack>
      )}
      {notPriced > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Not priced: {left.without_cost.toLocaleString('en-US')} without a known cost,{' '}
          {left.without_best_rate.toLocaleString('en-US')} without an expected cost at the time,{' '}
          {left.unlikely_cost.toLocaleString('en-US')} with an implausible cost.
        </Text>
      )}
    </section>
  )
}
