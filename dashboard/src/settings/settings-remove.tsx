import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/index.ts'
import { ConfirmDialog, useNotice } from '../shared-ui/index.ts'

/** A button that asks before it removes a part of the settings, and says that it is gone. `what` has its article: "the mail server". */
export function RemoveSetting({
  operation,
  what,
  children,
}: {
  operation: 'remove-mail-server' | 'remove-mailbox' | 'remove-mail-address' | 'remove-company-sign-in'
  what: string
  /** What is lost with it. */
  children: string
}) {
  const [isOpen, setOpen] = useState(false)
  const remove = useChange(operation)
  const queries = useQueryClient()
  const notify = useNotice()
  const done = () => {
    remove.reset()
    setOpen(false)
  }
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Remove {what}
      </Button>
      <ConfirmDialog
        opened={isOpen}
        title={`Remove ${what}?`}
        action={`Remove ${what}`}
        pending={remove.isPending}
        error={remove.error}
        close={done}
        confirm={() => {
          // Callbacks of `mutate` are not called once this dialog is gone, and a page that reloads removes it.
          remove.mutateAsync({}).then(
            () => {
              notify(`${what[0]?.toUpperCase()}${what.slice(1)} is removed.`)
              done()
              void queries.invalidateQueries()
            },
            () => {
              // The dialog shows the error.
            },
          )
        }}
      >
        <Text size="sm">{children}</Text>
      </ConfirmDialog>
    </>
  )
}
