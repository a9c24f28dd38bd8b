import { Anchor, Center, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { usePageHeading } from '../shared-ui/index.ts'

/** The layout of the pages without a session: one form, and a link to another such page. */
export function Doorstep({
  title,
  children,
  other,
}: {
  title: string
  children: ReactNode
  other?: ReactNode
}) {
  const heading = usePageHeading()
  useEffect(() => {
    document.title = `${title} – Lanewise`
  }, [title])
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw={420} gap="md">
        <div>
          <Text fw={700} style={{ color: 'var(--mantine-color-anchor)' }}>
            Lanewise
          </Text>
          <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {title}
          </Title>
        </div>
        <Paper withBorder p="lg">
          {children}
        </Paper>
        {other !== undefined && <Text size="sm">{other}</Text>}
        <Text size="sm" c="dimmed">
          Connecting a system? See the <Anchor href="/docs/">API reference</Anchor>. It needs no sign-in.
        </Text>
      </Stack>
    </Center>
  )
}
