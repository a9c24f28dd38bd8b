import { Button, Checkbox, Stack, Table, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  calendarDay,
  dollars,
  equipmentName,
  Failed,
  Figures,
  Loading,
  laneName,
  Margin,
  moment,
  percent,
  signedDollars,
  TextLink,
} from '../shared-ui/index.ts'

type Report = Answer<'get-weekly-report'>
type Lane = Report['lanes'][number]['lane']

/** Whether the person gets the weekly report by mail, and what it says. */
export function WeeklyReport() {
  const [isShown, setShown] = useState(false)
  const { data, error, refetch } = useAnswer('get-weekly-report', {})
  if (error !== null && data === undefined) {
    return <Failed error={error} title="The weekly report could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the weekly report" height={52} />
  return (
    <Stack>
      <Choice report={data} />
      <Button
        variant="default"
        aria-expanded={isShown}
        onClick={() => setShown(!isShown)}
        style={{ alignSelf: 'flex-start' }}
      >
        {isShown ? 'Hide the report' : 'Show the report'}
      </Button>
      {isShown && <Shown report={data} />}
    </Stack>
  )
}

function Choice({ report }: { report: Report }) {
  const choose = useChange('choose-weekly-report')
  const queries = useQueryClient()
  return (
    <>
      <Checkbox
        label="Mail me the weekly report"
        checked={report.mail}
        disabled={choose.isPending}
        onChange={(event) =>
          choose.mutate(
            { body: { mail: event.currentTarget.checked } },
            { onSuccess: () => void queries.invalidateQueries({ queryKey: ['get-weekly-report'] }) },
          )
        }
      />
      <Text size="sm" c="dimmed">
        {!report.sends
          ? 'There is no mail server, so no report is mailed. You can read it here.'
          : report.mail
            ? `The next one is mailed ${moment(report.next_at)}.`
            : 'It is not mailed to you. You can read it here.'}
      </Text>
      {choose.error !== null && <Failed error={choose.error} title="Your choice was not saved" />}
    </>
  )
}

function against(now: number | null, before: number | null, inWords: (change: number) => string): string {
  if (now === null || before === null) return 'nothing to compare in the week before'
  return `${inWords(now - before)} against the week before`
}

const signed = (change: number, digits: number) =>
  `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(digits)}`
const points = (change: number) => `${signed(change, 1)} points`

function Shown({ report }: { report: Report }) {
  const { week, week_before: before, leak, lanes, first_day: from, last_day: to } = report
  const quotesOf = (lane: Lane) => ({ ...lane, from, to })
  return (
    <Stack component="section" aria-label="The last week" gap="sm">
      <Text size="sm">
        {calendarDay(from)} to {calendarDay(to)}, in {report.amounts === 'all_in' ? 'all-in' : 'linehaul'} US
        dollars.{' '}
        <TextLink to={pagePaths.results} query={{ period: 'custom', from, to }}>
          Open these days in Results
        </TextLink>
      </Text>
      <Figures
        label="Figures of the week"
        loading={false}
        figures={[
          {
            label: 'Margin',
            value: <Margin amount={week.margin} />,
            note: against(week.margin, before.margin, signedDollars),
          },
          {
            label: 'Margin %',
            value: percent(week.margin_pct),
            note: against(week.margin_pct, before.margin_pct, points),
          },
          {
            label: 'Win rate',
            value: percent(week.win_rate_pct),
            note: against(week.win_rate_pct, before.win_rate_pct, points),
          },
          {
            label: 'Quotes',
            value: week.quotes.toLocaleString('en-US'),
            note: against(week.quotes, before.quotes, (change) => signed(change, 0)),
          },
        ]}
      />
      <Text size="sm">
        Largest leak:{' '}
        {leak === null ? (
          'no lane earned less than quoted.'
        ) : (
          <>
            <TextLink to={pagePaths.quotes} query={quotesOf(leak.lane)}>
              {laneName(leak.lane.origin, leak.lane.destination)}
            </TextLink>{' '}
            earned {dollars(leak.lost)} less than quoted.
          </>
        )}
      </Text>
      <MovedLanes lanes={lanes} quotesOf={quotesOf} />
    </Stack>
  )
}

function MovedLanes({
  lanes,
  quotesOf,
}: {
  lanes: Report['lanes']
  quotesOf: (lane: Lane) => Record<string, string>
}) {
  if (lanes.length === 0) return <Text size="sm">No lane's margin moved.</Text>
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table captionSide="top">
        <Table.Caption>Lanes whose margin moved the most</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Lane</Table.Th>
            <Table.Th ta="right">Margin</Table.Th>
            <Table.Th ta="right">Week before</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lanes.map(({ lane, margin, margin_before: before }) => (
            <Table.Tr key={`${lane.origin} ${lane.destination} ${lane.equipment}`}>
              <Table.Td>
                <TextLink to={pagePaths.quotes} query={quotesOf(lane)}>
                  {laneName(lane.origin, lane.destination)}, {equipmentName(lane.equipment)}
                </TextLink>
              </Table.Td>
              <Table.Td ta="right">{dollars(margin)}</Table.Td>
              <Table.Td ta="right">{dollars(before)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
