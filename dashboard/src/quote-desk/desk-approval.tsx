import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type CallFailed, useChange, useSession } from '../api/index.ts'
import { Failed, validityChoices } from '../shared-ui/index.ts'
import { type Draft, requestOf } from './desk-draft.ts'

/** Asks for approval of a draft that the rules refused. Renders nothing for other failures. */
export function AskApproval({
  failure,
  draft,
  acceptUnknown,
  advice,
  onAsked,
}: {
  failure: CallFailed
  draft: Draft
  acceptUnknown: boolean
  advice: ReadonlyMap<number, string>
  onAsked: () => void
}) {
  const [note, setNote] = useState('')
  const ask = useChange('ask-approval')
  const queries = useQueryClient()
  const { usual } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  if (failure.code !== 'outside-rules') return null
  if (failure.errors.some(({ code }) => code === 'blocked')) {
    return (
      <Text size="sm">
        A rule refuses this rate, and nobody can approve it. Quote a rate within the rules.
      </Text>
    )
  }
  const send = () => {
    const text = note.trim()
    const body = { ...requestOf(draft, acceptUnknown, usual, advice), ...(text === '' ? {} : { note: text }) }
    ask.mutate(
      { body },
      {
        onSuccess: () => {
          void queries.invalidateQueries()
          onAsked()
        },
      },
    )
  }
  return (
    <>
      <Text size="sm" role="alert">
        This quote needs an approval before it is made.
      </Text>
      <Group gap="xs" align="flex-end">
        <TextInput
          label="Note for the approver (optional)"
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Button onClick={send} loading={ask.isPending}>
          Ask for approval
        </Button>
      </Group>
      {ask.error !== null && <Failed error={ask.error} title="Approval was not requested" />}
    </>
  )
}
