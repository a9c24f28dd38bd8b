import { Button, Group, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sessionQuery, useChange, useSession } from '../api/index.ts'
import { Failed, useNotice } from '../shared-ui/index.ts'

/** The phone number of the signed-in person, which stands under their texts for customers. */
export function PhoneForm() {
  const { user } = useSession()
  const [phone, setPhone] = useState(user.phone ?? '')
  const change = useChange('change-me')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      { body: { phone: phone.trim() } },
      {
        onSuccess: () => {
          notify('Phone saved')
          void queries.invalidateQueries(sessionQuery)
        },
      },
    )
  }
  const wrong = change.error?.fieldError('/phone')
  return (
    <form onSubmit={submit}>
      <Group align="flex-start" maw={420} mb="lg" wrap="nowrap">
        <TextInput
          label="Phone"
          description="Stands below your name in the text for the customer"
          // Below the input, so that the button stays beside it where the description needs two lines.
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          autoComplete="tel"
          style={{ flex: 1 }}
          value={phone}
          onChange={(event) => setPhone(event.currentTarget.value)}
          error={wrong}
        />
        <Button type="submit" variant="default" loading={change.isPending} mt={24}>
          Save phone
        </Button>
      </Group>
      {change.error !== null && wrong === undefined && (
        <Failed error={change.error} title="Phone not saved" />
      )}
    </form>
  )
}
