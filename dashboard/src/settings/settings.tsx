import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMay, useSession, useSessionCheck } from '../api/index.ts'
import { Failed, Loading, moment, Page } from '../shared-ui/index.ts'
import { BrokerageForm } from './settings-brokerage.tsx'
import { PasswordForm } from './settings-password.tsx'

export default function SettingsPage() {
  const { user, tenant, expires_at } = useSession()
  const { isCurrent, failure, again } = useSessionCheck()
  const mayChange = useMay('admin')
  return (
    <Page title="Settings">
      <Section
        title="Brokerage"
        hint={
          mayChange
            ? 'Lanewise does not recommend rates below these minimums. Leave a field empty for no minimum.'
            : 'Only owners and admins can change these settings.'
        }
      >
        {isCurrent ? (
          <BrokerageForm key={tenant.id} tenant={tenant} mayChange={mayChange} />
        ) : failure === null || failure.status === 401 ? (
          <Loading label="Loading the settings" height={52} />
        ) : (
          <Failed error={failure} title="The settings could not be loaded" retry={again} />
        )}
      </Section>
      <Section
        title="Your account"
        hint={`${user.name}, ${user.email}, ${user.role}. This session ends ${moment(expires_at)}.`}
      >
        <PasswordForm />
      </Section>
    </Page>
  )
}

function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <Paper withBorder p="lg" component="section" aria-label={title}>
      <Stack>
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        </div>
        {children}
      </Stack>
    </Paper>
  )
}
