import { Button, Checkbox, FileButton, Group, List, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { bidCellsMax } from '#contract/limits.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  acceptedTables,
  type Column,
  calendarDay,
  count,
  counted,
  DataTable,
  dollars,
  Failed,
  Figures,
  Loading,
  laneName,
  probability,
  Section,
  signedDollars,
} from '../shared-ui/index.ts'
import { readAwards } from './award-text.ts'
import type { Bid, BidLane } from './bid-words.ts'
import { useBidChanged } from './use-bid.ts'

/** Wrong lines that are listed. */
const problemsShownMax = 5

type Standing = Answer<'get-bid-standing'>
type StandingLane = Standing['lanes'][number]

/** Which lanes were awarded, and how they do since the contract began. */
export function BidAwards({
  bid,
  lanes,
  mayWrite,
}: {
  bid: Bid
  lanes: readonly BidLane[]
  mayWrite: boolean
}) {
  const awarded = lanes.filter(({ award }) => award?.state === 'awarded').length
  const lost = lanes.filter(({ award }) => award?.state === 'lost').length
  if (bid.stage === 'open' && awarded + lost === 0) return null
  return (
    <Section
      title="Awards"
      hint={`${counted(awarded, 'lane')} awarded, ${count(lost)} lost, ${count(lanes.length - awarded - lost)} open.`}
    >
      <Stack gap="md">
        {mayWrite && <AwardForm bid={bid} lanes={lanes} />}
        {mayWrite && awarded > 0 && <FirstDay key={bid.starts_on} bid={bid} />}
        {awarded > 0 && bid.starts_on !== null && <StandingOfBid bidId={bid.bid_id} />}
      </Stack>
    </Section>
  )
}

function AwardForm({ bid, lanes }: { bid: Bid; lanes: readonly BidLane[] }) {
  const [text, setText] = useState('')
  const [othersAreLost, setOthersAreLost] = useState(true)
  const save = useChange('set-bid-awards')
  const { reread } = useBidChanged(bid.bid_id)
  const { cells, problems } = readAwards(text, lanes, othersAreLost)
  const isEmpty = text.trim() === ''
  const send = async () => {
    for (let from = 0; from < cells.length; from += bidCellsMax) {
      await save.mutateAsync({
        params: { bid_id: bid.bid_id },
        body: { cells: cells.slice(from, from + bidCellsMax) },
      })
    }
    setText('')
    await reread()
  }
  return (
    <Stack gap="xs">
      <Textarea
        label="Awarded lanes"
        description="One lane per line: the shipper's lane ID, and after it the rate and the loads if they differ. You can paste the columns of a spreadsheet."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={10}
        error={
          problems.length === 0 ? null : (
            <List size="sm">
              {problems.slice(0, problemsShownMax).map((problem) => (
                <List.Item key={problem}>{problem}</List.Item>
              ))}
              {problems.length > problemsShownMax && (
                <List.Item>And {count(problems.length - problemsShownMax)} more.</List.Item>
              )}
            </List>
          )
        }
      />
      <Group>
        <Checkbox
          label="All other lanes are lost"
          checked={othersAreLost}
          onChange={(event) => setOthersAreLost(event.currentTarget.checked)}
        />
        <AwardFile bidId={bid.bid_id} othersAreLost={othersAreLost} reread={reread} />
        <Button
          disabled={isEmpty || problems.length > 0}
          loading={save.isPending}
          onClick={() => void send().catch(() => {})}
        >
          Save awards
        </Button>
      </Group>
      {save.error !== null && <Failed error={save.error} title="The awards were not saved" />}
    </Stack>
  )
}

/** Uploads the shipper's file with the awards. */
function AwardFile({
  bidId,
  othersAreLost,
  reread,
}: {
  bidId: number
  othersAreLost: boolean
  reread: () => Promise<unknown>
}) {
  const send = useChange('set-bid-awards-of-file')
  const upload = (file: File | null) => {
    if (file === null) return
    const query = { file_name: file.name.slice(0, 255), others: othersAreLost ? 'lost' : 'open' } as const
    send.mutate({ params: { bid_id: bidId }, query, body: file }, { onSuccess: () => void reread() })
  }
  const { data, error } = send
  return (
    <>
      <FileButton onChange={upload} accept={acceptedTables} inputProps={{ 'aria-label': 'File with awards' }}>
        {(props) => (
          <Button {...props} variant="default" loading={send.isPending}>
            Upload a file
          </Button>
        )}
      </FileButton>
      {data !== undefined && (
        <Text size="sm" role="status">
          {data.change === null ? 'The file changes nothing.' : `${counted(data.changed, 'lane')} changed.`}
        </Text>
      )}
      {error !== null && <Failed error={error} title="The file was not taken" />}
    </>
  )
}

