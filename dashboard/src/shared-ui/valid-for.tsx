import { NativeSelect } from '@mantine/core'
import { useSession } from '../api/index.ts'
import { validityChoices } from './quote-text.ts'

/**
 * The validity of the rate: it is saved with the quote and stated to the customer, and the quote expires at its end.
 *
 * @param hours null while nobody chose; the brokerage's usual validity is then shown
 */
export function ValidFor({ hours, onHours }: { hours: number | null; onHours: (hours: number) => void }) {
  const { usual, choices } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  return (
    <NativeSelect
      label="Valid for"
      data-field="validity"
      value={String(hours ?? usual)}
      data={choices.map((one) => ({ value: String(one.hours), label: one.label }))}
      onChange={(event) => onHours(Number(event.currentTarget.value))}
    />
  )
}
