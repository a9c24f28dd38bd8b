import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton, Heed } from '../shared-ui/index.ts'

/** A new credential. The service returns its plaintext only once. */
export interface ShownOnce {
  readonly what: 'service token' | 'signing secret' | 'event secret'
  readonly name: string
  readonly plaintext: string
  readonly warning: string
  /** Further information, such as how long the previous secret stays valid. */
  readonly note?: ReactNode
}

/**
 * Shows a plaintext, once. Only the confirmation button closes the dialog, so that Escape or a click outside cannot lose
 * the plaintext.
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
      title={shown === null ? '' : `Save this ${shown.what} now`}
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
            {shown.warning} Save it with the passwords of your{' '}
            {shown.what === 'event secret' ? 'receiver' : 'TMS'}, not in an email or a chat.
          </Heed>
          {shown.note !== undefined && <Text size="sm">{shown.note}</Text>}
          {shown.what !== 'event secret' && (
            <Text size="sm" c="dimmed">
              The example code under Code also contains it until you leave or reload this page.
            </Text>
          )}
          <Group justify="flex-end">
            <Button onClick={close}>I have saved it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
