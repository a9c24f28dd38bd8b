import { Anchor, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import {
  type CodeCall,
  type CodeLanguage,
  codeCalls,
  codeLanguages,
  exportLines,
  laneInsightCode,
  markupCode,
  shipmentUpdateCode,
} from '../code-samples/index.ts'
import {
  CodeBlock,
  dollars,
  Failed,
  Heed,
  type IntegrationExample,
  Loading,
  Nothing,
  Section,
  useIntegrationExample,
} from '../shared-ui/index.ts'
import { type NewCredentialsProps, noNewCredentials, useIntegrationAddress } from './integration-address.ts'

const calls: Readonly<Record<CodeCall, { label: string; title: string }>> = {
  'shipment-update': { label: 'Booking', title: 'Send a booking' },
  markup: { label: 'Rate advice', title: 'Get rate advice' },
  'lane-insight': { label: 'Lane advice', title: 'Get lane advice' },
}

const languages: Readonly<Record<CodeLanguage, { label: string; needs: string }>> = {
  curl: { label: 'curl', needs: 'Paste it into the same terminal. It requires bash, curl and openssl.' },
  python: {
    label: 'Python',
    needs:
      'Save it as lanewise.py and run python3 lanewise.py in the same terminal. It requires no packages.',
  },
  typescript: {
    label: 'TypeScript',
    needs:
      'Save it as lanewise.mts and run node lanewise.mts in the same terminal (Node 24). It requires no packages.',
  },
}

/** Example programs, ready to run against this service, with a quote and a lane of the brokerage. */
export function IntegrationSnippets({ newCredentials, setNewCredentials }: NewCredentialsProps) {
  const { params, go } = useIntegrationAddress()
  const call = codeCalls.find((name) => name === params.call) ?? codeCalls[0]
  const language = codeLanguages.find((name) => name === params.language) ?? 'curl'
  const example = useIntegrationExample()
  const isFilledIn = newCredentials.token !== null || newCredentials.secret !== null
  return (
    <Section title="Example code" hint="Each program is ready to run against this service with your quotes.">
      <Stack gap="xs">
        <CodeBlock
          title="1. Set the credentials in the environment"
          what="the export lines"
          code={exportLines({
            token: newCredentials.token?.plaintext ?? null,
            secret: newCredentials.secret?.plaintext ?? null,
          })}
        />
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {isFilledIn
              ? 'Your new credentials are filled in. They are only in the memory of this page, until you leave or reload it.'
              : 'Credentials are shown only once, when they are created. Lost one?'}
          </Text>
          {isFilledIn ? (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => setNewCredentials(() => noNewCredentials)}
            >
              Remove them from this page
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => go({ tab: 'credentials' }, { afresh: true })}
            >
              Create new credentials
            </Button>
          )}
        </Group>
      </Stack>
      <Group gap="sm">
        <SegmentedControl
          aria-label="What the program does"
          data={codeCalls.map((value) => ({ value, label: calls[value].label }))}
          value={call}
          onChange={(next) => go({ call: next })}
        />
        <SegmentedControl
          aria-label="Language"
          data={codeLanguages.map((value) => ({ value, label: languages[value].label }))}
          value={language}
          onChange={(next) => go({ language: next })}
        />
      </Group>
      <Program call={call} language={language} example={example} />
    </Section>
  )
}

function Program({
  call,
  language,
  example,
}: {
  call: CodeCall
  language: CodeLanguage
  example: IntegrationExample
}) {
  if (example.isLoading) return <Loading label="Loading your quotes" rows={1} height={320} />
  if (example.error !== null) {
    return <Failed error={example.error} retry={example.again} title="Your quotes could not be loaded" />
  }
  const { booking, busy } = example
  if (call === 'shipment-update' && booking === null) return <NothingOpen />
  const base = window.location.origin
  const code =
    call === 'shipment-update' && booking !== null
      ? shipmentUpdateCode(language, base, booking)
      : call === 'markup'
        ? markupCode(language, base, busy)
        : laneInsightCode(language, base, busy)
  return (
    <Stack gap="xs">
      {call === 'shipment-update' && booking !== null && (
        <Heed title="This books a real load">
          Your newest pending quote,{' '}
          <Anchor component={Link} to={`/quotes/${booking.laneRef}`} inherit>
            {booking.laneRef}
          </Anchor>{' '}
          ({booking.lane}), becomes won with {dollars(booking.customerRate)} AR and{' '}
          {dollars(booking.truckCost)} AP. An admin can roll back the booking on the page of the quote. To try
          it without a real load, use the{' '}
          <Anchor component={Link} to={pagePaths.integration} search={{ tab: 'test' } as never} inherit>
            test brokerage
          </Anchor>
          .
        </Heed>
      )}
      <CodeBlock title={`2. ${calls[call].title}`} code={code} what="the program" />
      <Text size="sm" c="dimmed">
        The token needs the scope{' '}
        {call === 'shipment-update' ? 'integrations:write' : 'read or integrations:write'}.{' '}
        {languages[language].needs} It prints the response and, on success, HTTP 200. Every call appears in
        the request log.
      </Text>
    </Stack>
  )
}

function NothingOpen() {
  return (
    <Nothing
      title="No pending quote to book"
      actions={
        <Button component={Link} to={pagePaths.desk}>
          Quote a lane
        </Button>
      }
    >
      A booking needs a pending quote. Quote a lane and come back: the program then uses that quote. The two
      read programs work without a quote.
    </Nothing>
  )
}
