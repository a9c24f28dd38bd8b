import { Stack } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { useMay, useSession, useSessionCheck } from '../api/index.ts'
import { Failed, Loading, moment, Page, Section, useAddress, ViewTabs } from '../shared-ui/index.ts'
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
