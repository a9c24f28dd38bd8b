import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, useAnswer } from '../api/index.ts'
import {
  ExportLink,
  Failed,
  FilterRow,
  isBackwards,
  Loading,
  Page,
  PageTurner,
  PeriodInput,
  PlaceFilters,
  SearchFilter,
  useAddress,
  usePeriod,
  viewerZone,
  WhoFilters,
} from '../shared-ui/index.ts'
import { NoShipments } from './shipments-empty.tsx'
import { isFiltered, selectionOf, sortNames, sortOf } from './shipments-query.ts'
import { ShipmentRecord } from './shipments-record.tsx'
import { ShipmentsTable } from './shipments-table.tsx'
import { ShipmentTotals } from './shipments-totals.tsx'

const noFilters = { customer: '', origin: '', destination: '', equipment: '', quoted_by: '', q: '' }

/** What was booked: each shipment with its money, what a period came to, and the record of every change. */
export default function Shipments() {
  const { search, change } = useAddress(pagePaths.shipments)
  const period = usePeriod(search, 'last-90-days')
  const selection = selectionOf(search, period)
  const sort = sortOf(search)
  const cursor = search.cursor
  const queries = useQueryClient()
  const shipments = useAnswer(
    'list-shipments',
    { query: { ...selection, sort, ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true, enabled: !isBackwards(period) },
  )
  const { data, error } = shipments
  const here = { cursor, page: search.page }
  const laneRef = search.shipment ?? null
  const close = () => {
    change({ ...here, shipment: undefined })
    // A rollback has changed what the list sums up.
    void queries.invalidateQueries({ queryKey: ['list-shipments'] })
  }
  // A cancelled booking is in the list, not in the totals.
  const listed = data === undefined ? null : data.totals.shipments + data.totals.cancelled
  const filters = { search, change, error }
  return (
    <Page
      title="Shipments"
      hint={`Booked lanes. A shipment counts in the period in which it was quoted; days are days in ${viewerZone()}.`}
      actions={
        <ExportLink href={addressOfCall('export-shipments', selection)} isEmpty={(listed ?? 0) === 0} />
      }
    >
      <Stack gap="sm">
        <FilterRow label="Choose shipments">
          <PeriodInput period={period} words={search} onChange={change} />
          <PlaceFilters {...filters} />
          <WhoFilters {...filters} />
          <SearchFilter {...filters} />
          <NativeSelect
            label="Sort"
            value={sort}
            onChange={(event) => change({ sort: event.currentTarget.value })}
            data={Object.entries(sortNames).map(([value, label]) => ({ value, label }))}
          />
        </FilterRow>
        {isFiltered(search) && (
          <Group>
            <Button size="compact-sm" variant="subtle" onClick={() => change(noFilters)}>
              Clear the filters
            </Button>
          </Group>
        )}
      </Stack>
      {error !== null ? (
        <Failed
          error={error}
          title="The shipments could not be loaded"
          retry={() => void shipments.refetch()}
        />
      ) : (
        <>
          <ShipmentTotals totals={data?.totals} loading={data === undefined} />
          {data === undefined && <Loading label="Loading the shipments" rows={10} height={46} />}
          {listed === 0 && (
            <NoShipments
              period={period}
              filtered={isFiltered(search)}
              onClear={() => change(noFilters)}
              onAllTime={() => change({ period: 'all', from: '', to: '' })}
            />
          )}
          {data !== undefined && listed !== null && listed > 0 && (
            <Stack gap="sm" style={{ opacity: shipments.isPlaceholderData ? 0.6 : 1 }}>
              <ShipmentsTable
                lanes={data.lanes}
                sort={sort}
                onSort={(next) => change({ sort: next })}
                chosen={laneRef}
                onOpen={(lane) => change({ ...here, shipment: lane.lane_ref })}
              />
              <PageTurner
                search={search}
                change={change}
                nextCursor={data.next_cursor}
                rows={data.lanes.length}
                total={listed}
                one="shipment"
              />
            </Stack>
          )}
        </>
      )}
      <ShipmentRecord laneRef={laneRef} onClose={close} />
      <Text component="p" size="sm" c="dimmed">
        Margin is customer rate less truck cost, margin % its share of the customer rate. A dash means not
        known yet.
      </Text>
    </Page>
  )
}
