import { Button, PasswordInput, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { passwordLengthMin } from '#contract/limits.ts'
import { useChange } from '../api/index.ts'
import { Failed, useNotice } from '../shared-ui/index.ts'

export function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useChange('change-password')
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      { body: { current_password: current, new_password: next } },
      {
        onSuccess: () => {
          setCurrent('')
          setNext('')
          notify('Password changed. Your other sessions have ended.')
        },
      },
    )
  }
  const wrong = change.error?.fieldError('/new_password')
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          required
        />
        <PasswordInput
          label="New password"
          description={`At least ${passwordLengthMin} characters, for example four or five words`}
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          error={wrong}
          required
        />
        {change.error !== null && wrong === undefined && (
          <Failed error={change.error} title="Password not changed" />
        )}
        <Button
          type="submit"
          variant="default"
          loading={change.isPending}
          style={{ alignSelf: 'flex-start' }}
        >
          Change password
        </Button>
      </Stack>
    </form>
  )
}
