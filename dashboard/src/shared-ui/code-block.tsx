import { Group, Text } from '@mantine/core'
import { useId } from 'react'
import { CopyButton } from './copy-button.tsx'

/** Code with a Copy button. Long lines scroll inside the frame. */
export function CodeBlock({ title, code, what }: { title: string; code: string; what: string }) {
  const id = useId()
  return (
    <div className="code-block">
      <Group justify="space-between" gap="xs" px="sm" py={6} className="code-block-head">
        <Text size="sm" fw={600} id={id}>
          {title}
        </Text>
        <CopyButton text={code} what={what} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable frames must be reachable by keyboard */}
      <section tabIndex={0} aria-labelledby={id}>
        <pre>{code}</pre>
      </section>
    </div>
  )
}
