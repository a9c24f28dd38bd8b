import { Alert, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { Lane } from '#contract/lane.ts'
import { answerLengthMax } from '#contract/limits.ts'
import { type Answer, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import { CounterDialog, mayCounter } from '../counter-offer/index.ts'
import {
  answerDraft,
  CopyButton,
  dollars,
  exactMoment,
  Loading,
  laneName,
  mailLink,
  newestQuotes,
  ReasonDialog,
  rateText,
  reasonNames,
  Section,
  useOutcomeMarks,
  useSentForm,
} from '../shared-ui/index.ts'

type One = Answer<'get-received-mail'>
type Reply = NonNullable<One['reply']>

/** Offers for which a reply shows its own buttons. More are chosen in the list of quotes. */
const offersShownMax = 8

const isOpen = ({ outcome, voided_at, superseded_by }: Lane) =>
  outcome === 'pending' && voided_at === null && superseded_by === null

/** The offers of the quote request that a mail is about: the pending one of each lane. Null while they are loading. */
function useOffers({ lane_refs: made, reply }: One): readonly Lane[] | null {
  const ref = made[0] ?? reply?.lane_refs[0]
  const first = useAnswer('get-lane', { params: { lane_ref: ref ?? '' } }, { enabled: ref !== undefined })
  const request = useAnswer(
    'get-quote-request',
    { params: { request_id: first.data?.request_id ?? 0 } },
    { enabled: first.data !== undefined },
  )
  if (ref === undefined) return []
  return request.data === undefined ? null : newestQuotes(request.data.lanes).filter(isOpen)
}

/** The draft of an answer, which a person changes and sends. */
export function AnswerMail({ one }: { one: One }) {
  const mayAnswer = useMay('member')
  const offers = useOffers(one)
  if (!mayAnswer || one.answering.to === null) return null
  return (
    <Section
      title="Answer"
      hint="The draft has your quotes as they are stored. Nothing is sent until you send it."
    >
      {offers === null ? (
        <Loading label="Loading the quotes" rows={3} />
      ) : (
        <AnswerForm key={offers.map(({ lane_ref: ref }) => ref).join()} one={one} offers={offers} />
      )}
    </Section>
  )
}

function AnswerForm({ one, offers }: { one: One; offers: readonly Lane[] }) {
  const { user, tenant } = useSession()
  const { answering, mail } = one
  const draft = answerDraft({ lanes: offers }, tenant, { sender: mail.from.name, rep: user.name })
  const { form, submit, input, pending, failure } = useSentForm(useChange('answer-received-mail'), {
    // Null: nobody has changed the draft.
    fields: { text: null as string | null },
    send: ({ text: typed }) => {
      const text = typed ?? draft
      return {
        params: { id: mail.id },
        body: {
          text,
          draft_unchanged: text === draft,
          lane_refs: offers.map(({ lane_ref: ref }) => ref).filter((ref) => text.includes(ref)),
        },
      }
    },
    said: `The answer to ${answering.to} is on its way.`,
  })
  const text = form.values.text ?? draft
  const inProgram = mailLink({ to: answering.to ?? '', subject: answering.subject, text })
  return (
    <Stack gap="xs" maw={720}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        To {answering.to}. Subject: {answering.subject}
      </Text>
      <Textarea
        label="Text of the answer"
        autosize
        minRows={6}
        maxRows={24}
        maxLength={answerLengthMax}
        {...input('text')}
        value={text}
      />
      {answering.obstacle !== null && <Text size="sm">{answering.obstacle}</Text>}
      <Group gap="sm">
        {answering.obstacle === null && (
          <Button onClick={() => submit()} loading={pending} disabled={text.trim() === ''}>
            Send the answer
          </Button>
        )}
        <Button component="a" href={inProgram} variant="default">
          Open in your mail program
        </Button>
        <CopyButton text={text} what="the answer" />
      </Group>
      {failure('The answer was not sent')}
    </Stack>
  )
}

const stateWords: Readonly<Record<One['answers'][number]['state'], string>> = {
  due: 'waiting',
  sent: 'sent',
  failed: 'not sent',
  dropped: 'not sent any more',
}

/** The answers in the thread of a mail. */
export function SentAnswers({ answers }: { answers: One['answers'] }) {
  if (answers.length === 0) return null
  return (
    <Section title="Answers">
      <Stack gap="xs">
        {answers.map(({ id, by, to, text, state, failure, sent_at: at }) => (
          <Paper key={id} withBorder p="sm" style={{ overflowWrap: 'anywhere' }}>
            <Text size="sm">
              {by.name} to {to}, {exactMoment(at)}: <strong>{stateWords[state]}</strong>
              {failure === null ? '' : `. ${failure}`}
            </Text>
            <Text component="pre" size="sm" m={0} mt="xs" ff="inherit" style={{ whiteSpace: 'pre-wrap' }}>
              {text}
            </Text>
          </Paper>
        ))}
      </Stack>
    </Section>
  )
}

const replyWords = ({ kind, amount, reason }: Reply): string => {
  if (kind === 'countered')
    return `The customer seems to name ${amount === null ? 'a rate' : dollars(amount)}`
  if (kind === 'accepted') return 'The customer seems to accept'
  return `The customer seems to decline${reason === null ? '' : ` (${reasonNames[reason]})`}`
}

/** What a reply seems to say, with the buttons that confirm it. Nothing happens until a person presses one. */
export function CustomerReply({ reply }: { reply: Reply }) {
  const [countered, setCountered] = useState<Lane | null>(null)
  const [losing, setLosing] = useState<Lane | null>(null)
  const mark = useOutcomeMarks()
  const lose = (lane: Lane) => (reply.reason === null ? setLosing(lane) : mark(lane, 'lost', reply.reason))
  return (
    <Alert color="gray" title={`${replyWords(reply)}: “${reply.words.text}”`}>
      <Stack gap="xs">
        {reply.lane_refs.length > 1 && <Text size="sm">Which quote does it mean?</Text>}
        {reply.lane_refs.slice(0, offersShownMax).map((ref) => (
          <ReplyLane
            key={ref}
            laneRef={ref}
            reply={reply}
            win={(lane) => mark(lane, 'won')}
            lose={lose}
            counter={setCountered}
          />
        ))}
      </Stack>
      <CounterDialog lane={countered} named={reply.amount} onClose={() => setCountered(null)} />
      <ReasonDialog
        about={losing === null ? null : laneName(losing.origin, losing.destination)}
        onChoose={(reason) => losing !== null && mark(losing, 'lost', reason)}
        onClose={() => setLosing(null)}
      />
    </Alert>
  )
}

function ReplyLane({
  laneRef,
  reply: { kind, amount },
  win,
  lose,
  counter,
}: {
  laneRef: string
  reply: Reply
  win: (lane: Lane) => void
  lose: (lane: Lane) => void
  counter: (lane: Lane) => void
}) {
  const mayMark = useMay('member')
  const { data: lane } = useAnswer('get-lane', { params: { lane_ref: laneRef } })
  if (lane === undefined) return <Loading label="Loading the quote" rows={1} />
  return (
    <Group gap="sm">
      <Text size="sm">
        {laneName(lane.origin, lane.destination)}, {rateText(lane)}
      </Text>
      {!isOpen(lane) ? (
        <Text size="sm">Decided.</Text>
      ) : (
        mayMark && (
          <>
            {kind === 'accepted' && (
              <Button size="compact-sm" onClick={() => win(lane)}>
                Mark won
              </Button>
            )}
            {kind === 'declined' && (
              <Button size="compact-sm" onClick={() => lose(lane)}>
                Mark lost
              </Button>
            )}
            {kind === 'countered' && mayCounter(lane) && (
              <Button size="compact-sm" onClick={() => counter(lane)}>
                Counter-offer{amount === null ? '' : ` at ${dollars(amount)}`}
              </Button>
            )}
          </>
        )
      )}
    </Group>
  )
}
