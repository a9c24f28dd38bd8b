import { useMay, useSession, useSessionCheck } from '../api/index.ts'
import { Failed, Loading, moment, Page, RoleTooLow, Section } from '../shared-ui/index.ts'
import { AnswerSettings } from './settings-answers.tsx'
import { BrokerageForm } from './settings-brokerage.tsx'
import { CompanySignInSettings } from './settings-company-sign-in.tsx'
import { FuelSettings } from './settings-fuel.tsx'
import { MailSettings } from './settings-mail.tsx'
import { MailAddressSettings } from './settings-mail-address.tsx'
import { MailboxSettings } from './settings-mailbox.tsx'
import { PasswordForm } from './settings-password.tsx'
import { Reminders } from './settings-reminders.tsx'
import { OwnSecondFactor, SecondFactorRule } from './settings-second-factor.tsx'
import { OwnSessions, SessionLimits } from './settings-sessions.tsx'
import { Watches } from './settings-watches.tsx'
import { WeeklyReport } from './settings-weekly-report.tsx'

/** The settings of the brokerage. */
export function CompanyPage() {
  const { tenant } = useSession()
  const { isCurrent, failure, again } = useSessionCheck()
  const mayChange = useMay('admin')
  return (
    <Page title="Company">
      <Section
        title="Brokerage"
        hint={
          mayChange
            ? 'Lanewise does not recommend rates below these minimums. They are the pricing rule for all quotes: if you change or remove that rule, they change here, too.'
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
      {isCurrent && (
        <Section
          title="Second factor"
          hint="A person whose role requires one, and who has none, adds it before anything else. Service tokens go on working."
        >
          <SecondFactorRule key={tenant.id} from={tenant.second_factor_from} mayChange={mayChange} />
        </Section>
      )}
      {isCurrent && (
        <Section
          title="Reminders"
          hint="What waits for too long comes to the inbox, and by mail if there is a mail server. Leave a field empty for no reminder."
        >
          <Reminders key={tenant.id} reminders={tenant.reminders} mayChange={mayChange} />
        </Section>
      )}
      {isCurrent && (
        <Section title="Sessions" hint="How long people of the brokerage stay signed in.">
          <SessionLimits key={tenant.id} limits={tenant.session_limits} mayChange={mayChange} />
        </Section>
      )}
    </Page>
  )
}

/** The account of the signed-in person. */
export function AccountPage() {
  const { user, expires_at } = useSession()
  return (
    <Page title="Your account">
      <Section
        title={user.name}
        hint={`${user.email}, ${user.role}. This session ends ${moment(expires_at)}.`}
      >
        <PasswordForm />
      </Section>
      <Section
        title="Weekly report"
        hint="The last week on one page: margin, win rate and quotes against the week before, the largest leak, and the lanes that moved. Mondays at 07:00."
      >
        <WeeklyReport />
      </Section>
      <Section
        title="What you follow"
        hint="You are told in the inbox, and by mail at most once a day, when truck costs, quoted rates or the win rate have moved."
      >
        <Watches />
      </Section>
      <Section
        title="Second factor"
        hint="Besides your password, sign-in asks for a code of an authenticator app, or for a passkey: your fingerprint, face, PIN or security key. It is asked again before tokens and secrets, exports, erasing, and changes of the rules of sign-in."
      >
        <OwnSecondFactor />
      </Section>
      <Section
        title="Where you are signed in"
        hint="Also the assistants that you connected. If you do not recognize a session, end it and change your password."
      >
        <OwnSessions />
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

/** The mailbox that is read, the address for forwarded mails, the mail server, and what became of the newest mails. */
export function MailPage() {
  const may = useMay('admin')
  if (!may) {
    return (
      <Page title="Mail">
        <RoleTooLow>The mailbox and the mail server are set here.</RoleTooLow>
      </Page>
    )
  }
  return (
    <Page title="Mail">
      <MailboxSettings />
      <MailAddressSettings />
      <AnswerSettings />
      <MailSettings />
    </Page>
  )
}

/** The sign-in through the identity provider of the company. */
export function CompanySignInPage() {
  const may = useMay('admin')
  return (
    <Page title="Company sign-in">
      {may ? <CompanySignInSettings /> : <RoleTooLow>The company sign-in is set here.</RoleTooLow>}
    </Page>
  )
}
