import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'

/** The whole selection as a file, however many pages it fills. Where there is nothing to save it cannot be followed. */
export function ExportLink({ href, isEmpty }: { href: string; isEmpty: boolean }) {
  const label = 'Export CSV'
  const icon = <IconDownload size={16} aria-hidden />
  if (isEmpty) {
    return (
      <Button variant="default" leftSection={icon} disabled title="There is nothing to export yet">
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
