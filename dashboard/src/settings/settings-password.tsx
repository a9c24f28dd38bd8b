import { Button, PasswordInput, Stack } from '@mantine/core'
import { passwordLengthMin } from '#contract/limits.ts'
import { useChange } from '../api/index.ts'
import { useSentForm } from '../shared-ui/index.ts'

export function PasswordForm() {
  const { form, submit, input, pending, failure } = useSentForm(useChange('change-password'), {
    fields: { current_password: '', new_password: '' },
    send: (body) => ({ body }),
    said: 'Password changed. Your other sessions have ended.',
    done: () => form.reset(),
  })
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          {...input('current_password')}
        />
        <PasswordInput
          label="New password"
          description={`At least ${passwordLengthMin} characters, for example four or five words`}
          autoComplete="new-password"
          required
          {...input('new_password')}
        />
        {failure('Password not changed')}
        <Button type="submit" variant="default" loading={pending} style={{ alignSelf: 'flex-start' }}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}
