import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, type Query } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  CustomerLink,
  count,
  counted,
  DataTable,
  ExportLink,
  equipmentName,
  Failed,
  InRed,
  Loading,
  laneName,
  Margin,
  MarginPct,
  PageTurner,
  roundDollars,
  signedDollars,
  TextLink,
  useNameOfPerson,
  WinRate,
} from '../shared-ui/index.ts'
import { MarginGaps } from './performance-gaps.tsx'
import {
  type Grouping,
  groupingNames,
  groupingOf,
  orderOf,
  type PerformanceRow,
  paramsOfRow,
  quotesParams,
  rowWords,
  sharedParams,
  ungrouped,
  useFigures,
} from './performance-query.ts'

interface MarginProps {
  readonly selection: Query<'list-margin-gaps'>
  /** The address parameters, with the period. */
  readonly search: AddressParams
  readonly today: Date
  readonly change: (params: AddressParams) => void
  /** Replaces the figures if there are no quotes. */
  readonly empty: ReactNode
}

/** What was quoted, won and booked, and what was lost after the quote: a row for each lane, customer, rep, shipment and so on. */
export function WhereMarginGoes(props: MarginProps) {
  return props.search.by === ungrouped ? (
    <Stack gap="md">
      <GroupBy by={ungrouped} change={props.change} />
      <MarginGaps {...props} />
    </Stack>
  ) : (
    <MarginFigures {...props} />
  )
}

function GroupBy({ by, change }: Pick<MarginProps, 'change'> & { by: Grouping | typeof ungrouped }) {
  return (
    <NativeSelect
      label="Group by"
      maw="14rem"
      value={by}
      onChange={({ currentTarget }) => change({ by: currentTarget.value, sort: undefined, order: undefined })}
      data={[
        ...Object.entries(groupingNames).map(([value, label]) => ({ value, label })),
        { value: ungrouped, label: 'Nothing: each shipment' },
      ]}
    />
  )
}

function MarginFigures({ selection, search, today, change, empty }: MarginProps) {
  const by = groupingOf(search)
  const order = orderOf(search)
  const asked = { by, ...selection, ...order }
  const { data, totals, isOld, error, retry } = useFigures(asked, search)
  if (error !== null) return <Failed error={error} title="The figures could not be loaded" retry={retry} />
  if (totals?.quotes === 0) return empty
  return (
    <Stack gap="md" style={{ opacity: isOld ? 0.6 : 1 }}>
      <Group justify="space-between" align="end" gap="sm">
        <GroupBy by={by} change={change} />
        <ExportLink href={addressOfCall('export-performance', asked)} isEmpty={data?.rows_total === 0} />
      </Group>
      {data === null || totals === undefined ? (
        <Loading label="Loading the figures" rows={8} height={56} />
      ) : (
        <>
          <DataTable
            caption={`Figures by ${rowWords[by].one}`}
            columns={columnsOf(by, { search, today })}
            rows={[{ key: allKey, label: 'all quotes', lane: null, ...totals }, ...data.rows]}
            rowKey={(row) => row.key}
            // The totals stand out as a chosen row does.
            chosen={allKey}
            sort={order === undefined ? '' : order.order === 'asc' ? `${order.sort}.asc` : (order.sort ?? '')}
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
        </>
      )}
      <BasisNote basis={data?.basis} />
    </Stack>
  )
}

/** The key of the first row, which has the totals of the selection. */
const allKey = 'the totals'

/** The name of a row as the page shows it. */
export function nameOfRow(by: Grouping, row: PerformanceRow): string {
  if (row.key === allKey) return 'All'
  if (by === 'equipment') return equipmentName(row.label)
  return row.lane === null ? row.label : laneName(row.lane.origin, row.lane.destination)
}

interface RowAddress {
  readonly search: AddressParams
  readonly today: Date
}
type OfRow = RowAddress & { readonly by: Grouping; readonly row: PerformanceRow }

const paramsOf = ({ by, row, search, today }: OfRow) =>
  row.key === allKey ? sharedParams(search) : paramsOfRow(by, row, search, today)

function NameOfRow(of: OfRow) {
  const { by, row, today } = of
  const nameOfPerson = useNameOfPerson(by === 'rep')
  const name =
    by === 'rep' && row.key !== allKey
      ? nameOfPerson({ id: Number(row.key), name: row.label })
      : nameOfRow(by, row)
  const params = paramsOf(of)
  const named = `of ${by === 'rep' ? name : row.label}`
  return (
    <>
      <div
        // Links of two lines that follow each other are 24 pixels apart, for fingers.
        style={{ maxWidth: '16rem', whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: '1.5rem' }}
        title={name}
      >
        {row.lane !== null ? (
          <TextLink to={pagePaths.lane} query={row.lane}>
            {name}
          </TextLink>
        ) : by === 'customer' && row.key !== allKey ? (
          <CustomerLink name={row.label} />
        ) : (
          name
        )}
      </div>
      <Group gap={6} fz="xs" lh="1.5rem" wrap="nowrap">
        {row.lane?.equipment ?? (params === null && by === 'rep' ? 'imported' : '')}
        {params !== null && (
          <>
            <TextLink to={pagePaths.quotes} query={quotesParams(params, today)} label={`Quotes ${named}`}>
              Quotes
            </TextLink>
            <TextLink to={pagePaths.shipments} query={params} label={`Shipments ${named}`}>
              Shipments
            </TextLink>
          </>
        )}
      </Group>
    </>
  )
}

