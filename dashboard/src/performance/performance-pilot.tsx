import { IconDownload } from 'virtual:tabler-icons'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type Answer, addressOfCall, call, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import {
  CodeBlock,
  ConfirmDialog,
  count,
  counted,
  ExportLink,
  Failed,
  Figures,
  Loading,
  moment,
  roundDollars,
  signedDollars,
  useNotice,
  zonedMoment,
} from '../shared-ui/index.ts'
import { Experiment } from './performance-experiment.tsx'
import { ReliabilityDiagram } from './performance-reliability.tsx'
import { ScoreTable } from './performance-scores.tsx'

type PilotState = Answer<'get-pilot'>
type Head = NonNullable<PilotState['head']>
type Report = Answer<'get-pilot-report'>

/** Outcomes are recorded every five seconds. */
const pollEveryMs = 15_000

/** The sealed pilot: its switch, the head to note down, and how the recorded forecasts did. */
export default function Pilot() {
  const pilot = useAnswer('get-pilot', {}, { everyMs: pollEveryMs })
  if (pilot.isError) {
    return (
      <Failed error={pilot.error} title="The pilot could not be loaded" retry={() => void pilot.refetch()} />
    )
  }
  if (pilot.isPending) return <Loading label="Loading the pilot" rows={6} />
  const { head } = pilot.data
  return (
    <Stack gap="lg">
      <Switch pilot={pilot.data} />
      {head !== null && (
        <>
          <Proof head={head} />
          <Scores pilot={pilot.data} />
        </>
      )}
    </Stack>
  )
}

function stateOf({ active, started_at: started, stopped_at: stopped }: PilotState): string {
  if (active && started !== null) {
    return `On since ${moment(started)}: the forecast for every new quote is recorded before its outcome exists.`
  }
  if (stopped !== null) {
    return `Off since ${moment(stopped)}. Outcomes of the recorded forecasts are still added.`
  }
  return 'Off. While it is on, the forecast for every new quote is recorded before its outcome exists, in a chain that nobody can change later without being noticed. You can verify it without this service.'
}

function Switch({ pilot }: { pilot: PilotState }) {
  const [isStopping, setStopping] = useState(false)
  const change = useChange('switch-pilot')
  const queries = useQueryClient()
  const notify = useNotice()
  const may = useMay('admin')
  const set = (active: boolean) =>
    change.mutate(
      { body: { active } },
      {
        onSuccess: () => {
          setStopping(false)
          void queries.invalidateQueries()
          notify(active ? 'The pilot is on.' : 'The pilot is off.')
        },
      },
    )
  return (
    <section aria-labelledby="pilot-state">
      <Title order={2} size="h4" id="pilot-state">
        Sealed pilot
      </Title>
      <Text maw={820} my="xs" role="status">
        {stateOf(pilot)}
      </Text>
      {may && !pilot.active && (
        <Button onClick={() => set(true)} loading={change.isPending}>
          Switch the pilot on
        </Button>
      )}
      {may && pilot.active && (
        <Button variant="default" onClick={() => setStopping(true)}>
          Switch the pilot off
        </Button>
      )}
      {!may && <Text size="sm">An owner or admin can switch it {pilot.active ? 'off' : 'on'}.</Text>}
      {change.error !== null && !isStopping && (
        <Failed error={change.error} title="The pilot was not switched on" />
      )}
      <ConfirmDialog
        opened={isStopping}
        title="Switch the pilot off?"
        action="Switch off"
        pending={change.isPending}
        error={change.error}
        close={() => {
          change.reset()
          setStopping(false)
        }}
        confirm={() => set(false)}
      >
        <Text size="sm">
          Forecasts of later quotes are not recorded. The entries stay, and both switches are entries of their
          own.
        </Text>
      </ConfirmDialog>
    </section>
  )
}

/**
 * The head in the format that recipes/verify-pilot.mjs and `npm run verify-audit -- --head FILE` read, with the time on the
 * clock of this computer, not that of the service.
 */
