import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, type Query } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  count,
  counted,
  DataTable,
  Difference,
  ExportLink,
  equipmentName,
  Failed,
  InRed,
  Loading,
  laneName,
  Margin,
  MonthCharts,
  PageTurner,
  type RateType,
  rateTypeNames,
  roundDollars,
  TextLink,
  WinRate,
} from '../shared-ui/index.ts'
import { MarginShare } from './performance-cells.tsx'
import {
  type Grouping,
  groupingNames,
  groupingOf,
  orderOf,
  type PerformanceRow,
  paramsOfRow,
  quotesParams,
  rowWords,
  type Sort,
  useFigures,
} from './performance-query.ts'
import { PerformanceTotals } from './performance-totals.tsx'

const monthsMax = 200

interface MarginFiguresProps {
  readonly selection: Query<'list-margin-gaps'>
  /** The address parameters, with the period. */
  readonly search: AddressParams
  readonly today: Date
  readonly change: (params: AddressParams) => void
  /** Replaces the figures if there are no quotes. */
  readonly empty: ReactNode
}

/** What was quoted, won and booked, and what was lost after it, in one table with a row per lane, customer, rep and so on. */
export function MarginFigures({ selection, search, today, change, empty }: MarginFiguresProps) {
  const by = groupingOf(search)
  const order = orderOf(search)
  const asked = { by, ...selection, ...order }
  const { data, totals, isOld, error, retry } = useFigures(
    { ...asked, ...(by === 'month' ? { limit: monthsMax } : {}) },
    search,
  )
  if (error !== null) return <Failed error={error} title="The figures could not be loaded" retry={retry} />
  if (totals?.quotes === 0) return empty
  return (
    <Stack gap="md">
      <PerformanceTotals totals={totals} search={search} today={today} />
      {by === 'month' && (data === null ? <div style={{ height: 220 }} /> : <MonthCharts rows={data.rows} />)}
      <Group justify="space-between" align="end" gap="sm">
        <NativeSelect
          label="Group by"
          value={by}
          onChange={({ currentTarget }) =>
            change({ view: 'figures', by: currentTarget.value, sort: undefined, order: undefined })
          }
          data={Object.entries(groupingNames).map(([value, label]) => ({ value, label }))}
        />
        <ExportLink href={addressOfCall('export-performance', asked)} isEmpty={data?.rows_total === 0} />
      </Group>
      {data === null ? (
        <Loading label="Loading the figures" rows={8} height={56} />
      ) : (
        <Stack gap="sm" style={{ opacity: isOld ? 0.6 : 1 }}>
          <DataTable
            caption={`Figures by ${rowWords[by].one}`}
            columns={columnsOf(by, data.rows, { search, today })}
            rows={data.rows}
            rowKey={(row) => row.key}
            sort={order === undefined ? '' : order.order === 'asc' ? `${order.sort}.asc` : order.sort}
            onSort={(next) => {
              const [sort = '', direction = 'desc'] = next.split('.')
              change({ sort, order: direction })
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
      <Definitions />
      <BasisNote basis={data?.basis} />
    </Stack>
  )
}

/** Each definition in one sentence. */
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
        <b>Win rate</b> is won ÷ answered quotes (won and lost). Its 80% range shows the uncertainty for this
        number of quotes. <b>Margin</b> is AR − AP of shipments where both are known.
      </span>
      <span>
        <b>Lost to cost</b> is the amount by which the booked truck cost (AP) was above the cost expected when
        the lane was quoted.
      </span>
      <span>
        <b>Lost to rate</b> is the amount by which the booked customer rate (AR) was below the quoted rate.
      </span>
      <span>
        <b>Below your minimum</b> is an estimate: the quoted rate was below the cost expected at that time
        plus your current minimum margin (<TextLink to={pagePaths.rules}>Pricing rules</TextLink>). The amount
        counts won quotes only.
      </span>
      <span>
        <b>Compared shipments</b> have an AR, an AP, a quoted rate and an expected cost. Amounts here are
        whole dollars; the CSV file has cents.
      </span>
    </Text>
  )
}

/** The name of a row as the page shows it. */
export function nameOfRow(by: Grouping, row: PerformanceRow): string {
  if (by === 'equipment') return equipmentName(row.label)
  if (by === 'rate_type') return rateTypeNames[row.key as RateType]
  return row.lane === null ? row.label : laneName(row.lane.origin, row.lane.destination)
}

interface RowAddress {
  readonly search: AddressParams
  readonly today: Date
}
type OfRow = RowAddress & { readonly by: Grouping; readonly row: PerformanceRow }

function NameOfRow({ by, row, search, today }: OfRow) {
  return (
    <>
      <div
        style={{ maxWidth: '13rem', overflow: 'hidden', textOverflow: 'ellipsis' }}
        title={nameOfRow(by, row)}
      >
        {nameOfRow(by, row)}
      </div>
      <Links by={by} row={row} search={search} today={today} />
    </>
  )
}

function Links({ by, row, search, today }: OfRow) {
  const params = paramsOfRow(by, row, search, today)
  if (params === null) return <Text size="xs">{row.lane?.equipment ?? (by === 'rep' ? 'imported' : '')}</Text>
  const of = `of ${row.label}`
  return (
    <Group gap="xs" fz="xs">
      {row.lane !== null && <span>{row.lane.equipment}</span>}
      <TextLink to={pagePaths.quotes} query={quotesParams(params, today)} label={`Quotes ${of}`}>
        Quotes
      </TextLink>
      <TextLink to={pagePaths.shipments} query={params} label={`Shipments ${of}`}>
        Shipments
      </TextLink>
      {row.lane !== null && (
        <TextLink
          to={pagePaths.lane}
          query={{ ...row.lane, rate_type: search.rate_type }}
          label={`Lane page ${of}`}
        >
          Lane
        </TextLink>
      )}
      {by === 'customer' && (
        <TextLink to={pagePaths.customers} query={{ name: row.label }} label={`Customer page ${of}`}>
          Customer
        </TextLink>
      )}
    </Group>
  )
}

const findingWords = {
  lost_to_cost: 'that lost money to cost',
  lost_to_rate: 'that lost money to rate',
  quoted_too_low: 'that were below your minimum',
} as const

/** An amount that links to its quotes. */
function LostOfRow({
  by,
  row,
  finding,
  amount,
  search,
  today,
}: OfRow & { readonly finding: keyof typeof findingWords; readonly amount: number | null }) {
  const params = paramsOfRow(by, row, search, today)
  // It stands below a heading that says that it was lost, so it has no sign.
  const shown = <InRed when={(amount ?? 0) > 0}>{roundDollars(amount)}</InRed>
  if (params === null || amount === null || amount === 0) return shown
  return (
    <TextLink
      to={pagePaths.quotes}
      query={{ ...quotesParams(params, today), finding }}
      label={`${roundDollars(amount)}: quotes of ${row.label} ${findingWords[finding]}`}
    >
      {shown}
    </TextLink>
  )
}

const sorts = (name: Sort) => [name, `${name}.asc`] as const
const rounded = (amount: number | null) => (amount === null ? null : Math.round(amount))

/** What was quoted, won and booked. */
function earnedColumns(rows: readonly PerformanceRow[]): readonly Column<PerformanceRow>[] {
  const longest = Math.max(...rows.map(({ margin_pct }) => Math.abs(margin_pct ?? 0)), 0)
  return [
    {
      key: 'quotes',
      header: 'Quotes',
      align: 'right',
      sorts: sorts('quotes'),
      cell: (row) => count(row.quotes),
    },
    {
      key: 'win-rate',
      header: 'Win rate',
      sorts: sorts('win_rate'),
      cell: (row) => <WinRate figures={row} />,
    },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      sorts: sorts('margin'),
      cell: (row) => (
        <>
          <Margin amount={row.margin} isRounded />
          <Text size="xs" c="dimmed">
            {row.shipments === 0 ? 'no AR, AP' : `of ${roundDollars(row.customer_rate)}`}
          </Text>
        </>
      ),
    },
    {
      key: 'margin-pct',
      header: 'Margin %',
      align: 'right',
      sorts: sorts('margin_pct'),
      cell: (row) => <MarginShare share={row.margin_pct} longest={longest} />,
    },
  ]
}

/** What was lost after the quote, and by the quote. */
function lostColumns(by: Grouping, at: RowAddress): readonly Column<PerformanceRow>[] {
  return [
    {
      key: 'landed',
      header: 'Booked vs quoted',
      align: 'right',
      sorts: sorts('landed_vs_quoted'),
      cell: (row) => (
        <>
          <Difference amount={rounded(row.landed_vs_quoted)} />
          <Text size="xs" c="dimmed">
            of <Margin amount={row.quoted_margin} isRounded />
          </Text>
        </>
      ),
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
    {
      key: 'low',
      header: 'Below min.',
      align: 'right',
      sorts: sorts('quoted_too_low'),
      cell: (row) => (
        <>
          <LostOfRow
            by={by}
            row={row}
            finding="quoted_too_low"
            amount={row.quoted_too_low === 0 ? null : row.quoted_too_low_amount}
            {...at}
          />
          {row.quoted_too_low > 0 && (
            <Text size="xs" c="dimmed">
              {counted(row.quoted_too_low, 'quote')}, {count(row.quoted_too_low_won)} won
            </Text>
          )}
        </>
      ),
    },
  ]
}

function columnsOf(
  by: Grouping,
  rows: readonly PerformanceRow[],
  at: RowAddress,
): readonly Column<PerformanceRow>[] {
  return [
    { key: 'name', header: groupingNames[by], cell: (row) => <NameOfRow by={by} row={row} {...at} /> },
    ...earnedColumns(rows),
    ...lostColumns(by, at),
  ]
}
