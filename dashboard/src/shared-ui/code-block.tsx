import { Group, Text } from '@mantine/core'
import { useId } from 'react'
import { CopyButton } from './copy-button.tsx'

/** Lines to paste, with the button that copies them. They scroll within their frame. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-labelledby={id}>
        <pre>{code}</pre>
      </section>
    </div>
  )
}
