import { Box, Button, Group, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { pageSizeMax } from '#contract/limits.ts'
import { type Answer, call } from '../api/index.ts'
import {
  type Column,
  count,
  counted,
  DataTable,
  day,
  dollars,
  Failed,
  Margin,
  month,
  Nothing,
  ratePerMile,
  TextLink,
} from '../shared-ui/index.ts'
import { type Chosen, isChosen, nothingChosen, quotePath, useLaneAddress } from './lane-address.ts'
import type { LanePoint, LaneRecord } from './lane-evidence.ts'
import { OutcomeMark } from './lane-section.tsx'

const rowsPerPage = 10

type Evidence = NonNullable<Answer<'quote-advice'>['evidence']>['quotes'][number]

/** A quote with its index in the history, newest first. The API pages evidence in this order. */
interface Row {
  readonly point: LanePoint
  readonly at: number
}

const orders: Readonly<Record<string, (one: Row, other: Row) => number>> = {
  newest: (one, other) => one.at - other.at,
  oldest: (one, other) => other.at - one.at,
  dearest: (one, other) => other.point.rate - one.point.rate || one.at - other.at,
  cheapest: (one, other) => one.point.rate - other.point.rate || one.at - other.at,
  'most-margin': (one, other) => marginOf(other, -1) - marginOf(one, -1) || one.at - other.at,
  'least-margin': (one, other) => marginOf(one, 1) - marginOf(other, 1) || one.at - other.at,
}

/** The margin for sorting. Quotes with an unknown margin come last in both orders. */
function marginOf({ point }: Row, last: 1 | -1): number {
  return point.margin ?? last * Number.MAX_SAFE_INTEGER
}

interface Question {
  readonly origin: string
  readonly destination: string
  readonly equipment?: string
  readonly proposed_rate: number
}

/** For each shown quote, the numbers that leave it out, and why. Loads the pages of evidence that the shown rows need. */
function useEvidenceOf(rows: readonly Row[], question: Question | null) {
  const pages = [...new Set(rows.map(({ at }) => Math.floor(at / pageSizeMax) + 1))].sort(
    (one, other) => one - other,
  )
  const answers = useQueries({
    queries: (question === null ? [] : pages).map((evidence_page) => {
      const query = {
        ...question,
        include: 'estimate,evidence',
        evidence_page,
        evidence_limit: pageSizeMax,
      } as Question & { include: string; evidence_page: number; evidence_limit: number }
      return {
        queryKey: ['quote-advice', { query }],
        queryFn: ({ signal }: { signal: AbortSignal }) => call('quote-advice', { query, signal }),
      }
    }),
  })
  return {
    of: new Map(
      answers.flatMap(({ data }) =>
        (data?.evidence?.quotes ?? []).map((one) => [one.lane_ref, one] as const),
      ),
    ),
    failed: answers.find((answer) => answer.isError),
  }
}

const numberNames: Readonly<Record<Evidence['used_in'][number], string>> = {
  win_probability: 'win probability',
  suggested_rate: 'suggested rate',
  rate_band: 'range of rates',
  estimate: 'estimate',
}

/** Why numbers leave a quote out; '' if all use it. @example 'Not in win probability, estimate: nobody has answered it yet' */
function leftOutInWords({ left_out }: Evidence): string {
  const leftOutFor = (reason: string) =>
    left_out.filter(({ why }) => why === reason).map(({ of }) => nameOf(of))
  return [...new Set(left_out.map(({ why }) => why))]
    .map((why) => `Not in ${leftOutFor(why).join(', ')}: ${why}`)
    .join('. ')
}

function nameOf(number: string): string {
  return (numberNames as Readonly<Record<string, string>>)[number] ?? number
}

/** The quotes behind the page's numbers, and for each quote the numbers that leave it out. */
export function LaneQuotes({
  record,
  question,
  miles,
}: {
  record: LaneRecord
  question: Question | null
  miles: number | null
}) {
  const { address, change } = useLaneAddress()
  const [now] = useState(Date.now)
  const sort = address.sort !== undefined && address.sort in orders ? address.sort : 'newest'
  const chosen = useMemo(
    () =>
      record.points
        .map((point, at): Row => ({ point, at }))
        .filter(({ point }) => isChosen(point, address, now))
        .sort(orders[sort]),
    [record.points, address, sort, now],
  )
  const pages = Math.max(1, Math.ceil(chosen.length / rowsPerPage))
  const page = Math.min(Math.max(1, Math.floor(Number(address.page ?? 1)) || 1), pages)
  const shown = chosen.slice((page - 1) * rowsPerPage, page * rowsPerPage)
  const evidence = useEvidenceOf(shown, question)
  const leftOut = ({ point }: Row) => {
    const found = evidence.of.get(point.lane_ref)
    return found === undefined ? '' : leftOutInWords(found)
  }
  return (
    <>
      <ActiveFilters chosen={address} found={chosen.length} of={record.points.length} />
      {evidence.failed !== undefined && (
        <Failed
          error={evidence.failed.error}
          title="Which numbers use each quote could not be loaded"
          retry={() => void evidence.failed?.refetch()}
        />
      )}
      {chosen.length === 0 ? (
        <Nothing
          title="No matching quotes"
          actions={
            <Button variant="default" onClick={() => change(nothingChosen)}>
              Show all quotes
            </Button>
          }
        />
      ) : (
        <DataTable
          caption="Quotes behind the numbers"
          className="table-dense"
          columns={columnsOf(miles, leftOut)}
          rows={shown}
          rowKey={({ point }) => point.lane_ref}
          sort={sort}
          onSort={(next) => change({ sort: next === 'newest' ? undefined : next, page: undefined })}
        />
      )}
      <Pages
        page={page}
        pages={pages}
        count={chosen.length}
        onPage={(next) => change({ page: String(next) })}
      />
    </>
  )
}

function columnsOf(miles: number | null, leftOut: (row: Row) => string): Column<Row>[] {
  const customer = (row: Row) => (
    <>
      {row.point.customer_name}
      <Text size="xs" c="dimmed">
        {leftOut(row)}
      </Text>
    </>
  )
  const margin = (point: LanePoint) => <Margin amount={point.margin} />
  return [
    {
      key: 'quoted',
      header: 'Quoted',
      sorts: ['newest', 'oldest'],
      cell: (row) => (
        <>
          <TextLink to={quotePath(row.point.lane_ref)}>{day(row.point.quoted_at)}</TextLink>
          <Box hiddenFrom="sm" style={{ whiteSpace: 'normal', overflowWrap: 'anywhere' }}>
            {customer(row)}
          </Box>
        </>
      ),
    },
    {
      key: 'rate',
      header: 'Rate',
      align: 'right',
      sorts: ['dearest', 'cheapest'],
      cell: ({ point }) => (
        <>
          {`${dollars(point.rate)}${point.booked ? ' booked' : ''}`}
          {point.margin !== null && <Box hiddenFrom="sm">{margin(point)}</Box>}
        </>
      ),
    },
    {
      key: 'rpm',
      header: '$/mi',
      align: 'right',
      from: 'sm',
      cell: ({ point }) => (miles === null ? '–' : ratePerMile(point.rate / miles)),
    },
    { key: 'outcome', header: 'Outcome', cell: ({ point }) => <OutcomeMark outcome={point.outcome} /> },
    {
      key: 'customer',
      header: 'Customer',
      wraps: true,
      from: 'sm',
      cell: customer,
    },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      from: 'sm',
      sorts: ['most-margin', 'least-margin'],
      cell: ({ point }) => margin(point),
    },
  ]
}

