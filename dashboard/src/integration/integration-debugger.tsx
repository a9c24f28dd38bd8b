import { IconCircleCheck, IconCircleX, IconHelpCircle } from 'virtual:tabler-icons'
import {
  Alert,
  Button,
  FileButton,
  Group,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { type FormEvent, useId, useState } from 'react'
import { operations } from '#client/operations.ts'
import { bodyBytesMax } from '#contract/limits.ts'
import { type Answer, useChange } from '../api/index.ts'
import { count, counted, Failed, Section } from '../shared-ui/index.ts'

type Verdict = Answer<'check-signature'>

interface Pasted {
  /** The method and path of the request. */
  readonly address: string
  readonly timestamp: string
  readonly body: string
  readonly signature: string
  /** The file with the body's exact bytes, because a text field changes line endings. */
  readonly file: string | null
}

const monospaced = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } }

const signedAddresses = Object.values(operations)
  .filter(({ signs }) => signs !== null)
  .map(({ method, path }) => `${method} ${path}`)
const [shipmentUpdate = ''] = signedAddresses

const nothing: Pasted = { address: shipmentUpdate, timestamp: '', body: '', signature: '', file: null }

/** An example booking with a well-formed signature of an unknown secret. */
function examplePaste(): Pasted {
  return {
    address: shipmentUpdate,
    timestamp: String(Math.floor(Date.now() / 1000)),
    body: '{"lane_ref":"48211093754-1-1","customer_rate":2150,"truck_cost":1820.5}',
    signature: 'sha256=ecf09be4443dd83e3b10249a0ced1a5997097a2c0836d523395319ed27cf323b',
    file: null,
  }
}

/** Finds the wrong part of a signed request and its fix, without showing a secret. */
export function IntegrationDebugger() {
  const [pasted, setPasted] = useState(nothing)
  const check = useChange('check-signature')
  const change = (part: Partial<Pasted>) => {
    setPasted((all) => ({ ...all, ...part }))
    // Clears the result, which was for the previous input.
    check.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { address, timestamp, body, signature } = pasted
    check.mutate({ body: { address, timestamp, body, signature } })
  }
  return (
    <Section
      title="Signature debugger"
      hint="Paste the two headers and the body of a signed request as they were sent. The check changes nothing and shows neither a secret nor the correct signature."
    >
      <div className="debugger">
        <form onSubmit={submit}>
          <Stack gap="md">
            <AddressInput address={pasted.address} change={(address) => change({ address })} />
            <TextInput
              label="Timestamp"
              description="The value of X-Service-Timestamp"
              autoComplete="off"
              spellCheck={false}
              styles={monospaced}
              value={pasted.timestamp}
              onChange={(event) => change({ timestamp: event.currentTarget.value })}
            />
            <BodyInput pasted={pasted} change={change} />
            <TextInput
              label="Signature"
              description="The value of X-Service-Signature"
              autoComplete="off"
              spellCheck={false}
              styles={monospaced}
              value={pasted.signature}
              onChange={(event) => change({ signature: event.currentTarget.value })}
            />
            <Group gap="sm">
              <Button type="submit" loading={check.isPending}>
                Check
              </Button>
              <Button variant="default" onClick={() => change(examplePaste())}>
                Fill with an example that fails
              </Button>
              <Button variant="default" onClick={() => change(nothing)}>
                Clear
              </Button>
            </Group>
          </Stack>
        </form>
        <div aria-live="polite">
          {check.error !== null ? (
            <Failed error={check.error} title="Check failed" />
          ) : check.data === undefined ? (
            <Text size="sm" c="dimmed">
              The result appears here for each part: timestamp, signature, body and secret.
            </Text>
          ) : (
            <VerdictShown verdict={check.data} />
          )}
        </div>
      </div>
    </Section>
  )
}

