import { Button, Chip, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { quotesHaveChanged, showQuote, useChange } from '../api/index.ts'
import { Failed, laneName, useNotice, useSentForm } from '../shared-ui/index.ts'

const usualReasons = ['Mistyped rate', 'Wrong lane', 'Duplicate', 'Test'] as const

/** Restores a voided quote, and shows a notice. */
function useRestore() {
  const queries = useQueryClient()
  const notify = useNotice()
  const restore = useChange('restore-quote')
  const run = ({ lane_ref }: Quote) =>
    restore.mutate(
      { params: { lane_ref } },
      {
        onSuccess: (restored) => {
          showQuote(queries, restored)
          notify(`${lane_ref} counts again`)
          void quotesHaveChanged(queries, [lane_ref])
        },
        onError: (error) => notify(`${lane_ref} is still void. ${error.message}`, { failed: true }),
      },
    )
  return { run, isPending: restore.isPending }
}

/** Voids a quote that was a mistake, with a reason, or restores it. */
export function VoidButton({ quote }: { quote: Quote }) {
  const [isAsking, setIsAsking] = useState(false)
  const restore = useRestore()
  if (quote.voided_at !== null) {
    return (
      <Button size="xs" loading={restore.isPending} onClick={() => restore.run(quote)}>
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
        <VoidForm quote={quote} restore={restore.run} close={() => setIsAsking(false)} />
      </Modal>
    </>
  )
}

function VoidForm({
  quote,
  restore,
  close,
}: {
  quote: Quote
  restore: (quote: Quote) => void
  close: () => void
}) {
  const queries = useQueryClient()
  const notify = useNotice()
  const { lane_ref } = quote
  const { input, submit, failed, isPending } = useSentForm(useChange('void-quote'), {
    initial: { reason: '' },
    sent: (body) => ({ params: { lane_ref }, body }),
    onSuccess: (voided) => {
      close()
      showQuote(queries, voided)
      notify(`${lane_ref} is void`, { action: { label: 'Undo', run: () => restore(voided) } })
      void quotesHaveChanged(queries, [lane_ref])
    },
  })
  const reason = input('reason')
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">
          {laneName(quote.origin, quote.destination)} stays readable, and no statistic counts it. You can
          restore it at any time.
        </Text>
        <Chip.Group value={reason.value} onChange={(value) => reason.onChange(String(value))}>
          <Group gap="xs">
            {usualReasons.map((usual) => (
              <Chip key={usual} value={usual} size="xs">
                {usual}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <TextInput label="Reason" data-autofocus required {...reason} />
        {failed && <Failed error={failed} title="The quote was not voided" />}
        <Group justify="flex-end">
          <Button type="submit" loading={isPending}>
            Void quote
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
