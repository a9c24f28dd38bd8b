import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failed } from './states.tsx'

/** Confirms an action that cannot be undone. `children` says what will stop working. */
export function ConfirmDialog({
  opened,
  title,
  children,
  action,
  instead = 'Cancel',
  pending,
  error,
  confirm,
  close,
}: {
  opened: boolean
  title: string
  children: ReactNode
  action: string
  /** The button that does not confirm. It has the focus: Enter must never confirm by accident. */
  instead?: string
  pending: boolean
  error: Error | null
  confirm: () => void
  close: () => void
}) {
  return (
    <Modal opened={opened} onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="md">
        {children}
        {error !== null && <Failed error={error} title="Nothing was changed" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {instead}
          </Button>
          <Button color="red.9" onClick={confirm} loading={pending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
