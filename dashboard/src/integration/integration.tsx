import {
  IconCode,
  IconFlag,
  IconFlask,
  IconKey,
  IconListSearch,
  IconSignature,
  IconWebhook,
} from 'virtual:tabler-icons'
import { Stack, Tabs } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useMay } from '../api/index.ts'
import { Page, RoleTooLow } from '../shared-ui/index.ts'
import { Steps } from '../steps/index.ts'
import { connectSteps } from './connect-steps.ts'
import { type NewCredentials, noNewCredentials, useIntegrationAddress } from './integration-address.ts'
import { IntegrationDebugger } from './integration-debugger.tsx'
import { IntegrationEvents } from './integration-events.tsx'
import { IntegrationLog } from './integration-log.tsx'
import { IntegrationSandbox } from './integration-sandbox.tsx'
import { IntegrationSecrets } from './integration-secrets.tsx'
import { IntegrationSnippets } from './integration-snippets.tsx'
import { IntegrationTokens } from './integration-tokens.tsx'

const tabs = [
  { name: 'credentials', label: 'Credentials', icon: IconKey },
  { name: 'steps', label: 'First steps', icon: IconFlag },
  { name: 'code', label: 'Code', icon: IconCode },
  { name: 'log', label: 'Request log', icon: IconListSearch },
  { name: 'events', label: 'Events', icon: IconWebhook },
  { name: 'debugger', label: 'Signature debugger', icon: IconSignature },
  { name: 'test', label: 'Test brokerage', icon: IconFlask },
] as const

/** The page where admins connect other systems: credentials, first steps, example code, request log, events, signature debugger, test brokerage. */
export default function IntegrationPage() {
  const mayConnect = useMay('admin')
  return (
    <Page title="Developers" hint="Connect your TMS, load board or quoting tool.">
      {mayConnect ? (
        <Connecting />
      ) : (
        <RoleTooLow>Only admins and owners can connect other systems.</RoleTooLow>
      )}
    </Page>
  )
}

function Connecting() {
  const { params, go } = useIntegrationAddress()
  const tab = tabs.find(({ name }) => name === params.tab)?.name ?? 'credentials'
  // Plaintexts of new credentials exist only in this state and disappear with the page.
  const [newCredentials, setNewCredentials] = useState<NewCredentials>(noNewCredentials)
  const parts = { newCredentials, setNewCredentials }
  return (
    <Tabs
      value={tab}
      onChange={(next) => go({ tab: next ?? 'credentials' }, { afresh: true })}
      keepMounted={false}
      activateTabWithKeyboard={false}
    >
      <Tabs.List mb="lg">
        {tabs.map(({ name, label, icon: Icon }) => (
          <Tabs.Tab key={name} value={name} leftSection={<Icon size={16} aria-hidden />}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="credentials">
        <Stack>
          <Steps
            steps={connectSteps}
            whenDone={null}
            rowsAt={{ words: 'Show the steps', to: pagePaths.integration, search: { tab: 'steps' } }}
          />
          <IntegrationTokens {...parts} />
          <IntegrationSecrets {...parts} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="steps">
        <Steps steps={connectSteps} whenDone="All steps are done." />
      </Tabs.Panel>
      <Tabs.Panel value="code">
        <IntegrationSnippets {...parts} />
      </Tabs.Panel>
      <Tabs.Panel value="log">
        <IntegrationLog />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <IntegrationEvents />
      </Tabs.Panel>
      <Tabs.Panel value="debugger">
        <IntegrationDebugger />
      </Tabs.Panel>
      <Tabs.Panel value="test">
        <IntegrationSandbox />
      </Tabs.Panel>
    </Tabs>
  )
}
