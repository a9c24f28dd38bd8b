import { Button, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { ConfirmDialog, Failed, Loading, moment, useNotice } from '../shared-ui/index.ts'
import { MarketCalls } from './market-calls.tsx'

type Key = Answer<'list-market-keys'>['keys'][number]

/** The providers of market rates: the state of each key, and the form that sets it. For admins. */
export function MarketKeys() {
  const answer = useAnswer('list-market-keys', {})
  if (answer.isError) {
    return (
      <Failed
        error={answer.error}
        title="The providers could not be loaded"
        retry={() => void answer.refetch()}
      />
    )
  }
  if (answer.isPending) return <Loading label="Loading the providers" rows={2} height={44} />
  const { keys } = answer.data
  return (
    <>
      {keys.map((key) => (
        <ProviderKey key={key.adapter} stored={key} />
      ))}
      {keys.some((key) => key.available) && <MarketCalls calls={answer.data} />}
    </>
  )
}

function ProviderKey({ stored }: { stored: Key }) {
  const { adapter, source, available, set_at: setAt } = stored
  const [id, setId] = useState('')
  const [secret, setSecret] = useState('')
  const [user, setUser] = useState('')
  const [isRemoving, setRemoving] = useState(false)
  const set = useChange('set-market-key')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set.mutate(
      { body: { adapter, client_id: id, client_secret: secret, ...(adapter === 'dat' ? { user } : {}) } },
      {
        onSuccess: () => {
          void queries.invalidateQueries()
          setId('')
          setSecret('')
          setUser('')
          notify(`The key for ${source} is set.`)
        },
      },
    )
  }
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={`Key for ${source}`}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          Rates from {source}
        </Title>
        <Text size="sm">{stateOf(stored)}</Text>
        {(available || setAt !== null) && (
          <Group align="flex-end">
            {available && (
              <>
                <TextInput
                  label={adapter === 'dat' ? 'Service account' : 'Client id'}
                  required
                  autoComplete="off"
                  value={id}
                  onChange={(event) => setId(event.currentTarget.value)}
                />
                <PasswordInput
                  label={adapter === 'dat' ? 'Password' : 'Client secret'}
                  required
                  autoComplete="off"
                  miw={240}
                  value={secret}
                  onChange={(event) => setSecret(event.currentTarget.value)}
                />
                {adapter === 'dat' && (
                  <TextInput
                    label="User's e-mail"
                    required
                    autoComplete="off"
                    value={user}
                    onChange={(event) => setUser(event.currentTarget.value)}
                  />
                )}
                <Button type="submit" loading={set.isPending}>
                  {setAt === null ? 'Set the key' : 'Replace the key'}
                </Button>
              </>
            )}
            {setAt !== null && (
              <Button variant="default" onClick={() => setRemoving(true)}>
                Remove the key
              </Button>
            )}
          </Group>
        )}
        {set.error !== null && <Failed error={set.error} title="The key was not set" />}
      </Stack>
      <RemoveKey stored={stored} opened={isRemoving} close={() => setRemoving(false)} />
    </Paper>
  )
}

function RemoveKey({ stored, opened, close }: { stored: Key; opened: boolean; close: () => void }) {
  const { adapter, source } = stored
  const remove = useChange('remove-market-key')
  const queries = useQueryClient()
  const notify = useNotice()
  const done = () => {
    remove.reset()
    close()
  }
  return (
    <ConfirmDialog
      opened={opened}
      title={`Remove the key for ${source}?`}
      action="Remove the key"
      pending={remove.isPending}
      error={remove.error}
      close={done}
      confirm={() =>
        remove.mutate(
          { query: { adapter } },
          {
            onSuccess: () => {
              void queries.invalidateQueries()
              notify(`The key for ${source} is removed.`)
              done()
            },
          },
        )
      }
    >
      <Text size="sm">{source} is not asked any more. Its stored rates stay until you erase the source.</Text>
    </ConfirmDialog>
  )
}

/** The state of a key in words. */
function stateOf({ source, available, set_at: setAt, ...key }: Key): string {
  if (!available) return 'The operator of this installation has not turned on market adapters.'
  if (setAt === null) {
    return `Set your own key, and ${source} is asked for the rate of a lane that you look at, at most once in 12 hours.`
  }
  if (key.failure !== null) {
    const again = key.retry_at === null ? '' : ` The next call is after ${moment(key.retry_at)}.`
    return `The call at ${moment(key.failed_at)} failed: ${key.failure}${again}`
  }
  return key.answered_at === null
    ? `The key was set at ${moment(setAt)}. No call was made yet.`
    : `The last answer was at ${moment(key.answered_at)}.`
}
