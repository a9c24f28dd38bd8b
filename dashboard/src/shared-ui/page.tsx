import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

/** The path of the page that was rendered last; null before the first page of a visit. */
let shownPath: string | null = null

/** A page with its title, as heading and in the browser tab, and its actions. Focuses the heading after navigation. */
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
    // The first page of a visit keeps the focus at the top, so that Tab reaches the skip link.
    if (before === null) return
    const focused = document.activeElement
    const isNowhere = focused === null || focused === document.body
    // The focus moves from the menu to the heading, but never away from a field of the page.
    const isLeft = before !== shownPath && focused?.closest('main') == null
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
