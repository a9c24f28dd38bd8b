import { Button, Group, Kbd, Modal, Stack, Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import type { Quote } from '#contract/quote.ts'
import { laneName } from './formats.ts'
import { type Reason, reasonNames, reasons } from './outcome-words.tsx'

/** Asks why quotes were lost. Choose one of five reasons by number key, by arrow keys and Enter, or by click. */
export function ReasonDialog({
  about,
  onChoose,
  onClose,
}: {
  /** The quotes that were lost, as text; null while the dialog is closed. */
  about: string | null
  onChoose: (reason: Reason | null) => void
  onClose: () => void
}) {
  return (
    <Modal
      opened={about !== null}
      onClose={onClose}
      title="Why was it lost?"
      size="sm"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {about !== null && (
        <Choices
          about={about}
          choose={(reason) => {
            onChoose(reason)
            onClose()
          }}
        />
      )}
    </Modal>
  )
}

/** A quote as the dialog names it. @example lostQuote(lane) // 'Dallas, TX → Atlanta, GA for Harvest Table Foods' */
export function lostQuote(quote: Quote | null): string | null {
  return quote && `${laneName(quote.origin, quote.destination)} for ${quote.customer_name}`
}

function Choices({ about, choose }: { about: string; choose: (reason: Reason | null) => void }) {
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
        {about}
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
