import { Button, Group, Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { CopyButton } from './copy-button.tsx'
import { asLinkToQuote } from './quotes-links.tsx'

/** What a person needs of a quote that was just made: the warnings about its rate, and its `lane_ref` to copy. */
export function NewQuote({ warnings, lane_ref }: Pick<Answer<'requote'>, 'warnings' | 'lane_ref'>) {
  return (
    <>
      {warnings.map(({ code, detail }) => (
        <Text key={code} size="sm" fw={600} className="loss">
          Check the rate: {detail}
        </Text>
      ))}
      <Group gap="xs">
        <Text fw={600}>{lane_ref}</Text>
        <CopyButton text={lane_ref} what="lane_ref" />
      </Group>
    </>
  )
}

/** The buttons that close a dialog after its work is done. `newRef` is the quote that it made, if any. */
export function DoneButtons({ newRef, onClose }: { newRef: string | null; onClose: () => void }) {
  return (
    <Group justify="flex-end">
      {newRef !== null && (
        <Button variant="default" renderRoot={asLinkToQuote(newRef)} onClick={onClose}>
          Open the new quote
        </Button>
      )}
      <Button onClick={onClose} data-autofocus>
        Done
      </Button>
    </Group>
  )
}
