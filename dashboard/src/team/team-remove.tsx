import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, useChange } from '../api/index.ts'
import { Failed, useNameOfPerson, useNotice } from '../shared-ui/index.ts'

type Person = Answer<'list-users'>['users'][number]

/** Removes a person after confirmation. If the person has live service tokens, asks whether to transfer or revoke them. */
export function RemoveDialog({ person, onClose }: { person: Person | null; onClose: () => void }) {
  const [tokens, setTokens] = useState<'revoke' | 'hand-over'>('hand-over')
  const remove = useChange('remove-user')
  const queries = useQueryClient()
  const notify = useNotice()
  const close = () => {
    remove.reset()
    onClose()
  }
  const nameOf = useNameOfPerson()
  if (person === null) return null
  const hasTokens = remove.error?.code === 'tokens-to-hand-over'
  return (
    <Modal
      opened
      onClose={close}
      title={`Remove ${nameOf(person)}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          {person.status === 'invited'
            ? 'The invitation stops working at once.'
            : 'Their sessions end at once. Their quotes and changes stay under their name.'}
        </Text>
        {hasTokens ? (
          <Radio.Group
            label="This person has live service tokens that systems may be using. What should happen to these tokens?"
            value={tokens}
            onChange={(value) => setTokens(value as 'revoke' | 'hand-over')}
          >
            <Stack gap="xs" mt="xs">
              <Radio value="hand-over" label="Transfer them to me. Everything continues to work." />
              <Radio value="revoke" label="Revoke them. Systems that use them lose access at once." />
            </Stack>
          </Radio.Group>
        ) : (
          remove.error !== null && <Failed error={remove.error} title="Not removed" />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            color="red.9"
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(
                { params: { id: person.id }, query: hasTokens ? { tokens } : {} },
                {
                  onSuccess: () => {
                    notify(`${person.name} was removed.`)
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
