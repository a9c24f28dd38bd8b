import { Button, Chip, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Lane } from '#contract/lane.ts'
import { lanesHaveChanged, showLane, useChange } from '../api/index.ts'
import { Failed, laneName, useNotice } from '../shared-ui/index.ts'

const usualReasons = ['Mistyped rate', 'Wrong lane', 'Duplicate', 'Test'] as const

/** Takes back the void of a quote, and says so. */
function useRestore() {
  const queries = useQueryClient()
  const notify = useNotice()
  const restore = useChange('restore-quote')
  const run = ({ lane_ref }: Lane) =>
    restore.mutate(
      { params: { lane_ref } },
      {
        onSuccess: (restored) => {
          showLane(queries, restored)
          notify(`${lane_ref} counts again`)
          void lanesHaveChanged(queries, [lane_ref])
        },
        onError: (error) => notify(`${lane_ref} is still void. ${error.message}`, { failed: true }),
      },
    )
  return { run, isPending: restore.isPending }
}

/** Voids a quote that was a mistake, with a reason, or takes the void back. */
export function VoidButton({ lane }: { lane: Lane }) {
  const [isAsking, setIsAsking] = useState(false)
  const restore = useRestore()
  if (lane.voided_at !== null) {
    return (
      <Button size="xs" loading={restore.isPending} onClick={() => restore.run(lane)}>
        Restore
      </Button>
    )
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsking(true)}>
        Void
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title="Void this quote"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <VoidForm lane={lane} restore={restore.run} close={() => setIsAsking(false)} />
      </Modal>
    </>
  )
}

function VoidForm({
  lane,
  restore,
  close,
}: {
  lane: Lane
  restore: (lane: Lane) => void
  close: () => void
}) {
  const [reason, setReason] = useState('')
  const queries = useQueryClient()
  const notify = useNotice()
  const change = useChange('void-quote')
  const wrong = change.error?.fieldError('/reason')
  const { lane_ref } = lane
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      { params: { lane_ref }, body: { reason } },
      {
        onSuccess: (voided) => {
          close()
          showLane(queries, voided)
          notify(`${lane_ref} is void`, { action: { label: 'Undo', run: () => restore(voided) } })
          void lanesHaveChanged(queries, [lane_ref])
        },
      },
    )
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          {laneName(lane.origin, lane.destination)} stays readable, and no statistic counts it. You can
          restore it at any time.
        </Text>
        <Chip.Group value={reason} onChange={(value) => setReason(String(value))}>
          <Group gap="xs">
            {usualReasons.map((usual) => (
              <Chip key={usual} value={usual} size="xs">
                {usual}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <TextInput
          label="Reason"
          data-autofocus
          required
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={wrong}
        />
        {change.error !== null && wrong === undefined && (
          <Failed error={change.error} title="The quote was not voided" />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            Void quote
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
