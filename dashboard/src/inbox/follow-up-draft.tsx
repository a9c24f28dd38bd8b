import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { Lane } from '#contract/lane.ts'
import { useAnswer, useSession } from '../api/index.ts'
import { CopyButton, Failed, followUpDraft, Loading, laneName, mailLink } from '../shared-ui/index.ts'

/** A button that opens the text of a follow-up: the quote as it is stored, and the question whether the rate works. */
export function FollowUpDraft({ laneRef, name }: { laneRef: string; name: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Draft: ${name}`}
        onClick={() => setIsOpen(true)}
      >
        Draft
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title={`Follow up: ${name}`}
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <StoredQuote laneRef={laneRef} />
      </Modal>
    </>
  )
}

function StoredQuote({ laneRef }: { laneRef: string }) {
  const { data: lane, error, refetch } = useAnswer('get-lane', { params: { lane_ref: laneRef } })
  if (lane !== undefined) return <Draft lane={lane} />
  return error === null ? (
    <Loading label="Loading the quote" rows={4} />
  ) : (
    <Failed error={error} title="The quote could not be loaded" retry={() => void refetch()} />
  )
}

function Draft({ lane }: { lane: Lane }) {
  const { user, tenant } = useSession()
  const [text, setText] = useState(() => followUpDraft(lane, tenant, user.name))
  const subject = `Our quote: ${laneName(lane.origin, lane.destination)}`
  return (
    <Stack gap="md">
      <Textarea
        label="Text for the customer"
        data-autofocus
        autosize
        minRows={8}
        maxRows={20}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Text size="sm">Lanewise sends nothing: you send it.</Text>
      <Group gap="sm">
        <Button component="a" href={mailLink({ subject, text })}>
          Open in your mail program
        </Button>
        <CopyButton text={text} what="the follow-up" />
      </Group>
    </Stack>
  )
}
