import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, useChange } from '../api/index.ts'
import { Failed, useNotice } from '../shared-ui/index.ts'

type Person = Answer<'list-users'>['users'][number]

/** Removes a person, after a question. Who holds live service tokens is removed only once it is said what becomes of them. */
export function RemoveDialog({ person, onClose }: { person: Person | null; onClose: () => void }) {
  const [tokens, setTokens] = useState<'revoke' | 'hand-over'>('hand-over')
  const remove = useChange('remove-user')
  const queries = useQueryClient()
  const tell = useNotice()
  const close = () => {
    remove.reset()
    onClose()
  }
  if (person === null) return null
  const holdsTokens = remove.error?.code === 'tokens-to-hand-over'
  return (
    <Modal
      opened
      onClose={close}
      title={`Remove ${person.name}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          {person.status === 'invited'
            ? 'The invitation stops working at once.'
            : 'Their sessions end at once. What they quoted and changed stays under their name.'}
        </Text>
        {holdsTokens ? (
          <Radio.Group
            label="They hold live service tokens, which systems may be using. What becomes of them?"
            value={tokens}
            onChange={(value) => setTokens(value as 'revoke' | 'hand-over')}
          >
            <Stack gap="xs" mt="xs">
              <Radio value="hand-over" label="Hand them over to me: nothing stops working" />
              <Radio value="revoke" label="Revoke them: the systems that use them stop at once" />
            </Stack>
          </Radio.Group>
        ) : (
          remove.error !== null && <Failed error={remove.error} title="Not removed" />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Keep
          </Button>
          <Button
            color="red.9"
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(
                { params: { id: person.id }, query: holdsTokens ? { tokens } : {} },
                {
                  onSuccess: () => {
                    tell(`${person.name} was removed.`)
                    void queries.invalidateQueries({ queryKey: ['list-users'] })
                    close()
                  },
                },
              )
            }
          >
            Remove
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
