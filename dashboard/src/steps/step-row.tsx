import { IconCircle, IconCircleCheckFilled } from 'virtual:tabler-icons'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../api/index.ts'
import { exportLines, markupCode } from '../code-samples/index.ts'
import { CodeBlock, useIntegrationExample } from '../shared-ui/index.ts'
import type { Step } from './step.ts'

/** One step with its reason, its status, and the link to the page where it is done. */
export function StepRow({ step, isDone, isNext }: { step: Step; isDone: boolean; isNext: boolean }) {
  const may = useMay(step.needs)
  const { link } = step
  const Icon = isDone ? IconCircleCheckFilled : IconCircle
  return (
    <li>
      <Group gap="sm" align="flex-start" wrap="nowrap">
        <Icon
          size={22}
          aria-hidden
          style={{ flexShrink: 0, color: isDone ? 'var(--won)' : 'var(--mantine-color-dimmed)' }}
        />
        <Stack gap={6} flex={1} miw={0}>
          <Group justify="space-between" gap="xs" align="flex-start">
            <div style={{ flex: '1 1 16rem', minWidth: 0 }}>
              <Title order={2} size="h5">
                {step.title}
              </Title>
              <Text size="sm" c="dimmed">
                {step.why}
              </Text>
            </div>
            <Group gap="sm" maw="100%">
              <Text size="xs" fw={600} style={{ color: isDone ? 'var(--won)' : undefined }}>
                {isDone ? 'Done' : 'To do'}
              </Text>
              {may && (
                <Button
                  renderRoot={(props) => <Link {...props} to={link.to} search={link.search ?? {}} />}
                  size="compact-sm"
                  maw="100%"
                  variant={isNext ? 'filled' : 'default'}
                >
                  {link.words}
                </Button>
              )}
              {!may && !isDone && (
                <Text size="xs" c="dimmed">
                  Your role is read-only
                </Text>
              )}
            </Group>
          </Group>
          {step.name === 'first_read' && may && !isDone && <FirstRead />}
        </Stack>
      </Group>
    </li>
  )
}

function FirstRead() {
  const { busy } = useIntegrationExample()
  const [token] = exportLines({ token: null, secret: null }).split('\n')
  return (
    <CodeBlock
      title="First API call"
      what="the command"
      code={`${token}\n${markupCode('curl', window.location.origin, busy)}`}
    />
  )
}
