import { Button, Group, Text } from '@mantine/core'

/** A sentence about how a part of a file was read, with the other readings. */
interface Note {
  readonly code: string
  readonly column: string | null
  readonly detail: string
  /** `map` is a pair such as `dates=day_first`. */
  readonly choices: readonly { readonly map: string; readonly detail: string }[]
}

/**
 * How a file or pasted rows were read, in sentences, with a button for each other reading. Without `onChoose`, nothing can be chosen.
 */
export function Understood({
  notes,
  onChoose,
}: {
  notes: readonly Note[]
  onChoose: ((map: string) => void) | null
}) {
  if (notes.length === 0) return null
  return (
    <section aria-label="How it was read">
      <Text fw={600}>How it was read</Text>
      <ul style={{ margin: 0, overflowWrap: 'anywhere' }}>
        {notes.map(({ code, column, detail, choices }) => (
          <li key={`${code} ${column} ${detail}`}>
            {detail}
            {onChoose !== null && choices.length > 0 && (
              <Group gap="xs" my={4}>
                {choices.map((choice) => (
                  <Button
                    key={choice.map}
                    size="compact-xs"
                    variant="default"
                    onClick={() => onChoose(choice.map)}
                  >
                    {choice.detail}
                  </Button>
                ))}
              </Group>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
