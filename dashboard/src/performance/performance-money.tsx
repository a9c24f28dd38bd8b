import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, type Query } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  CustomerLink,
  counted,
  DataTable,
  Difference,
  ExportLink,
  Failed,
  Figures,
  Loading,
  Margin,
  PageTurner,
  roundDollars,
  TextLink,
} from '../shared-ui/index.ts'
import type { PerformanceFigures } from './performance-cells.tsx'
import { type PerformanceRow, paramsOfRow, quotesParams, rowWords, useFigures } from './performance-query.ts'
import { nameOfRow } from './performance-table.tsx'
import { LandedVsQuoted } from './performance-totals.tsx'

const moneyGroupings = { lane: 'Lanes', customer: 'Customers', rep: 'Reps', carrier: 'Carriers' } as const
type MoneyGrouping = keyof typeof moneyGroupings

const moneySorts = ['lost_to_cost', 'lost_to_rate', 'landed_vs_quoted', 'quoted_too_low'] as const
type MoneySort = (typeof moneySorts)[number]

type Finding = 'lost_to_cost' | 'lost_to_rate' | 'quoted_too_low'

interface MoneyProps {
  readonly selection: Query<'list-margin-gaps'>
  /** The address parameters, with the period. */
  readonly search: AddressParams
  readonly today: Date
  readonly change: (params: AddressParams) => void
  /** Replaces the figures if there are no quotes. */
  readonly empty: ReactNode
}

/** The margin that the selected quotes lost to a higher truck cost or a lower customer rate, and the quotes that were too low. */
export function Money({ selection, search, today, change, empty }: MoneyProps) {
  const by = (Object.keys(moneyGroupings) as MoneyGrouping[]).find((one) => one === search.by) ?? 'lane'
  const sort = moneySorts.find((one) => one === search.sort) ?? 'lost_to_cost'
  const rising = sort === 'landed_vs_quoted'
  const flipped = search.order === 'flipped'
  const order = rising === flipped ? ('desc' as const) : ('asc' as const)
  const asked = { by, ...selection, sort, order }
  const { data, totals, isOld, error, retry } = useFigures(asked, search)
  if (error !== null) return <Failed error={error} title="The figures could not be loaded" retry={retry} />
  if (totals?.quotes === 0) return empty
  const linked = (finding: Finding, text: ReactNode) => (
    <TextLink to={pagePaths.quotes} query={{ ...quotesParams(sharedParams(search), today), finding }}>
      {text}
    </TextLink>
  )
  return (
    <Stack gap="md">
      <MoneyTotals totals={totals} linked={linked} />
      <Definitions />
      <BasisNote basis={data?.basis} />
      <Group justify="space-between" gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Rows"
          value={by}
          onChange={(next) => change({ by: next })}
          data={Object.entries(moneyGroupings).map(([value, label]) => ({ value, label }))}
        />
        <ExportLink href={addressOfCall('export-performance', asked)} isEmpty={data?.rows_total === 0} />
      </Group>
      {data === null ? (
        <Loading label="Loading the figures" rows={8} height={48} />
      ) : (
        <Stack gap="sm" style={{ opacity: isOld ? 0.6 : 1 }}>
          <DataTable
            caption={`Money lost by ${by}`}
            columns={columnsOf(by, { search, today })}
            rows={data.rows}
            rowKey={(row) => row.key}
            sort={flipped ? `${sort}.flipped` : sort}
            onSort={(next) => {
              const [name = '', isFlipped = ''] = next.split('.')
              change({ sort: name, order: isFlipped })
            }}
          />
          <PageTurner
            search={search}
            change={change}
            nextCursor={data.next_cursor}
            rows={data.rows.length}
            total={data.rows_total}
            {...rowWords[by]}
          />
        </Stack>
      )}
    </Stack>
  )
}

function sharedParams(search: AddressParams): AddressParams {
  const { period, from, to, customer, equipment, rate_type, quoted_by } = search
  return { period, from, to, customer, equipment, rate_type, quoted_by }
}

const findingWords: Readonly<Record<Finding, string>> = {
  lost_to_cost: 'that lost money to cost',
  lost_to_rate: 'that lost money to rate',
  quoted_too_low: 'that were too low',
}

function MoneyTotals({
  totals,
  linked,
}: {
  totals: PerformanceFigures | undefined
  linked: (finding: Finding, text: ReactNode) => ReactNode
}) {
  const compared = counted(totals?.comparable_shipments ?? 0, 'compared shipment')
  return (
    <Figures
      label="Money of the selection"
      loading={totals === undefined}
      figures={[
        {
          label: 'Lost to cost',
          value: <Lost amount={totals?.lost_to_cost} />,
          note: linked('lost_to_cost', 'truck cost above expected'),
        },
        {
          label: 'Lost to rate',
          value: <Lost amount={totals?.lost_to_rate} />,
          note: linked('lost_to_rate', 'booked below the quoted rate'),
        },
        {
          label: 'Gained',
          value: roundDollars(totals?.gained),
          note: 'cheaper truck or higher rate',
        },
        {
          label: 'Landed vs quoted',
          value: <LandedVsQuoted amount={totals?.landed_vs_quoted} />,
          note: `gained minus lost, ${compared}`,
        },
        {
          label: 'Quoted too low (estimate)',
          value: <Lost amount={totals?.quoted_too_low_amount} />,
          note: (
            <>
              {linked('quoted_too_low', counted(totals?.quoted_too_low ?? 0, 'quote'))} of{' '}
              {(totals?.quotes_with_cost ?? 0).toLocaleString('en-US')},{' '}
              {(totals?.quoted_too_low_won ?? 0).toLocaleString('en-US')} won
            </>
          ),
        },
      ]}
    />
  )
}

