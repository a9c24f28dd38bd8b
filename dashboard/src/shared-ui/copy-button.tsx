import { IconCheck, IconCopy } from 'virtual:tabler-icons'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useNotice } from './notices.tsx'

const confirmationMs = 2_000

/** Copies a text, or says why it was not copied. Gives true when it was. */
export function useCopy(): (text: string) => Promise<boolean> {
  const notify = useNotice()
  return async (text) => {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      notify('The browser blocked copying. Select the text and copy it manually.', { failed: true })
      return false
    }
  }
}

/** Copies a text and confirms it. `what` completes the label "Copy ...". */
export function CopyButton({
  text,
  what,
  compact = false,
}: {
  text: string
  what: string
  compact?: boolean
}) {
  const [copied, setCopied] = useState(false)
  const toClipboard = useCopy()
  const copy = async () => {
    if (!(await toClipboard(text))) return
    setCopied(true)
    setTimeout(setCopied, confirmationMs, false)
  }
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Copy ${what}`}
      leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{copied ? 'Copied' : compact ? 'Copy' : `Copy ${what}`}</span>
    </Button>
  )
}
