import { Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  counted,
  Failed,
  Loading,
  SessionsTable,
  sentNumber,
  useNotice,
  useSentForm,
} from '../shared-ui/index.ts'

/** Where the person is signed in. They end one session, or all others. */
export function OwnSessions() {
  const { data, error, refetch } = useAnswer('list-sessions', {})
  const end = useChange('end-session')
  const endOthers = useChange('end-other-sessions')
  const queries = useQueryClient()
  const notify = useNotice()
  const ended = (count: number) => {
    notify(`${counted(count, 'session')} ended.`)
    void queries.invalidateQueries({ queryKey: ['list-sessions'] })
  }
  if (error !== null) {
    return <Failed error={error} title="The sessions could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the sessions" rows={2} height={40} />
  const failure = end.error ?? endOthers.error
  return (
    <Stack>
      <SessionsTable
        sessions={data.sessions}
        pending={end.isPending}
        end={({ id }) => end.mutate({ params: { id } }, { onSuccess: (answer) => ended(answer.ended) })}
      />
      {failure !== null && <Failed error={failure} title="Not ended" />}
      {data.sessions.length > 1 && (
        <Group>
          <Button
            variant="default"
            loading={endOthers.isPending}
            onClick={() => endOthers.mutate({ body: {} }, { onSuccess: (answer) => ended(answer.ended) })}
          >
            End all other sessions
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type Limits = Answer<'me'>['tenant']['session_limits']

/** How long sessions of the brokerage last. */
export function SessionLimits({ limits, mayChange }: { limits: Limits; mayChange: boolean }) {
  const { submit, input, pending, failure } = useSentForm(useChange('update-tenant'), {
    fields: {
      hours: String(limits.hours),
      idle_minutes: limits.idle_minutes === null ? '' : String(limits.idle_minutes),
    },
    pointers: { hours: '/session_limits/hours', idle_minutes: '/session_limits/idle_minutes' },
    send: ({ hours, idle_minutes: idle }) => ({
      body: { session_limits: { hours: sentNumber(hours), idle_minutes: sentNumber(idle || '0') } },
    }),
    said: 'Settings saved.',
  })
  return (
    <form onSubmit={submit}>
      <Stack maw={720}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
          <TextInput
            label="A session ends after, hours"
            description="Counted from the sign-in. A shorter time applies to running sessions, too."
            inputMode="numeric"
            disabled={!mayChange}
            {...input('hours')}
          />
          <TextInput
            label="It ends without use after, minutes"
            description="Leave it empty, and an open page keeps its session until the time beside it."
            inputMode="numeric"
            disabled={!mayChange}
            {...input('idle_minutes')}
          />
        </SimpleGrid>
        {failure('Settings not saved')}
        {mayChange && (
          <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
            Save the limits
          </Button>
        )}
      </Stack>
    </form>
  )
}
