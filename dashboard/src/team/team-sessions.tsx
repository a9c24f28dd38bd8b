import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { counted, Failed, Loading, SessionsTable, useNotice } from '../shared-ui/index.ts'

type Person = Answer<'list-users'>['users'][number]

/** The sessions of a person. An admin ends all of them. */
export function SessionsDialog({ person, onClose }: { person: Person | null; onClose: () => void }) {
  if (person === null) return null
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`Sessions of ${person.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <SessionsOf person={person} />
    </Modal>
  )
}

function SessionsOf({ person }: { person: Person }) {
  const params = { id: person.id }
  const { data, error, refetch } = useAnswer('list-user-sessions', { params })
  const end = useChange('end-user-sessions')
  const drop = useChange('remove-user-second-factor')
  const queries = useQueryClient()
  const notify = useNotice()
  if (error !== null) {
    return <Failed error={error} title="The sessions could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the sessions" rows={2} height={40} />
  const dropFactor = () =>
    drop.mutate(
      { params },
      {
        onSuccess: () => {
          notify(`The second factor of ${person.name} is removed.`)
          void queries.invalidateQueries({ queryKey: ['list-user-sessions'] })
        },
      },
    )
  const others = data.sessions.filter(({ current }) => !current)
  return (
    <Stack>
      {data.sessions.length === 0 ? (
        <Text size="sm">{person.name} is not signed in.</Text>
      ) : (
        <SessionsTable sessions={data.sessions} />
      )}
      {data.second_factor && (
        <Group justify="space-between">
          <Text size="sm">{person.name} has a second factor.</Text>
          <Button variant="default" loading={drop.isPending} onClick={dropFactor}>
            Remove the second factor
          </Button>
        </Group>
      )}
      {drop.error !== null && <Failed error={drop.error} title="Not removed" />}
      {end.error !== null && <Failed error={end.error} title="Not ended" />}
      {others.length > 0 && (
        <Group justify="flex-end">
          <Button
            color="red.9"
            loading={end.isPending}
            onClick={() =>
              end.mutate(
                { params },
                {
                  onSuccess: ({ ended }) => {
                    notify(`${counted(ended, 'session')} of ${person.name} ended.`)
                    void queries.invalidateQueries({ queryKey: ['list-user-sessions'] })
                  },
                },
              )
            }
          >
            End {counted(others.length, 'session')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}
