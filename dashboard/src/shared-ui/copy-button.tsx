import { IconCheck, IconCopy } from 'virtual:tabler-icons'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useNotice } from './notices.tsx'

const confirmationMs = 2_000

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
  const notify = useNotice()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(setCopied, confirmationMs, false)
    } catch {
      notify('The browser blocked copying. Select the text and copy it manually.', { failed: true })
    }
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
