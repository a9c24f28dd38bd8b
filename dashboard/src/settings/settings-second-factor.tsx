import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { day, FactorSetup, Failed, Loading, RecoveryCodes, useNotice } from '../shared-ui/index.ts'
import { OwnPasskeys } from './settings-passkeys.tsx'

/** The second factor of the signed-in person. */
export function OwnSecondFactor() {
  const { data, error, refetch } = useAnswer('get-second-factor', {})
  const queries = useQueryClient()
  // The codes stay on the page until the person has kept them.
  const again = () => void queries.invalidateQueries()
  if (error !== null) {
    return <Failed error={error} title="The second factor could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the second factor" rows={1} height={40} />
  return (
    <Stack>
      {data.set_at !== null && <Factor factor={data} again={again} />}
      {!data.app && <FactorSetup onDone={again} />}
      <OwnPasskeys />
    </Stack>
  )
}

function Factor({
  factor: { set_at, app, passkeys, recovery_codes_left, required },
  again,
}: {
  factor: Answer<'get-second-factor'>
  again: () => void
}) {
  const replace = useChange('replace-recovery-codes')
  const remove = useChange('remove-second-factor')
  if (replace.data !== undefined) {
    return (
      <RecoveryCodes
        codes={replace.data.recovery_codes}
        onDone={() => {
          replace.reset()
          again()
        }}
      />
    )
  }
  const failure = replace.error ?? remove.error
  return (
    <Stack>
      <Text size="sm">
        Sign-in asks for a second factor since {day(set_at ?? '')}. Recovery codes left: {recovery_codes_left}
        .
      </Text>
      {failure !== null && <Failed error={failure} title="Not changed" />}
      <Group>
        <Button variant="default" loading={replace.isPending} onClick={() => replace.mutate({ body: {} })}>
          Make new recovery codes
        </Button>
        {app && (!required || passkeys > 0) && (
          <Button
            variant="default"
            loading={remove.isPending}
            onClick={() => remove.mutate({}, { onSuccess: again })}
          >
            Remove the authenticator app
          </Button>
        )}
      </Group>
    </Stack>
  )
}

type From = Answer<'me'>['tenant']['second_factor_from']

/** Who of the brokerage needs a second factor. */
export function SecondFactorRule({ from, mayChange }: { from: From; mayChange: boolean }) {
  const [chosen, setChosen] = useState(from)
  const change = useChange('update-tenant')
  const queries = useQueryClient()
  const notify = useNotice()
  const save = () =>
    change.mutate(
      { body: { second_factor_from: chosen } },
      {
        onSuccess: () => {
          notify('Settings saved.')
          void queries.invalidateQueries()
        },
      },
    )
  return (
    <Stack maw={420}>
      <NativeSelect
        label="A second factor is required for"
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value as From)}
        data={[
          { value: 'nobody', label: 'nobody: each person decides' },
          { value: 'owner', label: 'owners' },
          { value: 'admin', label: 'owners and admins' },
          { value: 'member', label: 'owners, admins and members' },
          { value: 'viewer', label: 'everybody' },
        ]}
        disabled={!mayChange}
      />
      {change.error !== null && <Failed error={change.error} title="Settings not saved" />}
      {mayChange && (
        <Button loading={change.isPending} onClick={save} style={{ alignSelf: 'flex-start' }}>
          Save the rule
        </Button>
      )}
    </Stack>
  )
}
