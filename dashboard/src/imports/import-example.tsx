import { Anchor, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
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
  'Carrier',
]

/** Made up: no such customers or carriers. */
const rows = [
  [
    'Q-1001',
    '3/2/2026',
    'Dallas, TX',
    'Atlanta, GA',
    'Van',
    'Harbor Foods',
    '$2,150',
    'Won',
    '$2,150',
    '$1,840',
    'Blue Mesa Trucking',
  ],
  [
    'Q-1002',
    '3/2/2026',
    'Chicago, IL',
    'Memphis, TN',
    'Reefer',
    'Pine Street Dairy',
    '$1,975.50',
    'Lost',
    '',
    '',
    '',
  ],
  [
    'Q-1003',
    '3/3/2026',
    'Savannah, GA',
    'Charlotte, NC',
    'V',
    'Harbor Foods',
    '940',
    'Won',
    '925',
    '780',
    'Three Rivers Freight',
  ],
  [
    'Q-1004',
    '3/4/2026',
    'Laredo, TX',
    'Denver, CO',
    'Flatbed',
    'Ridgeline Steel',
    '$3,400',
    'Sent',
    '',
    '',
    '',
  ],
]

/** What a good file has, with one to start from, and the two ways to bring it in. */
export function GoodFile({ mayImport }: { mayImport: boolean }) {
  return (
    <Stack gap="sm">
      <Title order={3} size="h5">
        What a good file has
      </Title>
      <Text size="sm" maw={760}>
        One row for each quote: where it picks up and delivers (one column each, or city and state), the
        equipment, the rate and the date. With how it ended, what the customer paid (AR) and what the truck
        cost (AP), Lanewise learns what wins and what it earns. Columns may be called what your system calls
        them, in any order.
      </Text>
      <DataTable
        caption="An example of a good file, with made-up quotes"
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
          Save the example as CSV
        </Button>
      </Group>
      <Text size="sm" maw={760}>
        CSV as UTF-8, also packed with gzip, up to {fileSize(importBytesMax)}. A row that was imported before
        adds nothing, so the same file can be sent again.{' '}
        {mayImport ? 'Import it on this page' : 'A member can import it on this page'}, or on the machine that
        runs Lanewise with <Code>npm run import -- loads.csv --dry-run</Code>. The fields and their names are
        in the{' '}
        <Anchor href="/docs/" target="_blank" rel="noreferrer">
          API reference
        </Anchor>
        .
      </Text>
    </Stack>
  )
}
