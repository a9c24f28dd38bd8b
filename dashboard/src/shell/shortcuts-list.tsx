import { Kbd, Modal, Stack, Switch, Text, Title } from '@mantine/core'
import {
  showShortcuts,
  useShortcutGroups,
  useShortcutsListIsOpen,
  useShortcutsSwitch,
} from '../shared-ui/index.ts'

/** Lists the shortcuts of the page and of all pages, with a switch that turns the letter shortcuts off. */
export function ShortcutsList() {
  const opened = useShortcutsListIsOpen()
  return (
    <Modal
      opened={opened}
      onClose={() => showShortcuts(false)}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Groups />
      </Stack>
    </Modal>
  )
}

function Groups() {
  const groups = useShortcutGroups()
  const [isOn, switchTo] = useShortcutsSwitch()
  return (
    <>
      <Text size="sm">Keys of one letter or sign are off while you type in a field.</Text>
      {groups.map(({ title, shortcuts }) => (
        <section key={title} aria-label={title}>
          <Title order={3} size="h6">
            {title}
          </Title>
          <dl className="shortcuts">
            {shortcuts.map(({ keys, does }) => (
              <div key={does + keys.join()}>
                <dt>
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <Switch
        label="Use letter shortcuts"
        description="When off, use arrow keys, Enter, Ctrl (or ⌘) + K and buttons. Saved in this browser."
        checked={isOn}
        onChange={(event) => switchTo(event.currentTarget.checked)}
      />
    </>
  )
}
