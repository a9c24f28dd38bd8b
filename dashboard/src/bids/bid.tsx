import { Button, Group, NativeSelect, Progress, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { bidStages } from '#contract/bid-fields.ts'
import { pagePaths } from '#contract/pages.ts'
import { call, useChange, useMay } from '../api/index.ts'
import {
  ConfirmDialog,
  count,
  counted,
  Failed,
  Figures,
  Heed,
  Loading,
  moment,
  Page,
  probability,
  roundDollars,
} from '../shared-ui/index.ts'
import { BidApproval } from './bid-approval.tsx'
import { BidAwards } from './bid-awards.tsx'
import { BidGrid } from './bid-grid.tsx'
import { BidHistory } from './bid-history.tsx'
import { BidPlaces } from './bid-places.tsx'
import { BidPortfolio } from './bid-portfolio.tsx'
import { BidRound } from './bid-round.tsx'
import { BidSettings } from './bid-settings.tsx'
import { BidStrategy } from './bid-strategy.tsx'
import { type Bid, type Stage, stageNames, type Totals } from './bid-words.ts'
import { saveFile } from './save-file.ts'
import { useBid, useBidChanged, useBidLanes } from './use-bid.ts'

/** A bid: its sums, its unknown places, its lanes with their rates, strategies, history, and the file with the rates. */
export function BidView({ bidId }: { bidId: number }) {
  const bid = useBid(bidId)
  const lanes = useBidLanes(bidId)
  const { reread } = useBidChanged(bidId)
  const mayWrite = useMay('member')
  const isRunning = bid.data?.pricing.is_running
  const wasRunning = useRef(false)
  useEffect(() => {
    // The lanes were read while they were being priced.
    if (wasRunning.current && isRunning === false) void reread()
    wasRunning.current = isRunning === true
  }, [isRunning, reread])
  if (bid.data === undefined) {
    return (
      <Page title="Bid">
        {bid.error === null ? (
          <Loading label="Loading the bid" />
        ) : (
          <Failed error={bid.error} retry={() => void bid.refetch()} />
        )}
      </Page>
    )
  }
  const { data } = bid
  return (
    <Page
      title={data.name}
      hint={`${data.customer_name} · ${data.due_at === null ? 'no deadline' : `due ${moment(data.due_at)}`} · ${counted(data.contract_months, 'month')}. Contract rates per load, in US dollars.`}
      actions={<Actions bid={data} mayWrite={mayWrite} />}
    >
      <Pricing bid={data} />
      <Sums totals={data.totals} />
      {data.places.length > 0 && <BidPlaces bidId={bidId} places={data.places} mayWrite={mayWrite} />}
      <Notes bid={data} />
      <BidApproval bid={data} />
      {data.previous_bid_id !== null && <BidRound bidId={bidId} />}
      {mayWrite && <BidStrategy bid={data} />}
      {mayWrite && <BidPortfolio bid={data} />}
      {lanes.data === undefined ? (
        lanes.error === null ? (
          <Loading label="Loading the lanes" />
        ) : (
          <Failed error={lanes.error} retry={() => void lanes.refetch()} />
        )
      ) : (
        <>
          <BidAwards bid={data} lanes={lanes.data} mayWrite={mayWrite} />
          <BidGrid bidId={bidId} lanes={lanes.data} mayWrite={mayWrite} />
        </>
      )}
      <BidHistory bidId={bidId} mayWrite={mayWrite} />
    </Page>
  )
}

function Pricing({ bid }: { bid: Bid }) {
  const { pricing, lanes, unknown_places: unknown } = bid
  if (!pricing.is_running) return null
  const all = lanes - unknown
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        Pricing the lanes: {count(pricing.priced)} of {count(all)}. You may leave this page.
      </Text>
      <Progress value={all === 0 ? 100 : (100 * pricing.priced) / all} aria-label="Lanes priced" />
    </Stack>
  )
}

function Sums({ totals }: { totals: Totals }) {
  return (
    <Figures
      label="Sums of the bid"
      loading={false}
      figures={[
        {
          label: 'Value',
          value: roundDollars(totals.revenue),
          note: `${counted(totals.rated, 'lane')} with a rate, ${counted(totals.loads, 'load')}`,
        },
        { label: 'Expected cost', value: roundDollars(totals.cost), note: 'Of the lanes with a rate' },
        { label: 'Margin', value: roundDollars(totals.margin), note: 'If all of them are awarded' },
        {
          label: 'Expected profit',
          value: roundDollars(totals.expected_margin),
          note: 'Margin times the chance of each lane',
        },
        {
          label: 'Expected share',
          value: probability(totals.expected_share),
          note: 'Of the loads of lanes with a chance',
        },
      ]}
    />
  )
}

function Notes({ bid }: { bid: Bid }) {
  const { totals, duplicates, lines_skipped: skipped } = bid
  const notes = [
    ...(totals.without_loads > 0
      ? [
          `${counted(totals.without_loads, 'lane has no volume and adds', 'lanes have no volume and add')} nothing to the sums.`,
        ]
      : []),
    ...(totals.below_minimum > 0
      ? [`${counted(totals.below_minimum, 'rate is', 'rates are')} below the minimum of your rules.`]
      : []),
    ...(totals.below_cost > 0
      ? [`${counted(totals.below_cost, 'rate is', 'rates are')} below the expected cost.`]
      : []),
    ...(duplicates > 0 ? [`${counted(duplicates, 'lane repeats', 'lanes repeat')} an earlier lane.`] : []),
    ...(skipped > 0 ? [`${counted(skipped, 'line')} of the file without a lane.`] : []),
  ]
  if (notes.length === 0) return null
  return <Heed title="Check before you send">{notes.join(' ')}</Heed>
}

function Actions({ bid, mayWrite }: { bid: Bid; mayWrite: boolean }) {
  const { reread } = useBidChanged(bid.bid_id)
  const mayRemove = useMay('admin')
  const navigate = useNavigate()
  const change = useChange('change-bid')
  const remove = useChange('remove-bid')
  const [isRemoving, setIsRemoving] = useState(false)
  const [failed, setFailed] = useState<Error | null>(null)
  const download = () => {
    setFailed(null)
    call('export-bid', { params: { bid_id: bid.bid_id } }).then(saveFile, (error: Error) => setFailed(error))
  }
  return (
    <>
      {mayWrite && (
        <NativeSelect
          aria-label="Stage"
          value={bid.stage}
          data={bidStages.map((value) => ({ value, label: stageNames[value] }))}
          onChange={(event) =>
            change.mutate(
              { params: { bid_id: bid.bid_id }, body: { stage: event.currentTarget.value as Stage } },
              { onSuccess: () => void reread() },
            )
          }
        />
      )}
      {mayWrite && <BidSettings bid={bid} />}
      <Button onClick={download}>Download the file with rates</Button>
      {mayRemove && (
        <Button variant="default" onClick={() => setIsRemoving(true)}>
          Remove
        </Button>
      )}
      {(failed ?? change.error) !== null && <Failed error={failed ?? change.error} />}
      <ConfirmDialog
        opened={isRemoving}
        title={`Remove ${bid.name}?`}
        action="Remove the bid"
        pending={remove.isPending}
        error={remove.error}
        close={() => setIsRemoving(false)}
        confirm={() =>
          remove.mutate(
            { params: { bid_id: bid.bid_id } },
            { onSuccess: () => void reread().then(() => navigate({ to: pagePaths.bids, search: {} })) },
          )
        }
      >
        <Group>The file, the lanes, the rates and their history are removed. This cannot be undone.</Group>
      </ConfirmDialog>
    </>
  )
}
