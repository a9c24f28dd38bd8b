import { Button, Group, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { typingPauseMs } from '#client/debounce.ts'
import { useAnswer } from '../api/index.ts'
import { calendarDay, dollars } from '../shared-ui/index.ts'
import { type DeskLane, hasState, pickupAsked } from './desk-draft.ts'

const nothing = { origin: '', destination: '', customer: '' }

/** The contract rates that the customer has awarded for the lane: a spot request that matches one is not priced anew. */
export function AwardedRates({
  lane,
  customer,
  onUse,
}: {
  lane: DeskLane
  customer: string
  onUse: (rate: number) => void
}) {
  const { origin, destination, equipment } = lane
  const isComplete = hasState(origin) && hasState(destination) && customer.trim() !== ''
  const typed = JSON.stringify(
    isComplete
      ? {
          origin: origin.trim(),
          destination: destination.trim(),
          customer: customer.trim(),
          ...(equipment.trim() === '' ? {} : { equipment: equipment.trim() }),
          ...pickupAsked(lane),
        }
      : null,
  )
  const [settled] = useDebouncedValue(typed, typingPauseMs)
  const asked = settled === typed ? (JSON.parse(settled) as typeof nothing | null) : null
  const { data } = useAnswer('find-awarded-rates', { query: asked ?? nothing }, { enabled: asked !== null })
  if (asked === null || data === undefined) return null
  return data.rates.map(({ bid_id, lane: number, name, equipment: code, rate, ends_on }) => (
    <Group key={`${bid_id} ${number}`} justify="space-between" gap="xs" wrap="nowrap">
      <Text size="sm">
        Awarded at <b>{dollars(rate)}</b> until {calendarDay(ends_on)}
        {code === null ? ', any equipment' : ''} ({name}).
      </Text>
      <Button variant="default" size="compact-sm" style={{ flex: 'none' }} onClick={() => onUse(rate)}>
        Use {dollars(rate)}
      </Button>
    </Group>
  ))
}
