import { Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { usePageHeading } from './page-heading.ts'

/** A page with its title, as heading and in the browser tab, and its actions. Focuses the heading after navigation. */
export function Page({
  title,
  hint,
  actions,
  hidesTitle = false,
  children,
}: {
  title: string
  hint?: ReactNode
  actions?: ReactNode
  /** The heading is for screen readers only, where the page needs its height. Such a page has no hint and places its own actions. */
  hidesTitle?: boolean
  children: ReactNode
}) {
  const heading = usePageHeading()
  useEffect(() => {
    document.title = `${title} – Lanewise`
  }, [title])
  if (hidesTitle) {
    return (
      <Stack gap="xs">
        <VisuallyHidden component="h1" ref={heading} tabIndex={-1}>
          {title}
        </VisuallyHidden>
        {children}
      </Stack>
    )
  }
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end" gap="sm">
        <div>
          <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {title}
          </Title>
          {hint !== undefined && (
            <Text c="dimmed" size="sm">
              {hint}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
