import { Button, Group, Modal, Stack } from '@mantine/core'
import { type UseMutationResult, useQueryClient } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import type { CallFailed } from '../api/index.ts'
import { useNotice } from './notices.tsx'
import { Failed } from './states.tsx'

/** Confirms an action that cannot be undone. `children` says what will stop working. */
export function ConfirmDialog({
  opened,
  title,
  children,
  action,
  instead = 'Cancel',
  pending = false,
  error = null,
  confirm,
  close,
}: {
  opened: boolean
  title: string
  children: ReactNode
  action: string
  /** The button that does not confirm. It has the focus: Enter must never confirm by accident. */
  instead?: string
  pending?: boolean
  error?: Error | null
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

/** Confirms a change by one call. After it, all pages ask for their data again. */
export function ConfirmChange<Sent, Made>({
  call,
  sent,
  said,
  onDone,
  close,
  ...dialog
}: Pick<ComponentProps<typeof ConfirmDialog>, 'title' | 'children' | 'action' | 'close'> & {
  call: UseMutationResult<Made, CallFailed, Sent>
  /** Null while nothing is asked. */
  sent: Sent | null
  /** The notice of success. */
  said?: (made: Made) => string
  onDone?: (made: Made) => void
}) {
  const queries = useQueryClient()
  const notify = useNotice()
  const leave = () => {
    call.reset()
    close()
  }
  const onSuccess = (made: Made) => {
    if (said !== undefined) notify(said(made))
    void queries.invalidateQueries()
    onDone?.(made)
    leave()
  }
  return (
    <ConfirmDialog
      {...dialog}
      opened={sent !== null}
      pending={call.isPending}
      error={call.error}
      confirm={() => sent !== null && call.mutate(sent, { onSuccess })}
      close={leave}
    />
  )
}
