import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  count,
  counted,
  countedQuotes,
  DataTable,
  day,
  daysOf,
  dollars,
  ExportLink,
  Failed,
  Figures,
  FilterRow,
  isBackwards,
  Loading,
  laneName,
  marketScopeName,
  month,
  Nothing,
  PeriodInput,
  RateTypeFilter,
  requestedRateType,
  roundDollars,
  signedPercent,
  TextLink,
  usePeriod,
} from '../shared-ui/index.ts'

type Standing = Answer<'get-market-standing'>
type Against = Standing['totals']['won']
type Lane = Standing['lanes'][number]
type Month = Standing['months'][number]
type Show = NonNullable<Query<'get-market-standing'>['show']>

const shows: Readonly<Record<Show, string>> = {
  all: 'All lanes',
  paying_above: 'Paying above market',
  quoting_below: 'Quoting below market',
}
const showOf = (search: AddressParams): Show =>
  Object.hasOwn(shows, search.show ?? '') ? (search.show as Show) : 'all'

const lanesListed = 100

/** Won, lost and paid rates against the market: in total, by month, and by lane. */
export function MarketStanding({
  search,
  change,
}: {
  search: AddressParams
  change: (params: AddressParams) => void
}) {
  const period = usePeriod(search)
  const show = showOf(search)
  const query = {
    show,
    ...requestedRateType(search),
    ...(period.from === undefined ? {} : { from: period.from }),
    ...(period.to === undefined ? {} : { to: period.to }),
  }
  const answer = useAnswer(
    'get-market-standing',
    { query: { ...query, limit: lanesListed } },
    { keeps: true, enabled: !isBackwards(period) },
  )
  const { data, error } = answer
  return (
    <Stack gap="md">
      <FilterRow label="Filters">
        <PeriodInput period={period} query={search} onChange={change} />
        <RateTypeFilter search={search} change={change} />
        <NativeSelect
          label="Show"
          value={show}
          onChange={(event) => change({ show: event.currentTarget.value })}
          data={Object.entries(shows).map(([value, label]) => ({ value, label }))}
        />
        <ExportLink
          href={addressOfCall('export-market-standing', query)}
          isEmpty={data === undefined || data.lanes_total === 0}
        />
      </FilterRow>
      {error !== null ? (
        <>
          <Failed
            error={error}
            title="The comparison could not be loaded"
            retry={() => void answer.refetch()}
          />
          {error.code === 'unavailable' && (
            <Text size="sm">If the period has very many quotes, choose a shorter one.</Text>
          )}
        </>
      ) : data === undefined ? (
        <Loading label="Loading the comparison" rows={8} height={56} />
      ) : (
        <Compared data={data} show={show} days={daysOf(period)} />
      )}
    </Stack>
  )
}

function Compared({ data, show, days }: { data: Standing; show: Show; days: AddressParams }) {
  if (data.months.length === 0) {
    return (
      <Nothing title="No quote has a market rate">
        A quote is compared with the market rate of its lane on the day of the quote.{' '}
        {counted(data.without_market.loads, 'load')} of this period{' '}
        {data.without_market.loads === 1 ? 'has' : 'have'} none. Enter rates under{' '}
        <TextLink to={pagePaths.marketRates}>Market rates</TextLink>
        .
        <Apart data={data} />
      </Nothing>
    )
  }
  const { totals } = data
  return (
    <>
      <Figures
        label="In total"
        loading={false}
        figures={[
          { label: 'Won against what customers pay', value: above(totals.won), note: loadsOf(totals.won) },
          { label: 'Lost against what customers pay', value: above(totals.lost), note: loadsOf(totals.lost) },
          {
            label: 'Your truck costs against what carriers are paid',
            value: above(totals.paid),
            note: loadsOf(totals.paid),
          },
          {
            label: 'Without a market rate',
            value: count(data.without_market.loads),
            note: `each load once; ${counted(data.without_market.lanes, 'lane')} without any market rate`,
          },
        ]}
      />
      {data.without_market.quotes > 0 && totals.won.loads + totals.lost.loads === 0 && (
        <Text size="sm">
          No saved market rate of these quotes is what customers pay, so won and lost quotes are compared with
          nothing. Load boards publish what carriers are paid.
        </Text>
      )}
      <Apart data={data} />
      <DataTable caption="By month" columns={monthColumns} rows={data.months} rowKey={(row) => row.month} />
      {data.lanes.length === 0 ? (
        <Nothing
          title={
            show === 'paying_above'
              ? 'You pay the market or less everywhere'
              : 'You quote the market or more everywhere'
          }
        >
          No lane of this period with a market rate is in this list.
        </Nothing>
      ) : (
        <LaneTable lanes={data.lanes} days={days} />
      )}
      <Text size="sm" c="dimmed">
        {data.lanes.length < data.lanes_total
          ? `The first ${data.lanes.length} of ${count(data.lanes_total)} lanes; the file has all. `
          : ''}
        Each quote is compared with the market rate of its day: the most specific area, not expired, newest.
        Won and lost are compared with market rates that customers pay (kind sell), paid truck costs with
        those that carriers are paid (kind buy). Months are in UTC.
      </Text>
    </>
  )
}