const findingWords = {
  lost_to_cost: 'that lost money to cost',
  lost_to_rate: 'that lost money to rate',
  quoted_too_low: 'that were too low',
} as const

/** A lost amount that links to its quotes. It has no sign, because the name of its column says that it was lost. */
function Lost({
  finding,
  amount,
  ...of
}: OfRow & { readonly finding: keyof typeof findingWords; readonly amount: number | null }) {
  const params = paramsOf(of)
  const shown = <InRed when={(amount ?? 0) > 0}>{roundDollars(amount)}</InRed>
  if (params === null || amount === null || amount === 0) return shown
  return (
    <TextLink
      to={pagePaths.quotes}
      query={{ ...quotesParams(params, of.today), finding }}
      label={`${roundDollars(amount)}: quotes of ${of.row.label} ${findingWords[finding]}`}
    >
      {shown}
    </TextLink>
  )
}

function Below({ children }: { children: ReactNode }) {
  return (
    // It breaks before the table is wider than its page.
    <Text size="xs" c="dimmed" style={{ whiteSpace: 'normal' }}>
      {children}
    </Text>
  )
}

type Sort = NonNullable<Query<'get-performance'>['sort']>
const sorts = (name: Sort) => [name, `${name}.asc`] as const

/** What was quoted, won and booked. */
const bookedColumns: readonly Column<PerformanceRow>[] = [
  {
    key: 'quotes',
    header: 'Quotes',
    tip: 'Loads that were quoted in the period: each counts once, by its last offer. Below: those with a booked AR and AP.',
    align: 'right',
    sorts: sorts('quotes'),
    cell: (row) => (
      <>
        {count(row.quotes)}
        <Below>{count(row.shipments)} shipped</Below>
      </>
    ),
  },
  {
    key: 'win-rate',
    header: 'Win rate',
    tip: 'Won quotes ÷ decided quotes (won and lost). The bar is its 80% range, which is wide where few quotes are decided.',
    sorts: sorts('win_rate'),
    cell: (row) => <WinRate figures={row} />,
  },
  {
    key: 'margin',
    header: 'Margin',
    tip: 'Customer rate (AR) − truck cost (AP) of the shipments where both are known. Whole dollars here; the CSV file has cents.',
    align: 'right',
    sorts: sorts('margin'),
    cell: (row) => (
      <>
        <Margin amount={row.margin} isRounded />
        <Below>
          {row.shipments === 0 ? (
            'no AR and AP'
          ) : (
            <>
              {roundDollars(row.customer_rate)}{' '}
              <span style={{ whiteSpace: 'nowrap' }}>− {roundDollars(row.truck_cost)}</span>
            </>
          )}
        </Below>
      </>
    ),
  },
  {
    key: 'margin-pct',
    header: '%',
    tip: 'Booked margin in percent of the customer rate (AR).',
    align: 'right',
    sorts: sorts('margin_pct'),
    cell: (row) => <MarginPct share={row.margin_pct} />,
  },
]

/** What was lost after the quote, and by the quote. */
function lostColumns(by: Grouping, at: RowAddress): readonly Column<PerformanceRow>[] {
  return [
    {
      key: 'landed',
      header: 'Against quote',
      tip: 'Booked margin − quoted margin (quoted rate − expected cost): gained − lost to cost − lost to rate. It compares shipments with an AR, an AP, a quoted rate and an expected cost.',
      align: 'right',
      sorts: sorts('landed_vs_quoted'),
      cell: ({ landed_vs_quoted: landed, gained }) => (
        <>
          {landed === null ? (
            '–'
          ) : (
            <InRed when={landed < 0}>{landed === 0 ? '$0' : signedDollars(Math.round(landed))}</InRed>
          )}
          {landed !== null && <Below>{roundDollars(gained)} gained</Below>}
        </>
      ),
    },
    {
      key: 'cost',
      header: 'Lost to cost',
      tip: 'The amount by which the booked truck cost (AP) was above the cost that was expected when the quote was made.',
      align: 'right',
      sorts: sorts('lost_to_cost'),
      cell: (row) => <Lost by={by} row={row} finding="lost_to_cost" amount={row.lost_to_cost} {...at} />,
    },
    {
      key: 'rate',
      header: 'Lost to rate',
      tip: 'The amount by which the booked customer rate (AR) was below the quoted rate.',
      align: 'right',
      sorts: sorts('lost_to_rate'),
      cell: (row) => <Lost by={by} row={row} finding="lost_to_rate" amount={row.lost_to_rate} {...at} />,
    },
    {
      key: 'low',
      header: 'Quoted too low',
      tip: 'An estimate: the quoted rate was below the cost expected then, or below the minimum of the pricing rules that are in force today. The amount counts won quotes only.',
      align: 'right',
      sorts: sorts('quoted_too_low'),
      cell: (row) => (
        <>
          <Lost
            by={by}
            row={row}
            finding="quoted_too_low"
            amount={row.quoted_too_low === 0 ? null : row.quoted_too_low_amount}
            {...at}
          />
          {row.quoted_too_low > 0 && (
            <Below>
              {counted(row.quoted_too_low, 'quote')}, {count(row.quoted_too_low_won)} won
            </Below>
          )}
        </>
      ),
    },
  ]
}

function columnsOf(by: Grouping, at: RowAddress): readonly Column<PerformanceRow>[] {
  return [
    { key: 'name', header: groupingNames[by], cell: (row) => <NameOfRow by={by} row={row} {...at} /> },
    ...bookedColumns,
    ...lostColumns(by, at),
  ]
}
