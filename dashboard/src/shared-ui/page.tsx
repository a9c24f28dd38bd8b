import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

/** The path of the page that was drawn last; null before the first of a visit. */
let shownPath: string | null = null

/** A page: its title in the tab and as heading, its actions beside it. Focus goes to the heading after a navigation. */
export function Page({
  title,
  hint,
  actions,
  children,
}: {
  title: string
  hint?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} – Lanewise`
  }, [title])
  useEffect(() => {
    const before = shownPath
    shownPath = window.location.pathname
    // A visit begins at the top of its first page, where the link that skips the menu is.
    if (before === null) return
    const held = document.activeElement
    const isNowhere = held === null || held === document.body
    // From the menu the focus moves on to the page that was chosen, but never away from a field that asked for it.
    const isLeft = before !== shownPath && held?.closest('main') == null
    if (isNowhere || isLeft) heading.current?.focus({ preventScroll: true })
  }, [])
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