/** An amount that was lost, in red with a minus sign. */
function Lost({ amount }: { amount: number | null | undefined }) {
  return <Margin amount={amount === null || amount === undefined ? amount : -amount} isRounded />
}

const rounded = (amount: number | null | undefined) =>
  amount === null || amount === undefined ? null : Math.round(amount)

/** Each definition in one sentence, as in docs/dashboard.md. */
function Definitions() {
  return (
    <Text
      component="div"
      size="xs"
      c="dimmed"
      style={{
        display: 'grid',
        gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 15rem), 1fr))',
        gap: 'var(--mantine-spacing-xs) var(--mantine-spacing-lg)',
      }}
    >
      <span>
        <b>Lost to cost</b> is the amount by which the booked truck cost (AP) was above the cost expected when
        the quote was made.
      </span>
      <span>
        <b>Lost to rate</b> is the amount by which the booked customer rate (AR) was below the quoted rate.
      </span>
      <span>
        <b>Quoted too low</b> is an estimate: the quoted rate was below the cost expected at that time plus
        your current minimum margin (<TextLink to={pagePaths.settings}>Settings</TextLink>). The amount counts
        won quotes only.
      </span>
      <span>
        <b>Compared shipments</b> have an AR, an AP, a quoted rate and an expected cost. Amounts here are
        whole dollars; the CSV file has cents.
      </span>
    </Text>
  )
}

interface RowAddress {
  readonly search: AddressParams
  readonly today: Date
}

/** An amount that links to its quotes. */
function LostOfRow({
  by,
  row,
  finding,
  amount,
  children,
  search,
  today,
}: RowAddress & {
  by: MoneyGrouping
  row: PerformanceRow
  finding: Finding
  amount: number | null
  children?: ReactNode
}) {
  const params = paramsOfRow(by, row, search, today)
  const shown = <Lost amount={amount} />
  return (
    <>
      {params === null || amount === null || amount === 0 ? (
        shown
      ) : (
        <TextLink
          to={pagePaths.quotes}
          query={{ ...quotesParams(params, today), finding }}
          label={`${roundDollars(-amount)}: quotes of ${row.label} ${findingWords[finding]}`}
        >
          {shown}
        </TextLink>
      )}
      {children}
    </>
  )
}

function NameOfRow({ by, row, search, today }: RowAddress & { by: MoneyGrouping; row: PerformanceRow }) {
  const name = nameOfRow(by, row)
  const params = paramsOfRow(by, row, search, today)
  return (
    <div style={{ width: 'min(17rem, 38vw)', whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
      {by === 'customer' ? (
        <CustomerLink name={row.label} />
      ) : params === null ? (
        name
      ) : (
        <TextLink to={pagePaths.quotes} query={quotesParams(params, today)}>
          {name}
        </TextLink>
      )}
      <Text size="xs" c="dimmed">
        {row.lane === null ? '' : `${row.lane.equipment} · `}
        {by === 'customer' && params !== null ? (
          <TextLink
            to={pagePaths.quotes}
            query={quotesParams(params, today)}
            label={`${counted(row.quotes, 'quote')} of ${row.label}`}
          >
            {counted(row.quotes, 'quote')}
          </TextLink>
        ) : (
          counted(row.quotes, 'quote')
        )}
        , {counted(row.comparable_shipments, 'compared shipment')}
      </Text>
    </div>
  )
}

function columnsOf(by: MoneyGrouping, at: RowAddress): readonly Column<PerformanceRow>[] {
  const sorts = (name: MoneySort) => [name, `${name}.flipped`] as const
  return [
    {
      key: 'name',
      header: { lane: 'Lane', customer: 'Customer', rep: 'Rep', carrier: 'Carrier' }[by],
      cell: (row) => <NameOfRow by={by} row={row} {...at} />,
    },
    {
      key: 'cost',
      header: 'Lost to cost',
      align: 'right',
      sorts: sorts('lost_to_cost'),
      cell: (row) => <LostOfRow by={by} row={row} finding="lost_to_cost" amount={row.lost_to_cost} {...at} />,
    },
    {
      key: 'rate',
      header: 'Lost to rate',
      align: 'right',
      sorts: sorts('lost_to_rate'),
      cell: (row) => <LostOfRow by={by} row={row} finding="lost_to_rate" amount={row.lost_to_rate} {...at} />,
    },
    { key: 'gained', header: 'Gained', align: 'right', cell: (row) => roundDollars(row.gained) },
    {
      key: 'landed',
      header: 'Landed vs quoted',
      align: 'right',
      sorts: sorts('landed_vs_quoted'),
      cell: (row) => <Difference amount={rounded(row.landed_vs_quoted)} />,
    },
    {
      key: 'low',
      header: 'Quoted too low (estimate)',
      align: 'right',
      sorts: sorts('quoted_too_low'),
      cell: (row) => (
        <LostOfRow
          by={by}
          row={row}
          finding="quoted_too_low"
          amount={row.quoted_too_low === 0 ? null : row.quoted_too_low_amount}
          {...at}
        >
          {row.quoted_too_low > 0 && (
            <Text size="xs" c="dimmed">
              {counted(row.quoted_too_low, 'quote')}, {row.quoted_too_low_won.toLocaleString('en-US')} won
            </Text>
          )}
        </LostOfRow>
      ),
    },
  ]
}
