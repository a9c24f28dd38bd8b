import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall, type CallFailed, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  ExportLink,
  Failed,
  FilterRow,
  isBackwards,
  Loading,
  ModeFilter,
  OrderNote,
  Page,
  PageTurner,
  type Period,
  PeriodInput,
  PlaceFilters,
  SearchFilter,
  shownZone,
  useAddress,
  usePeriod,
  WhoFilters,
} from '../shared-ui/index.ts'
import { NoShipments } from './shipments-empty.tsx'
import { isFiltered, selectionOf, sortNames, sortOf } from './shipments-query.ts'
import { ShipmentRecord } from './shipments-record.tsx'
import { ShipmentsTable } from './shipments-table.tsx'
import { ShipmentTotals } from './shipments-totals.tsx'

const noFilters = {
  customer: '',
  origin: '',
  destination: '',
  equipment: '',
  rate_type: '',
  mode: '',
  quoted_by: '',
  q: '',
}

/** Booked quotes with their rates, costs and margins, the totals of a period, and the record of each shipment. */
export default function Shipments() {
  const { search, change } = useAddress(pagePaths.shipments)
  const period = usePeriod(search)
  const selection = selectionOf(search, period)
  const cursor = search.cursor
  const queries = useQueryClient()
  const shipments = useAnswer(
    'list-shipments',
    { query: { ...selection, sort: sortOf(search), ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true, enabled: !isBackwards(period) },
  )
  const { data, error } = shipments
  const close = () => {
    change({ cursor, page: search.page, shipment: undefined })
    // A rollback in the record changes the totals of the list.
    void queries.invalidateQueries({ queryKey: ['list-shipments'] })
  }
  const listed = data === undefined ? 0 : listedCount(data)
  return (
    <Page
      title="Shipments"
      hint={`Quotes with a booking. A shipment counts in the period in which it was quoted. Days are in the time zone ${shownZone()}.`}
      actions={<ExportLink href={addressOfCall('export-shipments', selection)} isEmpty={listed === 0} />}
    >
      <Filters search={search} change={change} error={error} period={period} />
      {error === null ? (
        <Listed
          data={data}
          isOld={shipments.isPlaceholderData}
          search={search}
          change={change}
          period={period}
        />
      ) : (
        <Failed
          error={error}
          title="The shipments could not be loaded"
          retry={() => void shipments.refetch()}
        />
      )}
      <ShipmentRecord laneRef={search.shipment ?? null} onClose={close} />
      <Text component="p" size="sm" c="dimmed">
        Margin = customer rate − truck cost. Margin % = margin ÷ customer rate. A dash means that the value is
        not known yet.
      </Text>
    </Page>
  )
}

/** The number of shipments in the list. A shipment with a cancelled booking is in the list, but not in the totals. */
function listedCount({ totals, basis }: Answer<'list-shipments'>): number {
  return totals.shipments + totals.cancelled + basis.kept_apart + (basis.other_modes ?? 0)
}

interface PartProps {
  readonly search: AddressParams
  readonly change: ReturnType<typeof useAddress>['change']
  readonly period: Period
}

function Filters({ period, ...filters }: PartProps & { error: CallFailed | null }) {
  const { search, change } = filters
  return (
    <Stack gap="sm">
      <FilterRow label="Choose shipments">
        <PeriodInput period={period} query={search} onChange={change} />
        <PlaceFilters {...filters} />
        <WhoFilters {...filters} />
        <ModeFilter search={search} change={change} />
        <SearchFilter {...filters} />
        <NativeSelect
          label="Sort"
          value={sortOf(search)}
          onChange={(event) => change({ sort: event.currentTarget.value })}
          data={Object.entries(sortNames).map(([value, label]) => ({ value, label }))}
        />
      </FilterRow>
      {isFiltered(search) && (
        <Group>
          <Button size="compact-sm" variant="subtle" onClick={() => change(noFilters)}>
            Clear filters
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Listed({
  data,
  isOld,
  search,
  change,
  period,
}: PartProps & { data: Answer<'list-shipments'> | undefined; isOld: boolean }) {
  const total = data === undefined ? null : listedCount(data)
  const here = { cursor: search.cursor, page: search.page }
  return (
    <>
      <ShipmentTotals totals={data?.totals} loading={data === undefined} />
      <BasisNote basis={data?.basis} />
      {data === undefined && <Loading label="Loading the shipments" rows={10} height={46} />}
      {total === 0 && (
        <NoShipments
          period={period}
          filtered={isFiltered(search)}
          onClear={() => change(noFilters)}
          onAllTime={() => change({ period: 'all', from: '', to: '' })}
        />
      )}
      {data !== undefined && total !== null && total > 0 && (
        <Stack gap="sm" style={{ opacity: isOld ? 0.6 : 1 }}>
          <OrderNote sort={sortOf(search)} lanes={data.lanes} />
          <ShipmentsTable
            lanes={data.lanes}
            sort={sortOf(search)}
            onSort={(next) => change({ sort: next })}
            chosen={search.shipment ?? null}
            onOpen={(quote) => change({ ...here, shipment: quote.lane_ref })}
          />
          <PageTurner
            search={search}
            change={change}
            nextCursor={data.next_cursor}
            rows={data.lanes.length}
            total={total}
            one="shipment"
          />
        </Stack>
      )}
    </>
  )
}
