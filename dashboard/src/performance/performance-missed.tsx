import { IconInfoCircle } from 'virtual:tabler-icons'
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  counted,
  DataTable,
  day,
  ExportLink,
  Failed,
  Figures,
  Loading,
  laneName,
  Margin,
  Nothing,
  PageTurner,
  type Period,
  percent,
  roundDollars,
  TextLink,
} from '../shared-ui/index.ts'
import { AsOf, JudgingProgress, TooFewQuotes } from './performance-calibration.tsx'
import { selectionOf as selectionOfAll } from './performance-query.ts'

type Kind = Query<'get-missed-margin'>['kind']
type Found = Extract<Answer<'get-missed-margin'>, { status: 'done' }>
type Sums = Found['totals'][Kind]
type Row = Found['rows'][number]
type Listed = Extract<Answer<'list-missed-quotes'>, { status: 'done' }>
type MissedQuote = Listed['quotes'][number]

const kindNames: Readonly<Record<Kind, string>> = {
  won_too_low: 'Won too low',
  not_worth: 'Not worth winning',
}
const groupings = { lane: 'Lanes', customer: 'Customers' } as const
/** Long names take two lines, and leave room for the amount on a phone. */
const nameStyle = { width: 'min(17rem, 38vw)', whiteSpace: 'normal', overflowWrap: 'anywhere' } as const
const pollEveryMs = 2_000
/** The report covers the days that the answer says; no shorter period can be chosen. */
const allTime: Period = { choice: 'all', inWords: 'all time', from: undefined, to: undefined }

interface MissedProps {
  readonly search: AddressParams
  readonly change: (params: AddressParams) => void
}

interface Shown extends MissedProps {
  readonly kind: Kind
}

type Selection = Pick<Query<'list-missed-quotes'>, 'customer' | 'equipment' | 'rate_type' | 'quoted_by'>
type Lane = Pick<Query<'list-missed-quotes'>, 'origin' | 'destination'>

/** The filters of the address. A lane is selected by following a row. */
function selectionOf(search: AddressParams): { readonly shared: Selection; readonly lane: Lane } {
  const { from: _from, to: _to, ...shared } = selectionOfAll(search, allTime)
  const { origin = '', destination = '' } = search
  return {
    shared,
    lane: { ...(origin === '' ? {} : { origin }), ...(destination === '' ? {} : { destination }) },
  }
}

/** Where rates were too low: quotes that were won for less than needed, and quotes below their cost. */
export default function MissedMargin({ search, change }: MissedProps) {
  const kind: Kind = search.kind === 'not_worth' ? 'not_worth' : 'won_too_low'
  const isTraced = search.rows === 'quotes'
  return (
    <Stack gap="md">
      <Definitions />
      <Group justify="space-between" gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Finding"
          value={kind}
          onChange={(next) => change({ kind: next, cursor: undefined })}
          data={Object.entries(kindNames).map(([value, label]) => ({ value, label }))}
        />
        <SegmentedControl
          size="xs"
          aria-label="Rows"
          value={isTraced ? 'quotes' : search.by === 'customer' ? 'customer' : 'lane'}
          onChange={(next) =>
            change(
              next === 'quotes'
                ? { rows: next, cursor: undefined }
                : { by: next, rows: undefined, origin: undefined, destination: undefined, cursor: undefined },
            )
          }
          data={[
            ...Object.entries(groupings).map(([value, label]) => ({ value, label })),
            { value: 'quotes', label: 'Quotes' },
          ]}
        />
      </Group>
      {isTraced ? (
        <QuotesOfFigure kind={kind} search={search} change={change} />
      ) : (
        <Groups kind={kind} search={search} change={change} />
      )}
    </Stack>
  )
}

