import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Body, useChange } from '../api/index.ts'
import { useSentForm } from '../shared-ui/index.ts'
import type { Bid } from './bid-words.ts'
import { useBidChanged } from './use-bid.ts'

/** A moment as a field for local time has it. @example localTime('2026-03-01T17:00:00Z') // '2026-03-01T11:00' in Chicago */
function localTime(moment: string): string {
  const at = new Date(moment)
  return new Date(at.getTime() - 60_000 * at.getTimezoneOffset()).toISOString().slice(0, 16)
}

/** What differs from the stored bid, as the service takes it. */
function changeOf(bid: Bid, name: string, due: string): Body<'change-bid'> {
  const before = bid.due_at === null ? '' : localTime(bid.due_at)
  return {
    ...(name.trim() === bid.name ? {} : { name: name.trim() }),
    ...(due === before ? {} : due === '' ? { clear: ['due_at'] } : { due_at: new Date(due).toISOString() }),
  }
}

/** Changes the name and the deadline of a bid. */
export function BidSettings({ bid }: { bid: Bid }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Name and deadline
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title="Name and deadline"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Form bid={bid} close={() => setIsOpen(false)} />
      </Modal>
    </>
  )
}

function Form({ bid, close }: { bid: Bid; close: () => void }) {
  const { reread } = useBidChanged(bid.bid_id)
  const { submit, input, pending, failure } = useSentForm(useChange('change-bid'), {
    fields: { name: bid.name, due_at: bid.due_at === null ? '' : localTime(bid.due_at) },
    send: ({ name, due_at: due }) => {
      const body = changeOf(bid, name, due)
      return Object.keys(body).length === 0 ? null : { params: { bid_id: bid.bid_id }, body }
    },
    done: (changed) => (changed === null ? close() : void reread().then(close)),
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput label="Name" required data-autofocus {...input('name')} />
        <TextInput
          label="Deadline"
          description="In the time zone of this computer. Empty: no deadline."
          type="datetime-local"
          {...input('due_at')}
        />
        {failure('Nothing was changed')}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={pending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
