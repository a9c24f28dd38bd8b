import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useMay, useSession, useSessionCheck } from '../api/index.ts'
import { Failed, Loading, moment, Page, useAddress, ViewTabs } from '../shared-ui/index.ts'
import { BrokerageForm } from './settings-brokerage.tsx'
import { FuelSettings } from './settings-fuel.tsx'
import { PasswordForm } from './settings-password.tsx'

const views = { general: 'Brokerage and account', fuel: 'Fuel' } as const

export default function SettingsPage() {
  const { search, change } = useAddress(pagePaths.settings)
  const view = search.view === 'fuel' ? 'fuel' : 'general'
  return (
    <Page title="Settings">
      <ViewTabs
        label="Settings of"
        names={views}
        view={view}
        onView={(next) => change({ view: next === 'fuel' ? next : undefined })}
      >
        {view === 'fuel' ? <FuelSettings /> : <GeneralSettings />}
      </ViewTabs>
    </Page>
  )
}

function GeneralSettings() {
  const { user, tenant, expires_at } = useSession()
  const { isCurrent, failure, again } = useSessionCheck()
  const mayChange = useMay('admin')
  return (
    <Stack>
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
    </Stack>
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
