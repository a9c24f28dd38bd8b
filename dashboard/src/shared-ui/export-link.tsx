import { IconDownload } from 'virtual:tabler-icons'
import { Button } from '@mantine/core'
import type { MouseEvent } from 'react'
import { factorGiven, useSession } from '../api/index.ts'
import { useNotice } from './notices.tsx'

/** Downloads the whole selection, across all pages, as a CSV file. Disabled when the selection is empty. */
export function ExportLink({ href, isEmpty }: { href: string; isEmpty: boolean }) {
  const { second_factor } = useSession()
  const notify = useNotice()
  // A link cannot ask for the second factor.
  const follow = (event: MouseEvent) => {
    if (!second_factor.set) return
    event.preventDefault()
    factorGiven().then(
      (isGiven) => {
        if (isGiven) window.location.assign(href)
      },
      (error: Error) => notify(`Not exported: ${error.message}`, { failed: true }),
    )
  }
  const label = 'Export CSV'
  const icon = <IconDownload size={16} aria-hidden />
  if (isEmpty) {
    return (
      <Button variant="default" leftSection={icon} disabled title="Nothing to export yet">
        {label}
      </Button>
    )
  }
  return (
    <Button component="a" href={href} download variant="default" leftSection={icon} onClick={follow}>
      {label}
    </Button>
  )
}