/** The quotes that are not compared, and the reasons that loads have no market rate. */
function Apart({ data: { compared, without_market: without } }: { data: Standing }) {
  const reasons = [
    [without.other_basis, 'the market rates are on the other basis, and their fuel is not known'],
    [without.other_currency, 'the market rates are in another currency, without an exchange rate'],
    [without.stale, 'the market rates were too old'],
  ] as const
  const shown = reasons.filter(([loads]) => loads > 0)
  return (
    <div>
      <BasisNote basis={compared} />
      {shown.length > 0 && (
        <Text component="p" size="xs" c="dimmed">
          Without a usable market rate:{' '}
          {shown.map(([loads, why]) => `${count(loads)} because ${why}`).join('; ')}.
        </Text>
      )}
    </div>
  )
}

const above = ({ above_pct: share }: Against) => (share === null ? '–' : signedPercent(share))
const loadsOf = ({ loads, own, market }: Against) =>
  loads === 0 ? 'No loads' : `${counted(loads, 'load')}: ${roundDollars(own)}, market ${roundDollars(market)}`

function Cell({ against }: { against: Against }) {
  if (against.loads === 0) return <Text size="sm">–</Text>
  return (
    <>
      <b>{above(against)}</b>
      <Text size="xs" c="dimmed">
        {roundDollars(against.own)} of {counted(against.loads, 'load')}
        <br />
        market {roundDollars(against.market)}
      </Text>
    </>
  )
}

type Figured = Pick<Lane, 'won' | 'lost' | 'paid' | 'paid_above' | 'quoted_below'>

function figureColumns<Row extends Figured>(): Column<Row>[] {
  return [
    { key: 'won', header: 'Won', align: 'right', cell: (row) => <Cell against={row.won} /> },
    { key: 'lost', header: 'Lost', align: 'right', cell: (row) => <Cell against={row.lost} /> },
    { key: 'paid', header: 'Paid', align: 'right', cell: (row) => <Cell against={row.paid} /> },
    { key: 'above', header: 'Paid above', align: 'right', cell: (row) => dollars(row.paid_above) },
    { key: 'below', header: 'Quoted below', align: 'right', cell: (row) => dollars(row.quoted_below) },
  ]
}

const monthColumns: readonly Column<Month>[] = [
  { key: 'month', header: 'Month', cell: (row) => month(row.month) },
  ...figureColumns<Month>(),
]

function LaneTable({ lanes, days }: { lanes: readonly Lane[]; days: AddressParams }) {
  const [columns] = useState((): readonly Column<Lane>[] => [
    {
      key: 'lane',
      header: 'Lane',
      wraps: true,
      cell: ({ lane, scope, source, as_of: asOf }) => {
        const name = laneName(lane.origin, lane.destination)
        return (
          <>
            {name}
            <Group gap="xs" fz="xs">
              <span>{lane.equipment}</span>
              <TextLink
                to={pagePaths.quotes}
                query={countedQuotes({ ...lane, ...days })}
                label={`Quotes of ${name}, ${lane.equipment}`}
              >
                Quotes
              </TextLink>
              <TextLink to={pagePaths.lane} query={lane} label={`Lane page of ${name}, ${lane.equipment}`}>
                Lane
              </TextLink>
              <Text span size="xs" c="dimmed">
                {source}, {marketScopeName(scope)}, {day(asOf)}
              </Text>
            </Group>
          </>
        )
      },
    },
    ...figureColumns<Lane>(),
  ])
  return (
    <DataTable
      caption="By lane"
      columns={columns}
      rows={lanes}
      rowKey={({ lane }) => `${lane.origin}>${lane.destination}>${lane.equipment}`}
    />
  )
}
