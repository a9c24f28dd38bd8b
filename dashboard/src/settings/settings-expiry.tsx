import { NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import type { useSentForm } from '../shared-ui/index.ts'

/** When pending quotes expire, and how statistics count them. */
export function ExpiryInputs({
  input,
  disabled,
}: {
  input: ReturnType<typeof useSentForm>['input']
  disabled: boolean
}) {
  return (
    <Stack gap="xs">
      <TextInput
        label="A quote is valid for, days"
        description="A pending quote without a date of its own expires after this time. Leave it empty, and quotes stay pending."
        inputMode="numeric"
        maw={420}
        disabled={disabled}
        {...input('valid_days')}
      />
      <NativeSelect
        label="Statistics count an expired quote as"
        maw={420}
        data={[
          { value: 'pending', label: 'pending: nobody knows the answer' },
          { value: 'lost', label: 'lost: no answer is a no' },
        ]}
        disabled={disabled}
        {...input('counts_as')}
      />
      <Text size="xs" c="dimmed">
        An outcome or a booking that arrives later replaces the expiry.
      </Text>
    </Stack>
  )
}