function Definitions() {
  return (
    <Alert color="gray" variant="outline" icon={<IconInfoCircle aria-hidden />} title="These are estimates">
      <Text component="div" size="xs">
        Each quote is judged by what was known on the morning of its day: the win curve, the going rate and
        the expected truck cost, all from earlier days. <b>Won too low</b>: the rate was clearly below the
        lowest rate that was nearly as good as the best one. The amount is the expected margin at that rate
        minus the margin as quoted: it allows for the chance of losing the quote. <b>Not worth winning</b>:
        the rate was below the truck cost that was known then. The amount is the expected loss; a pending
        quote counts with its chance of winning. A truck that was cheaper than the entered cost looks like a
        loss here. The 80% range covers the uncertainty of the win curves and of the costs. <b>Booked</b> is
        the margin of these quotes that was booked later; it is not part of the estimate.
      </Text>
    </Alert>
  )
}

/** The states that both views share: failure and loading. `what` begins the sentence of the error. */
function Judged<Data extends { status: string }>({
  answer,
  what,
  children,
}: {
  answer: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  what: string
  children: (data: Data) => ReactNode
}) {
  const { data, error } = answer
  if (error !== null) {
    return <Failed error={error} title={`${what} could not be loaded`} retry={() => void answer.refetch()} />
  }
  return data === undefined ? (
    <Loading label={`Loading ${what.toLowerCase()}`} rows={8} height={48} />
  ) : (
    children(data)
  )
}

const options = {
  everyMs: (last: { status: string } | undefined) => (last?.status === 'running' ? pollEveryMs : false),
  keeps: true,
  staleMs: 60_000,
} as const

function Groups({ kind, search, change }: Shown) {
  const by = search.by === 'customer' ? 'customer' : 'lane'
  const { shared } = selectionOf(search)
  const { cursor } = search
  const answer = useAnswer(
    'get-missed-margin',
    { query: { by, kind, ...shared, ...(cursor === undefined ? {} : { cursor }) } },
    options,
  )
  return (
    <Judged answer={answer} what="The missed margin">
      {(data) => {
        if (data.status === 'running') return <JudgingProgress progress={data.progress} />
        if (data.status === 'too_few') return <TooFewQuotes result={data.too_few} />
        if (data.judged === 0) return <NoCosts />
        const rows = { one: by, many: `${by}s` }
        return (
          <Stack gap="sm" style={{ opacity: answer.isPlaceholderData ? 0.6 : 1 }}>
            <Totals kind={kind} totals={data.totals} />
            <Group justify="space-between" gap="sm">
              <NotJudged result={data} />
              <ExportLink
                href={addressOfCall('export-missed-margin', { kind, ...shared })}
                isEmpty={data.rows_total === 0}
              />
            </Group>
            {data.rows_total === 0 ? (
              <NoneFound kind={kind} />
            ) : (
              <DataTable
                caption={`${kindNames[kind]}, by ${by}`}
                columns={groupColumns(kind, by, search)}
                rows={data.rows}
                rowKey={(row) => row.key}
              />
            )}
            <PageTurner
              search={search}
              change={change}
              nextCursor={data.next_cursor}
              rows={data.rows.length}
              total={data.rows_total}
              {...rows}
            />
            <BasisNote basis={data.basis} />
            <AsOf data={data} isFetching={answer.isFetching} refetch={() => void answer.refetch()} />
          </Stack>
        )
      }}
    </Judged>
  )
}

function NoneFound({ kind }: { kind: Kind }) {
  return (
    <Nothing title={kind === 'not_worth' ? 'No quote below its cost' : 'No quote that was clearly too low'}>
      None of the judged quotes of this selection missed margin in this way.
    </Nothing>
  )
}

function NoCosts() {
  return (
    <Nothing
      title="No costs are known"
      actions={
        <Button variant="default" component="a" href={pagePaths.imports}>
          Import bookings
        </Button>
      }
    >
      A rate is too low only compared with a truck cost. Enter an estimated cost with each quote, or import
      bookings with their truck costs (AP): the expected cost is learned from them.
    </Nothing>
  )
}

