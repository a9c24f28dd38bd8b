import { Button, Group, Kbd, Modal, Stack, Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import type { Lane } from '#contract/lane.ts'
import { laneName } from './formats.ts'
import { type Reason, reasonNames, reasons } from './outcome-words.tsx'

/** Asks why a lane was lost. Choose one of five reasons by number key, by arrow keys and Enter, or by click. */
export function ReasonDialog({
  lane,
  onChoose,
  onClose,
}: {
  lane: Lane | null
  onChoose: (lane: Lane, reason: Reason | null) => void
  onClose: () => void
}) {
  return (
    <Modal
      opened={lane !== null}
      onClose={onClose}
      title="Why was it lost?"
      size="sm"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {lane !== null && (
        <Choices
          lane={lane}
          choose={(reason) => {
            onChoose(lane, reason)
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

function Choices({ lane, choose }: { lane: Lane; choose: (reason: Reason | null) => void }) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const numbered = reasons[Number(event.key) - 1]
    if (numbered !== undefined) {
      event.preventDefault()
      choose(numbered)
      return
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const buttons = [...event.currentTarget.querySelectorAll('button')]
    const at = buttons.findIndex((button) => button.matches(':focus'))
    buttons.at((at + step) % buttons.length)?.focus()
  }
  return (
    <Stack gap="xs" onKeyDown={onKeyDown}>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {laneName(lane.origin, lane.destination)} for {lane.customer_name}
      </Text>
      {reasons.map((reason, index) => (
        <Button
          key={reason}
          variant="default"
          justify="space-between"
          rightSection={<Kbd aria-hidden>{index + 1}</Kbd>}
          data-autofocus={index === 0 ? true : undefined}
          onClick={() => choose(reason)}
        >
          {reasonNames[reason]}
        </Button>
      ))}
      <Group justify="center">
        <Button variant="subtle" onClick={() => choose(null)}>
          Mark lost without a reason
        </Button>
      </Group>
    </Stack>
  )
}
