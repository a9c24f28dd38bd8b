import { Button, Group, NumberInput, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Answer, useChange, useMay } from '../api/index.ts'
import {
  ConfirmDialog,
  count,
  counted,
  Failed,
  moment,
  roundDollars,
  signedDollars,
  useNotice,
} from '../shared-ui/index.ts'

type PilotState = Answer<'get-pilot'>
type Report = Answer<'get-pilot-report'>['experiment']

const usualQuotes = 1_000

/** The experiment with suggested rates: its switch and its result. */
export function Experiment({ pilot, report }: { pilot: PilotState; report: Report }) {
  const may = useMay('admin')
  return (
    <Stack component="section" aria-labelledby="pilot-experiment" gap="sm" maw={820}>
      <Title order={2} size="h4" id="pilot-experiment">
        Experiment with suggested rates
      </Title>
      <Text size="sm">{stateOf(pilot, report)}</Text>
      {report?.result != null && <Text size="sm">{resultWords(report.result)}</Text>}
      {report?.state === 'done' && report.result === null && (
        <Text size="sm">
          It has no result: a suggestion was made for fewer than 20 pairs of lane and day.
        </Text>
      )}
      {may && pilot.experiment !== null && <End />}
      {may && pilot.experiment === null && pilot.active && <Start />}
    </Stack>
  )
}

const what =
  'While it runs, a coin decides for each lane and day whether the desk suggests the low or the high end of the rates that are as good as the best one. This costs at most 2% of modeled margin and never goes below your floors. The difference in what the quotes then earn is measured, not modeled.'

function stateOf({ experiment, active }: PilotState, report: Report): string {
  const progress =
    report === null
      ? ''
      : ` ${count(report.assigned)} of ${counted(report.planned, 'quote')}, ${count(report.followed)} of them quoted within 1% of the suggestion.${report.kept_apart === 0 ? '' : ` ${count(report.kept_apart)} count with the rate and the cost of their forecast: a booked amount could not be converted, or the default basis changed.`}`
  if (experiment !== null && report?.state !== 'done') {
    return `Running since ${moment(experiment.started_at)}.${progress} There is no result before the end, 30 days after the last of these quotes: looking earlier would favor chance.`
  }
  if (report?.state === 'done') {
    return `Done.${progress}${experiment === null ? '' : ' Until you end it, the desk still suggests either end.'}`
  }
  if (report?.state === 'ended') return `The last one was ended early, so it has no result.${progress}`
  return active ? `Off. ${what}` : `Off. ${what} It needs the pilot.`
}

function resultWords({ low, high, gain, range_95: range }: NonNullable<NonNullable<Report>['result']>) {
  // The word joiner keeps the minus sign with its amount.
  const dollars = (amount: number) => signedDollars(Math.round(amount)).replace('−', '−\u2060')
  const verdict =
    range.low > 0
      ? 'The high end earns more.'
      : range.high < 0
        ? 'The low end earns more.'
        : 'The difference may be chance.'
  return `With the high suggestion a quote earned ${roundDollars(high.earned)} (${counted(high.quotes, 'quote')}), with the low one ${roundDollars(low.earned)} (${counted(low.quotes, 'quote')}): a difference of ${dollars(gain)} per quote, with a 95% range of ${dollars(range.low)} to ${dollars(range.high)}. ${verdict}`
}

/** Starts the experiment, after a question that says what it changes for everybody and what it can cost. */
function Start() {
  const [quotes, setQuotes] = useState<number | string>(usualQuotes)
  const [isAsked, setAsked] = useState(false)
  const change = useChange('switch-experiment')
  const queries = useQueryClient()
  const notify = useNotice()
  const wrong = change.error?.fieldError('/quotes')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAsked(true)
  }
  const confirm = () =>
    change.mutate(
      { body: { quotes: Number(quotes) } },
      {
        // An error of the field is shown beside it.
        onSettled: () => setAsked(false),
        onSuccess: () => {
          void queries.invalidateQueries()
          notify('The experiment is running.')
        },
      },
    )
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <NumberInput
          label="Quotes"
          description="Fixed now: the result is computed from this many quotes"
          value={quotes}
          onChange={setQuotes}
          min={100}
          max={100_000}
          error={wrong}
          required
        />
        <Button type="submit" variant="default" loading={change.isPending}>
          Start the experiment
        </Button>
      </Group>
      <ConfirmDialog
        opened={isAsked}
        title={`Start the experiment with ${counted(Number(quotes), 'quote')}?`}
        action="Start it"
        pending={change.isPending}
        error={null}
        confirm={confirm}
        close={() => setAsked(false)}
      >
        <Text size="sm">
          From now on, everybody’s desk suggests the low or the high end of the rates that are nearly as good
          as the best one, by a coin flip per lane and day. On any lane, a suggestion costs at most 2% of the
          modeled margin of a quote, but the high end can win clearly less often than the best rate. Quotes
          whose rate a pricing rule sets are not part of it: if a rule sets a target for all quotes, it
          collects nothing.
        </Text>
      </ConfirmDialog>
      {change.error !== null && wrong === undefined && (
        <Failed error={change.error} title="The experiment was not started" />
      )}
    </form>
  )
}

function End() {
  const [opened, setOpened] = useState(false)
  const change = useChange('switch-experiment')
  const queries = useQueryClient()
  const notify = useNotice()
  const close = () => {
    change.reset()
    setOpened(false)
  }
  return (
    <div>
      <Button variant="default" onClick={() => setOpened(true)}>
        End the experiment
      </Button>
      <ConfirmDialog
        opened={opened}
        title="End the experiment?"
        action="End it"
        pending={change.isPending}
        error={change.error}
        close={close}
        confirm={() =>
          change.mutate(
            { body: {} },
            {
              onSuccess: () => {
                void queries.invalidateQueries()
                notify('The experiment has ended.')
                close()
              },
            },
          )
        }
      >
        <Text size="sm">
          If it does not have all of its quotes and their 30 days yet, it will have no result. The desk
          suggests the best rate again.
        </Text>
      </ConfirmDialog>
    </div>
  )
}
