import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Quote } from '#contract/quote.ts'
import {
  counted,
  type Decision,
  laneName,
  OutcomeMark,
  ReasonDialog,
  shownOutcome,
  TextLink,
} from '../shared-ui/index.ts'
import { mayReplace, useBulkMarks } from './quotes-bulk-marks.ts'
import type { QuotesSelection } from './quotes-selection.ts'

/** Marks the selected quotes, with the dialogs for the reason and for quotes that were not marked. */
export function useQuotesBulk({ lanes: quotes, clear }: QuotesSelection) {
  const marks = useBulkMarks(clear)
  const [losing, setLosing] = useState<readonly Quote[]>([])
  const mark = (outcome: Decision) => {
    if (outcome === 'lost') setLosing(quotes)
    else marks.mark(quotes, outcome)
  }
  const dialogs = (
    <>
      <ReasonDialog
        about={losing.length === 0 ? null : counted(losing.length, 'selected quote')}
        onChoose={(reason) => marks.mark(losing, 'lost', reason)}
        onClose={() => setLosing([])}
      />
      <RefusedDialog marks={marks} />
    </>
  )
  return { mark, isSending: marks.isSending, dialogs }
}

/** The bar of actions on the selected quotes. It stays at the bottom of the window, in reach from every row. */
export function BulkBar({
  selection,
  mark,
  isSending,
}: {
  selection: QuotesSelection
  mark: (outcome: Decision) => void
  isSending: boolean
}) {
  const { lanes: quotes, clear } = selection
  return (
    <Group role="toolbar" aria-label="Selected quotes" className="quotes-bulk" gap="xs">
      <Text size="sm" fw={600} role="status">
        {counted(quotes.length, 'quote')} selected
      </Text>
      <Button size="xs" variant="subtle" onClick={clear}>
        Clear selection
      </Button>
      <Button size="xs" loading={isSending} onClick={() => mark('won')}>
        Mark won
      </Button>
      <Button size="xs" variant="default" disabled={isSending} onClick={() => mark('lost')}>
        Mark lost
      </Button>
      <Button size="xs" variant="default" disabled={isSending} onClick={() => mark('pending')}>
        Set pending
      </Button>
    </Group>
  )
}

function RefusedDialog({
  marks: { refused, closeRefused, markRefused },
}: {
  marks: ReturnType<typeof useBulkMarks>
}) {
  const changed = refused.filter(mayReplace).length
  return (
    <Modal
      opened={refused.length > 0}
      onClose={closeRefused}
      title={`${counted(refused.length, 'quote')} not marked`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
          {refused.map(({ mark, detail, lane: quote }) => (
            <li key={mark.lane.lane_ref}>
              <Group gap="xs">
                <TextLink to={pagePaths.quote.replace('{lane_ref}', mark.lane.lane_ref)}>
                  {laneName(mark.lane.origin, mark.lane.destination)}
                </TextLink>
                {quote !== null && <OutcomeMark outcome={shownOutcome(quote)} />}
              </Group>
              <Text size="sm">{detail}</Text>
            </li>
          ))}
        </Stack>
        <Group>
          <Button onClick={closeRefused} data-autofocus>
            Keep their outcomes
          </Button>
          {changed > 0 && (
            <Button variant="default" onClick={markRefused}>
              Replace {counted(changed, 'outcome')}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
