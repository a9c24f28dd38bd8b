import { Anchor, Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { Nothing, type Period } from '../shared-ui/index.ts'

/** Explains an empty list: nothing is booked yet, nothing in the period, or nothing that matches the filters. */
export function NoShipments({
  period,
  filtered,
  onClear,
  onAllTime,
}: {
  period: Period
  filtered: boolean
  onClear: () => void
  onAllTime: () => void
}) {
  const isNarrowed = filtered || period.choice !== 'all'
  const any = useAnswer('list-shipments', { query: { limit: 1 } }, { enabled: isNarrowed })
  if (isNarrowed && any.data === undefined && any.error === null) return <div style={{ minHeight: 180 }} />
  const totals = any.data?.totals
  if ((totals?.shipments === 0 && totals.cancelled === 0) || !isNarrowed) return <NothingBooked />
  return (
    <Nothing
      title={filtered ? 'No shipments match the filters' : 'No shipments were quoted in this period'}
      actions={
        <>
          {filtered && (
            <Button variant="default" onClick={onClear}>
              Clear filters
            </Button>
          )}
          {period.choice !== 'all' && (
            <Button variant="default" onClick={onAllTime}>
              Show all time
            </Button>
          )}
        </>
      }
    >
      A shipment counts in the period in which it was quoted, not in the period in which it was booked.
    </Nothing>
  )
}

function NothingBooked() {
  const mayConnect = useMay('admin')
  const mayImport = useMay('member')
  return (
    <Nothing
      title="No shipments yet"
      actions={
        <>
          {mayConnect && (
            <Button component={Link} to={pagePaths.integration}>
              Connect the TMS
            </Button>
          )}
          {mayImport && (
            <Button component={Link} to={pagePaths.imports} variant="default">
              Import past bookings
            </Button>
          )}
        </>
      }
    >
      <Text>
        A quote becomes a shipment when it is booked: the TMS sends AR, AP and the carrier for a quote number,
        or you import a file of past bookings.
      </Text>
      {!mayConnect && (
        <Text mt="xs">
          An admin of your brokerage connects the TMS. The calls are documented in the{' '}
          <Anchor href="/docs/">API reference</Anchor>.
        </Text>
      )}
    </Nothing>
  )
}
