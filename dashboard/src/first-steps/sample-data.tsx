import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay, useSession } from '../api/index.ts'
import { Failed, useFromHere } from '../shared-ui/index.ts'

/** Offers sample data to a brokerage without quotes. The page of the import shows its progress and its undo. */
export function SampleData() {
  const { sample_import_id: sample } = useSession()
  const may = useMay('admin')
  const fill = useChange('import-sample-data')
  const queries = useQueryClient()
  const fromHere = useFromHere()
  if (!may || sample !== null) return null
  const start = () => {
    const goOn = fromHere()
    fill.mutate(
      { body: {} },
      {
        onSuccess: ({ import_id }) => {
          void queries.invalidateQueries()
          goOn({ to: pagePaths.imports, search: { import: String(import_id) } })
        },
      },
    )
  }
  return (
    <>
      <Group gap="sm">
        <Text size="sm" flex="1 1 16rem">
          No file at hand? Look around with two years of fictional quotes. You can remove them with one click.
        </Text>
        <Button size="compact-sm" variant="default" onClick={start} loading={fill.isPending}>
          Fill with sample data
        </Button>
      </Group>
      {fill.error !== null && <Failed error={fill.error} title="No sample data added" />}
    </>
  )
}
