import { Anchor, Button, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Lane } from '#contract/lane.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { LaneChanges } from '../lane-history/index.ts'
import { mayRequote, RequoteDialog } from '../requote/index.ts'
import {
  asLinkToLane,
  asLinkToQuotes,
  CopyAsEmail,
  CopyButton,
  Failed,
  Loading,
  laneName,
  lostQuote,
  Nothing,
  Page,
  ReasonDialog,
  Section,
  useOutcomeMarks,
} from '../shared-ui/index.ts'
import { lastQuotesView } from './quotes-address.ts'
import { QuotedAgainstBooked } from './quotes-booked.tsx'
import { QuoteFacts } from './quotes-facts.tsx'
import { QuoteSiblings } from './quotes-siblings.tsx'
import { VoidButton } from './quotes-void.tsx'
import './quotes.css'

/** The page of one quote: its facts, the comparison with its booking, the other quotes of its request, and its changes. */
export default function QuotePage() {
  const { lane_ref = '' } = useParams({ strict: false })
  const answer = useAnswer('get-lane', { params: { lane_ref } })
  const { data: lane, error } = answer
  if (lane !== undefined) return <Quote key={lane.lane_ref} lane={lane} />
  if (error === null) {
    return (
      <Page title="Quote" hint={lane_ref}>
        <Loading label="Loading the quote" rows={8} height={44} />
      </Page>
    )
  }
  return (
    <Page title="Quote">
      {error.code === 'lane-not-found' || error.status === 422 ? (
        <NoSuchQuote laneRef={lane_ref} />
      ) : (
        <Failed error={error} title="The quote could not be loaded" retry={() => void answer.refetch()} />
      )}
    </Page>
  )
}

function NoSuchQuote({ laneRef }: { laneRef: string }) {
  return (
    <Nothing
      title="No quote with this lane_ref"
      actions={
        <>
          <Button renderRoot={asLinkToQuotes({ q: laneRef.trim().slice(0, 100) })}>Search for it</Button>
          <Button renderRoot={asLinkToQuotes({})} variant="default">
            All quotes
          </Button>
        </>
      }
    >
      <Text style={{ overflowWrap: 'anywhere' }}>{laneRef.slice(0, 200)}</Text>
      <Text>
        Compare it with the email or TMS it came from. A lane_ref looks like 48211093754-1-1. It may also
        belong to another brokerage.
      </Text>
    </Nothing>
  )
}

function Quote({ lane }: { lane: Lane }) {
  return (
    <Page
      title={laneName(lane.origin, lane.destination)}
      hint={
        <>
          <Anchor renderRoot={asLinkToQuotes(lastQuotesView())} size="sm">
            Quotes
          </Anchor>{' '}
          / {lane.lane_ref}
        </>
      }
      actions={<QuoteActions lane={lane} />}
    >
      <QuoteFacts lane={lane} />
      <Section title="Quoted vs booked">
        <QuotedAgainstBooked lane={lane} />
      </Section>
      <Section title="The quote request">
        <QuoteSiblings lane={lane} />
      </Section>
      <Section title="Changes">
        <LaneChanges lane={lane} />
      </Section>
    </Page>
  )
}

function QuoteActions({ lane }: { lane: Lane }) {
  const mayMark = useMay('member')
  const mark = useOutcomeMarks()
  const [toLose, setToLose] = useState<Lane | null>(null)
  const [toRequote, setToRequote] = useState<Lane | null>(null)
  return (
    <Group gap="xs">
      {mayMark && lane.voided_at === null && (
        <>
          <Button
            size="xs"
            variant={lane.outcome === 'pending' ? 'filled' : 'default'}
            disabled={lane.outcome === 'won' || lane.superseded_by !== null}
            onClick={() => mark(lane, 'won')}
          >
            Mark won
          </Button>
          <Button size="xs" variant="default" onClick={() => setToLose(lane)}>
            {lane.outcome === 'lost' ? 'Change reason' : 'Mark lost'}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={lane.outcome === 'pending'}
            onClick={() => mark(lane, 'pending')}
          >
            Set pending
          </Button>
        </>
      )}
      {mayMark && (
        <>
          {mayRequote(lane) && (
            <Button size="xs" variant="default" onClick={() => setToRequote(lane)}>
              Requote
            </Button>
          )}
          <VoidButton lane={lane} />
        </>
      )}
      <Button size="xs" variant="default" renderRoot={asLinkToLane(lane)}>
        View lane
      </Button>
      <CopyButton text={lane.lane_ref} what="lane_ref" />
      {lane.voided_at === null && lane.superseded_by === null && <CopyAsEmail lane={lane} />}
      <ReasonDialog
        about={lostQuote(toLose)}
        onChoose={(reason) => toLose && mark(toLose, 'lost', reason)}
        onClose={() => setToLose(null)}
      />
      <RequoteDialog lane={toRequote} onClose={() => setToRequote(null)} />
    </Group>
  )
}
