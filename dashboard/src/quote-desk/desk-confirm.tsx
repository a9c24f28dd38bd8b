import { Text } from '@mantine/core'
import { ConfirmDialog, counted, laneName } from '../shared-ui/index.ts'
import type { RateToConfirm } from './desk-lanes-advice.ts'

const shownMax = 12

/** Asks once before rates are saved that are far from cost, floor or going rate. */
export function ConfirmRates({
  rates,
  onSave,
  onClose,
}: {
  /** Empty while there is nothing to confirm. */
  rates: readonly RateToConfirm[]
  onSave: () => void
  onClose: () => void
}) {
  const one = rates.length === 1
  return (
    <ConfirmDialog
      opened={rates.length > 0}
      title={one ? 'Is this rate right?' : `Are these ${rates.length} rates right?`}
      action={one ? 'Save it as typed' : 'Save them as typed'}
      pending={false}
      error={null}
      confirm={onSave}
      close={onClose}
    >
      <ul className="desk-list" aria-label="Rates to check">
        {rates.slice(0, shownMax).map(({ lane, reasons }) => (
          <li key={lane.id} style={{ overflowWrap: 'anywhere' }}>
            <b>{laneName(lane.origin.trim(), lane.destination.trim())}</b>: {reasons.join(' ')}
          </li>
        ))}
        {rates.length > shownMax && <li>{counted(rates.length - shownMax, 'more rate')}</li>}
      </ul>
      <Text size="sm" c="dimmed">
        A wrong rate also distorts the advice for later quotes on its lane.
      </Text>
    </ConfirmDialog>
  )
}
