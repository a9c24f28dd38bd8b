import { Button, Group, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Quote } from '#contract/quote.ts'
import { type Answer, useSession } from '../api/index.ts'
import { CopyButton } from './copy-button.tsx'
import { emailText } from './quote-text.ts'
import { asLinkToQuote } from './quotes-links.tsx'

/** Copies the text of an e-mail to the customer about one quote. */
export function CopyAsEmail({ quote }: { quote: Quote }) {
  const { tenant } = useSession()
  const request = { customer_name: quote.quoted_customer_name, reference: quote.reference, lanes: [quote] }
  return <CopyButton text={emailText(request, tenant)} what="as e-mail" />
}

/** A quote that was just made: the warnings about its rate, its `lane_ref`, and the text for the customer. */
export function NewQuote({ quote }: { quote: Answer<'requote'> }) {
  const { warnings, lane_ref } = quote
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
        <CopyAsEmail quote={quote} />
      </Group>
    </>
  )
}

/** The buttons that close a dialog after its work is done. `newRef` is the quote that it made, if any. */
export function DoneButtons({ newRef, onClose }: { newRef: string | null; onClose: () => void }) {
  const done = useRef<HTMLButtonElement>(null)
  // The button that had the focus is gone. Without this, the focus is on the page behind the dialog.
  useEffect(() => done.current?.focus(), [])
  return (
    <Group justify="flex-end">
      {newRef !== null && (
        <Button variant="default" renderRoot={asLinkToQuote(newRef)} onClick={onClose}>
          Open the new quote
        </Button>
      )}
      <Button onClick={onClose} ref={done}>
        Done
      </Button>
    </Group>
  )
}
