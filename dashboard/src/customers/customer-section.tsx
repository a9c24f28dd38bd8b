import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import type { Answer } from '../api/index.ts'

export type CustomerRecord = Answer<'get-customer'>

/** A part of the page with a heading. */
export function Section({
  title,
  hint = null,
  actions,
  children,
}: {
  title: string
  hint?: string | null
  actions?: ReactNode
  children: ReactNode
}) {
  const id = useId()
  return (
    <Stack component="section" aria-labelledby={id} gap="sm">
      <Group justify="space-between" gap="xs">
        <div>
          <Title order={2} size="h4" id={id}>
            {title}
          </Title>
          {hint !== null && (
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          )}
        </div>
        {actions}
      </Group>
      {children}
    </Stack>
  )
}
