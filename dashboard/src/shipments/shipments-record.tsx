import { Drawer, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Quote } from '#contract/quote.ts'
import { termsBehind } from '#engine/rate-basis.ts'
import { useAnswer, useSession } from '../api/index.ts'
import { QuoteChanges } from '../quote-history/index.ts'
import {
  bookedAgainstQuoted,
  CancelledMark,
  CopyButton,
  cancelledWords,
  count,
  Difference,
  dollarsIn,
  equipmentName,
  Failed,
  Loading,
  laneName,
  Margin,
  MarginPct,
  moment,
  ratePerMile,
  sourceNames,
  TextLink,
} from '../shared-ui/index.ts'

/** The record of one shipment in a drawer: its facts and its changes, with rollback. */
export function ShipmentRecord({ laneRef, onClose }: { laneRef: string | null; onClose: () => void }) {
  return (
    <Drawer.Root opened={laneRef !== null} onClose={onClose} position="right" size="lg">
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Mantine's default title bar is a <header>, and a page can have only one banner landmark. */}
        <Drawer.Body pt="md">
          <Group justify="space-between" wrap="nowrap" mb="sm">
            <Drawer.Title>Shipment {laneRef}</Drawer.Title>
            <Drawer.CloseButton aria-label="Close" ml={0} />
          </Group>
          {laneRef !== null && <Body laneRef={laneRef} />}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

function Body({ laneRef }: { laneRef: string }) {
  const { data: quote, error, refetch } = useAnswer('get-quote', { params: { lane_ref: laneRef } })
  if (quote === undefined) {
    return error === null ? (
      <Loading label="Loading the shipment" rows={8} />
    ) : (
      <Failed error={error} title="The shipment could not be loaded" retry={() => void refetch()} />
    )
  }
  return (
    <Stack gap="lg">
      <Facts quote={quote} />
      <Group gap="md">
        <TextLink to={`${pagePaths.quotes}/${encodeURIComponent(quote.lane_ref)}`}>Open quote</TextLink>
        <TextLink
          to={pagePaths.lane}
          query={{ origin: quote.origin, destination: quote.destination, equipment: quote.equipment }}
        >
          Open lane
        </TextLink>
      </Group>
      <section aria-labelledby="shipment-changes">
        <Title order={2} size="h4" id="shipment-changes">
          Changes
        </Title>
        <QuoteChanges quote={quote} />
      </section>
    </Stack>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  )
}

function perMile(amount: number | null, miles: number | null, currency: string | null): string {
  return amount === null || miles === null ? '' : ` · ${ratePerMile(amount / miles, currency)}`
}

function Facts({ quote }: { quote: Quote }) {
  const { default_basis: assumed } = useSession().tenant
  const { margin, margin_pct, margin_currency, miles, truck_cost_source: source } = quote
  const expected = quote.estimated_cost ?? quote.expected_cost?.amount ?? null
  const isReplaced = quote.customer_name !== quote.quoted_customer_name
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text fw={600}>
          {laneName(quote.origin, quote.destination)} <CancelledMark quote={quote} />
        </Text>
        <CopyButton text={quote.lane_ref} what="quote number" />
      </Group>
      <dl
        style={{
          display: 'grid',
          gridTemplateColumns: 'repeat(auto-fill, minmax(9.5rem, 1fr))',
          gap: 'var(--mantine-spacing-sm)',
          margin: 0,
        }}
      >
        <Fact label="Customer rate (AR)">
          {dollarsIn(quote.customer_rate, quote.customer_currency)}
          {perMile(quote.customer_rate, miles, quote.customer_currency)}
        </Fact>
        <Fact label="Truck cost (AP)">
          {dollarsIn(quote.truck_cost, quote.truck_currency)}
          {perMile(quote.truck_cost, miles, quote.truck_currency)}
          {source === null
            ? ''
            : ` · from ${source === 'tms' ? 'the TMS' : sourceNames[source].toLowerCase()}`}
        </Fact>
        <Fact label="Margin">
          <Margin amount={margin} />
          {termsBehind({ basis: null, currency: margin_currency })} · <MarginPct share={margin_pct} />
        </Fact>
        <Fact label="Quoted rate">
          {dollarsIn(quote.quoted_rate, quote.quoted_currency)}
          {perMile(quote.quoted_rate, miles, quote.quoted_currency)}
        </Fact>
        <Fact label="AR vs quote">
          <Difference
            amount={bookedAgainstQuoted(quote, assumed)}
            currency={quote.quoted_currency}
            of="quote"
          />
        </Fact>
        <Fact label="Expected cost when quoted">
          {dollarsIn(expected, quote.estimated_cost === null ? null : quote.quoted_currency)}
        </Fact>
        <Fact label="Customer">
          {quote.customer_name}
          {isReplaced ? ` (quoted for ${quote.quoted_customer_name})` : ''}
        </Fact>
        <Fact label="Carrier">{quote.carrier_name ?? '–'}</Fact>
        <Fact label="MC">{quote.carrier_notes ?? '–'}</Fact>
        <Fact label="Equipment">{equipmentName(quote.equipment)}</Fact>
        <Fact label="Miles">{count(miles)}</Fact>
        <Fact label="Rep">{quote.quoted_by?.name ?? 'Imported'}</Fact>
        <Fact label="Quoted">{moment(quote.created_at)}</Fact>
        <Fact label="Booked">{moment(quote.booked_at)}</Fact>
        {quote.cancelled_at !== null && <Fact label="Cancelled">{cancelledWords(quote)}</Fact>}
      </dl>
    </Stack>
  )
}
