import { Stack, Text, TextInput } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { SettingChoice } from './settings-choice.tsx'

export type ExpiredCounts = Answer<'me'>['tenant']['quote_expiry']['counts_as']

/** When pending quotes expire, and how statistics count them. */
export function ExpiryInputs({
  days,
  onDays,
  counts,
  onCounts,
  wrong,
  disabled,
}: {
  days: string
  onDays: (days: string) => void
  counts: ExpiredCounts
  onCounts: (counts: ExpiredCounts) => void
  wrong: string | undefined
  disabled: boolean
}) {
  return (
    <Stack gap="xs">
      <TextInput
        label="A quote is valid for, days"
        description="A pending quote without a date of its own expires after this time. Leave it empty, and quotes stay pending."
        inputMode="numeric"
        maw={420}
        value={days}
        onChange={(event) => onDays(event.currentTarget.value)}
        error={wrong}
        disabled={disabled}
      />
      <SettingChoice
        label="Statistics count an expired quote as"
        value={counts}
        choices={{ pending: 'pending: nobody knows the answer', lost: 'lost: no answer is a no' }}
        onChange={onCounts}
        disabled={disabled}
      />
      <Text size="xs" c="dimmed">
        An outcome or a booking that arrives later replaces the expiry.
      </Text>
    </Stack>
  )
}
