import { Drawer, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useSession } from '../api/index.ts'
import { LaneChanges } from '../lane-history/index.ts'
import {
  bookedAgainstQuoted,
  CancelledMark,
  CopyButton,
  cancelledWords,
  count,
  Difference,
  dollars,
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
  const { data: lane, error, refetch } = useAnswer('get-lane', { params: { lane_ref: laneRef } })
  if (lane === undefined) {
    return error === null ? (
      <Loading label="Loading the shipment" rows={8} />
    ) : (
      <Failed error={error} title="The shipment could not be loaded" retry={() => void refetch()} />
    )
  }
  return (
    <Stack gap="lg">
      <Facts lane={lane} />
      <Group gap="md">
        <TextLink to={`${pagePaths.quotes}/${encodeURIComponent(lane.lane_ref)}`}>Open quote</TextLink>
        <TextLink
          to={pagePaths.lane}
          query={{ origin: lane.origin, destination: lane.destination, equipment: lane.equipment }}
        >
          Open lane
        </TextLink>
      </Group>
      <section aria-labelledby="shipment-changes">
        <Title order={2} size="h4" id="shipment-changes">
          Changes
        </Title>
        <LaneChanges lane={lane} />
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

function perMile(amount: number | null, miles: number | null): string {
  return amount === null || miles === null ? '' : ` · ${ratePerMile(amount / miles)}`
}

function Facts({ lane }: { lane: Lane }) {
  const { default_basis: assumed } = useSession().tenant
  const { margin, margin_pct, miles, truck_cost_source: source } = lane
  const expected = lane.estimated_cost ?? lane.expected_cost?.amount ?? null
  const isReplaced = lane.customer_name !== lane.quoted_customer_name
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text fw={600}>
          {laneName(lane.origin, lane.destination)} <CancelledMark lane={lane} />
        </Text>
        <CopyButton text={lane.lane_ref} what="lane_ref" />
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
          {dollars(lane.customer_rate)}
          {perMile(lane.customer_rate, miles)}
        </Fact>
        <Fact label="Truck cost (AP)">
          {dollars(lane.truck_cost)}
          {perMile(lane.truck_cost, miles)}
          {source === null
            ? ''
            : ` · from ${source === 'tms' ? 'the TMS' : sourceNames[source].toLowerCase()}`}
        </Fact>
        <Fact label="Margin">
          <Margin amount={margin} /> · <MarginPct share={margin_pct} />
        </Fact>
        <Fact label="Quoted rate">
          {dollars(lane.quoted_rate)}
          {perMile(lane.quoted_rate, miles)}
        </Fact>
        <Fact label="AR vs quote">
          <Difference amount={bookedAgainstQuoted(lane, assumed)} of="quote" />
        </Fact>
        <Fact label="Expected cost when quoted">{dollars(expected)}</Fact>
        <Fact label="Customer">
          {lane.customer_name}
          {isReplaced ? ` (quoted for ${lane.quoted_customer_name})` : ''}
        </Fact>
        <Fact label="Carrier">{lane.carrier_name ?? '–'}</Fact>
        <Fact label="MC">{lane.carrier_notes ?? '–'}</Fact>
        <Fact label="Equipment">{equipmentName(lane.equipment)}</Fact>
        <Fact label="Miles">{count(miles)}</Fact>
        <Fact label="Rep">{lane.quoted_by?.name ?? 'Imported'}</Fact>
        <Fact label="Quoted">{moment(lane.created_at)}</Fact>
        <Fact label="Booked">{moment(lane.booked_at)}</Fact>
        {lane.cancelled_at !== null && <Fact label="Cancelled">{cancelledWords(lane)}</Fact>}
      </dl>
    </Stack>
  )
}
