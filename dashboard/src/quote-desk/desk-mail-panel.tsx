import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { lanesPerRequestMax, mailTextLengthMax } from '#contract/limits.ts'
import { counted, Failed, laneName } from '../shared-ui/index.ts'
import type { DeskLane } from './desk-draft.ts'
import {
  type Answers,
  type Asked,
  lanesOfMail,
  type MailRead,
  questionsOf,
  type ReadingOfMail,
  type Said,
  saidOf,
  shownValue,
  useMail,
} from './desk-mail.ts'

/** A mail of the mailbox, which was read already. */
export interface ReceivedForDesk {
  readonly id: string
  readonly subject: string
  readonly customer: string | null
  readonly text: string
  readonly reading: MailRead
}

/**
 * Adds the lanes of a mail to the desk. Each value is shown with the words that it was read from; what is not certain is asked,
 * and stays empty without an answer.
 */
export function MailPanel({
  text,
  received = null,
  room,
  onText,
  onAdd,
  onClose,
}: {
  text: string
  /** The mail of the mailbox; null for a pasted one. */
  received?: ReceivedForDesk | null
  /** The number of lanes that the request can still take. */
  room: number
  onText: (text: string) => void
  onAdd: (lanes: readonly Omit<DeskLane, 'id'>[]) => void
  onClose: () => void
}) {
  const [answers, setAnswers] = useState<Answers>(new Map())
  const pasted = useMail(received === null ? text : '')
  const read: ReadingOfMail =
    received === null ? pasted : { ...pasted, mail: received.reading, isTooLong: false }
  const { mail, failure, retry } = read
  const questions = mail === null ? [] : questionsOf(mail)
  const lanes = mail === null ? [] : lanesOfMail(mail, questions, answers)
  const open = questions.filter(({ key }) => !answers.has(key))
  const answer = ({ key }: Asked, option: string) => {
    const next = new Map(answers)
    if (answers.get(key) === option) next.delete(key)
    else next.set(key, option)
    setAnswers(next)
  }
  return (
    <Stack>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {received === null
          ? 'Copy the text of a mail and paste it here. Only lanes are read from it: no amount in a mail becomes your rate.'
          : `The lanes of “${received.subject}”. No amount in a mail becomes your rate.`}
      </Text>
      <div className="desk-mail-sides">
        <Textarea
          label="Mail"
          data-autofocus
          rows={7}
          placeholder="Need a rate, Dallas, TX to Atlanta, GA, dry van, pickup 12/3"
          readOnly={received !== null}
          value={received?.text ?? text}
          onChange={(event) => {
            // The questions of another text are others.
            setAnswers(new Map())
            onText(event.currentTarget.value)
          }}
        />
        {mail !== null && (
          <LanesOfMail mail={mail} questions={questions} answers={answers} onAnswer={answer} />
        )}
      </div>
      <Text size="sm" role="status" mih={22}>
        {statusWords(read, received?.text ?? text, open.length)}
        {lanes.length > room && ` A request can have ${lanesPerRequestMax} lanes: you can add ${room} more.`}
      </Text>
      {failure !== null && <Failed error={failure} retry={retry} title="The mail could not be read" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          disabled={lanes.length === 0 || lanes.length > room}
          onClick={() => {
            onAdd(lanes)
            onClose()
          }}
        >
          Add {counted(lanes.length, 'lane')}
        </Button>
      </Group>
    </Stack>
  )
}

function statusWords({ mail, failure, isTooLong }: ReadingOfMail, text: string, open: number): string {
  if (isTooLong) return `Paste at most ${mailTextLengthMax.toLocaleString('en-US')} characters at a time.`
  if (mail === null && text.trim() === '') return 'No mail pasted yet.'
  if (mail === null) return failure === null ? 'Reading the mail…' : ''
  const left =
    mail.lanes_left === 0
      ? ''
      : ` The mail has ${counted(mail.lanes_left, 'more lane')}: paste the rest of its text for another request.`
  const lanes = mail.lanes.length === 0 ? 'No lane was found' : `${counted(mail.lanes.length, 'lane')} read`
  return `${lanes}${open === 0 ? '' : `, ${counted(open, 'question')}`}.${left}`
}

interface QuestionsProps {
  readonly questions: readonly Asked[]
  readonly answers: Answers
  readonly onAnswer: (asked: Asked, option: string) => void
}

function LanesOfMail({ mail, ...asking }: QuestionsProps & { mail: MailRead }) {
  const of = (lane: number | null) => asking.questions.filter((one) => one.lane === lane)
  const { deadline } = mail
  if (mail.lanes.length === 0 && of(null).length === 0) return null
  return (
    // The list scrolls, and people without a mouse scroll it by its own focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus
    <section className="desk-mail" aria-label="What the mail says" tabIndex={0}>
      {mail.lanes.map((lane, nth) => {
        const { taken, others } = saidOf(lane)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a lane is its place in the mail
          <section key={nth} aria-label={`Lane ${nth + 1} of the mail`}>
            <h3>
              Lane {nth + 1}: {laneName(lane.origin?.value ?? '?', lane.destination?.value ?? '?')}
            </h3>
            <SaidList all={taken} />
            <Questions {...asking} questions={of(nth)} number={nth + 1} />
            {others.length > 0 && (
              <>
                <Text size="sm">Also in the mail; the desk has no field for it:</Text>
                <SaidList all={others} />
              </>
            )}
          </section>
        )
      })}
      {deadline !== null && (
        <Text size="sm">
          Answer due {deadline.value} <q>{deadline.words.text}</q>
        </Text>
      )}
      <Questions {...asking} questions={of(null)} number={null} />
    </section>
  )
}

function SaidList({ all }: { all: readonly Said[] }) {
  return (
    <ul className="desk-list">
      {all.map(({ name, value, words }, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a value is its place in the list
        <li key={nth}>
          {name}: {value} <q>{words}</q>
        </li>
      ))}
    </ul>
  )
}

function Questions({ questions, answers, onAnswer, number }: QuestionsProps & { number: number | null }) {
  return questions.map((asked) => {
    const { key, field, title, detail, words, options } = asked
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset would have a legend that repeats the question
      <div key={key} role="group" aria-label={number === null ? title : `Lane ${number}: ${title}`}>
        <Text size="sm">
          <strong>{title}</strong> {detail}
          {words === null ? (
            '.'
          ) : (
            <>
              : <q>{words}</q>
            </>
          )}
        </Text>
        <Group gap="xs">
          {options.map((option) => (
            <Button
              key={option}
              size="compact-sm"
              variant={answers.get(key) === option ? 'filled' : 'default'}
              aria-pressed={answers.get(key) === option}
              onClick={() => onAnswer(asked, option)}
            >
              {shownValue(field, option)}
            </Button>
          ))}
        </Group>
      </div>
    )
  })
}