function AddressInput({ address, change }: { address: string; change: (address: string) => void }) {
  const list = useId()
  return (
    <>
      <TextInput
        label="Address"
        description="The method and path of the request. A shipment update signs the body only; all other requests sign the address, too."
        autoComplete="off"
        spellCheck={false}
        styles={monospaced}
        list={list}
        value={address}
        onChange={(event) => change(event.currentTarget.value)}
      />
      <datalist id={list}>
        {signedAddresses.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  )
}

function BodyInput({ pasted, change }: { pasted: Pasted; change: (part: Partial<Pasted>) => void }) {
  const [wrongFile, setWrongFile] = useState<string | null>(null)
  const load = async (file: File | null) => {
    if (file === null) return
    if (file.size > bodyBytesMax) {
      setWrongFile(
        `${file.name} has ${count(file.size)} bytes. At most ${count(bodyBytesMax)} can be checked. Sign a smaller request to check your signer.`,
      )
      return
    }
    try {
      // Keeps a byte-order mark, because the check reports it as an error.
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      change({ body: text.decode(await file.arrayBuffer()), file: file.name })
      setWrongFile(null)
    } catch {
      setWrongFile(`${file.name} is not UTF-8 text.`)
    }
  }
  const { body, file } = pasted
  return (
    <Stack gap={6}>
      <Textarea
        label="Body"
        description="Exactly as sent. Text fields change CRLF line endings to LF. To check the exact bytes, load a file."
        autosize
        minRows={6}
        maxRows={14}
        spellCheck={false}
        styles={monospaced}
        value={body}
        readOnly={file !== null}
        onChange={(event) => change({ body: event.currentTarget.value })}
        error={wrongFile}
      />
      <Group gap="sm">
        <FileButton onChange={(chosen) => void load(chosen)} inputProps={{ 'aria-label': 'Body file' }}>
          {(props) => (
            <Button {...props} size="compact-sm" variant="default">
              Load body from file
            </Button>
          )}
        </FileButton>
        {file !== null && (
          <Button size="compact-sm" variant="default" onClick={() => change({ body: '', file: null })}>
            Paste instead
          </Button>
        )}
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {file === null ? '' : `${file}: `}
          {describedBytes(body)}
        </Text>
      </Group>
    </Stack>
  )
}

/** The invisible properties of a text. @example describedBytes('{}\r\n') // '4 bytes, 1 CRLF, ends with a line ending' */
function describedBytes(body: string): string {
  const crlf = body.split('\r\n').length - 1
  const lf = body.split('\n').length - 1 - crlf
  return [
    counted(new TextEncoder().encode(body).length, 'byte'),
    ...(body.startsWith('\uFEFF') ? ['a byte-order mark'] : []),
    ...(crlf > 0 ? [`${count(crlf)} CRLF`] : []),
    ...(lf > 0 ? [`${count(lf)} LF`] : []),
    ...(body.endsWith('\n') ? ['ends with a line ending'] : []),
  ].join(', ')
}

const partNames = { timestamp: 'Timestamp', signature: 'Signature', body: 'Body', secret: 'Secret' } as const

function VerdictShown({ verdict }: { verdict: Verdict }) {
  const wrong = verdict.parts
    .filter(({ ok }) => ok === false)
    .map(({ part }) => partNames[part].toLowerCase())
  return (
    <Stack gap="sm">
      <Alert
        variant="outline"
        color={verdict.ok ? 'green' : 'red'}
        icon={verdict.ok ? <IconCircleCheck aria-hidden /> : <IconCircleX aria-hidden />}
        title={verdict.ok ? 'This signature is valid' : 'This signature is not valid'}
      >
        <Text size="sm">
          {verdict.ok
            ? 'All four parts are correct.'
            : wrong.length === 0
              ? 'Some parts could not be checked. See below.'
              : `Check the ${wrong.join(' and the ')}.`}
        </Text>
      </Alert>
      {verdict.parts.map((part) => (
        <PartShown key={part.part} part={part} />
      ))}
    </Stack>
  )
}

function PartShown({ part }: { part: Verdict['parts'][number] }) {
  const [word, Icon, color] =
    part.ok === null
      ? (['Not checked', IconHelpCircle, 'var(--pending)'] as const)
      : part.ok
        ? (['Correct', IconCircleCheck, 'var(--won)'] as const)
        : (['Wrong', IconCircleX, 'var(--lost)'] as const)
  return (
    <Paper withBorder p="sm" component="section" aria-label={partNames[part.part]}>
      <Group justify="space-between" gap="xs">
        <Title order={3} size="h5">
          {partNames[part.part]}
        </Title>
        <Group gap={4} style={{ color }}>
          <Icon size={16} aria-hidden />
          <Text size="sm" fw={600}>
            {word}
          </Text>
        </Group>
      </Group>
      <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
        {part.detail}
      </Text>
      {part.remedy !== null && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          <strong>How to fix it:</strong> {part.remedy}
        </Text>
      )}
    </Paper>
  )
}
