import { Button, Stack, Text, Title } from '@mantine/core'
import { useEffect } from 'react'
import { pagePaths } from '#contract/pages.ts'

export function NoSuchPage() {
  useEffect(() => {
    document.title = 'No such page – Lanewise'
  }, [])
  return (
    <main>
      <Stack gap="xs" align="center" py="xl" px="md">
        <Title order={1} size="h4" ta="center">
          There is no page at this address
        </Title>
        <Text c="dimmed" ta="center">
          It may have been mistyped, or moved.
        </Text>
        <Button component="a" href={pagePaths.desk}>
          To the quote desk
        </Button>
      </Stack>
    </main>
  )
}
