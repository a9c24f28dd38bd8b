import { Button, Checkbox, Group, NativeSelect, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { useSentForm } from '../shared-ui/index.ts'
import { RemoveSetting } from './settings-remove.tsx'

type CompanySettings = Answer<'get-company-sign-in'>
type Provider = NonNullable<CompanySettings['provider']>
type Role = Provider['groups'][number]['role']

interface GroupRow {
  readonly group: string
  readonly role: Role
  readonly team: string
}

interface Fields {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
  readonly required: boolean
  readonly makes_accounts: boolean
  readonly role_without_group: Provider['role_without_group']
  readonly groups: readonly GroupRow[]
  readonly break_glass_user_id: string
}

function fieldsOf(provider: CompanySettings['provider']) {
  const emergencies = provider?.break_glass?.user_id
  return {
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
    client_secret: '',
    required: provider?.required ?? false,
    makes_accounts: provider?.makes_accounts ?? false,
    role_without_group: provider?.role_without_group ?? 'nobody',
    groups: (provider?.groups ?? []).map(({ group, role, team }) => ({
      group,
      role,
      team: team === null ? '' : String(team),
    })),
    break_glass_user_id: emergencies === undefined ? '' : String(emergencies),
  } satisfies Fields as Fields
}

function bodyOf({ issuer, client_id, client_secret, break_glass_user_id, groups, ...rest }: Fields) {
  return {
    ...rest,
    issuer: issuer.trim(),
    client_id: client_id.trim(),
    ...(client_secret === '' ? {} : { client_secret }),
    groups: groups
      .filter(({ group }) => group.trim() !== '')
      .map(({ group, role, team }) => ({
        group: group.trim(),
        role,
        ...(team === '' ? {} : { team_id: Number(team) }),
      })),
    ...(break_glass_user_id === '' ? {} : { break_glass_user_id: Number(break_glass_user_id) }),
  }
}

const roleNames = [
  { value: 'viewer', label: 'Viewer' },
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
]

/** The identity provider, and what its groups mean. */
export function ProviderForm({ settings: { provider } }: { settings: CompanySettings }) {
  const sent = useSentForm(useChange('set-company-sign-in'), {
    fields: fieldsOf(provider) as Fields & Record<string, unknown>,
    send: (fields) => ({ body: bodyOf(fields) }),
    said: 'The company sign-in is set.',
  })
  const { submit, input, pending, failure } = sent
  return (
    <form onSubmit={submit} aria-label="Identity provider">
      <Stack maw={720}>
        <TextInput
          label="Issuer"
          description="The address by which the provider names itself, exactly as the provider writes it."
          placeholder="https://login.example.com"
          required
          autoComplete="off"
          {...input('issuer')}
        />
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput label="Client ID" required autoComplete="off" {...input('client_id')} />
          <PasswordInput
            label="Client secret"
            // Below its field, so that both fields are on one line.
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            description={
              provider === null ? 'Stored encrypted.' : 'Stored encrypted. Leave it empty to keep it.'
            }
            autoComplete="new-password"
            {...input('client_secret')}
          />
        </Group>
        <Accounts sent={sent} />
        <Required input={input} />
        {failure('The company sign-in was not set')}
        <Group>
          <Button type="submit" loading={pending}>
            {provider === null ? 'Set the company sign-in' : 'Save the company sign-in'}
          </Button>
          {provider !== null && (
            <RemoveSetting operation="remove-company-sign-in" what="the company sign-in">
              Its secret is deleted. Everybody signs in with a password again. People who joined through the
              company have none.
            </RemoveSetting>
          )}
        </Group>
      </Stack>
    </form>
  )
}

type Sent = ReturnType<typeof useSentForm<Fields & Record<string, unknown>, unknown, unknown>>

function Accounts({ sent: { form, input } }: { sent: Pick<Sent, 'form' | 'input'> }) {
  const teams = useAnswer('list-teams', {}).data?.teams ?? []
  const { groups } = form.values
  return (
    <Stack gap="sm">
      <Checkbox
        label="Make an account at the first sign-in"
        description="Otherwise only people whom you have invited can sign in."
        {...input('makes_accounts', { type: 'checkbox' })}
      />
      <Text size="sm">
        Groups of the provider give roles and teams. Without groups, you give roles on the page People and
        teams. Owners are always made there.
      </Text>
      {groups.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity while they are typed
        <Group key={index} align="flex-end">
          <TextInput label={`Group ${index + 1}`} {...input(`groups.${index}.group`)} />
          <NativeSelect
            label={`Role of group ${index + 1}`}
            data={roleNames}
            {...input(`groups.${index}.role`)}
          />
          <NativeSelect
            label={`Team of group ${index + 1}`}
            data={[
              { value: '', label: 'No team' },
              ...teams.map(({ team_id: id, name }) => ({ value: String(id), label: name })),
            ]}
            {...input(`groups.${index}.team`)}
          />
          <Button variant="default" onClick={() => form.removeListItem('groups', index)}>
            Remove
          </Button>
        </Group>
      ))}
      <Button
        variant="default"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => form.insertListItem('groups', { group: '', role: 'member', team: '' })}
      >
        Add a group
      </Button>
      <NativeSelect
        label="Role of people in none of the groups"
        data={[{ value: 'nobody', label: 'None: they cannot sign in' }, ...roleNames]}
        {...input('role_without_group')}
      />
    </Stack>
  )
}

function Required({ input }: Pick<Sent, 'input'>) {
  const users = useAnswer('list-users', {}).data?.users ?? []
  const owners = users.filter(({ role, status }) => role === 'owner' && status === 'active')
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Owner for emergencies"
        description="May always sign in with the password, if the provider fails. Each time is in the audit log."
        data={[
          { value: '', label: 'Nobody' },
          ...owners.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        {...input('break_glass_user_id')}
      />
      <Checkbox
        label="Require it: refuse passwords"
        description="For everybody except the owner for emergencies. All other sessions that began with a password end."
        {...input('required', { type: 'checkbox' })}
      />
    </Stack>
  )
}
