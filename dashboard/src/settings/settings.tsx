import { useMay, useSession, useSessionCheck } from '../api/index.ts'
import { Failed, Loading, moment, Page, Section } from '../shared-ui/index.ts'
import { BrokerageForm } from './settings-brokerage.tsx'
import { FuelSettings } from './settings-fuel.tsx'
import { PasswordForm } from './settings-password.tsx'
import { PhoneForm } from './settings-phone.tsx'

export function CompanyPage() {
  const { tenant } = useSession()
  const { isCurrent, failure, again } = useSessionCheck()
  const mayChange = useMay('admin')
  return (
    <Page title="Company">
      <Section
        title="Brokerage"
        hint={mayChange ? null : 'Only owners and admins can change these settings.'}
      >
        {isCurrent ? (
          <BrokerageForm key={tenant.id} tenant={tenant} mayChange={mayChange} />
        ) : failure === null || failure.status === 401 ? (
          <Loading label="Loading the settings" height={52} />
        ) : (
          <Failed error={failure} title="The settings could not be loaded" retry={again} />
        )}
      </Section>
    </Page>
  )
}

export function AccountPage() {
  const { user, expires_at } = useSession()
  return (
    <Page title="Your account">
      <Section
        title={user.name}
        hint={`${user.email}, ${user.role}. This session ends ${moment(expires_at)}.`}
      >
        <PhoneForm />
        <PasswordForm />
      </Section>
    </Page>
  )
}

/** Fuel schedules, diesel prices and exchange rates. */
export function FuelPage() {
  return (
    <Page title="Fuel and currency">
      <FuelSettings />
    </Page>
  )
}
