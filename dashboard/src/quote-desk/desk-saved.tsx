import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Answer } from '../api/index.ts'
import { CopyButton, counted, DataTable, dollars, equipmentName, laneName } from '../shared-ui/index.ts'

/** The saved request, with the lane_ref of every lane to copy into the TMS. */
export function Saved({ request, onNew }: { request: Answer<'create-quote-request'>; onNew: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const { lanes, customer_name, reference } = request
  const everything = lanes
    .map((lane) =>
      [lane.lane_ref, lane.origin, lane.destination, lane.equipment, lane.quoted_rate].join('\t'),
    )
    .join('\n')
  return (
    <Paper withBorder p="md">
      <Stack>
        <div>
          <Title order={2} size="h4" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {counted(lanes.length, 'lane')} quoted
          </Title>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            For {customer_name}
            {reference === null ? '' : `, reference ${reference}`}. The TMS sends the lane_ref back when it
            books the load.
          </Text>
        </div>
        <DataTable
          caption="Lanes of this request"
          rows={lanes}
          rowKey={({ lane_ref }) => lane_ref}
          columns={[
            {
              key: 'ref',
              header: 'lane_ref',
              cell: ({ lane_ref }) => (
                <Group gap="xs" wrap="nowrap">
                  <Anchor component={Link} to={pagePaths.quote.replace('{lane_ref}', lane_ref)} size="sm">
                    {lane_ref}
                  </Anchor>
                  <CopyButton text={lane_ref} what={`lane_ref ${lane_ref}`} compact />
                </Group>
              ),
            },
            {
              key: 'lane',
              header: 'Lane',
              cell: ({ origin, destination, equipment }) => (
                <Anchor
                  component={Link}
                  to={pagePaths.lane}
                  search={{ origin, destination, equipment } as never}
                  size="sm"
                >
                  {laneName(origin, destination)}
                </Anchor>
              ),
            },
            { key: 'equipment', header: 'Equipment', cell: ({ equipment }) => equipmentName(equipment) },
            { key: 'rate', header: 'Rate', align: 'right', cell: ({ quoted_rate }) => dollars(quoted_rate) },
          ]}
        />
        <Group>
          <Button onClick={onNew}>New request</Button>
          <CopyButton
            text={everything}
            what={lanes.length === 1 ? 'the line' : `all ${lanes.length} lines`}
          />
        </Group>
      </Stack>
    </Paper>
  )
}
