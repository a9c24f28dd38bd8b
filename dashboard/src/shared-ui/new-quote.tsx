import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Quote } from '#contract/quote.ts'
import { type Answer, useSession } from '../api/index.ts'
import { CopyButton, useCopy } from './copy-button.tsx'
import { useNotice } from './notices.tsx'
import { emailText } from './quote-text.ts'
import { asLinkToQuote } from './quotes-links.tsx'

/** The text of an e-mail to the customer about one quote. */
function useQuoteText(quote: Quote): string {
  const request = { customer_name: quote.quoted_customer_name, reference: quote.reference, lanes: [quote] }
  return emailText(request, useSession())
}

/** Copies the text of an e-mail to the customer about one quote. */
export function CopyAsEmail({ quote }: { quote: Quote }) {
  return <CopyButton text={useQuoteText(quote)} what="as e-mail" />
}

/** Copies the text of an e-mail about one quote, and confirms it in a notice: for menus and keys. */
export function useCopyAsEmail(quote: Quote): () => void {
  return useCopyText(useQuoteText(quote))
}

/** Copies a text for the customer, and confirms it in a notice. */
export function useCopyText(text: string): () => void {
  const copy = useCopy()
  const notify = useNotice()
  return () => void copy(text).then((copied) => copied && notify('Copied the text for the customer'))
}

/**
 * The text for the customer, to read, select and copy.
 *
 * @param isSelected true to select the text when it appears, so that the keys of the browser copy it, too
 */
export function CustomerText({
  text,
  isOpen = true,
  isSelected = false,
  children,
}: {
  text: string
  isOpen?: boolean
  isSelected?: boolean
  children?: ReactNode
}) {
  const shown = useRef<HTMLPreElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is selected again
  useEffect(() => {
    if (isSelected && shown.current !== null) getSelection()?.selectAllChildren(shown.current)
  }, [isSelected, text])
  return (
    <Group gap="xs" mt={4} align="flex-start">
      <CopyButton text={text} what="as e-mail" />
      {children}
      <details open={isOpen} className="customer-text">
        <summary>Text for the customer</summary>
        <pre ref={shown}>{text}</pre>
      </details>
    </Group>
  )
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
        <CopyButton text={lane_ref} what="quote number" />
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
