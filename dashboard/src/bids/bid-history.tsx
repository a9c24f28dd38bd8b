import { Button, Text } from '@mantine/core'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { type Column, counted, DataTable, Failed, moment, Section, since } from '../shared-ui/index.ts'
import { useBidChanged } from './use-bid.ts'

type Change = Answer<'list-bid-changes'>['changes'][number]

/** The changes of a bid, newest first. Each change of rates is undone by one click. */
export function BidHistory({ bidId, mayWrite }: { bidId: number; mayWrite: boolean }) {
  const list = useAnswer('list-bid-changes', { params: { bid_id: bidId } })
  const undo = useChange('undo-bid-change')
  const { reread } = useBidChanged(bidId)
  const changes = list.data?.changes ?? []
  const columns: Column<Change>[] = [
    { key: 'number', header: 'Change', align: 'right', cell: ({ change }) => change },
    { key: 'words', header: 'What', wraps: true, cell: ({ words }) => words },
    { key: 'cells', header: 'Lanes', cell: ({ cells }) => counted(cells, 'lane') },
    { key: 'who', header: 'By', wraps: true, cell: ({ changed_by }) => changed_by?.name ?? '–' },
    {
      key: 'when',
      header: 'When',
      from: 'sm',
      cell: ({ changed_at }) => <span title={moment(changed_at)}>{since(changed_at)}</span>,
    },
    ...(mayWrite
      ? [
          {
            key: 'undo',
            header: 'Actions',
            cell: ({ change, kind, undone_by }: Change) =>
              kind === 'place' ? null : undone_by !== null ? (
                `Undone by ${undone_by}`
              ) : (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Undo change ${change}`}
                  loading={undo.isPending && undo.variables?.params.change === change}
                  onClick={() =>
                    undo.mutate(
                      { params: { bid_id: bidId, change }, body: {} },
                      { onSuccess: () => void reread() },
                    )
                  }
                >
                  Undo
                </Button>
              ),
          },
        ]
      : []),
  ]
  return (
    <Section title="History" hint="Who changed which rates, newest first.">
      {undo.error !== null && <Failed error={undo.error} title="Nothing was changed" />}
      {list.error !== null && <Failed error={list.error} retry={() => void list.refetch()} />}
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          No changes yet.
        </Text>
      ) : (
        <DataTable
          caption="Changes of the bid"
          rows={changes}
          rowKey={({ change }) => String(change)}
          columns={columns}
        />
      )}
    </Section>
  )
}
