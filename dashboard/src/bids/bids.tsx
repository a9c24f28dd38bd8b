import { Anchor, Button, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useMay } from '../api/index.ts'
import {
  type Column,
  count,
  DataTable,
  Failed,
  Loading,
  moment,
  Page,
  roundDollars,
} from '../shared-ui/index.ts'
import { BidView } from './bid.tsx'
import { NewBid } from './bid-new.tsx'
import { stageNames } from './bid-words.ts'

type Summary = Answer<'list-bids'>['bids'][number]

/** The bids of the brokerage, or the one in the address. */
export function BidsPage() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const mayAdd = useMay('member')
  const [isAdding, setIsAdding] = useState(false)
  const named = /^[1-9]\d{0,9}$/.test(search.bid ?? '') ? Number(search.bid) : null
  const open = (bidId: number) => void navigate({ to: pagePaths.bids, search: { bid: String(bidId) } })
  if (named !== null) return <BidView key={named} bidId={named} />
  return (
    <Page
      title="Bids"
      hint="The lanes that shippers ask contract rates for. Upload the shipper's file, price it, and send the same file back with your rates."
      actions={mayAdd && !isAdding ? <Button onClick={() => setIsAdding(true)}>New bid</Button> : undefined}
    >
      {isAdding && <NewBid onAdded={open} onCancel={() => setIsAdding(false)} />}
      <BidList />
    </Page>
  )
}

function BidList() {
  const list = useAnswer('list-bids', {})
  if (list.data === undefined) {
    return list.error === null ? (
      <Loading label="Loading the bids" />
    ) : (
      <Failed error={list.error} retry={() => void list.refetch()} />
    )
  }
  const { bids } = list.data
  if (bids.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No bids yet.
      </Text>
    )
  }
  return (
    <DataTable
      caption="Bids, newest first"
      rows={bids}
      rowKey={({ bid_id }) => String(bid_id)}
      columns={columns}
    />
  )
}

const columns: readonly Column<Summary>[] = [
  {
    key: 'name',
    header: 'Bid',
    wraps: true,
    cell: ({ bid_id, name }) => (
      <Anchor
        renderRoot={(props) => <Link {...props} to={pagePaths.bids} search={{ bid: String(bid_id) }} />}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
      >
        {name}
      </Anchor>
    ),
  },
  { key: 'customer', header: 'Customer', wraps: true, cell: ({ customer_name }) => customer_name },
  { key: 'stage', header: 'Stage', cell: ({ stage }) => stageNames[stage] },
  { key: 'due', header: 'Deadline', cell: ({ due_at }) => (due_at === null ? '–' : moment(due_at)) },
  { key: 'lanes', header: 'Lanes', align: 'right', cell: ({ lanes }) => count(lanes) },
  {
    key: 'rated',
    header: 'With a rate',
    align: 'right',
    from: 'sm',
    cell: ({ rated }) => count(rated),
  },
  { key: 'value', header: 'Value', align: 'right', cell: ({ value }) => roundDollars(value) },
]
