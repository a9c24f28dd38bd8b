import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { passkeysWork, useAddPasskey } from '../api/index.ts'
import { RecoveryCodes } from './factor-setup.tsx'
import { useSentForm } from './sent-form.tsx'

/** Adds a passkey: the password, the browser, and the recovery codes if it is the first second factor. */
export function PasskeySetup({ onDone }: { onDone: () => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const add = useAddPasskey()
  const { form, submit, input, pending, failure } = useSentForm(add, {
    fields: { name: '', password: '' },
    send: (fields) => fields,
    done: (added) => {
      form.reset()
      if (added === null || added.recovery_codes.length > 0) return
      setIsOpen(false)
      onDone()
    },
  })
  if (!passkeysWork) {
    return (
      <Text size="sm" c="dimmed">
        Passkeys do not work here: the browser needs https, and must know them.
      </Text>
    )
  }
  if (add.data !== undefined && add.data.recovery_codes.length > 0) {
    const done = () => {
      add.reset()
      setIsOpen(false)
      onDone()
    }
    return <RecoveryCodes codes={add.data.recovery_codes} onDone={done} />
  }
  if (!isOpen) {
    return (
      <Button variant="default" onClick={() => setIsOpen(true)} style={{ alignSelf: 'flex-start' }}>
        Add a passkey
      </Button>
    )
  }
  return (
    <form onSubmit={submit} aria-label="New passkey">
      <Stack maw={420}>
        <TextInput
          label="Name of the passkey"
          description="For you, such as Laptop or Blue key"
          required
          {...input('name')}
        />
        <PasswordInput
          label="Password, to add it"
          autoComplete="current-password"
          required
          {...input('password')}
        />
        {failure('Not added')}
        <Group>
          <Button type="submit" loading={pending}>
            Make the passkey
          </Button>
          <Button variant="default" onClick={() => setIsOpen(false)}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
