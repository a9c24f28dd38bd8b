import { Group, Text } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer } from '../api/index.ts'
import type { Approval } from '../approvals/index.ts'
import {
  adviceOn,
  CustomerLink,
  converted,
  DataTable,
  day,
  dollars,
  equipmentName,
  Failed,
  InRed,
  OutcomeMark,
  percent,
  probability,
  type QuoteAdvice,
  range,
  rateText,
  TextLink,
} from '../shared-ui/index.ts'

type ApprovalQuote = Approval['lanes'][number]

/** The facts that an approver needs: cost, margin and chance of each rate, the rate to quote, and the last quotes of the lane. */
export function ApprovalFacts({ approval: { customer_name, lanes: quotes } }: { approval: Approval }) {
  const { data, error, refetch } = useAnswer(
    'advise-quotes',
    {
      body: adviceOn(
        customer_name,
        quotes.map(({ rate, ...lane }) => ({ ...lane, quoted_rate: rate })),
      ),
    },
    { staleMs: 60_000, comesBack: true },
  )
  return (
    <>
      {error !== null && (
        <Failed error={error} title="Cost and chance could not be loaded" retry={() => void refetch()} />
      )}
      {quotes.map((quote, at) => {
        const found = data?.results.find(({ index }) => index === at)
        return (
          <ApprovalQuoteFacts
            // biome-ignore lint/suspicious/noArrayIndexKey: two quotes can be equal
            key={at}
            quote={quote}
            advice={found?.status === 200 ? found : null}
            isOnly={quotes.length === 1}
          />
        )
      })}
    </>
  )
}

function ApprovalQuoteFacts({
  quote,
  advice,
  isOnly,
}: {
  quote: ApprovalQuote
  advice: QuoteAdvice | null
  isOnly: boolean
}) {
  const [isOpen, setOpen] = useState(isOnly)
  return (
    <div>
      {!isOnly && (
        <Text size="sm" fw={600}>
          {quote.origin} → {quote.destination}
        </Text>
      )}
      <Figures quote={quote} advice={advice} />
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="approval-more">Last quotes on this lane</summary>
        {isOpen && <LastQuotes quote={quote} />}
      </details>
    </div>
  )
}

/** The figures of a rate, on the terms of the brokerage in US dollars. The frame keeps its height while they load. */
function Figures({ quote, advice }: { quote: ApprovalQuote; advice: QuoteAdvice | null }) {
  if (advice === null) {
    return (
      <Text size="sm" c="dimmed" mih={24}>
        Loading cost and chance…
      </Text>
    )
  }
  const { estimate, conversion, rate, rules } = advice
  const entered =
    quote.estimated_cost === null || conversion === null ? null : converted(conversion, quote.estimated_cost)
  const cost = entered ?? estimate?.expected_cost?.amount ?? null
  const margin = cost === null || rate === null || conversion === null ? null : rate - cost
  const customer = estimate?.customer
  return (
    <Group gap="md" mih={24} role="group" aria-label="What the rate means">
      {quote.quoted_currency === 'CAD' && (
        <Text size="sm" component="span">
          In US dollars:
        </Text>
      )}
      <Fact name="Cost" value={cost === null ? 'not known' : dollars(Math.round(cost))}>
        {cost === null ? '' : entered === null ? ' expected' : ' as entered'}
      </Fact>
      <Fact
        name="Margin"
        value={
          margin === null || rate === null ? (
            'not known'
          ) : (
            <InRed when={margin < 0}>
              {dollars(Math.round(margin))} ({percent((margin / rate) * 100)})
            </InRed>
          )
        }
      />
      <Fact
        name="Chance"
        value={
          estimate?.probability == null || conversion === null
            ? 'not known'
            : probability(estimate.probability)
        }
      >
        {estimate?.interval_80 == null || conversion === null ? '' : ` (${range(estimate.interval_80)})`}
      </Fact>
      <Fact name="To quote" value={rules.rate === null ? 'not known' : dollars(rules.rate)} />
      {customer !== undefined && customer.decided > 0 && (
        <Fact name="Customer" value={`bought ${customer.won} of ${customer.decided} in a year`} />
      )}
    </Group>
  )
}

function Fact({
  name,
  value,
  children,
}: {
  name: string
  value: React.ReactNode
  children?: React.ReactNode
}) {
  return (
    <Text size="sm" component="span">
      <Text span c="dimmed">
        {name}
      </Text>{' '}
      <b>{value}</b>
      {children}
    </Text>
  )
}

const shownMax = 5

function LastQuotes({ quote: { origin, destination, equipment } }: { quote: ApprovalQuote }) {
  const { data, error, refetch } = useAnswer('list-quotes', {
    query: { origin, destination, equipment, sort: 'newest', limit: shownMax },
  })
  if (error !== null) {
    return <Failed error={error} title="The quotes could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Text size="sm">Loading the quotes…</Text>
  if (data.lanes.length === 0) {
    return <Text size="sm">No quotes on this lane with {equipmentName(equipment)} yet.</Text>
  }
  return (
    <DataTable
      caption={`Last quotes from ${origin} to ${destination}`}
      rows={data.lanes}
      rowKey={({ lane_ref }) => lane_ref}
      columns={[
        {
          key: 'quoted',
          header: 'Quoted',
          cell: ({ lane_ref, created_at }) => (
            <TextLink to={pagePaths.quote.replace('{lane_ref}', lane_ref)}>{day(created_at)}</TextLink>
          ),
        },
        { key: 'customer', header: 'Customer', cell: (quote) => <CustomerLink name={quote.customer_name} /> },
        { key: 'rate', header: 'Rate', align: 'right', cell: (quote) => rateText(quote) },
        { key: 'outcome', header: 'Outcome', cell: ({ outcome }) => <OutcomeMark outcome={outcome} /> },
      ]}
    />
  )
}
