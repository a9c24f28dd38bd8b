import { NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import type { Answer } from '../api/index.ts'

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
      <NativeSelect
        label="Statistics count an expired quote as"
        maw={420}
        value={counts}
        onChange={(event) => onCounts(event.currentTarget.value as ExpiredCounts)}
        data={[
          { value: 'pending', label: 'pending: nobody knows the answer' },
          { value: 'lost', label: 'lost: no answer is a no' },
        ]}
        disabled={disabled}
      />
      <Text size="xs" c="dimmed">
        An outcome or a booking that arrives later replaces the expiry.
      </Text>
    </Stack>
  )
}
