import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  type Column,
  ConfirmChange,
  CredentialState,
  counted,
  day,
  LastUsed,
  moment,
  Nothing,
  Section,
  useSentForm,
} from '../shared-ui/index.ts'
import { type NewCredentialsProps, useIntegrationAddress } from './integration-address.ts'
import { CreateCredential, CredentialList } from './integration-credentials.tsx'
import { RotateSecret } from './integration-rotate.tsx'
import { isLiveSecret, type Secret, SecretNotMade } from './integration-secret-limit.tsx'
import { type ShownOnce, ShownOnceDialog } from './integration-shown-once.tsx'

/** The signing secrets of the brokerage: create, rotate with an overlap, revoke at once. */
export function IntegrationSecrets({ newCredentials, setNewCredentials }: NewCredentialsProps) {
  const secrets = useAnswer('list-signing-secrets', {})
  const queries = useQueryClient()
  const [shown, setShown] = useState<ShownOnce | null>(null)
  const [revoking, setRevoking] = useState<Secret | null>(null)
  const [rotating, setRotating] = useState<Secret | null>(null)
  const known = secrets.data?.secrets ?? []
  const show = (answer: Answer<'create-signing-secret'>, note?: string) => {
    setNewCredentials((all) => ({ ...all, secret: { id: answer.id, plaintext: answer.secret } }))
    setShown({
      what: 'signing secret',
      name: answer.name,
      plaintext: answer.secret,
      warning: answer.warning,
      ...(note === undefined ? {} : { note }),
    })
    void queries.invalidateQueries({ queryKey: ['list-signing-secrets'] })
  }
  return (
    <Section
      title="Signing secrets"
      hint="Your TMS signs each booking with a secret, which is never sent. A stolen token alone cannot change data."
    >
      <CreateSecret secrets={known} created={(answer) => show(answer)} />
      <SecretList answer={secrets} rotate={setRotating} revoke={setRevoking} />
      <ShownOnceDialog shown={shown} close={() => setShown(null)} />
      {rotating !== null && (
        <RotateSecret
          secret={rotating}
          secrets={known}
          close={() => setRotating(null)}
          rotated={(answer, note) => {
            setRotating(null)
            show(answer, note)
          }}
        />
      )}
      <RevokeSecret
        secret={revoking}
        secrets={known}
        close={() => setRevoking(null)}
        revoked={() => {
          if (newCredentials.secret?.id === revoking?.id)
            setNewCredentials((all) => ({ ...all, secret: null }))
        }}
      />
    </Section>
  )
}

function CreateSecret({
  secrets,
  created,
}: {
  secrets: readonly Secret[]
  created: (answer: Answer<'create-signing-secret'>) => void
}) {
  const create = useChange('create-signing-secret')
  const form = useSentForm(create, {
    initial: { name: 'tms' },
    sent: (body) => ({ body }),
    onSuccess: (answer) => {
      created(answer)
      create.reset()
    },
  })
  return (
    <CreateCredential
      what="secret"
      form={form}
      failure={(error) => <SecretNotMade error={error} name={form.values.name} secrets={secrets} />}
    />
  )
}

function SecretList({
  answer,
  rotate,
  revoke,
}: {
  answer: ReturnType<typeof useAnswer<'list-signing-secrets'>>
  rotate: (secret: Secret) => void
  revoke: (secret: Secret) => void
}) {
  const { params, go } = useIntegrationAddress()
  return (
    <CredentialList
      what="secret"
      caption="Signing secrets, newest first"
      columns={secretColumns(rotate, revoke)}
      answer={answer}
      of={({ secrets }) => secrets}
      isLive={isLiveSecret}
      none={
        <Nothing title="No signing secrets yet">
          Create a secret above. A TMS needs it to send bookings. Reads need only a token.
        </Nothing>
      }
      ended={params.ended_secrets === 'shown'}
      setEnded={(shown) => go({ ended_secrets: shown ? 'shown' : undefined })}
    />
  )
}

function stateOf(secret: Secret) {
  if (secret.revoked_at !== null) {
    return <CredentialState state="revoked" detail={moment(secret.revoked_at)} />
  }
  if (secret.expires_at === null) return <CredentialState state="live" />
  return isLiveSecret(secret) ? (
    <CredentialState state="ending" detail={`until ${moment(secret.expires_at)}`} />
  ) : (
    <CredentialState state="expired" detail={moment(secret.expires_at)} />
  )
}

const secretColumns = (
  rotate: (secret: Secret) => void,
  revoke: (secret: Secret) => void,
): Column<Secret>[] => [
  {
    key: 'name',
    header: 'Name',
    wraps: true,
    cell: ({ id, name }) => (
      <>
        {name}
        <Text span size="xs" c="dimmed" ml={6}>
          ID {id}
        </Text>
      </>
    ),
  },
  { key: 'state', header: 'State', cell: stateOf },
  { key: 'created', header: 'Created', cell: ({ created_at }) => day(created_at) },
  { key: 'used', header: 'Last used', cell: ({ last_used_at }) => <LastUsed at={last_used_at} /> },
  {
    key: 'change',
    header: 'Actions',
    cell: (secret) =>
      isLiveSecret(secret) ? (
        <Group gap={6} wrap="nowrap">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Rotate the secret ${secret.name}, ID ${secret.id}`}
            onClick={() => rotate(secret)}
          >
            Rotate
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Revoke the secret ${secret.name}, ID ${secret.id}`}
            onClick={() => revoke(secret)}
          >
            Revoke
          </Button>
        </Group>
      ) : null,
  },
]

function RevokeSecret({
  secret,
  secrets,
  close,
  revoked,
}: {
  secret: Secret | null
  secrets: readonly Secret[]
  close: () => void
  revoked: () => void
}) {
  const others = secrets.filter((other) => other.id !== secret?.id && isLiveSecret(other))
  return (
    <ConfirmChange
      call={useChange('revoke-signing-secret')}
      sent={secret && { params: { id: secret.id } }}
      said={() => `Secret ${secret?.name} (ID ${secret?.id}) revoked`}
      onDone={revoked}
      close={close}
      title="Revoke this secret?"
      action="Revoke secret"
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        Bookings signed with <strong>{secret?.name}</strong> (ID {secret?.id}) are rejected, starting with the
        next request. Reads still work. This cannot be undone.
      </Text>
      <Text size="sm">
        {others.length === 0
          ? 'There is no other live secret. No bookings can be sent until you create a secret and install it in the TMS.'
          : `${counted(others.length, 'other secret')} ${others.length === 1 ? 'stays' : 'stay'} live. To replace a secret without an interruption, rotate it instead.`}
      </Text>
    </ConfirmChange>
  )
}