function headLine(tenant: number, { entry, hash }: Head): string {
  return JSON.stringify({ tenant, entry, hash, noted_at: new Date().toISOString(), msg: 'pilot head' })
}

function Proof({ head }: { head: Head }) {
  const { tenant } = useSession()
  const line = useMemo(() => headLine(tenant.id, head), [tenant.id, head])
  return (
    <Stack component="section" aria-labelledby="pilot-proof" gap="sm" maw={760}>
      <Title order={2} size="h4" id="pilot-proof">
        How to verify the pilot
      </Title>
      <Text size="sm">
        Save this line from time to time where this service cannot reach it: in an e-mail to yourself, or on
        paper. It covers all entries so far. Forecasts that it covers provably precede every outcome that
        comes later.
      </Text>
      <CodeBlock
        title={`Newest: entry ${count(head.entry)}, ${zonedMoment(head.at)}`}
        code={line}
        what="the line"
      />
      <Text size="sm">
        Export the chain and put the saved lines into a file. The program{' '}
        <code>recipes/verify-pilot.mjs</code> is one file without dependencies. It finds every entry that was
        changed, removed, moved, backdated or recorded late, and computes the scores again.
      </Text>
      <CodeBlock
        title="Verify an export"
        code="node recipes/verify-pilot.mjs lanewise-pilot.csv --heads saved-lines.txt"
        what="the command"
      />
      <Group gap="sm">
        <ExportLink href={addressOfCall('export-pilot', {})} isEmpty={false} />
        <ExportJson />
        <Button variant="default" onClick={() => window.print()}>
          Print
        </Button>
      </Group>
    </Stack>
  )
}

/** All entries with the report, as one file. */
async function wholeChain(): Promise<Blob> {
  const entries: Answer<'list-pilot-entries'>['entries'] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: Answer<'list-pilot-entries'> = await call('list-pilot-entries', { query: { after } })
    entries.push(...page.entries)
    after = page.next_after
  }
  return new Blob([JSON.stringify({ entries }, null, 1)], { type: 'application/json' })
}

function ExportJson() {
  const [state, setState] = useState<'ready' | 'reading' | Error>('ready')
  const save = async () => {
    setState('reading')
    try {
      const address = URL.createObjectURL(await wholeChain())
      Object.assign(document.createElement('a'), { href: address, download: 'lanewise-pilot.json' }).click()
      URL.revokeObjectURL(address)
      setState('ready')
    } catch (error) {
      setState(error instanceof Error ? error : new Error(String(error)))
    }
  }
  return (
    <>
      <Button
        variant="default"
        loading={state === 'reading'}
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() => void save()}
      >
        Export JSON
      </Button>
      {state instanceof Error && <Failed error={state} title="The chain was not exported" />}
    </>
  )
}

function Scores({ pilot }: { pilot: PilotState }) {
  const report = useAnswer('get-pilot-report', {}, { everyMs: pollEveryMs })
  if (report.isError) {
    return (
      <Failed
        error={report.error}
        title="The report could not be loaded"
        retry={() => void report.refetch()}
      />
    )
  }
  if (report.isPending) return <Loading label="Loading the report" rows={6} />
  return (
    <>
      <ReportOf report={report.data} />
      <Experiment pilot={pilot} report={report.data.experiment} />
    </>
  )
}

const unscoredNames: Readonly<Record<keyof Report['unscored'], string>> = {
  undecided: 'undecided',
  late: 'late',
  no_forecast: 'without a forecast',
  void: 'void',
  expired: 'expired',
  rate_changed: 'decided at another rate',
}

function unscoredWords(unscored: Report['unscored']): string {
  const some = Object.entries(unscoredNames).flatMap(([why, words]) => {
    const found = unscored[why as keyof Report['unscored']]
    return found === 0 ? [] : [`${count(found)} ${words}`]
  })
  return some.length === 0 ? 'All are scored.' : `Not scored: ${some.join(', ')}.`
}

