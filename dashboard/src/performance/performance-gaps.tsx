import { Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  type Column,
  CopyButton,
  counted,
  DataTable,
  day,
  dollars,
  Failed,
  InRed,
  Loading,
  laneName,
  Margin,
  Nothing,
  PageTurner,
  percent,
  roundDollars,
  signedDollars,
  TextLink,
} from '../shared-ui/index.ts'

type MarginGap = Answer<'list-margin-gaps'>['gaps'][number]

/** Why the landed margin is below the quoted margin, with amounts. */
function Reason({ gap }: { gap: MarginGap }) {
  const {
    quoted_rate: quoted,
    expected_cost: expected,
    customer_rate: booked,
    truck_cost: paid,
  } = gap.compared
  const name = { rate: 'Rate', cost: 'Cost', both: 'Rate and cost' }[gap.because]
  return (
    <>
      <b>{name}</b>
      {gap.because !== 'cost' && (
        <Text size="xs">
          Booked at {dollars(booked)}, quoted {dollars(quoted)} ({signedDollars(booked - quoted)})
        </Text>
      )}
      {gap.because !== 'rate' && (
        <Text size="xs">
          Truck at {dollars(paid)}, expected {dollars(expected)} ({signedDollars(paid - expected)})
        </Text>
      )}
    </>
  )
}

function QuoteCell({ quote }: { quote: MarginGap['lane'] }) {
  const name = laneName(quote.origin, quote.destination)
  return (
    <>
      <TextLink
        to={`${pagePaths.quotes}/${encodeURIComponent(quote.lane_ref)}`}
        label={`Quote ${quote.lane_ref}, ${name}`}
      >
        {name}
      </TextLink>
      <Text size="xs" c="dimmed" component="div">
        {quote.equipment} · {quote.lane_ref}{' '}
        <CopyButton text={quote.lane_ref} what={`quote number ${quote.lane_ref}`} compact />
      </Text>
    </>
  )
}

function columnsOf(gaps: readonly MarginGap[]): readonly Column<MarginGap>[] {
  const biggest = Math.max(...gaps.map(({ shortfall }) => shortfall), 1)
  return [
    {
      key: 'lane',
      header: 'Quote',
      cell: ({ lane: quote }) => <QuoteCell quote={quote} />,
    },
    {
      key: 'shortfall',
      header: 'Below the quote',
      align: 'right',
      cell: ({ shortfall }) => (
        <>
          <div style={{ color: 'var(--lost)' }}>{dollars(shortfall)}</div>
          <svg width={80} height={6} aria-hidden>
            <rect
              x={80 - (shortfall / biggest) * 80}
              width={(shortfall / biggest) * 80}
              height={6}
              rx={1}
              fill="var(--lost)"
            />
          </svg>
        </>
      ),
    },
    { key: 'because', header: 'Reason', cell: (gap) => <Reason gap={gap} />, wraps: true },
    {
      key: 'landed',
      header: 'Margin booked, quoted',
      align: 'right',
      cell: ({ margin, compared, quoted_margin: quotedMargin }) => (
        <>
          <InRed when={margin < 0}>
            {dollars(margin)} · {percent((100 * margin) / compared.customer_rate)}
          </InRed>
          <Text size="xs" c="dimmed">
            quoted <Margin amount={quotedMargin} />
          </Text>
        </>
      ),
    },
    {
      key: 'customer',
      header: 'Customer and carrier',
      cell: ({ lane: quote }) => (
        <div style={{ maxWidth: '13rem', overflow: 'hidden', textOverflow: 'ellipsis' }}>
          <span title={quote.customer_name}>{quote.customer_name}</span>
          <Text size="xs" c="dimmed" title={quote.carrier_name ?? ''}>
            {quote.carrier_name ?? '–'}
          </Text>
        </div>
      ),
    },
    {
      key: 'rep',
      header: 'Quoted',
      cell: ({ lane: quote }) => (
        <>
          {day(quote.created_at)}
          <Text size="xs" c="dimmed">
            {quote.quoted_by?.name ?? 'Imported'}
          </Text>
        </>
      ),
    },
  ]
}

/** Shipments with a landed margin below the quoted margin, largest shortfall first. */
export function MarginGaps({
  selection,
  search,
  change,
}: {
  selection: Query<'list-margin-gaps'>
  search: AddressParams
  change: (params: AddressParams) => void
}) {
  const cursor = search.cursor
  const answer = useAnswer(
    'list-margin-gaps',
    { query: { ...selection, ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true },
  )
  const { data, error } = answer
  if (error !== null) {
    return (
      <Failed
        error={error}
        title="The shipments below their quote could not be loaded"
        retry={() => void answer.refetch()}
      />
    )
  }
  if (data === undefined)
    return <Loading label="Loading the shipments below their quote" rows={8} height={48} />
  const { shipments_compared: compared, below, shortfall } = data.totals
  if (compared === 0) {
    return (
      <Nothing title="Nothing to compare in this selection">
        A comparison needs the shipment's AR and AP, and an expected truck cost when it was quoted. Enter an
        estimated cost with each quote, or choose a longer period.
      </Nothing>
    )
  }
  if (below === 0) {
    return (
      <Nothing title="No margin was booked below its quote">
        All {counted(compared, 'compared shipment')} were booked at or above the quoted margin.
      </Nothing>
    )
  }
  return (
    <Stack gap="sm" style={{ opacity: answer.isPlaceholderData ? 0.6 : 1 }}>
      <Text>
        <b>
          {below.toLocaleString('en-US')} of {counted(compared, 'compared shipment')}
        </b>{' '}
        were booked below the quoted margin, by <b>{roundDollars(shortfall)}</b> in total. The quoted margin
        is the quoted rate minus the expected truck cost at that time. A gain of a shipment on one side is set
        against its loss on the other; grouped by lane or customer, the table has both in full.
      </Text>
      <DataTable
        caption="Shipments whose margin was booked below the quote, largest shortfall first"
        columns={columnsOf(data.gaps)}
        rows={data.gaps}
        rowKey={({ lane: quote }) => quote.lane_ref}
      />
      <PageTurner
        search={search}
        change={change}
        nextCursor={data.next_cursor}
        rows={data.gaps.length}
        total={below}
        one="shipment"
      />
    </Stack>
  )
}
