import { IconAlertTriangle, IconClockPause, IconPlugConnectedX } from 'virtual:tabler-icons'
import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { CallFailed } from '../api/index.ts'

/** Gray rows in the place and size of the content that is loading, so that the layout does not shift. */
export function Loading({ rows = 6, height = 28, label }: { rows?: number; height?: number; label: string }) {
  return (
    <Stack gap="xs" role="status" aria-label={label} aria-busy="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholder rows have no identity
        <Skeleton key={row} height={height} radius="sm" />
      ))}
    </Stack>
  )
}

const titles: Partial<Record<CallFailed['code'], string>> = {
  offline: 'No connection to the service',
  'timed-out': 'The request timed out',
  unavailable: 'The service is temporarily unavailable',
  'quota-exceeded': 'Too many requests',
  'too-many-attempts': 'Too many attempts',
  'role-required': 'Your role does not allow this',
  'lane-not-found': 'Quote not found',
  'not-found': 'Not found',
  internal: 'Something went wrong on our side',
}

/** The user's remedy for a failure. The service's message states the cause. */
const remedies: Partial<Record<CallFailed['code'], (error: CallFailed) => string>> = {
  unavailable: () => 'Nothing was lost. This usually takes only seconds. Try again.',
  'role-required': () =>
    'An owner or admin of your brokerage can change your role on the page People and teams.',
  internal: () => 'Try again. If it happens again, report it with the request ID below.',
}

/** Counts down the seconds until the same call can succeed. Screen readers announce the first number only. */
function Wait({ failure }: { failure: CallFailed }) {
  const seconds = failure.retryAfterSeconds ?? 1
  const [left, setLeft] = useState(seconds)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failure starts a new countdown
  useEffect(() => {
    const end = Date.now() + seconds * 1000
    const show = () => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000)))
    show()
    const timer = setInterval(show, 250)
    return () => clearInterval(timer)
  }, [failure])
  return (
    <Text size="sm" aria-live="off">
      {left > 0 ? `Wait ${left} s, then try again.` : 'You can try again now.'}
    </Text>
  )
}

/** A failure in the place of the content: what went wrong, what to do, and a retry button. */
export function Failed({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const failure =
    error instanceof CallFailed
      ? error
      : new CallFailed('internal', 'An error occurred in this page. Reload it.')
  const Icon =
    failure.code === 'offline' || failure.code === 'unavailable'
      ? IconPlugConnectedX
      : failure.code === 'quota-exceeded'
        ? IconClockPause
        : IconAlertTriangle
  const advice = remedies[failure.code]?.(failure) ?? null
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<Icon aria-hidden />}
      title={title ?? titles[failure.code] ?? 'The request failed'}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{failure.message}</Text>
        {failure.errors.length > 1 && (
          <ul>
            {failure.errors.map((field) => (
              <li key={`${field.pointer ?? field.parameter} ${field.detail}`}>{field.detail}</li>
            ))}
          </ul>
        )}
        {advice !== null && <Text size="sm">{advice}</Text>}
        {(failure.code === 'quota-exceeded' || failure.code === 'too-many-attempts') && (
          <Wait failure={failure} />
        )}
        {failure.requestId !== null && failure.status !== null && failure.status >= 500 && (
          <Text size="xs" c="dimmed">
            Request ID {failure.requestId}
          </Text>
        )}
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** An empty list: the reason, and how to fill it. */
export function Nothing({
  title,
  children,
  actions,
}: {
  title: string
  children?: ReactNode
  actions?: ReactNode
}) {
  return (
    <Stack gap="xs" align="center" py="xl" px="md">
      <Title order={2} size="h4" ta="center">
        {title}
      </Title>
      {children !== undefined && (
        <Text c="dimmed" ta="center" maw={520} component="div">
          {children}
        </Text>
      )}
      {actions !== undefined && <Group justify="center">{actions}</Group>}
    </Stack>
  )
}
