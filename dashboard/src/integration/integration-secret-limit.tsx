import { Alert, List, Text } from '@mantine/core'
import type { Answer, CallFailed } from '../api/index.ts'
import { day, Failed, moment, since } from '../shared-ui/index.ts'

export type Secret = Answer<'list-signing-secrets'>['secrets'][number]

export function isLiveSecret(secret: Secret): boolean {
  return (
    secret.revoked_at === null && (secret.expires_at === null || Date.parse(secret.expires_at) > Date.now())
  )
}

/** Why no secret was made. Of two live ones of a name the way out is told, with their ends. */
export function SecretNotMade({
  error,
  name,
  secrets,
}: {
  error: CallFailed
  name: string
  secrets: readonly Secret[]
}) {
  if (error.code !== 'too-many-live-secrets') return <Failed error={error} title="No secret was made" />
  const live = secrets.filter((secret) => secret.name === name && isLiveSecret(secret))
  const ending = live.find(({ expires_at }) => expires_at !== null)
  return (
    <Alert color="red" variant="outline" role="alert" title={`Two secrets named ${name} are live already`}>
      <Text size="sm">
        More than two would leave nobody sure which one a system holds. Revoke one of them
        {ending === undefined ? '' : `, or wait until ${moment(ending.expires_at)}, when the older one ends`},
        then try again:
      </Text>
      <List size="sm" mt="xs">
        {live.map(({ id, created_at, expires_at, last_used_at }) => (
          <List.Item key={id}>
            Secret {id}, made {day(created_at)}, last used {since(last_used_at)},{' '}
            {expires_at === null ? 'accepted without an end' : `accepted until ${moment(expires_at)}`}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
