import { IconDownload } from 'virtual:tabler-icons'
import { Button } from '@mantine/core'

/** Downloads the whole selection, across all pages, as a CSV file. Disabled when the selection is empty. */
export function ExportLink({ href, isEmpty }: { href: string; isEmpty: boolean }) {
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
    <Button component="a" href={href} download variant="default" leftSection={icon}>
      {label}
    </Button>
  )
}
