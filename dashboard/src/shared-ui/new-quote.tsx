import { Group, Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { CopyButton } from './copy-button.tsx'

/** What a person needs of a quote that was just made: the warnings about its rate, and its `lane_ref` to copy. */
export function NewQuote({ warnings, lane_ref }: Pick<Answer<'requote'>, 'warnings' | 'lane_ref'>) {
  return (
    <>
      {warnings.map(({ code, detail }) => (
        <Text key={code} size="sm" fw={600} className="loss">
          Check the rate: {detail}
        </Text>
      ))}
      <Group gap="xs">
        <Text fw={600}>{lane_ref}</Text>
        <CopyButton text={lane_ref} what="lane_ref" />
      </Group>
    </>
  )
}
