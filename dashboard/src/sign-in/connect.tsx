import { Button, Group, List, Stack, Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Answer, type Body, useAnswer, useChange, useSession } from '../api/index.ts'
import { counted, Failed, Loading, Page } from '../shared-ui/index.ts'

type Asked = Body<'check-assistant'>
const parameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'scope',
  'resource',
  'state',
] as const satisfies readonly (keyof Asked)[]

/** The parameters with which a program opened the page. The service checks them; a missing one is refused there. */
function askedIn(search: Readonly<Record<string, string>>): Asked {
  const sent = parameters.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]]))
  return Object.fromEntries(sent) as unknown as Asked
}

/** A person allows an assistant to read what they may see, or refuses it. */
export default function ConnectPage() {
  const [asked] = useState(askedIn(useSearch({ strict: false })))
  const { data, error, refetch } = useAnswer(
    'check-assistant',
    { body: asked },
    { staleMs: Number.POSITIVE_INFINITY },
  )
  return (
    <Page title="Connect an assistant">
      {error !== null ? (
        <Stack maw={640}>
          <Failed
            error={error}
            title="Nothing was connected"
            {...(error.isTemporary ? { retry: () => void refetch() } : {})}
          />
          <Text size="sm">
            The program that opened this page must ask again. Nothing was sent back to it.
          </Text>
        </Stack>
      ) : data === undefined ? (
        <Loading label="Reading what the program asks for" rows={3} />
      ) : (
        <Consent asked={asked} known={data} />
      )}
    </Page>
  )
}

function Consent({ asked, known }: { asked: Asked; known: Answer<'check-assistant'> }) {
  const { user } = useSession()
  const [isLeaving, setIsLeaving] = useState(false)
  const connect = useChange('connect-assistant')
  const decide = (allow: boolean) =>
    connect.mutate(
      { body: { ...asked, allow } },
      {
        onSuccess: ({ redirect_to }) => {
          setIsLeaving(true)
          window.location.assign(redirect_to)
        },
      },
    )
  const name = <strong style={{ overflowWrap: 'anywhere' }}>{known.client_name}</strong>
  if (isLeaving) {
    return (
      <Text size="sm" role="status">
        You can go back to the program now, and close this page.
      </Text>
    )
  }
  return (
    <Stack maw={640}>
      <Text>{name} asks to read Lanewise as you.</Text>
      <Text size="sm">
        Nobody has verified this name: the program chose it. Allow it only if you have just started this
        yourself, in a program that you trust.
      </Text>
      <List size="sm" spacing="xs" style={{ overflowWrap: 'anywhere' }}>
        <List.Item>
          Brokerage: <strong>{known.brokerage}</strong>
        </List.Item>
        <List.Item>
          You: <strong>{user.name}</strong>, {user.email}, with the role {known.role}
        </List.Item>
        <List.Item>
          Your answer goes to: <strong>{known.goes_to}</strong>
        </List.Item>
        <List.Item>
          It may read quotes, bookings, rates, costs, margins, customers, and what Lanewise says about lanes:
          what you may see yourself. It cannot change anything.
        </List.Item>
        <List.Item>
          For {counted(known.hours, 'hour')} at most. You can end it before, in your account.
        </List.Item>
      </List>
      {connect.error !== null && <Failed error={connect.error} title="Nothing was connected" />}
      <Group>
        <Button loading={connect.isPending} onClick={() => decide(true)}>
          Allow
        </Button>
        <Button variant="default" disabled={connect.isPending} onClick={() => decide(false)}>
          Do not allow
        </Button>
      </Group>
    </Stack>
  )
}
