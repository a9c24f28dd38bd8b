import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  exactMoment,
  Failed,
  Loading,
  Nothing,
  Section,
  since,
  useNotice,
  useSentForm,
} from '../shared-ui/index.ts'
import { ProviderForm } from './settings-company-provider.tsx'

export type CompanySettings = Answer<'get-company-sign-in'>
type Domain = CompanySettings['domains'][number]

/** The company sign-in of the brokerage: its domains, its identity provider, and whom it leaves out. For admins. */
export function CompanySignInSettings() {
  const { data, error, refetch } = useAnswer('get-company-sign-in', {})
  if (error !== null && data === undefined) {
    return (
      <Failed error={error} title="The company sign-in could not be loaded" retry={() => void refetch()} />
    )
  }
  if (data === undefined) return <Loading label="Loading the company sign-in" rows={6} />
  if (!data.may_set) {
    return (
      <Nothing title="Company sign-in is turned off">
        Ask the operator of this installation to set COMPANY_SIGN_IN=on.
      </Nothing>
    )
  }
  return (
    <>
      <Section
        title="1. Your domains"
        hint="The part of your e-mail addresses after the @. A DNS record proves that a domain is yours. Nobody signs in through your company with an address of a domain that is not proven."
      >
        <Domains domains={data.domains} />
      </Section>
      <Section
        title="2. Your identity provider"
        hint="For example Entra ID, Okta or Google Workspace. Create a web application there with this return address:"
      >
        <Stack>
          <Code style={{ alignSelf: 'flex-start', overflowWrap: 'anywhere' }}>{data.return_address}</Code>
          <ProviderState settings={data} />
          <ProviderForm key={data.provider?.set_at ?? 'none'} settings={data} />
        </Stack>
      </Section>
      {data.provider !== null && <Outside people={data.outside} />}
    </>
  )
}

function ProviderState({ settings: { provider } }: { settings: CompanySettings }) {
  const check = useChange('check-company-provider')
  if (provider === null) return null
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {provider.worked_at === null
          ? 'Nobody has signed in through it yet. Sign out and choose "Continue with your company" to try it.'
          : `It works: somebody last signed in through it ${since(provider.worked_at)}.`}
        {provider.required ? ' It is required: passwords are refused.' : ' Passwords work, too.'}
      </Text>
      <Group>
        <Button variant="default" loading={check.isPending} onClick={() => check.mutate({ body: {} })}>
          Ask the provider
        </Button>
        {check.data !== undefined && (
          <Text size="sm" role="status">
            {check.data.problem === null ? 'The provider answers.' : check.data.problem}
          </Text>
        )}
      </Group>
      {check.error !== null && <Failed error={check.error} title="Not asked" />}
    </Stack>
  )
}

function Outside({ people }: { people: CompanySettings['outside'] }) {
  if (people.length === 0) return null
  return (
    <Section
      title="Not in your domains"
      hint="These people have an address of no proven domain. They cannot sign in through the company, and not at all once it is required."
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {people.map(({ name, email }) => `${name} (${email})`).join(', ')}
      </Text>
    </Section>
  )
}

function Domains({ domains }: { domains: readonly Domain[] }) {
  const queries = useQueryClient()
  const { form, submit, input, pending, failure } = useSentForm(useChange('add-company-domain'), {
    fields: { domain: '' },
    send: ({ domain }) => ({ body: { domain: domain.trim() } }),
    done: () => {
      form.reset()
      void queries.invalidateQueries()
    },
  })
  return (
    <Stack>
      {domains.length > 0 && (
        <Stack component="ul" aria-label="Domains" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
          {domains.map((one) => (
            <li key={one.domain}>
              <OneDomain domain={one} />
            </li>
          ))}
        </Stack>
      )}
      <form onSubmit={submit} aria-label="Add a domain">
        <Group align="flex-end">
          <TextInput
            label="Domain"
            placeholder="example.com"
            required
            autoComplete="off"
            {...input('domain')}
          />
          <Button type="submit" loading={pending}>
            Add the domain
          </Button>
        </Group>
      </form>
      {failure('Not added')}
    </Stack>
  )
}

/** A domain, whether it is proven, and the DNS record that proves it. */
function OneDomain({
  domain: { domain, record, proven_at: proven, checked_at: checked },
}: {
  domain: Domain
}) {
  return (
    <Group justify="space-between" align="flex-start">
      <Stack gap={2} style={{ flex: '1 1 240px', minWidth: 0, overflowWrap: 'anywhere' }}>
        <Group gap="sm">
          <Text fw={600}>{domain}</Text>
          {proven === null ? (
            <Text size="sm">… Not proven{checked === null ? '' : `, checked ${since(checked)}`}</Text>
          ) : (
            <Text size="sm" fw={600} title={exactMoment(proven)} style={{ color: 'var(--won)' }}>
              ✓ Proven
            </Text>
          )}
        </Group>
        <Text size="sm">DNS record of the type TXT</Text>
        <Text size="sm">
          Name <Code>{record.name}</Code>
        </Text>
        <Text size="sm">
          Text <Code>{record.value}</Code>
        </Text>
      </Stack>
      <DomainActions domain={domain} />
    </Group>
  )
}

const resultWords = {
  proven: 'The domain is proven.',
  missing: 'The record is not there. A new record may need some hours until all name servers know it.',
  unknown: 'No name server answered this service. Nothing was changed: try again, or ask the operator.',
} as const

function DomainActions({ domain }: { domain: string }) {
  const check = useChange('check-company-domain')
  const remove = useChange('remove-company-domain')
  const queries = useQueryClient()
  const notify = useNotice()
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          loading={check.isPending}
          aria-label={`Check ${domain}`}
          onClick={() =>
            check.mutate(
              { body: { domain } },
              {
                onSuccess: ({ result }) => {
                  notify(resultWords[result])
                  void queries.invalidateQueries()
                },
              },
            )
          }
        >
          Check
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          loading={remove.isPending}
          aria-label={`Remove ${domain}`}
          onClick={() =>
            remove.mutate({ body: { domain } }, { onSuccess: () => void queries.invalidateQueries() })
          }
        >
          Remove
        </Button>
      </Group>
      {check.error !== null && <Failed error={check.error} title="Not checked" />}
      {remove.error !== null && <Failed error={remove.error} title="Not removed" />}
    </Stack>
  )
}