function ReportOf({ report }: { report: Report }) {
  const { scores, dollars } = report
  return (
    <Stack component="section" aria-labelledby="pilot-report" gap="md">
      <div>
        <Title order={2} size="h4" id="pilot-report">
          How the forecasts did
        </Title>
        <Text size="sm" maw={820}>
          {counted(report.forecasts, 'forecast')} recorded, {counted(report.scored, 'quote')} scored (
          {count(report.won)} won). {unscoredWords(report.unscored)}
          {report.corrections > 0 && ` ${counted(report.corrections, 'outcome')} changed later.`}
          {report.kept_apart > 0 &&
            ` ${counted(report.kept_apart, 'quote')} left out of the dollars: a booked amount could not be converted, or the default basis changed.`}
        </Text>
      </div>
      {scores === null ? (
        <Text size="sm">The scores appear when the first of these quotes is won or lost.</Text>
      ) : (
        <div
          style={{
            display: 'grid',
            gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 28rem), 1fr))',
            gap: 'var(--mantine-spacing-lg)',
          }}
        >
          <ReliabilityDiagram reliability={report.calibration} />
          <Comparison scores={scores} better={report.better_than_lane_rate} />
        </div>
      )}
      {dollars !== null && <PilotDollars dollars={dollars} />}
    </Stack>
  )
}

const forecasters: readonly (readonly [name: keyof NonNullable<Report['scores']>, label: string])[] = [
  ['model', 'Calibrated estimate'],
  ['lane_rate', 'Win rate of the lane'],
  ['rep_rate', 'Win rate of the rep'],
  ['overall', 'Win rate of the brokerage'],
]

/** The difference in words, with its range. */
function betterWords(better: NonNullable<Report['better_than_lane_rate']>): string {
  const { brier, range_95: range } = better
  const size = `${Math.abs(brier).toFixed(3)} ${brier >= 0 ? 'lower (better)' : 'higher (worse)'}`
  const within =
    range === null
      ? 'There are too few lanes for a range.'
      : `The 95% range of this difference is ${range.low.toFixed(3)} to ${range.high.toFixed(3)}${range.low > 0 || range.high < 0 ? '.' : ', so it may be chance.'}`
  return `The Brier score of the estimate is ${size} than that of the win rate of the lane. ${within}`
}

function Comparison({
  scores,
  better,
}: {
  scores: NonNullable<Report['scores']>
  better: Report['better_than_lane_rate']
}) {
  return (
    <section aria-labelledby="pilot-scores">
      <Title order={3} size="h5" id="pilot-scores">
        Comparison with plain win rates
      </Title>
      <Text size="sm" my="xs">
        {better !== null && betterWords(better)} Lower is better in all columns.
      </Text>
      <ScoreTable
        caption="Scores of the recorded forecasts"
        forecasters={forecasters}
        scores={scores}
        measure={{ header: 'Log loss', of: (score) => score.log_loss.toFixed(3) }}
      />
    </section>
  )
}

function PilotDollars({ dollars }: { dollars: NonNullable<Report['dollars']> }) {
  const { range_95: range } = dollars
  return (
    <Stack gap="xs">
      <Figures
        label="Dollars of the pilot"
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
            note: "by the recorded forecasts, at the rep's own rates",
          },
          {
            label: 'Expected at going rates',
            value: roundDollars(dollars.expected_margin_going),
            note: 'by the recorded forecasts',
          },
          {
            label: 'Expected at best rates',
            value: roundDollars(dollars.expected_margin_best),
            note: 'by the recorded forecasts',
          },
          {
            label: 'Estimated difference',
            value: signedDollars(Math.round(dollars.difference)),
            note:
              range === null
                ? 'best minus quoted; too few lanes for a range'
                : `best minus quoted; 95% range: ${signedDollars(Math.round(range.low))} to ${signedDollars(Math.round(range.high))}`,
          },
        ]}
      />
      <Text size="sm" c="dimmed" maw={820}>
        The difference is an estimate by the model itself, not an experiment. If the margin earned is far from
        what was expected as quoted, do not rely on it.
      </Text>
    </Stack>
  )
}