function wordsOf({ outcome, month: yearAndMonth, rate_from, rate_to, days }: Chosen): string[] {
  const amount = (text: string) => dollars(Number(text))
  const rates =
    rate_from !== undefined && rate_from === rate_to
      ? `at ${amount(rate_from)}`
      : [
          rate_from === undefined ? null : `from ${amount(rate_from)}`,
          rate_to === undefined ? null : `at ${amount(rate_to)} or lower`,
        ]
          .filter((words) => words !== null)
          .join(', ')
  return [
    outcome ?? '',
    /^\d{4}-(0[1-9]|1[0-2])$/.test(yearAndMonth ?? '')
      ? `in ${month(yearAndMonth ?? '')}`
      : (yearAndMonth ?? ''),
    rates,
    days === undefined ? '' : `from the last ${days} days`,
  ].filter((words) => words !== '')
}

function ActiveFilters({ chosen, found, of }: { chosen: Chosen; found: number; of: number }) {
  const { change } = useLaneAddress()
  const words = wordsOf(chosen)
  return (
    <Group gap="xs" mih={30} role="status">
      <Text size="sm">
        {words.length === 0
          ? `All ${counted(of, 'quote')}. Booked quotes show the booked rate.`
          : `${count(found)} of ${counted(of, 'quote')}: ${words.join(', ')}.`}
      </Text>
      {words.length > 0 && (
        <Button size="compact-sm" variant="default" onClick={() => change(nothingChosen)}>
          Show all
        </Button>
      )}
    </Group>
  )
}

function Pages({
  page,
  pages,
  count: total,
  onPage,
}: {
  page: number
  pages: number
  count: number
  onPage: (page: number) => void
}) {
  if (pages < 2) return null
  const first = (page - 1) * rowsPerPage + 1
  return (
    <Group gap="xs" component="nav" aria-label="Pages of quotes">
      <Button size="compact-sm" variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Previous
      </Button>
      <Text size="sm">
        {count(first)}–{count(Math.min(total, page * rowsPerPage))} of {count(total)}
      </Text>
      <Button size="compact-sm" variant="default" disabled={page === pages} onClick={() => onPage(page + 1)}>
        Next
      </Button>
    </Group>
  )
}
