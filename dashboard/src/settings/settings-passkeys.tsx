import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { day, Failed, Loading, PasskeySetup, useNotice, useSentForm } from '../shared-ui/index.ts'

type Passkey = Answer<'list-passkeys'>['passkeys'][number]

/** The passkeys of the signed-in person. */
export function OwnPasskeys() {
  const { data, error, refetch } = useAnswer('list-passkeys', {})
  const queries = useQueryClient()
  const again = () => void queries.invalidateQueries()
  if (error !== null) {
    return <Failed error={error} title="The passkeys could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the passkeys" rows={1} height={40} />
  return (
    <Stack>
      {data.passkeys.length > 0 && (
        <Stack component="ul" aria-label="Your passkeys" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
          {data.passkeys.map((passkey) => (
            <li key={passkey.id}>
              <OwnPasskey passkey={passkey} again={again} />
            </li>
          ))}
        </Stack>
      )}
      <PasskeySetup onDone={again} />
    </Stack>
  )
}

function OwnPasskey({ passkey, again }: { passkey: Passkey; again: () => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const remove = useChange('remove-passkey')
  const notify = useNotice()
  const params = { id: passkey.id }
  const removeIt = () =>
    remove.mutate(
      { params },
      {
        onSuccess: () => {
          notify(`The passkey ${passkey.name} is removed.`)
          again()
        },
      },
    )
  const { form, submit, input, pending, failure } = useSentForm(useChange('rename-passkey'), {
    fields: { name: passkey.name },
    send: (body) => ({ params, body }),
    done: () => {
      setIsOpen(false)
      again()
    },
  })
  return (
    <Stack gap="xs">
      {!isOpen ? (
        <Group justify="space-between">
          <Text size="sm">
            <strong>{passkey.name}</strong>, for {passkey.site}, added {day(passkey.added_at)},{' '}
            {passkey.last_used_at === null ? 'not used yet' : `last used ${day(passkey.last_used_at)}`}
            {passkey.synced ? ', with a copy at its maker' : ''}
          </Text>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-label={`Rename the passkey ${passkey.name}`}
              onClick={() => {
                form.setFieldValue('name', passkey.name)
                setIsOpen(true)
              }}
            >
              Rename
            </Button>
            <Button
              size="xs"
              variant="default"
              aria-label={`Remove the passkey ${passkey.name}`}
              loading={remove.isPending}
              onClick={removeIt}
            >
              Remove
            </Button>
          </Group>
        </Group>
      ) : (
        <form onSubmit={submit}>
          <Group align="end">
            <TextInput label="New name" required {...input('name')} />
            <Button type="submit" loading={pending}>
              Save the name
            </Button>
            <Button variant="default" onClick={() => setIsOpen(false)}>
              Cancel
            </Button>
          </Group>
        </form>
      )}
      {failure('Not changed') ??
        (remove.error !== null && <Failed error={remove.error} title="Not changed" />)}
    </Stack>
  )
}
