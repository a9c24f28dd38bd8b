import { Button, Group, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { sandboxSessionHours } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useSession, useSignIn } from '../api/index.ts'
import { ConfirmChange, counted, Failed, Section } from '../shared-ui/index.ts'

/** The test brokerage: enter it, and reset it from inside. */
export function IntegrationSandbox() {
  return useSession().tenant.test ? <ResetSandbox /> : <EnterSandbox />
}

function EnterSandbox() {
  const enter = useSignIn('enter-sandbox')
  const navigate = useNavigate()
  const go = () =>
    enter.mutate({} as never, { onSuccess: () => void navigate({ to: pagePaths.integration }) })
  return (
    <Section
      title="Test brokerage"
      hint="A brokerage for tests, with its own data, tokens, secrets and rate limit. It runs the same code. A test token never reads or changes real data."
    >
      <Text size="sm">
        Entering it signs you in there for {counted(sandboxSessionHours, 'hour')}, and creates it the first
        time. Create test tokens and a signing secret there. To return, sign out and sign in again.
      </Text>
      <Group>
        <Button onClick={go} loading={enter.isPending}>
          Enter the test brokerage
        </Button>
      </Group>
      {enter.error !== null && <Failed error={enter.error} title="Test brokerage not entered" />}
    </Section>
  )
}

function ResetSandbox() {
  const [opened, setOpened] = useState(false)
  const reset = useChange('reset-sandbox')
  return (
    <Section
      title="Reset"
      hint="You are in the test brokerage: its tokens, secrets and data are on the pages of this dashboard."
    >
      <Group>
        <Button variant="default" onClick={() => setOpened(true)}>
          Reset the test brokerage
        </Button>
      </Group>
      <ConfirmChange
        call={reset}
        sent={opened ? {} : null}
        said={({ rows_erased }) => `Test brokerage reset: ${counted(rows_erased, 'row')} erased`}
        close={() => setOpened(false)}
        title="Reset the test brokerage?"
        action="Reset"
      >
        <Text size="sm">
          All quotes, bookings, imports, events and logged calls of the test brokerage are erased. Its tokens,
          secrets, event addresses and settings stay. Your real data is not affected. This cannot be undone.
        </Text>
      </ConfirmChange>
    </Section>
  )
}
