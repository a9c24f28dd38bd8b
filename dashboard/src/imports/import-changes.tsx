import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { fieldName, valueWords } from '../quote-history/index.ts'
import { asLinkToQuote, count, counted, DataTable } from '../shared-ui/index.ts'
import type { ImportAnswer } from './import-words.ts'

/** The values that an import changed or will change, by quote and field. */
export function ImportChanges({ run }: { run: ImportAnswer }) {
  const { changes } = run
  if (changes.length === 0) return null
  const rows = changes.flatMap(({ row, lane_ref, fields, currencies }) =>
    fields.map((one) => ({
      ...one,
      row,
      lane_ref,
      // A changed currency is among the fields.
      valuesBefore: {
        ...currencies,
        ...Object.fromEntries(fields.map(({ field, before }) => [field, before])),
      },
      valuesAfter: { ...currencies, ...Object.fromEntries(fields.map(({ field, after }) => [field, after])) },
    })),
  )
  return (
    <Section
      title={run.dry_run ? 'Values that will change' : 'Changed values'}
      hint={
        run.rows_updated > changes.length
          ? `The first ${count(changes.length)} of ${counted(run.rows_updated, 'quote')}.`
          : 'New values in the file for quotes that already exist.'
      }
    >
      <DataTable
        caption={run.dry_run ? 'Values that will change, by line' : 'Changed values, by line'}
        rows={rows}
        rowKey={({ row, field }) => `${row} ${field}`}
        columns={[
          { key: 'row', header: 'Line', align: 'right', cell: ({ row }) => count(row) },
          { key: 'lane', header: 'Quote', cell: ({ lane_ref }) => <QuoteLink laneRef={lane_ref} /> },
          { key: 'field', header: 'Field', cell: ({ field }) => fieldName(field) },
          {
            key: 'before',
            header: 'Before',
            wraps: true,
            cell: ({ field, before, valuesBefore }) => valueWords(field, before, valuesBefore),
          },
          {
            key: 'after',
            header: run.dry_run ? 'Will be' : 'After',
            wraps: true,
            cell: ({ field, after, valuesAfter }) => <strong>{valueWords(field, after, valuesAfter)}</strong>,
          },
        ]}
      />
    </Section>
  )
}

/** The values of a file that were skipped because the existing value takes precedence. */
export function ImportNotApplied({ run }: { run: ImportAnswer }) {
  const { kept } = run
  if (kept.length === 0) return null
  return (
    <Section
      title="Skipped values"
      hint="Signed values from the TMS, and outcomes set by a person, take precedence over values in a file."
    >
      <DataTable
        caption="Skipped values of the file"
        rows={kept.slice(0, notAppliedShown)}
        rowKey={({ row, column }) => `${row} ${column}`}
        columns={[
          { key: 'row', header: 'Line', align: 'right', cell: ({ row }) => count(row) },
          { key: 'lane', header: 'Quote', cell: ({ lane_ref }) => <QuoteLink laneRef={lane_ref} /> },
          { key: 'column', header: 'Column', cell: ({ column }) => column },
          {
            key: 'detail',
            header: 'Reason',
            wraps: true,
            cell: ({ detail }) => <span style={{ overflowWrap: 'anywhere' }}>{detail}</span>,
          },
        ]}
      />
      {kept.length > notAppliedShown && (
        <Text size="sm" c="dimmed">
          The first {notAppliedShown} of {count(kept.length)}.
        </Text>
      )}
    </Section>
  )
}

const notAppliedShown = 200

function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <Stack gap="xs">
      <div>
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      </div>
      {children}
    </Stack>
  )
}

function QuoteLink({ laneRef }: { laneRef: string }) {
  return (
    <Anchor renderRoot={asLinkToQuote(laneRef)} size="sm">
      {laneRef}
    </Anchor>
  )
}
