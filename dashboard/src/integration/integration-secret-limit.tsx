import { Alert, List, Text } from '@mantine/core'
import type { Answer, CallFailed } from '../api/index.ts'
import { day, Failed, moment, since } from '../shared-ui/index.ts'

export type Secret = Answer<'list-signing-secrets'>['secrets'][number]

export function isLiveSecret(secret: Secret): boolean {
  return (
    secret.revoked_at === null && (secret.expires_at === null || Date.parse(secret.expires_at) > Date.now())
  )
}

/** The error of a failed creation. If two live secrets have the same name, lists them and says how to continue. */
export function SecretNotMade({
  error,
  name,
  secrets,
}: {
  error: CallFailed
  name: string
  secrets: readonly Secret[]
}) {
  if (error.code !== 'too-many-live-secrets') return <Failed error={error} title="Secret not created" />
  const live = secrets.filter((secret) => secret.name === name && isLiveSecret(secret))
  const ending = live.find(({ expires_at }) => expires_at !== null)
  return (
    <Alert color="red" variant="outline" role="alert" title={`Two live secrets are already named ${name}`}>
      <Text size="sm">
        A name can have at most two live secrets. Revoke one of them
        {ending === undefined
          ? ''
          : `, or wait until ${moment(ending.expires_at)}, when the older one expires`}
        , then try again:
      </Text>
      <List size="sm" mt="xs">
        {live.map(({ id, created_at, expires_at, last_used_at }) => (
          <List.Item key={id}>
            Secret {id}, created {day(created_at)}, last used {since(last_used_at)},{' '}
            {expires_at === null ? 'does not expire' : `valid until ${moment(expires_at)}`}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
