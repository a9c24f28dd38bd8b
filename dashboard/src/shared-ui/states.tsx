import { Alert, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconClockPause, IconPlugConnectedX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { CallFailed } from '../api/index.ts'

/** Rows of grey where an answer will stand, in its place and size, so that nothing jumps when it comes. */
export function Loading({ rows = 6, height = 28, label }: { rows?: number; height?: number; label: string }) {
  return (
    <Stack gap="xs" role="status" aria-label={label} aria-busy="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of grey have no identity
        <Skeleton key={row} height={height} radius="sm" />
      ))}
    </Stack>
  )
}

const titles: Partial<Record<CallFailed['code'], string>> = {
  offline: 'No connection to the service',
  'timed-out': 'No answer in time',
  unavailable: 'The service cannot answer right now',
  'quota-exceeded': 'Too many requests at once',
  'too-many-attempts': 'Too many attempts',
  'role-required': 'Your role does not allow this',
  'lane-not-found': 'There is no such lane',
  'not-found': 'There is nothing here',
  internal: 'Something went wrong on our side',
}

/** What to do about a failure, in words. The service's own sentence says what was wrong. */
const remedies: Partial<Record<CallFailed['code'], (error: CallFailed) => string>> = {
  unavailable: () => 'Nothing was lost. It usually passes within seconds: try again.',
  'quota-exceeded': wait,
  'too-many-attempts': wait,
  'role-required': () => 'An owner or admin of your brokerage can change your role on the Team page.',
  internal: () => 'Try again. If it stays, report it with the request id below.',
}

function wait({ retryAfterSeconds }: CallFailed): string {
  return `Wait ${retryAfterSeconds ?? 1} s, then try again.`
}

/** A failure where its answer would have stood: what happened, what to do, and a way to try again. */
export function Failed({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const failure =
    error instanceof CallFailed ? error : new CallFailed('internal', 'The page made a mistake. Reload it.')
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
      title={title ?? titles[failure.code] ?? 'That did not work'}
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
        {failure.requestId !== null && failure.status !== null && failure.status >= 500 && (
          <Text size="xs" c="dimmed">
            Request id {failure.requestId}
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

/** A place with nothing in it yet: why, and what would fill it. */
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
