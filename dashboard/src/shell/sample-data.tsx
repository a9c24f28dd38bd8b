import { Box, Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay, useSession } from '../api/index.ts'
import { Failed, Heed, useFromHere } from '../shared-ui/index.ts'

/** On every page of a brokerage with sample data: all numbers are fictional, and one click removes the data. */
export function SampleData() {
  const { sample_import_id: sample } = useSession()
  const may = useMay('admin')
  const undo = useChange('undo-import')
  const queries = useQueryClient()
  const fromHere = useFromHere()
  if (sample === null) return null
  const remove = () => {
    const goOn = fromHere()
    undo.mutate(
      { params: { import_id: sample } },
      {
        onSuccess: () => {
          void queries.invalidateQueries()
          goOn({ to: pagePaths.imports, search: { import: String(sample) } })
        },
      },
    )
  }
  return (
    <Box component="section" aria-label="Sample data" mb="md">
      <Heed>
        <b>This brokerage shows sample data.</b> Quotes for “(sample)” customers, and all advice, are
        fictional.{' '}
        {may && (
          <Button size="compact-xs" variant="default" onClick={remove} loading={undo.isPending}>
            Remove the sample data
          </Button>
        )}
      </Heed>
      {undo.error !== null && <Failed error={undo.error} title="Sample data not removed" />}
    </Box>
  )
}
