import { IconInfoCircle } from 'virtual:tabler-icons'
import { Alert, Button, Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall } from '../api/index.ts'
import {
  BasisNote,
  type Column,
  counted,
  DataTable,
  day,
  ExportLink,
  Figures,
  laneName,
  Margin,
  Nothing,
  percent,
  roundDollars,
  Section,
  TextLink,
} from '../shared-ui/index.ts'

type Done = Extract<Answer<'get-backtest'>, { status: 'done' }>
type Missed = NonNullable<Done['missed']>
type MissedQuote = Missed['quotes'][number]
type Sums = Missed['not_worth']

/** Long names take two lines, and leave room for the amount on a phone. */
const nameStyle = { width: 'min(17rem, 38vw)', whiteSpace: 'normal', overflowWrap: 'anywhere' } as const

/** Where rates missed margin: quotes that were won for less than needed, and quotes below their cost. */
export function MissedMargin({ missed, basis }: { missed: Missed; basis: Done['basis'] }) {
  const total = missed.won_too_low.quotes + missed.not_worth.quotes
  return (
    <Section
      title="Margin that rates missed"
      hint={<NotJudged missed={missed} />}
      aside={<ExportLink href={addressOfCall('export-backtest', {})} isEmpty={total === 0} />}
    >
      {missed.judged === 0 ? (
        <NoCosts />
      ) : (
        <Stack gap="sm">
          <Totals missed={missed} />
          {total === 0 ? (
            <Text size="sm">No judged quote was clearly below the best rate or below its cost.</Text>
          ) : (
            <DataTable
              caption="Quotes that missed margin, the largest amount first"
              columns={columns}
              rows={missed.quotes}
              rowKey={({ lane: quote }) => quote.lane_ref}
            />
          )}
          {missed.quotes.length < total && (
            <Text size="sm" c="dimmed">
              The file has all {counted(total, 'quote')}.
            </Text>
          )}
          <BasisNote basis={basis} />
          <Definitions />
        </Stack>
      )}
    </Section>
  )
}

function Definitions() {
  return (
    <Alert color="gray" variant="outline" icon={<IconInfoCircle aria-hidden />} title="These are estimates">
      <Text component="div" size="xs">
        Each quote is judged by what was known on the morning of its day: the win curve, the going rate and
        the expected truck cost, all from earlier days. <b>Won below the best rate</b>: the rate was clearly
        below the lowest rate that was nearly as good as the best one. The amount is the expected margin at
        that rate minus the margin as quoted: it allows for the chance of losing the quote.{' '}
        <b>Not worth winning</b>: the rate was below the truck cost that was known then. The amount is the
        expected loss; a pending quote counts with its chance of winning. A truck that was cheaper than the
        entered cost looks like a loss here. The 80% range covers the uncertainty of the win curves and of the
        costs. <b>Booked later</b> is known only afterwards, and is not part of the estimate.
      </Text>
    </Alert>
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
      A rate misses margin only compared with a truck cost. Enter an estimated cost with each quote, or import
      bookings with their truck costs (AP): the expected cost is learned from them.
    </Nothing>
  )
}

function NotJudged({ missed }: { missed: Missed }) {
  const { without_cost: cost, without_rate: rate, unlikely_cost: unlikely, at_edge: edge } = missed.not_judged
  const reasons = [
    cost > 0 && `${cost.toLocaleString('en-US')} without a cost`,
    rate > 0 && `${rate.toLocaleString('en-US')} without a going rate`,
    unlikely > 0 && `${unlikely.toLocaleString('en-US')} with an unlikely cost`,
    edge > 0 && `${edge.toLocaleString('en-US')} with a best rate at the end of the rates tried`,
  ].filter((reason) => reason !== false)
  return (
    <>
      {counted(missed.judged, 'won or pending quote')} of the tested days judged
      {reasons.length > 0 && `; not judged: ${reasons.join(', ')}`}.
    </>
  )
}

const range = ({ range_80: { low, high } }: Sums, sign: 1 | -1) =>
  sign === 1
    ? `${roundDollars(low)} to ${roundDollars(high)}`
    : `${roundDollars(-high)} to ${roundDollars(-low)}`

function Totals({ missed: { won_too_low: low, not_worth: notWorth } }: { missed: Missed }) {
  const note = (sums: Sums, sign: 1 | -1) =>
    sums.quotes === 0
      ? 'no quotes'
      : `80% range ${range(sums, sign)}; ${counted(sums.quotes, 'quote')}, ${sums.booked.toLocaleString('en-US')} booked later`
  return (
    <Figures
      label="Missed margin"
      loading={false}
      figures={[
        { label: 'Won below the best rate (estimate)', value: roundDollars(low.amount), note: note(low, 1) },
        {
          label: 'Not worth winning (estimate)',
          value: <Margin amount={-notWorth.amount} isRounded />,
          note: note(notWorth, -1),
        },
      ]}
    />
  )
}

/** A column with a rate, and its chance below it. */
function rateColumn(
  key: string,
  header: string,
  of: (quote: MissedQuote) => readonly [rate: number, chance: number],
): Column<MissedQuote> {
  return {
    key,
    header,
    align: 'right',
    cell: (quote) => {
      const [rate, chance] = of(quote)
      return (
        <>
          {roundDollars(rate)}
          <Text size="xs" c="dimmed">
            win {percent(100 * chance)}
          </Text>
        </>
      )
    },
  }
}

const columns: readonly Column<MissedQuote>[] = [
  {
    key: 'lane',
    header: 'Quote',
    cell: ({ lane: quote }) => (
      <div style={nameStyle}>
        <TextLink
          to={`${pagePaths.quotes}/${encodeURIComponent(quote.lane_ref)}`}
          label={`Quote ${quote.lane_ref}, ${laneName(quote.origin, quote.destination)}`}
        >
          {laneName(quote.origin, quote.destination)}
        </TextLink>
        <Text size="xs" c="dimmed">
          {quote.equipment} · {quote.customer_name} · {day(quote.created_at)}
        </Text>
      </div>
    ),
  },
  {
    key: 'amount',
    header: 'Missed (estimate)',
    align: 'right',
    cell: ({ amount, finding }) => (
      <>
        {finding === 'not_worth' ? <Margin amount={-amount} isRounded /> : roundDollars(amount)}
        <Text size="xs" c="dimmed">
          {finding === 'not_worth' ? 'below its cost' : 'won below the best rate'}
        </Text>
      </>
    ),
  },
  rateColumn('rate', 'Quoted', (quote) => [quote.quoted_rate, quote.win_probability]),
  rateColumn('better', 'Better rate', (quote) => [quote.better_rate, quote.win_probability_better]),
  { key: 'cost', header: 'Cost known then', align: 'right', cell: ({ cost }) => roundDollars(cost) },
  {
    key: 'booked',
    header: 'Booked later',
    align: 'right',
    cell: ({ booked_margin }) => <Margin amount={booked_margin} isRounded />,
  },
]
