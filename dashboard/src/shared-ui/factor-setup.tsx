import { Button, Code, List, PasswordInput, Stack, Text } from '@mantine/core'
import { encode } from 'uqr'
import { useChange } from '../api/index.ts'
import { CodeInput } from './code-input.tsx'
import { useSentForm } from './sent-form.tsx'

/** Adds a second factor: the password, a QR code, its first code, and the recovery codes. */
export function FactorSetup({ onDone }: { onDone: () => void }) {
  const offer = useChange('offer-second-factor')
  const confirm = useChange('confirm-second-factor')
  const offered = useSentForm(offer, {
    fields: { password: '' },
    send: (body) => ({ body }),
    done: () => offered.form.reset(),
  })
  const confirmed = useSentForm(confirm, { fields: { code: '' }, send: (body) => ({ body }) })
  if (confirm.data !== undefined) {
    return <RecoveryCodes codes={confirm.data.recovery_codes} onDone={onDone} />
  }
  if (offer.data === undefined) {
    return (
      <form onSubmit={offered.submit}>
        <Stack maw={420}>
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            required
            {...offered.input('password')}
          />
          {offered.failure('Not begun')}
          <Button type="submit" loading={offered.pending} style={{ alignSelf: 'flex-start' }}>
            Add a second factor
          </Button>
        </Stack>
      </form>
    )
  }
  return (
    <form onSubmit={confirmed.submit}>
      <Stack maw={420}>
        <Text size="sm">
          Scan this code with an authenticator app, such as the one of Google or Microsoft, or a password
          manager. Then enter the code that the app shows.
        </Text>
        <QrCode text={offer.data.address} />
        <Text size="sm">
          Without a camera, enter this key:{' '}
          <Code style={{ overflowWrap: 'anywhere' }}>{offer.data.secret}</Code>
        </Text>
        <CodeInput recovery={false} {...confirmed.input('code')} />
        {confirmed.failure('Not added')}
        <Button type="submit" loading={confirmed.pending} style={{ alignSelf: 'flex-start' }}>
          Confirm
        </Button>
      </Stack>
    </form>
  )
}

/** Recovery codes, shown once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <Stack maw={420}>
      <Text size="sm">
        Keep these recovery codes where only you find them. Each replaces a code of the app once. They are not
        shown again.
      </Text>
      <List size="sm" aria-label="Recovery codes">
        {codes.map((code) => (
          <List.Item key={code}>
            <Code>{code}</Code>
          </List.Item>
        ))}
      </List>
      <Button onClick={onDone} style={{ alignSelf: 'flex-start' }}>
        I have kept them
      </Button>
    </Stack>
  )
}

/** Black on white in both themes, because cameras need the contrast. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')
  return (
    <svg width={220} height={220} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the key">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}
