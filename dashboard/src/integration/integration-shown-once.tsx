import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton, Heed } from '../shared-ui/index.ts'

/** A credential as the service answers it, once. */
export interface ShownOnce {
  readonly what: 'service token' | 'signing secret' | 'event secret'
  readonly name: string
  readonly plaintext: string
  readonly warning: string
  /** What else became of this, such as until when the secret before is accepted. */
  readonly note?: ReactNode
}

/**
 * The only time a plaintext is on screen. It closes with nothing but the word that it was stored: neither Escape nor a
 * click beside it may lose it.
 */
export function ShownOnceDialog({ shown, close }: { shown: ShownOnce | null; close: () => void }) {
  return (
    <Modal
      opened={shown !== null}
      onClose={close}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      size="lg"
      transitionProps={{ duration: 0 }}
      title={shown === null ? '' : `Store this ${shown.what} now`}
    >
      {shown !== null && (
        <Stack gap="md">
          <Text size="sm">
            The {shown.what} {shown.what === 'event secret' ? 'of ' : ''}
            <strong style={{ overflowWrap: 'anywhere' }}>{shown.name}</strong>:
          </Text>
          <code className="shown-once" data-autofocus tabIndex={-1}>
            {shown.plaintext}
          </code>
          <Group>
            <CopyButton text={shown.plaintext} what={`the ${shown.what}`} />
          </Group>
          <Heed>
            {shown.warning} Put it where your {shown.what === 'event secret' ? 'receiver' : 'TMS'} keeps its
            passwords, not into a mail or a chat.
          </Heed>
          {shown.note !== undefined && <Text size="sm">{shown.note}</Text>}
          {shown.what !== 'event secret' && (
            <Text size="sm" c="dimmed">
              Until you leave or reload this page, the lines to paste under Code hold it, too.
            </Text>
          )}
          <Group justify="flex-end">
            <Button onClick={close}>I have stored it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
