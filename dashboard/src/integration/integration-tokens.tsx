import { Button, Checkbox, Code, SimpleGrid, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { serviceTokenLifetimeDays, tokenExpiryNoticeDays } from '#contract/limits.ts'
import { type TokenScope, tokenScopeNames, tokenScopes } from '#contract/token-scopes.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  type Column,
  ConfirmChange,
  CredentialState,
  day,
  Failed,
  LastUsed,
  moment,
  Nothing,
  Section,
  since,
  useSentForm,
} from '../shared-ui/index.ts'
import { type NewCredentialsProps, useIntegrationAddress } from './integration-address.ts'
import { CreateCredential, CredentialList } from './integration-credentials.tsx'
import { type ShownOnce, ShownOnceDialog } from './integration-shown-once.tsx'

type Token = Answer<'list-service-tokens'>['tokens'][number]

function isLive(token: Token): boolean {
  return token.revoked_at === null && Date.parse(token.expires_at) > Date.now()
}

function endsSoon(token: Token): boolean {
  return Date.parse(token.expires_at) - Date.now() <= tokenExpiryNoticeDays * 86_400_000
}

/** The service tokens of the brokerage: create, list with last use, revoke. */
export function IntegrationTokens({ newCredentials, setNewCredentials }: NewCredentialsProps) {
  const tokens = useAnswer('list-service-tokens', {})
  const queries = useQueryClient()
  const [shown, setShown] = useState<ShownOnce | null>(null)
  const [revoking, setRevoking] = useState<Token | null>(null)
  return (
    <Section
      title="Service tokens"
      hint={`A token identifies the caller. Reads need the token only; writes also need a signature. It is valid for ${serviceTokenLifetimeDays} days. Create one token per system, so that you can revoke each separately.`}
    >
      <CreateToken
        created={(answer) => {
          setNewCredentials((all) => ({ ...all, token: { id: answer.id, plaintext: answer.token } }))
          setShown({
            what: 'service token',
            name: answer.name,
            plaintext: answer.token,
            warning: answer.warning,
            note: `It is valid until ${moment(answer.expires_at)}.`,
          })
          void queries.invalidateQueries({ queryKey: ['list-service-tokens'] })
        }}
      />
      <TokenList answer={tokens} revoke={setRevoking} />
      <ShownOnceDialog shown={shown} close={() => setShown(null)} />
      <RevokeToken
        token={revoking}
        close={() => setRevoking(null)}
        revoked={() => {
          if (newCredentials.token?.id === revoking?.id) setNewCredentials((all) => ({ ...all, token: null }))
        }}
      />
    </Section>
  )
}

function CreateToken({ created }: { created: (answer: Answer<'create-service-token'>) => void }) {
  const create = useChange('create-service-token')
  const form = useSentForm(create, {
    // The scope of a new token that an admin has not chosen: the least privilege.
    initial: { name: '', scope: ['read' satisfies TokenScope] as string[] },
    check: ({ scope }) => (scope.length === 0 ? { scope: 'Choose at least one.' } : {}),
    sent: ({ name, scope }) => ({ body: { name, scope: scope.join(' ') } }),
    clears: ['name', 'scope'],
    onSuccess: (answer) => {
      created(answer)
      // Removes the plaintext from memory.
      create.reset()
    },
  })
  return (
    <CreateCredential
      what="token"
      placeholder="McLeod production"
      form={form}
      failure={(error) => <Failed error={error} title="Token not created" />}
    >
      <Checkbox.Group label="What the token permits" {...form.input('scope')}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt="xs">
          {tokenScopeNames.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={`${tokenScopes[scope].title} (${scope})`}
              description={tokenScopes[scope].permits}
            />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
    </CreateCredential>
  )
}

function TokenList({
  answer,
  revoke,
}: {
  answer: ReturnType<typeof useAnswer<'list-service-tokens'>>
  revoke: (token: Token) => void
}) {
  const { params, go } = useIntegrationAddress()
  return (
    <CredentialList
      what="token"
      caption="Service tokens, newest first"
      columns={tokenColumns(revoke)}
      answer={answer}
      of={({ tokens }) => tokens}
      isLive={isLive}
      none={<Nothing title="No service tokens yet">Create a token above. It is shown only once.</Nothing>}
      ended={params.ended === 'shown'}
      setEnded={(shown) => go({ ended: shown ? 'shown' : undefined })}
    />
  )
}

const tokenColumns = (revoke: (token: Token) => void): Column<Token>[] => [
  { key: 'name', header: 'Name', cell: ({ name }) => name, wraps: true },
  {
    key: 'state',
    header: 'State',
    cell: (token) =>
      token.revoked_at !== null ? (
        <CredentialState state="revoked" detail={moment(token.revoked_at)} />
      ) : !isLive(token) ? (
        <CredentialState state="expired" />
      ) : endsSoon(token) ? (
        <CredentialState state="ending" detail={`until ${day(token.expires_at)}`} />
      ) : (
        <CredentialState state="live" />
      ),
  },
  {
    key: 'permissions',
    header: 'Permissions',
    cell: ({ scope }) => <Code>{scope}</Code>,
    wraps: true,
  },
  { key: 'created', header: 'Created', cell: ({ created_at }) => day(created_at) },
  { key: 'expires', header: 'Expires', cell: ({ expires_at }) => day(expires_at) },
  {
    key: 'used',
    header: 'Last used',
    cell: ({ last_used_at, last_used_from }) => <LastUsed at={last_used_at} from={last_used_from} />,
  },
  {
    key: 'revoke',
    header: 'Actions',
    cell: (token) =>
      isLive(token) ? (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Revoke the token ${token.name}`}
          onClick={() => revoke(token)}
        >
          Revoke
        </Button>
      ) : null,
  },
]

function RevokeToken({
  token,
  close,
  revoked,
}: {
  token: Token | null
  close: () => void
  revoked: () => void
}) {
  return (
    <ConfirmChange
      call={useChange('revoke-service-token')}
      sent={token && { params: { id: token.id } }}
      said={() => `Token ${token?.name} revoked`}
      onDone={revoked}
      close={close}
      title="Revoke this token?"
      action="Revoke token"
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        Calls with <strong>{token?.name}</strong> are rejected, starting with the next request. The system
        cannot send bookings or read advice until it has a new token. This cannot be undone.
      </Text>
      <Text size="sm">
        {token === null || token.last_used_at === null
          ? 'It has never been used.'
          : `It was last used ${since(token.last_used_at)}${token.last_used_from === null ? '' : `, from ${token.last_used_from}`}.`}
      </Text>
    </ConfirmChange>
  )
}
