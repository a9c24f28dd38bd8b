import { IconDownload } from 'virtual:tabler-icons'
import { Anchor, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { importBytesMax } from '#contract/limits.ts'
import { DataTable } from '../shared-ui/index.ts'
import { csvText, fileSize, saveText } from './import-file.ts'

const header = [
  'Quote #',
  'Quote Date',
  'Ship From',
  'Ship To',
  'Equip',
  'Customer',
  'Quoted Rate',
  'Status',
  'Sell Rate',
  'Carrier Rate',
]

/** Fictional quotes. */
const rows = [
  'Q-1001|3/2/2026|Dallas, TX|Atlanta, GA|Van|Harbor Foods|$2,150|Won|$2,150|$1,840',
  'Q-1002|3/2/2026|Chicago, IL|Memphis, TN|Reefer|Pine Dairy|$1,975.50|Lost||',
  'Q-1003|3/3/2026|Savannah, GA|Charlotte, NC|V|Harbor Foods|940|Won|925|780',
  'Q-1004|3/4/2026|Laredo, TX|Denver, CO|Flatbed|Ridgeline Steel|$3,400|Sent||',
].map((row) => row.split('|'))

/** Describes the file format with an example, and the two ways to import a file. */
export function GoodFile({ mayImport }: { mayImport: boolean }) {
  return (
    <Stack gap="sm">
      <Title order={3} size="h5">
        File format
      </Title>
      <Text size="sm" maw={760}>
        One row per quote with origin and destination (one column each, or city and state), equipment, rate
        and date. Add the outcome, the customer rate (AR) and the truck cost (AP) so that Lanewise can learn
        which rates win and what they earn. Columns can have the names of your system, in any order.
      </Text>
      <DataTable
        caption="Example file with fictional quotes"
        rows={rows}
        rowKey={([id]) => id ?? ''}
        columns={header.map((name, position) => ({
          key: name,
          header: name,
          cell: (row: readonly string[]) => row[position] ?? '',
        }))}
      />
      <Group gap="sm">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => void csvText(header, rows).then((text) => saveText('lanewise-example.csv', text))}
        >
          Download example CSV
        </Button>
      </Group>
      <Text size="sm" maw={760}>
        CSV in UTF-8, optionally compressed with gzip, up to {fileSize(importBytesMax)}. Rows that were
        imported before are skipped, so you can import the same file again.{' '}
        {mayImport ? 'Import it on this page' : 'A member can import it on this page'}, or on the server with{' '}
        <Code>npm run import -- loads.csv --dry-run</Code>. For all fields and their column names, see the{' '}
        <Anchor href="/docs/" target="_blank" rel="noreferrer">
          API reference
        </Anchor>
        .
      </Text>
    </Stack>
  )
}
