import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconClockExclamation,
  IconClockOff,
} from 'virtual:tabler-icons'
import { Alert, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { exactMoment, since } from './formats.ts'

/** A section of a page with a heading, in a frame. */
export function Section({
  title,
  hint,
  aside,
  busy = false,
  id,
  children,
}: {
  title: string
  hint?: ReactNode
  /** The content beside the heading: buttons, or a badge. */
  aside?: ReactNode
  busy?: boolean
  /** For links to the section. */
  id?: string
  children: ReactNode
}) {
  const heading = useId()
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-labelledby={heading}
      aria-busy={busy}
      {...(id === undefined ? {} : { id })}
      style={{ minWidth: 0, scrollMarginTop: 64 }}
    >
      <Stack gap="sm">
        <Group justify="space-between" align="baseline" gap="xs">
          <div>
            <Title order={2} size="h4" id={heading}>
              {title}
            </Title>
            {hint !== undefined && hint !== null && (
              <Text size="sm" c="dimmed" maw={760}>
                {hint}
              </Text>
            )}
          </div>
          {aside}
        </Group>
        {children}
      </Stack>
    </Paper>
  )
}

/** A warning. */
export function Heed({ title, children }: { title?: string; children: ReactNode }) {
  const color = 'var(--pending)'
  return (
    <Alert
      variant="outline"
      title={title}
      icon={<IconAlertTriangle aria-hidden />}
      styles={{ root: { borderColor: color }, title: { color }, icon: { color } }}
    >
      <Text size="sm">{children}</Text>
    </Alert>
  )
}

const states = {
  live: { word: 'Live', icon: IconCircleCheck },
  ending: { word: 'Live', icon: IconClockExclamation },
  expired: { word: 'Expired', icon: IconClockOff },
  revoked: { word: 'Revoked', icon: IconBan },
} as const

/** The state of a credential as a word and an icon. `detail` is the date since or until which it applies. */
export function CredentialState({ state, detail }: { state: keyof typeof states; detail?: string }) {
  const { word, icon: Icon } = states[state]
  return (
    <span>
      <Badge
        variant="default"
        leftSection={<Icon size={13} aria-hidden />}
        tt="none"
        miw="max-content"
        style={
          state === 'live' || state === 'ending'
            ? { color: 'var(--won)', borderColor: 'var(--won)' }
            : { color: 'var(--mantine-color-dimmed)' }
        }
      >
        {word}
      </Badge>
      {detail !== undefined && (
        <Text span size="xs" c="dimmed" ml={6}>
          {detail}
        </Text>
      )}
    </span>
  )
}

/** When a credential was last used, and from which network. */
export function LastUsed({ at, from }: { at: string | null; from?: string | null }) {
  if (at === null)
    return (
      <Text span size="sm" c="dimmed" inherit>
        never
      </Text>
    )
  return (
    <span title={exactMoment(at)}>
      {since(at)}
      {from !== undefined && from !== null && (
        <Text span size="xs" c="dimmed" ml={6}>
          from {from}
        </Text>
      )}
    </span>
  )
}
