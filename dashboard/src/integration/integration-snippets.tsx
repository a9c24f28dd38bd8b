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
  IntegrationSection,
  Loading,
  Nothing,
  useIntegrationExample,
} from '../shared-ui/index.ts'
import { type HoldsCredentials, nothingHeld, useIntegrationAddress } from './integration-address.ts'

const calls: Readonly<Record<CodeCall, { label: string; title: string }>> = {
  'shipment-update': { label: 'Booking', title: 'Push a booking' },
  markup: { label: 'Rate advice', title: 'Ask about a rate' },
  'lane-insight': { label: 'Lane advice', title: 'Ask about a lane' },
}

const languages: Readonly<Record<CodeLanguage, { label: string; needs: string }>> = {
  curl: { label: 'curl', needs: 'Paste it into the same terminal. It needs bash, curl and openssl.' },
  python: {
    label: 'Python',
    needs: 'Save it as lanewise.py and run python3 lanewise.py in the same terminal. It needs no packages.',
  },
  typescript: {
    label: 'TypeScript',
    needs: 'Save it as lanewise.mts and run node lanewise.mts in the same terminal (Node 24). No packages.',
  },
}

/** Programs that run as they are shown: with this service's address and this brokerage's own lanes. */
export function IntegrationSnippets({ held, setHeld }: HoldsCredentials) {
  const { words, go } = useIntegrationAddress()
  const call = codeCalls.find((name) => name === words.call) ?? 'shipment-update'
  const language = codeLanguages.find((name) => name === words.language) ?? 'curl'
  const example = useIntegrationExample()
  const isHeld = held.token !== null || held.secret !== null
  return (
    <IntegrationSection
      title="Code to paste"
      hint="Each program runs as it is shown, against this service and with your own lanes."
    >
      <Stack gap="xs">
        <CodeBlock
          title="1. Put the credentials into the environment"
          what="the export lines"
          code={exportLines({
            token: held.token?.plaintext ?? null,
            secret: held.secret?.plaintext ?? null,
          })}
        />
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {isHeld
              ? 'What you have just made is filled in, in the memory of this page only: it is gone when you leave or reload it.'
              : 'Plaintexts are shown once, when they are made, and are not known here any more. Lost one?'}
          </Text>
          {isHeld ? (
            <Button size="compact-sm" variant="default" onClick={() => setHeld(() => nothingHeld)}>
              Remove them from the page
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => go({ tab: 'credentials' }, { afresh: true })}
            >
              Make new credentials
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
    </IntegrationSection>
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
  if (example.isLoading) return <Loading label="Looking for your lanes" rows={1} height={320} />
  if (example.error !== null) {
    return <Failed error={example.error} retry={example.again} title="Your lanes could not be read" />
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
        <Heed title="This books a real lane">
          Your newest open lane,{' '}
          <Anchor component={Link} to={`/quotes/${booking.laneRef}`} inherit>
            {booking.laneRef}
          </Anchor>{' '}
          ({booking.lane}), becomes won with {dollars(booking.customerRate)} AR and{' '}
          {dollars(booking.truckCost)} AP. An admin can roll that back on its page.
        </Heed>
      )}
      <CodeBlock title={`2. ${calls[call].title}`} code={code} what="the program" />
      <Text size="sm" c="dimmed">
        {languages[language].needs} It prints the answer and, when all is well, HTTP 200. Every call appears
        in the request log.
      </Text>
    </Stack>
  )
}

function NothingOpen() {
  return (
    <Nothing
      title="No open lane to book"
      actions={
        <Button component={Link} to={pagePaths.desk}>
          Quote a lane
        </Button>
      }
    >
      A booking names a lane that you have quoted. Quote one, then come back: the program will name it. The
      two reads work without.
    </Nothing>
  )
}