function FirstDay({ bid }: { bid: Bid }) {
  const [typed, setTyped] = useState(bid.starts_on ?? '')
  const change = useChange('change-bid')
  const { reread } = useBidChanged(bid.bid_id)
  return (
    <Group align="flex-end" gap="sm">
      <TextInput
        type="date"
        label="First day of the contract"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={typed === '' || typed === bid.starts_on}
        loading={change.isPending}
        onClick={() =>
          change.mutate(
            { params: { bid_id: bid.bid_id }, body: { starts_on: typed } },
            { onSuccess: () => void reread() },
          )
        }
      >
        Save the day
      </Button>
      {change.error !== null && <Failed error={change.error} title="The day was not saved" />}
    </Group>
  )
}

function StandingOfBid({ bidId }: { bidId: number }) {
  const standing = useAnswer('get-bid-standing', { params: { bid_id: bidId } })
  if (standing.data === undefined) {
    return standing.error === null ? (
      <Loading label="Loading the awards" />
    ) : (
      <Failed error={standing.error} retry={() => void standing.refetch()} />
    )
  }
  const { data } = standing
  return (
    <>
      <StandingFigures standing={data} />
      <DataTable
        caption="Awarded lanes"
        columns={columns}
        rows={data.lanes}
        rowKey={({ lane }) => String(lane)}
      />
    </>
  )
}

function StandingFigures({
  standing: { starts_on, week, weeks, volume, tendered, lanes },
}: {
  standing: Standing
}) {
  const rising = lanes.filter(({ costs }) => costs?.state === 'rising')
  const extra = rising.reduce((sum, { costs }) => sum + (costs?.extra_cost ?? 0), 0)
  return (
    <Figures
      label="How the awards do"
      loading={false}
      figures={[
        {
          label: 'Promised until now',
          value: count(Math.round(volume.promised)),
          note: week === 0 ? `Begins ${calendarDay(starts_on)}` : `Loads, week ${week} of ${weeks}`,
        },
        { label: 'Tendered', value: count(volume.tendered), note: 'Contract quotes on these lanes' },
        { label: 'Booked', value: count(volume.booked), note: 'Of those tendered' },
        {
          label: 'Usually tendered',
          value: tendered === null ? '–' : probability(tendered.share),
          note:
            tendered === null
              ? 'No award has promised a load yet'
              : `${probability(tendered.low)} to ${probability(tendered.high)}. ${counted(tendered.ghost_lanes, 'lane')} of ${count(tendered.lanes)} without a load`,
        },
        {
          label: 'Costs have risen',
          value: counted(rising.length, 'lane'),
          note:
            rising.length === 0
              ? 'None is above its forecast'
              : `${dollars(Math.round(extra))} more to the end`,
        },
      ]}
    />
  )
}

const stateWords = {
  too_few: 'Too few loads',
  holds: 'As expected',
  rising: 'Rising',
} as const

function costWords({ costs }: StandingLane): string {
  if (costs === null) return 'No expected cost'
  if (costs.state === 'too_few') return stateWords.too_few
  const range = `${costs.rise_pct} % (${costs.rise_pct_low} to ${costs.rise_pct_high} %)`
  return costs.state === 'rising'
    ? `${stateWords.rising} since week ${costs.since_week}: ${range}`
    : stateWords.holds
}

const columns: readonly Column<StandingLane>[] = [
  {
    key: 'lane',
    header: 'Lane',
    cell: ({ origin, destination }) => laneName(origin, destination),
  },
  { key: 'equipment', header: 'Eq.', cell: ({ equipment }) => equipment ?? 'any' },
  { key: 'rate', header: 'Rate', align: 'right', cell: ({ rate }) => (rate === null ? '–' : dollars(rate)) },
  {
    key: 'promised',
    header: 'Promised',
    align: 'right',
    cell: ({ volume }) => count(Math.round(volume.promised)),
  },
  { key: 'tendered', header: 'Tendered', align: 'right', cell: ({ volume }) => count(volume.tendered) },
  { key: 'booked', header: 'Booked', align: 'right', cell: ({ volume }) => count(volume.booked) },
  { key: 'costs', header: 'Costs', wraps: true, cell: costWords },
  {
    key: 'extra',
    header: 'Extra cost to the end',
    align: 'right',
    cell: ({ costs }) =>
      costs === null || costs.state === 'too_few' ? '–' : signedDollars(costs.extra_cost),
  },
]
