import { Button, PasswordInput, Stack } from '@mantine/core'
import { passwordLengthMin } from '#contract/limits.ts'
import { useChange } from '../api/index.ts'
import { Failed, useSentForm } from '../shared-ui/index.ts'

export function PasswordForm() {
  const { input, submit, failed, isPending } = useSentForm(useChange('change-password'), {
    initial: { current_password: '', new_password: '' },
    sent: (body) => ({ body }),
    saved: 'Password changed. Your other sessions have ended.',
    clears: ['current_password', 'new_password'],
  })
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...input('current_password')}
          required
        />
        <PasswordInput
          label="New password"
          description={`At least ${passwordLengthMin} characters, for example four or five words`}
          autoComplete="new-password"
          {...input('new_password')}
          required
        />
        {failed && <Failed error={failed} title="Password not changed" />}
        <Button type="submit" variant="default" loading={isPending} style={{ alignSelf: 'flex-start' }}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}
