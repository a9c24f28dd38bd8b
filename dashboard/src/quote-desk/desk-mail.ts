import { useDebouncedValue } from '@mantine/hooks'
import { mailTextLengthMax } from '#contract/limits.ts'
import { type Mode, modes } from '#engine/load-mode.ts'
import { type Answer, type CallFailed, useAnswer } from '../api/index.ts'
import { dollars, equipmentName, modeNames } from '../shared-ui/index.ts'
import { blankLane, type DeskLane } from './desk-draft.ts'

export type MailRead = Answer<'read-mail'>
type MailLane = MailRead['lanes'][number]
type Question = MailRead['questions'][number]
type Field = Question['field']

export interface ReadingOfMail {
  /** The service's reading of the current text; null while it is loading. */
  readonly mail: MailRead | null
  readonly failure: CallFailed | null
  readonly retry: () => void
  readonly isTooLong: boolean
}

const typingPauseMs = 250

export function useMail(text: string): ReadingOfMail {
  const [settled] = useDebouncedValue(text, typingPauseMs)
  const isTooLong = text.length > mailTextLengthMax
  const isSettled = settled === text && !isTooLong && text.trim() !== ''
  const read = useAnswer('read-mail', { body: { text: settled } }, { enabled: isSettled, staleMs: 60_000 })
  return {
    mail: isSettled ? (read.data ?? null) : null,
    failure: isSettled ? read.error : null,
    retry: () => void read.refetch(),
    isTooLong,
  }
}

/** A question to the person, with the values to choose from. */
export interface Asked {
  readonly key: string
  readonly lane: number | null
  readonly field: Field
  readonly title: string
  readonly detail: string
  readonly words: string | null
  /** Where the words are in the mail. */
  readonly at: number
  readonly options: readonly string[]
}

/** Chosen values by the key of their question. */
export type Answers = ReadonlyMap<string, string>

const titles: Readonly<Record<Field, string>> = {
  origin: 'Which origin?',
  destination: 'Which destination?',
  stops: 'Which stops?',
  pickup: 'Which pickup date?',
  delivery: 'Which delivery date?',
  equipment: 'Which equipment?',
  mode: 'Which mode?',
  weight: 'Which weight?',
  temperature: 'Which temperature?',
  commodity: 'Which commodity?',
  hazmat: 'Is it hazardous?',
  target: 'Which target?',
  customer: 'Which customer?',
  deadline: 'When is the answer due?',
  lanes: 'Check the mail',
}

const isDate = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)
const isAny = () => true
/** The fields of a lane on the desk, and what each takes. The answer to another question has no place there. */
const answerable: Readonly<Partial<Record<Field, (option: string) => boolean>>> = {
  origin: isAny,
  destination: isAny,
  stops: isAny,
  pickup: isDate,
  equipment: isAny,
  mode: (option) => modes.some((one) => one === option),
}

/** The questions of a mail in words. Places without an order are asked as two questions: the origin, and the destination. */
export function questionsOf(mail: MailRead): Asked[] {
  return mail.questions.flatMap((question, nth): Asked[] => {
    const { lane, field, detail, words, options } = question
    const takes = answerable[field] ?? (() => false)
    const asked = (of: Field, title = titles[of]): Asked => ({
      key: `${nth}-${of}`,
      lane,
      field: of,
      title,
      detail,
      words: words?.text ?? null,
      at: words?.at ?? 0,
      options: lane === null ? [] : options.filter(takes),
    })
    if (isWithoutOrder(mail, question)) return [asked('origin'), asked('destination')]
    const isPlace = field === 'origin' || field === 'destination' || field === 'stops'
    return [isPlace && words !== null ? asked(field, `Which ${words.text}?`) : asked(field)]
  })
}

function isWithoutOrder({ lanes, questions }: MailRead, { lane, field }: Question): boolean {
  const asked = lanes[lane ?? -1]
  return (
    field === 'stops' &&
    asked !== undefined &&
    asked.origin === null &&
    asked.destination === null &&
    !questions.some((one) => one.lane === lane && (one.field === 'origin' || one.field === 'destination'))
  )
}

/**
 * The lanes for the desk. A question without an answer leaves its field empty, also the equipment. No amount of a mail becomes
 * a rate, a cost or a market rate. A lane of which nothing is known is left out.
 */
export function lanesOfMail(
  mail: MailRead,
  questions: readonly Asked[],
  answers: Answers,
): Omit<DeskLane, 'id'>[] {
  const { id: _, ...blank } = blankLane(0)
  return mail.lanes.flatMap((lane, nth) => {
    const chosen = (field: Field) =>
      questions.find((one) => one.lane === nth && one.field === field && answers.has(one.key))
    const chosenOf = (field: 'origin' | 'destination' | 'pickup' | 'equipment' | 'mode') =>
      lane[field]?.value ?? answers.get(chosen(field)?.key ?? '') ?? ''
    const [origin, destination, pickup] = [chosenOf('origin'), chosenOf('destination'), chosenOf('pickup')]
    const stops = stopsOf(lane, nth, questions, answers)
    if (origin === '' && destination === '' && pickup === '' && stops === '') return []
    const mode = chosenOf('mode')
    return {
      ...blank,
      ...{ origin, destination, pickup, stops, equipment: chosenOf('equipment') },
      // The desk has an empty mode for a truckload.
      mode: mode === 'truckload' ? '' : mode,
    }
  })
}

/** The stops in the order of the mail, with those that were chosen. */
function stopsOf({ stops }: MailLane, nth: number, questions: readonly Asked[], answers: Answers): string {
  const all = stops.map(({ value, words: { at } }) => ({ value, at }))
  for (const { key, lane, field, at } of questions) {
    const value = lane === nth && field === 'stops' ? answers.get(key) : undefined
    if (value === undefined) continue
    const next = all.findIndex((one) => one.at > at)
    all.splice(next === -1 ? all.length : next, 0, { value, at })
  }
  return all.map(({ value }) => value).join('; ')
}

/** An option or a value as the desk shows it. */
export function shownValue(field: Field, value: string): string {
  if (field === 'equipment') return equipmentName(value)
  if (field === 'mode') return modeNames[value as Mode] ?? value
  return value
}

/** A value of a lane in words. */
export interface Said {
  readonly name: string
  readonly value: string
  readonly words: string
}

type Found<T> = { readonly value: T; readonly words: { readonly text: string } } | null

function said<T>(name: string, found: Found<T>, shown: (value: T) => string): Said[] {
  return found === null ? [] : [{ name, value: shown(found.value), words: found.words.text }]
}

/** What a mail says about a lane: values that the desk takes over, and values that it has no field for. */
export function saidOf(lane: MailLane): { readonly taken: Said[]; readonly others: Said[] } {
  const same = (text: string) => text
  return {
    taken: [
      ...said('Origin', lane.origin, same),
      ...lane.stops.flatMap((stop) => said('Stop', stop, same)),
      ...said('Destination', lane.destination, same),
      ...said('Pickup', lane.pickup, same),
      ...said('Equipment', lane.equipment, (code) => shownValue('equipment', code)),
      ...said('Mode', lane.mode, (mode) => shownValue('mode', mode)),
    ],
    others: [
      ...said('Delivery', lane.delivery, same),
      ...said('Weight', lane.weight, (pounds) => `${pounds.toLocaleString('en-US')} lb`),
      ...said('Temperature', lane.temperature, same),
      ...said('Commodity', lane.commodity, same),
      ...said('Hazardous', lane.hazmat, (is) => (is ? 'yes' : 'no')),
      ...said("The customer's target", lane.target, dollars),
    ],
  }
}
