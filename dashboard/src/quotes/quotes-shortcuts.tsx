import { Kbd, Modal, Stack, Switch, Text } from '@mantine/core'

const shortcuts: readonly (readonly [keys: readonly string[], does: string, marks: boolean])[] = [
  [['↓', 'J'], 'Next quote', false],
  [['↑', 'K'], 'Previous quote', false],
  [['Enter'], 'Open the quote', false],
  [['W'], 'Mark won', true],
  [['L'], 'Mark lost, with a reason', true],
  [['U'], 'Set pending again', true],
  [['R'], 'Requote', true],
  [['?'], 'Show these shortcuts', false],
]

/** Lists the shortcuts, with a switch that turns the letter shortcuts off. */
export function ShortcutsDialog({
  opened,
  onClose,
  isOn,
  switchTo,
  mayMark,
}: {
  opened: boolean
  onClose: () => void
  isOn: boolean
  switchTo: (isOn: boolean) => void
  mayMark: boolean
}) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">W, L, U and R act on the focused quote. They are off while you type.</Text>
        <dl className="shortcuts">
          {shortcuts
            .filter(([, , marks]) => mayMark || !marks)
            .map(([keys, does]) => (
              <div key={does}>
                <dt>
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
        </dl>
        <Switch
          label="Use letter shortcuts"
          description="When off, use arrow keys, Enter and buttons. Stored in this browser."
          checked={isOn}
          onChange={(event) => switchTo(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  )
}
