import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { sandboxSessionHours } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useChange, useSession, useSignIn } from '../api/index.ts'
import {
  ConfirmDialog,
  counted,
  day,
  Failed,
  Loading,
  Nothing,
  Section,
  useNotice,
} from '../shared-ui/index.ts'

type Sandbox = NonNullable<Answer<'get-sandbox'>['sandbox']>

/** The test brokerage: create it, enter it, reset it. */
export function IntegrationSandbox() {
  const { tenant } = useSession()
  const found = useAnswer('get-sandbox', {})
  return (
    <Section
      title="Test brokerage"
      hint="A brokerage for tests, with its own data, tokens, secrets and rate limit. It runs the same code. A test token never reads or changes real data."
    >
      {found.data === undefined ? (
        found.error === null ? (
          <Loading label="Loading the test brokerage" rows={2} />
        ) : (
          <Failed
            error={found.error}
            retry={() => void found.refetch()}
            title="The test brokerage could not be loaded"
          />
        )
      ) : found.data.sandbox === null ? (
        <CreateSandbox />
      ) : (
        <SandboxShown sandbox={found.data.sandbox} isInside={tenant.test} />
      )}
    </Section>
  )
}

function CreateSandbox() {
  const create = useChange('create-sandbox')
  const queries = useQueryClient()
  const make = () =>
    create.mutate(
      {},
      {
        onSuccess: (sandbox) => queries.setQueryData(['get-sandbox', {}], { sandbox }),
      },
    )
  return (
    <>
      <Nothing
        title="No test brokerage yet"
        actions={
          <Button onClick={make} loading={create.isPending}>
            Create the test brokerage
          </Button>
        }
      >
        Create it, enter it, and create test tokens and a signing secret there.
      </Nothing>
      {create.error !== null && <Failed error={create.error} title="Test brokerage not created" />}
    </>
  )
}

function SandboxShown({ sandbox, isInside }: { sandbox: Sandbox; isInside: boolean }) {
  const [resetting, setResetting] = useState(false)
  const enter = useSignIn('enter-sandbox')
  const navigate = useNavigate()
  const go = () =>
    enter.mutate({} as never, { onSuccess: () => void navigate({ to: pagePaths.integration }) })
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <strong>{sandbox.name}</strong>, created on {day(sandbox.created_at)}.{' '}
        {isInside
          ? 'You are in it. Its tokens, secrets and data are on the pages of this dashboard.'
          : `Entering it signs you in there for ${counted(sandboxSessionHours, 'hour')}. To return, sign out and sign in again.`}
      </Text>
      <Group gap="sm">
        {!isInside && (
          <Button onClick={go} loading={enter.isPending}>
            Enter the test brokerage
          </Button>
        )}
        <Button variant="default" onClick={() => setResetting(true)}>
          Reset the test brokerage
        </Button>
      </Group>
      {enter.error !== null && <Failed error={enter.error} title="Test brokerage not entered" />}
      <ResetSandbox opened={resetting} close={() => setResetting(false)} />
    </>
  )
}

function ResetSandbox({ opened, close }: { opened: boolean; close: () => void }) {
  const reset = useChange('reset-sandbox')
  const queries = useQueryClient()
  const notify = useNotice()
  const leave = () => {
    reset.reset()
    close()
  }
  const confirm = () =>
    reset.mutate(
      {},
      {
        onSuccess: ({ rows_erased }) => {
          notify(`Test brokerage reset: ${counted(rows_erased, 'row')} erased`)
          void queries.invalidateQueries()
          leave()
        },
      },
    )
  return (
    <ConfirmDialog
      opened={opened}
      title="Reset the test brokerage?"
      action="Reset"
      pending={reset.isPending}
      error={reset.error}
      confirm={confirm}
      close={leave}
    >
      <Text size="sm">
        All quotes, bookings, imports, events and logged calls of the test brokerage are erased. Its tokens,
        secrets, event addresses and settings stay. Your real data is not affected. This cannot be undone.
      </Text>
    </ConfirmDialog>
  )
}
