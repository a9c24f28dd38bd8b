import { Alert, Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import {
  calendarDay,
  counted,
  DataTable,
  Failed,
  Figures,
  Loading,
  moment,
  roundDollars,
  signedDollars,
  TextLink,
} from '../shared-ui/index.ts'
import { ReliabilityDiagram } from './performance-reliability.tsx'

type Done = Extract<Answer<'get-backtest'>, { status: 'done' }>
type Tested = Extract<Done['result'], { enough: true }>
type TooFew = Extract<Done['result'], { enough: false }>
type Quality = Tested['quality']['model']

const askAgainMs = 2_000

/** How well the advice did on the brokerage's own quotes, each forecast from the days before it. */
export default function Calibration() {
  const answer = useAnswer(
    'get-backtest',
    {},
    { everyMs: (last) => (last?.status === 'running' ? askAgainMs : false), staleMs: 60_000 },
  )
  const { data, error } = answer
  if (error !== null) {
    return (
      <Failed error={error} title="The calibration could not be loaded" retry={() => void answer.refetch()} />
    )
  }
  if (data === undefined) return <Loading label="Loading the calibration" rows={8} />
  if (data.status === 'running') return <Running progress={data.progress} />
  const { result } = data
  return (
    <Stack gap="md">
      {result.enough ? <Result result={result} /> : <NotEnough result={result} />}
      <Group gap="sm">
        <Text size="sm" c="dimmed">
          Quotes as of {moment(data.as_of)}
          {data.current ? '.' : '; some have changed since.'}
        </Text>
        {!data.current && (
          <Button
            size="compact-sm"
            variant="default"
            loading={answer.isFetching}
            onClick={() => void answer.refetch()}
          >
            Test again
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Running({ progress }: { progress: number }) {
  const percent = Math.round(progress * 100)
  return (
    <Paper withBorder p="md" mih={160}>
      <Stack gap="sm">
        <Text role="status">Forecasting each of your quotes from the days before it: {percent}% done</Text>
        <Progress value={percent} aria-label="Progress of the test" />
        <Text size="sm" c="dimmed">
          Every quote is judged from the ones before it: seconds for a few thousand quotes, minutes for a
          hundred thousand. You can look at something else meanwhile.
        </Text>
      </Stack>
    </Paper>
  )
}

function NotEnough({ result }: { result: TooFew }) {
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
        {counted(result.decided, 'decided quote')} in all. The period and filters of the other tabs do not
        apply.
        {result.left_out > 0 && ` ${counted(result.left_out, 'quote')} left out: no estimate counts them.`}
      </Text>
      <div
        style={{
          display: 'grid',
          gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 28rem), 1fr))',
          gap: 'var(--mantine-spacing-lg)',
        }}
      >
        <ReliabilityDiagram reliability={result.reliability} />
        <Score result={result} />
      </div>
      <Dollars result={result} />
    </>
  )
}

const methods: readonly (readonly [name: keyof Tested['quality'], label: string])[] = [
  ['model', 'Calibrated estimate'],
  ['lane_rate', 'Win rate of the lane'],
  ['overall', 'Win rate of the brokerage'],
  ['at_or_below', 'Share won of what was quoted at the rate or lower'],
  ['literal', 'Wins at the rate or lower, of all decided quotes'],
]

/** The error of the estimate against that of the lane's own win rate, in words. */
function brierInWords(model: Quality, laneRate: Quality): string {
  const less = (1 - model.brier / laneRate.brier) * 100
  const scores = `Its Brier score is ${model.brier.toFixed(3)}, and ${laneRate.brier.toFixed(3)} for the win rate of the lane`
  if (Math.abs(less) < 0.5) return `${scores}: no difference to speak of.`
  return less > 0
    ? `${scores}: ${less.toFixed(0)}% less error than going by the lane's win rate alone.`
    : `${scores}: ${(-less).toFixed(0)}% more error than going by the lane's win rate alone, so do not lean on it yet.`
}

function Score({ result: { quality, tested } }: { result: Tested }) {
  return (
    <section aria-labelledby="calibration-score">
      <Title order={2} size="h4" id="calibration-score">
        Against simple rules
      </Title>
      <Text size="sm" my="xs" maw={820}>
        {brierInWords(quality.model, quality.lane_rate)} The Brier score is the mean squared error of the
        forecasts: 0 is perfect, 0.25 is what a coin gets, lower is better. Over {counted(tested, 'quote')}.
      </Text>
      <details>
        <summary>Show every rule as a table</summary>
        <DataTable
          caption="Quality of the forecasts, by rule"
          rows={methods}
          rowKey={([name]) => name}
          columns={[
            { key: 'rule', header: 'Forecast by', cell: ([, label]) => label, wraps: true },
            {
              key: 'brier',
              header: 'Brier score',
              align: 'right',
              cell: ([name]) => quality[name].brier.toFixed(3),
            },
            {
              key: 'auc',
              header: 'Ranks a win above a loss',
              align: 'right',
              cell: ([name]) =>
                quality[name].auc === null ? '–' : `${Math.round(quality[name].auc * 100)} times in 100`,
            },
            {
              key: 'error',
              header: 'Off by, on average',
              align: 'right',
              cell: ([name]) => `${(quality[name].calibration_error * 100).toFixed(1)} points`,
            },
          ]}
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
        Dollars at stake, an estimate
      </Title>
      {dollars === null ? (
        <Text size="sm">Too few tested quotes with a known cost for a figure in dollars.</Text>
      ) : (
        <Stack gap="sm">
          <Figures
            label="Dollars at stake"
            loading={false}
            figures={[
              {
                label: 'Margin earned',
                value: roundDollars(dollars.margin_earned),
                note: `really, on ${counted(dollars.quotes, 'quote')}`,
              },
              {
                label: 'Expected as quoted',
                value: roundDollars(dollars.expected_margin_quoted),
                note: 'by the model, at the rates quoted',
              },
              {
                label: 'Expected at best rates',
                value: roundDollars(dollars.expected_margin_best),
                note: 'by the model, at the rates it would have shown',
              },
              {
                label: 'Estimated difference',
                value: signedDollars(Math.round(dollars.difference)),
                note: `80% of redrawn lanes: ${signedDollars(Math.round(dollars.difference_80.low))} to ${signedDollars(Math.round(dollars.difference_80.high))}, ${counted(dollars.lanes, 'lane')}`,
              },
              {
                label: 'Quoted too low',
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
                For {counted(dollars.at_edge, 'quote')} the best rate lay at the end of the rates tried.
              </Text>
            )}
          </Alert>
        </Stack>
      )}
      {notPriced > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Not priced: {left.without_cost.toLocaleString('en-US')} without a known cost,{' '}
          {left.without_best_rate.toLocaleString('en-US')} without a cost to expect that morning,{' '}
          {left.unlikely_cost.toLocaleString('en-US')} with an unlikely cost.
        </Text>
      )}
    </section>
  )
}