function NotJudged({ result }: { result: Found | Listed }) {
  const { without_cost: cost, without_rate: rate, unlikely_cost: unlikely, at_edge: edge } = result.not_judged
  const reasons = [
    cost > 0 && `${cost.toLocaleString('en-US')} without a cost`,
    rate > 0 && `${rate.toLocaleString('en-US')} without a going rate`,
    unlikely > 0 && `${unlikely.toLocaleString('en-US')} with an unlikely cost`,
    edge > 0 && `${edge.toLocaleString('en-US')} with a best rate at the end of the rates tried`,
  ].filter((reason) => reason !== false)
  return (
    <Text size="sm" c="dimmed">
      {counted(result.judged, 'won or pending quote')} of the last {result.window_days} days judged
      {reasons.length > 0 && `; not judged: ${reasons.join(', ')}`}.
    </Text>
  )
}

const range = ({ range_80: { low, high } }: Sums, sign: 1 | -1 = 1) =>
  sign === 1
    ? `${roundDollars(low)} to ${roundDollars(high)}`
    : `${roundDollars(-high)} to ${roundDollars(-low)}`

function Totals({ kind, totals }: { kind: Kind; totals: Found['totals'] }) {
  const shown = totals[kind]
  const note = (sums: Sums, sign: 1 | -1) =>
    sums.quotes === 0 ? 'no quotes' : `80% range ${range(sums, sign)}; ${counted(sums.quotes, 'quote')}`
  return (
    <Figures
      label="Missed margin of the selection"
      loading={false}
      figures={[
        {
          label: 'Won too low (estimate)',
          value: roundDollars(totals.won_too_low.amount),
          note: note(totals.won_too_low, 1),
        },
        {
          label: 'Not worth winning (estimate)',
          value: <Margin amount={-totals.not_worth.amount} isRounded />,
          note: note(totals.not_worth, -1),
        },
        {
          label: 'Booked later',
          value: <Margin amount={shown.booked_margin} isRounded />,
          note: `margin of the ${shown.booked.toLocaleString('en-US')} booked: ${kindNames[kind].toLowerCase()}`,
        },
      ]}
    />
  )
}

function Amount({ kind, amount }: { kind: Kind; amount: number }) {
  return kind === 'not_worth' ? <Margin amount={-amount} isRounded /> : roundDollars(amount)
}

function groupColumns(kind: Kind, by: keyof typeof groupings, search: AddressParams): readonly Column<Row>[] {
  const { customer, equipment, rate_type, quoted_by } = search
  const quotesOf = (row: Row) => ({
    view: 'missed',
    kind,
    rows: 'quotes',
    by,
    customer,
    equipment,
    rate_type,
    quoted_by,
    ...(row.lane ?? { customer: row.label }),
  })
  return [
    {
      key: 'name',
      header: { lane: 'Lane', customer: 'Customer' }[by],
      cell: (row) => (
        <div style={nameStyle}>
          {row.lane === null ? row.label : laneName(row.lane.origin, row.lane.destination)}
          <Text size="xs" c="dimmed">
            {row.lane === null ? '' : `${row.lane.equipment} · `}
            {counted(row.quotes, 'quote')}
          </Text>
        </div>
      ),
    },
    {
      key: 'amount',
      header: kind === 'not_worth' ? 'Loss (estimate)' : 'Missed (estimate)',
      align: 'right',
      cell: (row) => (
        <>
          <TextLink
            to={pagePaths.results}
            query={quotesOf(row)}
            label={`${roundDollars(row.amount)}: the quotes of ${row.label}`}
          >
            <Amount kind={kind} amount={row.amount} />
          </TextLink>
          <Text size="xs" c="dimmed">
            {range(row, kind === 'not_worth' ? -1 : 1)}
          </Text>
        </>
      ),
    },
    {
      key: 'each',
      header: 'A quote',
      align: 'right',
      cell: (row) => <Amount kind={kind} amount={row.amount / row.quotes} />,
    },
    {
      key: 'booked',
      header: 'Booked later',
      align: 'right',
      cell: (row) => (
        <>
          <Margin amount={row.booked_margin} isRounded />
          <Text size="xs" c="dimmed">
            {row.booked.toLocaleString('en-US')} of {counted(row.quotes, 'quote')}
          </Text>
        </>
      ),
    },
  ]
}

