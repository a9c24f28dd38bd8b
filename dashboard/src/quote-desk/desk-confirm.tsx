import { Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog, counted, laneName } from '../shared-ui/index.ts'
import type { ToConfirm } from './desk-actions.ts'

const shownMax = 12

/** Asks once before rates are saved that are far from cost, minimum or going rate, or that could not be checked. */
export function ConfirmRates({
  found,
  onSave,
  onClose,
}: {
  found: ToConfirm
  onSave: () => void
  onClose: () => void
}) {
  const isOpen = found.toConfirm.length > 0 || found.isUnchecked
  // The dialog keeps its words while it closes.
  const [shown, setShown] = useState(found)
  if (isOpen && shown !== found) setShown(found)
  const { toConfirm: rates, isUnchecked } = shown
  const words = wordsOf(shown)
  return (
    <ConfirmDialog
      opened={isOpen}
      title={words.title}
      action={words.action}
      instead={words.instead}
      confirm={onSave}
      close={onClose}
    >
      {rates.length > 0 && (
        <ul className="desk-list" aria-label="Rates to check">
          {rates.slice(0, shownMax).map(({ lane: quote, reasons }) => (
            <li key={quote.id} style={{ overflowWrap: 'anywhere' }}>
              <b>{laneName(quote.origin.trim(), quote.destination.trim())}</b>: {reasons.join(' ')}
            </li>
          ))}
          {rates.length > shownMax && <li>{counted(rates.length - shownMax, 'more rate')}</li>}
        </ul>
      )}
      {isUnchecked && (
        <Text size="sm">
          {rates.length > 0 ? 'The other rates' : 'The rates'} could not be compared with cost, minimum and
          going rate, because the service did not answer in time.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        A wrong rate also distorts the advice for later quotes on its lane.
      </Text>
    </ConfirmDialog>
  )
}

function wordsOf({ toConfirm: rates }: ToConfirm) {
  if (rates.length === 0)
    return {
      title: 'Save without a check of the rates?',
      action: 'Save without the check',
      instead: 'Back to the rate',
    }
  return rates.length === 1
    ? { title: 'Is this rate right?', action: 'Save it as typed', instead: 'Change the rate' }
    : {
        title: `Are these ${rates.length} rates right?`,
        action: 'Save them as typed',
        instead: 'Change the rates',
      }
}
