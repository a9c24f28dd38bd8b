import { Kbd, Modal, Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'

const keptAs = 'lanewise-shortcuts'

function readIsOn(): boolean {
  try {
    return localStorage.getItem(keptAs) !== 'off'
  } catch {
    return true
  }
}

/** Whether single-letter shortcuts are on. They can be turned off, for example for speech input (WCAG 2.1.4). */
export function useShortcutsSwitch(): readonly [isOn: boolean, switchTo: (isOn: boolean) => void] {
  const [isOn, setIsOn] = useState(readIsOn)
  return [
    isOn,
    (next) => {
      setIsOn(next)
      try {
        localStorage.setItem(keptAs, next ? 'on' : 'off')
      } catch {
        // Without browser storage, the setting lasts until the page is closed.
      }
    },
  ]
}

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