function QuotesOfFigure({ kind, search, change }: Shown) {
  const { shared, lane } = selectionOf(search)
  const { cursor } = search
  const answer = useAnswer(
    'list-missed-quotes',
    { query: { kind, ...shared, ...lane, ...(cursor === undefined ? {} : { cursor }) } },
    options,
  )
  return (
    <Judged answer={answer} what="The quotes">
      {(data) => {
        if (data.status === 'running') return <JudgingProgress progress={data.progress} />
        if (data.status === 'too_few') return <TooFewQuotes result={data.too_few} />
        if (data.judged === 0) return <NoCosts />
        if (data.totals.quotes === 0) return <NoneFound kind={kind} />
        return (
          <Stack gap="sm" style={{ opacity: answer.isPlaceholderData ? 0.6 : 1 }}>
            <Text>
              <b>{counted(data.totals.quotes, 'quote')}</b>
              {lane.origin == null ? '' : ` of ${laneName(lane.origin, lane.destination ?? '')}`}
              {shared.customer == null ? '' : ` of ${shared.customer}`}:{' '}
              <b>
                <Amount kind={kind} amount={data.totals.amount} />
              </b>{' '}
              (estimate; 80% range {range(data.totals, kind === 'not_worth' ? -1 : 1)}).
            </Text>
            <Group justify="space-between" gap="sm">
              <NotJudged result={data} />
              <ExportLink
                href={addressOfCall('export-missed-margin', { kind, ...shared, ...lane })}
                isEmpty={false}
              />
            </Group>
            <DataTable
              caption={`${kindNames[kind]}: quotes, the largest amount first`}
              columns={quoteColumns(kind)}
              rows={data.quotes}
              rowKey={(quote) => quote.lane.lane_ref}
            />
            <PageTurner
              search={search}
              change={change}
              nextCursor={data.next_cursor}
              rows={data.quotes.length}
              total={data.totals.quotes}
              one="quote"
            />
            <BasisNote basis={data.basis} />
            <AsOf data={data} isFetching={answer.isFetching} refetch={() => void answer.refetch()} />
          </Stack>
        )
      }}
    </Judged>
  )
}

function quoteColumns(kind: Kind): readonly Column<MissedQuote>[] {
  return [
    {
      key: 'lane',
      header: 'Quote',
      cell: ({ lane }) => (
        <div style={nameStyle}>
          <TextLink
            to={`${pagePaths.quotes}/${encodeURIComponent(lane.lane_ref)}`}
            label={`Quote ${lane.lane_ref}, ${laneName(lane.origin, lane.destination)}`}
          >
            {laneName(lane.origin, lane.destination)}
          </TextLink>
          <Text size="xs" c="dimmed">
            {lane.equipment} · {lane.customer_name} · {day(lane.created_at)}
          </Text>
        </div>
      ),
    },
    {
      key: 'amount',
      header: kind === 'not_worth' ? 'Loss (estimate)' : 'Missed (estimate)',
      align: 'right',
      cell: ({ amount }) => <Amount kind={kind} amount={amount} />,
    },
    {
      key: 'rate',
      header: 'Quoted',
      align: 'right',
      cell: (quote) => (
        <>
          {roundDollars(quote.quoted_rate)}
          <Text size="xs" c="dimmed">
            win {percent(100 * quote.win_probability)}
          </Text>
        </>
      ),
    },
    {
      key: 'better',
      header: kind === 'not_worth' ? 'Nearly as good as best' : 'Better rate',
      align: 'right',
      cell: (quote) => (
        <>
          {roundDollars(quote.better_rate)}
          <Text size="xs" c="dimmed">
            win {percent(100 * quote.win_probability_better)}
          </Text>
        </>
      ),
    },
    { key: 'cost', header: 'Cost known then', align: 'right', cell: ({ cost }) => roundDollars(cost) },
    {
      key: 'booked',
      header: 'Booked later',
      align: 'right',
      cell: ({ booked_margin }) => <Margin amount={booked_margin} isRounded />,
    },
  ]
}
