import { Button, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { pagePaths } from '#contract/pages.ts'

export function NoSuchPage() {
  useEffect(() => {
    document.title = 'Page not found – Lanewise'
  }, [])
  return (
    <main>
      <Stack gap="xs" align="center" py="xl" px="md">
        <Title order={1} size="h4" ta="center">
          Page not found
        </Title>
        <Text c="dimmed" ta="center">
          The address may be mistyped, or the page was moved.
        </Text>
        <Button component="a" href={pagePaths.desk}>
          Go to the quote desk
        </Button>
      </Stack>
    </main>
  )
}
