import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { quotesHaveChanged, showQuote, useAnswer, useChange, useMay } from '../api/index.ts'
import { DataTable, Failed, Loading, moment, since, useNotice } from '../shared-ui/index.ts'
import {
  type Change,
  changedBy,
  currenciesAround,
  fieldName,
  restoredBy,
  ruleWords,
  valueWords,
} from './quote-changes-words.ts'

/**
 * The changes of a quote, newest first: old and new values, person or system, and time. Admins can roll a change back after
 * a preview of the restored values.
 *
 * @example <LaneChanges lane={lane} />
 */
export function QuoteChanges({ quote }: { quote: Quote }) {
  const mayRollBack = useMay('admin')
  const [chosen, setChosen] = useState<Change | null>(null)
  const answer = useAnswer('list-changes', { params: { lane_ref: quote.lane_ref } })
  if (answer.data === undefined) {
    return answer.error === null ? (
      <Loading label="Loading the changes" rows={3} height={44} />
    ) : (
      <Failed
        error={answer.error}
        title="The changes could not be loaded"
        retry={() => void answer.refetch()}
      />
    )
  }
  const { changes } = answer.data
  const currencies = currenciesAround(quote, changes)
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No changes since the quote was made. Outcomes, bookings from the TMS, and imports appear here.
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      {!mayRollBack && (
        <Text size="sm" c="dimmed">
          Admins of your brokerage can roll back changes.
        </Text>
      )}
      <ol aria-label="Changes, newest first" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        {changes.map((change) => (
          <ChangeEntry
            key={change.change_id}
            change={change}
            why={ruleWords(change, changes)}
            currencies={currencies.get(change.change_id)}
            {...(mayRollBack ? { onRollBack: () => setChosen(change) } : {})}
          />
        ))}
      </ol>
      <RollbackDialog quote={quote} change={chosen} onClose={() => setChosen(null)} />
    </Stack>
  )
}

function ChangeEntry({
  change,
  why,
  currencies,
  onRollBack,
}: {
  change: Change
  why: string | null
  currencies: { readonly before: object; readonly after: object } | undefined
  onRollBack?: () => void
}) {
  return (
    <li style={{ padding: '0.6rem 0', borderBottom: '1px solid var(--line)' }}>
      <Group justify="space-between" align="flex-start" gap="xs" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Text size="sm" c="dimmed">
            <strong>Change {change.change_id}</strong> · {changedBy(change)} ·{' '}
            <time dateTime={change.changed_at} title={since(change.changed_at)}>
              {moment(change.changed_at)}
            </time>
            {change.rolled_back_change_id !== null && (
              <> · rolled back change {change.rolled_back_change_id}</>
            )}
          </Text>
          {why !== null && <Text size="sm">{why}</Text>}
          <dl style={{ margin: 0 }}>
            {Object.keys(change.after).map((field) => (
              <Group key={field} gap="0.4rem" style={{ fontSize: 'var(--mantine-font-size-sm)' }}>
                <dt>{fieldName(field)}:</dt>
                <dd style={{ margin: 0, overflowWrap: 'anywhere' }}>
                  {valueWords(field, change.before[field], currencies?.before ?? {})} →{' '}
                  <b>{valueWords(field, change.after[field], currencies?.after ?? {})}</b>
                </dd>
              </Group>
            ))}
          </dl>
        </div>
        {onRollBack !== undefined && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Roll back change ${change.change_id}`}
            style={{ flexShrink: 0 }}
            onClick={onRollBack}
          >
            Roll back
          </Button>
        )}
      </Group>
    </li>
  )
}

function RollbackDialog({
  quote,
  change,
  onClose,
}: {
  quote: Quote
  change: Change | null
  onClose: () => void
}) {
  const rollback = useChange('rollback')
  const queries = useQueryClient()
  const notify = useNotice()
  const close = () => {
    rollback.reset()
    onClose()
  }
  const confirm = (change_id: number) =>
    rollback.mutate(
      { params: { lane_ref: quote.lane_ref }, body: { change_id } },
      {
        onSuccess: (restored) => {
          showQuote(queries, restored)
          void quotesHaveChanged(queries, [quote.lane_ref])
          notify(`Change ${change_id} of ${quote.lane_ref} was rolled back`)
          close()
        },
      },
    )
  const restored = change === null ? [] : restoredBy(quote, change)
  const nothingDiffers = restored.every(({ differs }) => !differs)
  return (
    <Modal
      opened={change !== null}
      onClose={close}
      title={`Roll back change ${change?.change_id ?? ''}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {change !== null && (
        <Stack>
          <Text size="sm">
            {nothingDiffers
              ? 'The quote already has the values from before this change. There is nothing to restore.'
              : 'This restores the values from before the change, as a new change. Nothing is deleted, so you can roll back this change too.'}
          </Text>
          <DataTable
            caption="Restored values"
            rows={restored}
            rowKey={({ field }) => field}
            columns={[
              { key: 'field', header: 'Field', names: true, cell: ({ field }) => fieldName(field) },
              { key: 'now', header: 'Now', wraps: true, cell: ({ now }) => now },
              {
                key: 'back',
                header: 'After rollback',
                wraps: true,
                cell: ({ back, differs }) => (differs ? <b>{back}</b> : `${back} (no change)`),
              },
            ]}
          />
          {rollback.error !== null && <Failed error={rollback.error} title="Not rolled back" />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Cancel
            </Button>
            <Button
              onClick={() => confirm(change.change_id)}
              loading={rollback.isPending}
              disabled={nothingDiffers}
            >
              Roll back change {change.change_id}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
