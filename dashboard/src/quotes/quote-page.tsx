import { Anchor, Button, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { QuoteChanges } from '../quote-history/index.ts'
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
  const answer = useAnswer('get-quote', { params: { lane_ref } })
  const { data: quote, error } = answer
  if (quote !== undefined) return <OpenQuote key={quote.lane_ref} quote={quote} />
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
      title="No quote with this number"
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
        Compare it with the email or TMS it came from. A quote number looks like 48211093754-1-1. It may also
        belong to another brokerage.
      </Text>
    </Nothing>
  )
}

function OpenQuote({ quote }: { quote: Quote }) {
  return (
    <Page
      title={laneName(quote.origin, quote.destination)}
      hint={
        <>
          <Anchor renderRoot={asLinkToQuotes(lastQuotesView())} size="sm">
            Quotes
          </Anchor>{' '}
          / {quote.lane_ref}
        </>
      }
      actions={<QuoteActions quote={quote} />}
    >
      <QuoteFacts quote={quote} />
      <Section title="Quoted vs booked">
        <QuotedAgainstBooked quote={quote} />
      </Section>
      <Section title="The quote request">
        <QuoteSiblings quote={quote} />
      </Section>
      <Section title="Changes">
        <QuoteChanges quote={quote} />
      </Section>
    </Page>
  )
}

function QuoteActions({ quote }: { quote: Quote }) {
  const mayMark = useMay('member')
  const mark = useOutcomeMarks()
  const [toLose, setToLose] = useState<Quote | null>(null)
  const [toRequote, setToRequote] = useState<Quote | null>(null)
  return (
    <Group gap="xs">
      {mayMark && quote.voided_at === null && (
        <>
          <Button
            size="xs"
            variant={quote.outcome === 'pending' ? 'filled' : 'default'}
            disabled={quote.outcome === 'won' || quote.superseded_by !== null}
            onClick={() => mark(quote, 'won')}
          >
            Mark won
          </Button>
          <Button size="xs" variant="default" onClick={() => setToLose(quote)}>
            {quote.outcome === 'lost' ? 'Change reason' : 'Mark lost'}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={quote.outcome === 'pending'}
            onClick={() => mark(quote, 'pending')}
          >
            Set pending
          </Button>
        </>
      )}
      {mayMark && (
        <>
          {mayRequote(quote) && (
            <Button size="xs" variant="default" onClick={() => setToRequote(quote)}>
              Requote
            </Button>
          )}
          <VoidButton quote={quote} />
        </>
      )}
      <Button size="xs" variant="default" renderRoot={asLinkToLane(quote)}>
        View lane
      </Button>
      <CopyButton text={quote.lane_ref} what="quote number" />
      {quote.voided_at === null && quote.superseded_by === null && <CopyAsEmail quote={quote} />}
      <ReasonDialog
        about={lostQuote(toLose)}
        onChoose={(reason) => toLose && mark(toLose, 'lost', reason)}
        onClose={() => setToLose(null)}
      />
      <RequoteDialog quote={toRequote} onClose={() => setToRequote(null)} />
    </Group>
  )
}
