import { finished, type Steps } from '#engine/steps.ts'
import { foundInBlocks } from './blocks.ts'
import { addressIn, customersOf, type KnownSender } from './customer-of.ts'
import { type DayMention, daysIn, type SentDay, weekdayFrom } from './day-words.ts'
import type { Found, LaneField, MailPart, Question, ReadLane } from './found-words.ts'
import { type Candidate, decide, wordsOf } from './lane-fields.ts'
import {
  commoditiesIn,
  equipmentIn,
  hazmatIn,
  modesIn,
  targetsIn,
  temperaturesIn,
  type ValueMention,
  weightsIn,
} from './load-words.ts'
import { ownText } from './own-text.ts'
import { type PlaceMention, placesIn } from './place-words.ts'
import { type Route, routesOfSteps } from './routes.ts'
import { type TableLane, tableLanes } from './table-lanes.ts'
import { TakenText } from './taken-text.ts'

/** A mail as the reader gets it. Nothing here is an instruction: all of it is text to look for lanes in. */
export interface MailToRead {
  readonly subject: string
  /** The text; that of a mail in HTML by `textOfHtml`. */
  readonly text: string
  /** Attached tables as text, with tabs between cells. */
  readonly tables: readonly string[]
  /** The address of the sender. */
  readonly from: string
  /** When it was sent, in epoch milliseconds. */
  readonly sentAt: number
  /** The offset of the sender's clock in minutes, from the mail's date; null if it does not say it. */
  readonly sentOffset: number | null
}

/** What the brokerage knows. */
export interface ReaderKnows {
  /** Its zone: America/Chicago. */
  readonly zone: string
  readonly senders: readonly KnownSender[]
  /** The addresses of its own people. Who forwards a mail is not its customer. */
  readonly ownPeople: ReadonlySet<string>
}

export interface MailRead {
  readonly lanes: readonly ReadLane[]
  /** When the answer is due: a day, with a time if one is said, in the words of the mail. */
  readonly deadline: Found | null
  readonly customer: { readonly value: string; readonly address: string } | null
  readonly questions: readonly Question[]
}

/** The most lanes that are read from one mail. */
export const lanesReadMax = 500
/** The rest of a longer text is not read, and the mail says so. */
export const textReadMax = 200_000

/** A part of the mail with all that was found in it. */
interface Part {
  readonly part: MailPart
  readonly text: string
  readonly places: readonly PlaceMention[]
  readonly days: readonly RoledDay[]
  readonly equipment: readonly ValueMention<string>[]
  readonly modes: readonly ValueMention<string>[]
  readonly weights: readonly ValueMention<number>[]
  readonly temperatures: readonly ValueMention<string>[]
  readonly commodities: readonly ValueMention<string>[]
  readonly hazmat: readonly ValueMention<boolean>[]
  readonly targets: readonly ValueMention<number>[]
}

/** Where the line around an offset begins, at most so many characters before it. */
function startOfLine(text: string, at: number, most = Number.POSITIVE_INFINITY): number {
  const from = Math.max(0, at - most)
  return from + text.slice(from, at).lastIndexOf('\n') + 1
}

/** A lane in the making: where it stands, and its candidates. */
interface Draft {
  readonly part: Part
  readonly route: Route
  readonly from: number
  readonly to: number
  readonly table: TableLane | null
}

interface Result {
  readonly lane: ReadLane
  readonly questions: readonly Omit<Question, 'lane'>[]
}

const dayIn = (zone: string, at: number) =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at)

const foreign =
  /\b(?:hola|buenos d[ií]as|buenas tardes|estimad[oa]s?|cotizaci[oó]n|favor de|gracias|saludos|bonjour|merci|cordialement|veuillez|soumission|guten tag|hallo|danke|ol[aá]|obrigad[oa])\b/i

function sentDay(mail: MailToRead, zone: string): SentDay {
  const day = dayIn(zone, mail.sentAt)
  const own =
    mail.sentOffset === null
      ? day
      : new Date(mail.sentAt + mail.sentOffset * 60_000).toISOString().slice(0, 10)
  return {
    day,
    senderDay: own === day ? null : own,
    isDayFirst: foreign.test(`${mail.subject}\n${mail.text}`),
  }
}

function* partOf(part: MailPart, text: string, sent: SentDay): Steps<Part> {
  const places = yield* foundInBlocks(text, placesIn)
  const inPlaces = new TakenText(
    text,
    places.filter(({ isFirm }) => isFirm),
  )
  function* outside<T extends { readonly at: number; readonly end: number }>(
    read: (text: string) => readonly T[],
  ): Steps<T[]> {
    const found = yield* foundInBlocks(text, read)
    return found.filter((one) => !inPlaces.has(one))
  }
  const days = yield* outside((lines) => daysIn(lines, sent))
  const inDays = new TakenText(text, days)
  const temperatures = yield* outside(temperaturesIn)
  return {
    part,
    text,
    places,
    days: yield* roledDays(text, days),
    equipment: yield* outside(equipmentIn),
    modes: yield* outside(modesIn),
    weights: yield* foundInBlocks(text, weightsIn),
    temperatures: temperatures.filter((one) => !inDays.has(one)),
    commodities: yield* outside(commoditiesIn),
    hazmat: yield* foundInBlocks(text, hazmatIn),
    targets: yield* foundInBlocks(text, targetsIn),
  }
}

/** Characters that look alike, one for one, so that offsets stay. */
const plain = (text: string) =>
  text
    .replaceAll(/[\u00a0\u2007\u202f\u2009\u200a]/g, ' ')
    .replaceAll('\r', ' ')
    .replaceAll(/[\u200b-\u200d\ufeff\u00ad]/g, ' ')
    .replaceAll('，', ',')
    .replaceAll('：', ':')

const deadlineCue =
  /\b(?:(?:need|want|send|get|have|submit|provide|rates?|quotes?|pricing|bids?|answer|reply|respond|response|let (?:me|us) know|get back to (?:me|us)|back to (?:me|us)|due)\b[^.\n]{0,40}\b(?:by|before|no later than|until|due)|(?:deadline|bids? due|quotes? due|rates? due|due (?:back )?by|respond by|reply by|closes?|closing)(?: is| at| on)?[ \t]{0,9}:?)[ \t]{0,9}(?:the )?(?:end of (?:the )?(?:day|business)|eod|cob)?[^.\n]{0,40}$/i
const deadlineTime =
  /\b(?:by|before|due|until|no later than|at)\b[ \t:]*(?:(eod|cob|end of (?:the )?day|close of business|noon)|(\d{1,2})(?::(\d{2}))? ?(am|pm|a\.m\.|p\.m\.|a|p)?\b)/i
/** Whether a day is when the answer is due, by the words before it: "need rates by Tuesday". */
function isDeadline(text: string, day: DayMention): boolean {
  const before = text.slice(startOfLine(text, day.at, 100), day.at)
  if (
    /\b(?:deliver\w*|arriv\w*|pick\w*|pu|ship\w*|load\w*|ready)\b[^.;,\n]{0,25}$/i.test(before) &&
    !/\b(?:rates?|quotes?|pricing|bids?)\b[^.\n]{0,25}\b(?:by|before|due)\b[^.\n]{0,20}$/i.test(before)
  )
    return false
  return deadlineCue.test(before)
}

type DayRole = 'pickup' | 'delivery' | 'deadline' | null
const dayCueSource = String.raw`(?<![\p{L}\d])(?:(?<pickup>pick(?:ing|s|ed)?[ -]?up(?:s)?|picks?|p/u|pu|ship(?:s|ping|ped)?|ready|available|avail|load(?:s|ing)?|origin|shipper|recog\w+|enl[eè]vement|salida|carga|abholung|p(?=[:. ] ?\d))|(?<delivery>deliver(?:y|s|ing|ed)?|dlvr?y?|del|drop(?:s|ping)?|arriv(?:e|es|ing|al)|due|eta|rad|mabd|unload\w*|destination|dest|consignee|receiver|in by|must (?:be there|arrive)|entrega\w*|livraison|zustellung|d(?=[:. ] ?\d)))(?![\p{L}])`
const dayCue = new RegExp(dayCueSource, 'giu')
const dayCueFirst = new RegExp(`^(?:${dayCueSource})`, 'iu')

/** What a day is for, by the words before it in its clause, else by those right after it. */
function dayRole(text: string, day: DayMention, from: number): { role: DayRole; consumed: number } {
  if (isDeadline(text, day)) return { role: 'deadline', consumed: day.end }
  const clause = text.slice(Math.max(startOfLine(text, day.at, 1_000), from), day.at)
  const sentence = clause.slice(
    Math.max(
      0,
      ...[...clause.matchAll(/(?<!\b(?:St|Ft|Mt|Ste|ST|FT|MT))[.!?]\s+(?=\p{Lu})/gu)].map(
        (one) => one.index + 1,
      ),
    ),
  )
  const before = [...sentence.matchAll(dayCue)].at(-1)
  const both = /(?:pu|pick\w*|p\/u)[ ]?(?:\/|&|and)[ ]?(?:del\w*|drop\w*)[ :]*$/i.test(sentence)
  if (both) return { role: null, consumed: day.end }
  if (before !== undefined)
    return { role: before.groups?.pickup === undefined ? 'delivery' : 'pickup', consumed: day.end }
  const after =
    /^(?:[ ]?(?:@|at|from|between)?[ ]?\d[\d:apm -]{0,14})?[ ]{0,2}(?:\(|for |- ?)?(?<word>[\p{L}/]+(?:[ -]up)?)/iu.exec(
      text.slice(day.end, day.end + 40),
    )
  const word = after?.groups?.word ?? ''
  const cue = dayCueFirst.exec(word)
  if (cue === null) return { role: null, consumed: day.end }
  return {
    role: cue.groups?.pickup === undefined ? 'delivery' : 'pickup',
    consumed: day.end + (after?.[0].length ?? 0),
  }
}

interface RoledDay extends DayMention {
  readonly role: DayRole
}

function* roledDays(text: string, days: readonly DayMention[]): Steps<RoledDay[]> {
  let from = 0
  const roled: RoledDay[] = []
  for (const day of days) {
    const { role, consumed } = dayRole(text, day, from)
    roled.push({ ...day, role })
    from = consumed
    yield
  }
  return roled
}

const asCandidate = (one: DayMention): Candidate<string> => ({
  at: one.at,
  text: one.text,
  value: one.day,
  ask: one.ask,
})
const isNoise = (one: RoledDay) =>
  one.role === null &&
  (one.isPast ||
    (one.day === null &&
      /^(?:\p{L}+days|daily|weekly|every day|this week|weekend|asap|a\.s\.a\.p\.?|immediately|right away|next month)$/iu.test(
        one.text,
      ) &&
      !/^(?:asap|a\.s\.a\.p)/i.test(one.text)))

/**
 * The days of a lane. A day without a word for its meaning is the pickup if it is the only one: people write "Dallas, TX to Atlanta, GA
 * 12/3". Between two places, the day belongs to the first.
 */
function laneDays(
  draft: Draft,
  days: readonly RoledDay[],
): { pickup: Candidate<string>[]; delivery: Candidate<string>[] } {
  const pickup: Candidate<string>[] = []
  const delivery: Candidate<string>[] = []
  const open: RoledDay[] = []
  const { text } = draft.part
  const first = draft.route.places.find(({ role }) => role === 'pick')?.mention
  const last = draft.route.places.findLast(({ role }) => role === 'drop')?.mention
  for (const day of days) {
    if (day.role === 'pickup') pickup.push(asCandidate(day))
    else if (day.role === 'delivery') delivery.push(asCandidate(day))
    else if (day.role === null && !isNoise(day)) open.push(day)
  }
  const isAfter = (one: RoledDay, place: PlaceMention | undefined) =>
    place !== undefined && one.at >= place.end && one.at - place.end < 200
  const lineOf = (at: number) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const isOfLast = (one: RoledDay) =>
    isAfter(one, last) && !(isAfter(one, first) && (first?.at ?? 0) > (last?.at ?? 0))
  if (open.length === 2 && pickup.length === 0 && delivery.length === 0) {
    const [one, two] = open
    if (one !== undefined && two !== undefined && !isOfLast(one) && isAfter(one, first) && isOfLast(two)) {
      return { pickup: [asCandidate(one)], delivery: [asCandidate(two)] }
    }
  }
  const options = open.flatMap((each) => each.day ?? [])
  for (const day of open) {
    const isOnLastLine =
      draft.route.isLabelled &&
      last !== undefined &&
      isOfLast(day) &&
      lineOf(day.at).length > last.at - (day.at - lineOf(day.at).length) &&
      last.at >= day.at - lineOf(day.at).length
    if (isOnLastLine) delivery.push(asCandidate(day))
    else if (pickup.length === 0 && open.length === 1) pickup.push(asCandidate(day))
    else if (
      pickup.length > 0 &&
      delivery.length === 0 &&
      open.length === 1 &&
      day.day !== null &&
      pickup.some(({ value }) => value === day.day)
    )
      continue
    else {
      const ask = { detail: 'The mail does not say whether this is the pickup or the delivery', options }
      pickup.push({ at: day.at, text: day.text, value: null, ask })
    }
  }
  return { pickup, delivery }
}

/** A weekday of a delivery is the first one from the pickup on. */
function deliveryAfter(
  pickup: Found | null,
  delivery: Candidate<string>[],
  days: readonly RoledDay[],
): Candidate<string>[] {
  return delivery.map((one) => {
    const mention = days.find(({ at }) => at === one.at)
    if (mention?.weekday == null || pickup === null) return one
    return { ...one, value: weekdayFrom(pickup.value, mention.weekday), ask: null }
  })
}

function placeCandidate({ at, text, place, ask }: PlaceMention): Candidate<string> {
  return { at, text, value: place, ask }
}

const cents = (value: number) => `$${(value / 100).toFixed(2)}`

/** The part of a list that belongs to a lane, else the part that belongs to the whole mail. */
type Pick = <T extends { readonly at: number }>(
  list: (part: Part) => readonly T[],
  ofTable: (table: TableLane) => readonly T[],
) => { part: MailPart; list: readonly T[] }

function readRoute(draft: Draft): {
  origin: Found | null
  destination: Found | null
  stops: Found[]
  questions: Omit<Question, 'lane'>[]
} {
  const { part, route } = draft
  const picks = route.places.filter(({ role }) => role === 'pick')
  const drops = route.places.filter(({ role }) => role === 'drop')
  const origin = picks[0] ?? null
  const destination = drops.at(-1) ?? null
  const questions: Omit<Question, 'lane'>[] = []
  const end = (field: 'origin' | 'destination', place: (typeof picks)[number] | null): Found | null => {
    if (place === null) {
      questions.push({ field, detail: `The mail does not say the ${field}`, words: null, options: [] })
      return null
    }
    const decided = decide(field, part.part, [placeCandidate(place.mention)], String)
    if (decided.question !== null) questions.push(decided.question)
    return decided.found
  }
  const ends = { origin: end('origin', origin), destination: end('destination', destination) }
  const stops = route.places
    .filter((one) => one !== origin && one !== destination)
    .flatMap(({ mention }) => {
      const decided = decide('stops', part.part, [placeCandidate(mention)], String)
      if (decided.question !== null) questions.push(decided.question)
      return decided.found ?? []
    })
  const [problem] = route.problems
  if (problem === undefined) return { ...ends, stops, questions }
  // Nothing of a route is certain when its places are not.
  const names = route.places.flatMap(({ mention }) => mention.place ?? [])
  const first = route.places[0]?.mention
  const words = first === undefined ? null : wordsOf(part.part, first)
  return {
    origin: null,
    destination: null,
    stops: [],
    questions: [{ field: 'stops', detail: problem, words, options: names }],
  }
}

function readLane(draft: Draft, pick: Pick): Result {
  const { origin, destination, stops, questions } = readRoute(draft)
  const take = <T>(
    field: LaneField,
    candidates: readonly Candidate<T>[],
    part: MailPart,
    shown: (value: T) => string = String,
  ): Found<T> | null => {
    const decided = decide(field, part, candidates, shown)
    if (decided.question !== null) questions.push(decided.question)
    return decided.found
  }
  const days = pick<RoledDay>(
    ({ days: mentions }) => mentions,
    ({ days: cells }) => cells,
  )
  const { pickup: pickups, delivery: deliveries } = laneDays(draft, days.list)
  const pickup = take('pickup', pickups, days.part)
  const delivery = take('delivery', deliveryAfter(pickup, deliveries, days.list), days.part)
  const isTurned = pickup !== null && delivery !== null && delivery.value < pickup.value
  const ask = (name: LaneField, detail: string, words: Question['words'] = null) =>
    questions.push({ field: name, detail, words, options: [] })
  if (isTurned) {
    ask('delivery', `The delivery ${delivery.value} is before the pickup ${pickup.value}`, delivery.words)
  }
  const field = <T>(name: LaneField, key: ListName<T>, shown?: (value: T) => string, most?: number) => {
    const { part, list } = pick<ValueMention<T>>(
      (of) =>
        (most === undefined
          ? of[key]
          : of[key].slice(0, most)) as readonly ValueMention<unknown>[] as readonly ValueMention<T>[],
      (of) => of[key] as readonly ValueMention<unknown>[] as readonly ValueMention<T>[],
    )
    return take(name, list, part, shown)
  }
  const equipment = field<string>('equipment', 'equipment')
  const isOpen = (name: LaneField) => questions.some((one) => one.field === name)
  if (equipment === null && !isOpen('equipment')) ask('equipment', 'The mail does not say the equipment')
  if (pickup === null && !isOpen('pickup')) ask('pickup', 'The mail does not say the pickup day')
  return {
    lane: {
      origin,
      destination,
      stops,
      pickup,
      delivery: isTurned ? null : delivery,
      equipment,
      mode: field<string>('mode', 'modes'),
      weight: field<number>('weight', 'weights'),
      temperature: field<string>('temperature', 'temperatures'),
      commodity: field<string>('commodity', 'commodities', undefined, 1),
      hazmat: field<boolean>('hazmat', 'hazmat'),
      target: field<number>('target', 'targets', cents),
    },
    questions,
  }
}

/** The lists of values of a type, which a part of a mail and a row of a table have under one name. */
type ListName<T> = T extends string
  ? 'equipment' | 'modes' | 'temperatures' | 'commodities'
  : T extends number
    ? 'weights' | 'targets'
    : 'hazmat'

/** Where the paragraphs of a text begin, in order. */
const paragraphsOf = (text: string) => [
  0,
  ...[...text.matchAll(/\n[ \t]*\n/g)].map((one) => one.index + one[0].length),
]
const headings = /^[\s*_#]{0,9}(?:lane|load|shipment|option|quote|order|route)[ ]{0,9}#?[ ]{0,9}\d{1,3}\b/i

/** Where each lane begins and ends in its text. */
function draftsOf(part: Part, routes: readonly Route[]): Draft[] {
  const paragraphs = paragraphsOf(part.text)
  let inParagraph = 0
  const lists = Map.groupBy(routes, (route) => route.firstOfList ?? route)
  const spans = [...lists.values()].map((list) => {
    const mentions = list.flatMap(({ places }) => places.map(({ mention }) => mention))
    const at = Math.min(...mentions.map((one) => one.at))
    const end = Math.max(...mentions.map((one) => one.end))
    while ((paragraphs[inParagraph + 1] ?? Number.POSITIVE_INFINITY) <= at) inParagraph++
    return { list, at, end, paragraph: paragraphs[inParagraph] ?? 0 }
  })
  const lanesIn = Map.groupBy(spans, ({ paragraph }) => paragraph)
  const starts = spans.map(({ at, paragraph: own }, nth) => {
    const before = spans[nth - 1]?.end ?? 0
    const line = startOfLine(part.text, at)
    if (line < before) return at
    const paragraph = Math.max(own, before)
    const isAlone = lanesIn.get(own)?.length === 1
    const above = part.text.slice(paragraph, line)
    const head = [...above.split('\n')].findIndex((one) => headings.test(one))
    if (head >= 0) return paragraph + above.split('\n').slice(0, head).join('\n').length + (head > 0 ? 1 : 0)
    return isAlone && paragraph > before ? paragraph : line
  })
  return spans.flatMap(({ list }, nth) => {
    const area = { part, from: starts[nth] ?? 0, to: starts[nth + 1] ?? part.text.length, table: null }
    return list.map((route) => ({ ...area, route }))
  })
}

const forAll = /\b(?:all|both|each|every|everything|these|same (?:for|day|equipment))\b/i

/**
 * Where the last lane of several ends: at the blank line after it. What follows may be about it or about all of them.
 */
function endOfLast(text: string, draft: Draft): number {
  const end = Math.max(...draft.route.places.map(({ mention }) => mention.end))
  const blank = /\n[ \t]*\n/.exec(text.slice(end))
  return blank === null ? text.length : end + blank.index
}

interface Span {
  readonly from: number
  readonly to: number
}

/** Where the lanes of a mail stand in its text. */
interface Areas {
  readonly drafts: readonly Draft[]
  readonly spanOf: ReadonlyMap<Draft, Span>
  /** Whether a lane stands at an offset. */
  readonly isTaken: (at: number) => boolean
  /** Whether a value at an offset is said of all lanes. */
  readonly isShared: (at: number) => boolean
  /** Whether a value stands after several lanes in one line, and is said of all: "A to B and C to D, both vans". */
  readonly isOfBoth: (at: number) => boolean
}

function areasOf(drafts: readonly Draft[], own: Part): Areas {
  const written = drafts.filter(({ table }) => table === null)
  const last = written.at(-1)
  const spanOf = new Map(
    written.map((one) => {
      const to = one.from === last?.from && written.length > 1 ? endOfLast(one.part.text, one) : one.to
      return [one, { from: one.from, to }] as const
    }),
  )
  const spans = written.filter(({ part }) => part === own).flatMap((one) => spanOf.get(one) ?? [])
  const firstAt = spans.reduce((least, { from }) => Math.min(least, from), own.text.length)
  const marks = new Uint8Array(own.text.length)
  for (const { from, to } of spans) marks.fill(1, from, to)
  const ends = written.flatMap(({ part, route }) =>
    part === own ? [Math.max(...route.places.map(({ mention }) => mention.end))] : [],
  )
  const lineStarts = lineStartsOf(own.text)
  const endsOfLines = Map.groupBy(ends, (end) => lineStarts[end])
  const isTaken = (at: number) => marks[at] === 1
  const isOfBoth = onceEach((at) => {
    const before = endsOfLines.get(lineStarts[at])?.filter((end) => end <= at) ?? []
    return before.length > 1 && forAll.test(own.text.slice(Math.max(...before), at))
  })
  const isSaidOfAll = drafts.length === 1 || spans.length === 0 || areTight(drafts)
  const isShared = onceEach((at) => {
    if (isTaken(at)) return isOfBoth(at)
    return at < firstAt || isSaidOfAll || forAll.test(lineAround(own.text, at))
  })
  return { drafts, spanOf, isTaken, isShared, isOfBoth }
}

/** For each offset, where its line begins. */
function lineStartsOf(text: string): Uint32Array {
  const starts = new Uint32Array(text.length + 1)
  for (let at = 1; at < starts.length; at++) starts[at] = text[at - 1] === '\n' ? at : (starts[at - 1] ?? 0)
  return starts
}

/** A question about offsets that is answered once for each: every lane asks it about all values of the text. */
function onceEach(isSo: (at: number) => boolean): (at: number) => boolean {
  const answers = new Map<number, boolean>()
  return (at) => {
    const answer = answers.get(at) ?? isSo(at)
    answers.set(at, answer)
    return answer
  }
}

/** The part of a line around an offset. */
function lineAround(text: string, at: number): string {
  const near = text.slice(startOfLine(text, at, 500), at + 500)
  const end = near.indexOf('\n')
  return end < 0 ? near : near.slice(0, end)
}

/** More values for one field are a question, whatever they are. */
const candidatesMax = 50

/** The candidates of a lane, then those of the whole text: what stands above all lanes, or is said of all. */
function pickOf(draft: Draft, areas: Areas, own: Part, subject: Part | null): Pick {
  const isOnly = areas.drafts.length === 1
  const isIn = (at: number, span: Span) => at >= span.from && at < span.to
  const isWhole = isOnly && draft.table === null && draft.part === own
  const mine = isWhole ? { from: 0, to: own.text.length } : (areas.spanOf.get(draft) ?? draft)
  return (list, ofTable) => {
    if (draft.table !== null) {
      const cells = ofTable(draft.table)
      if (cells.length > 0) return { part: draft.part.part, list: cells }
    } else {
      const inside = list(draft.part).filter(
        ({ at }) => isIn(at, mine) && (isOnly || draft.part !== own || !areas.isOfBoth(at)),
      )
      if (inside.length > 0) return { part: draft.part.part, list: inside.slice(0, candidatesMax) }
    }
    const shared = draft.part.part === 'subject' ? [] : list(own).filter(({ at }) => areas.isShared(at))
    if (shared.length > 0) return { part: own.part, list: shared.slice(0, candidatesMax) }
    const loose = draft.part.part === 'subject' ? [] : list(own).filter(({ at }) => !areas.isTaken(at))
    if (loose.length > 0) {
      return { part: own.part, list: loose.slice(0, candidatesMax).map((one) => unsure(one)) }
    }
    return subject === null || draft.part === subject
      ? { part: 'subject', list: [] }
      : { part: 'subject', list: list(subject) }
  }
}

/** A value that may be about another lane: a question. */
function unsure<T>(one: T): T {
  const { value, day } = one as { readonly value?: unknown; readonly day?: unknown }
  const option = value ?? day
  const ask = {
    detail: 'The mail does not say which lane this is about',
    options: option === null || option === undefined ? [] : [String(option)],
  }
  return { ...one, value: null, day: null, ask, weekday: null }
}

/** Whether lanes stand in lines next to each other: what follows after a blank line is about all. */
function areTight(drafts: readonly Draft[]): boolean {
  return drafts.every((one, nth) => {
    const next = drafts[nth + 1]
    if (next === undefined || next.part !== one.part || one.table !== null) return true
    return !/\n[ \t]*\n/.test(one.part.text.slice(one.from, next.from).trimEnd())
  })
}

const cityOf = (mention: PlaceMention) =>
  (mention.place ?? mention.text).split(',')[0]?.trim().toLowerCase() ?? ''
/** The cities at the ends of a route. One of the same cities, with or without states, may say the same lane again. */
const endsOf = ({ places }: Route) => {
  const [first, last] = [places[0], places.at(-1)].map((one) => one && cityOf(one.mention))
  return JSON.stringify([first, last])
}
const endsOfAll = (list: readonly { readonly route: Route }[]) =>
  new Set(list.map(({ route }) => endsOf(route)))
const hasBothEnds = (route: Route) =>
  route.places.some(({ role }) => role === 'pick') && route.places.some(({ role }) => role === 'drop')

const again =
  /\b(?:same (?:as|lane|load|rate|one)s?(?: (?:as|last))?|usual (?:lane|load|run|rate)s?|as (?:always|usual)|like last (?:time|week)|the (?:lane|load)s? below|see below|round ?trip|and back)\b/i

interface Gathered {
  readonly drafts: Draft[]
  readonly loose: readonly { part: Part; mention: PlaceMention }[]
  readonly questions: Question[]
}

/** All lanes of a mail, before their values: those of tables, of the text, of the subject. */
function* gather(
  subject: Part,
  body: Part,
  signedText: Part | null,
  tables: readonly Draft[],
): Steps<Gathered> {
  const questions: Question[] = []
  const inText = yield* routesOfSteps(body.text, body.places)
  const own = draftsOf(body, inText.routes)
  const drafts: Draft[] = [...own, ...tables]
  const inTables = endsOfAll(tables)
  const labelled = endsOfAll(own.filter(({ route }) => route.isLabelled))
  const kept = drafts.filter((draft) => {
    const isRepeated = draft.table === null && hasBothEnds(draft.route) && inTables.has(endsOf(draft.route))
    if (isRepeated) return false
    if (draft.table !== null || draft.route.isLabelled || !hasBothEnds(draft.route)) return true
    // The sentence above the lines with names says the same lane again. Otherwise two lanes are two loads.
    return !labelled.has(endsOf(draft.route))
  })
  if (signedText !== null) {
    const inSigned = yield* routesOfSteps(signedText.text, signedText.places)
    const below = inSigned.routes.filter(hasBothEnds)
    if (below.length > 0 && (kept.length > 0 || !below.some(({ isLabelled }) => isLabelled))) {
      const first = below[0]?.places[0]?.mention
      questions.push({
        lane: null,
        field: 'lanes',
        detail: 'A lane may stand below the signature',
        words: first === undefined ? null : wordsOf('text', first),
        options: [],
      })
    } else
      kept.push(
        ...draftsOf(
          signedText,
          below.filter(({ isLabelled }) => isLabelled),
        ),
      )
  }
  const { routes: above } = yield* routesOfSteps(subject.text, subject.places)
  const keptEnds = endsOfAll(kept)
  const fresh = above.filter((route) => !keptEnds.has(endsOf(route)))
  if (kept.length === 0) kept.push(...draftsOf(subject, fresh))
  else {
    for (const route of fresh.filter(hasBothEnds)) {
      const first = route.places[0]?.mention
      questions.push({
        lane: null,
        field: 'lanes',
        detail: 'The subject names another lane than the text',
        words: first === undefined ? null : wordsOf('subject', first),
        options: [],
      })
    }
  }
  return { drafts: kept, loose: inText.loose.map((mention) => ({ part: body, mention })), questions }
}

function deadlineOf(part: Part, sent: SentDay): { found: Found | null; question: Question | null } {
  const day = part.days.find(({ role }) => role === 'deadline')
  let next = 0
  for (const line of part.text.split('\n')) {
    const lineAt = next
    next += line.length + 1
    const time = deadlineTime.exec(line)
    const at = lineAt + (time?.index ?? 0)
    if (
      time === null ||
      !/\b(?:rates?|quotes?|pricing|bids?|answer|reply|respond|response|let (?:me|us) know|back to (?:me|us)|deadline|need)\b/i.test(
        line.slice(0, time.index + 10),
      )
    )
      continue
    if (/\b(?:deliver|pick|load|ship|arriv|be there)\w*\b[^.;,]{0,20}$/i.test(line.slice(0, time.index)))
      continue
    const hour = Number(time[2] ?? Number.NaN)
    const isHalf = time[4]?.toLowerCase().startsWith('p') ?? false
    const clock =
      time[1] === undefined
        ? time[4] === undefined || hour > 12 || hour < 1
          ? null
          : `${String((hour % 12) + (isHalf ? 12 : 0)).padStart(2, '0')}:${time[3] ?? '00'}`
        : /noon/i.test(time[1])
          ? '12:00'
          : ''
    if (clock === null) continue
    const words = wordsOf(part.part, { at, text: time[0] })
    const on = day === undefined ? sent.day : day.day
    if (on === null || (day === undefined && sent.senderDay !== null)) break
    return { found: { value: clock === '' ? on : `${on} ${clock}`, words }, question: null }
  }
  if (day === undefined) return { found: null, question: null }
  const words = wordsOf(part.part, day)
  if (day.day !== null)
    return { found: { value: day.time === null ? day.day : `${day.day} ${day.time}`, words }, question: null }
  return {
    found: null,
    question: {
      lane: null,
      field: 'deadline',
      detail: day.ask?.detail ?? 'The deadline is not a day',
      words,
      options: day.ask?.options ?? [],
    },
  }
}

function customerOf(
  mail: MailToRead,
  forwardedFrom: string | null,
  knows: ReaderKnows,
): { customer: MailRead['customer']; question: Question | null } {
  const sender = mail.from.toLowerCase()
  const isOwn = knows.ownPeople.has(sender)
  const address = isOwn ? (forwardedFrom === null ? null : addressIn(forwardedFrom)) : sender
  const ask = (detail: string, options: readonly string[]): { customer: null; question: Question } => ({
    customer: null,
    question: { lane: null, field: 'customer', detail, words: null, options },
  })
  if (address === null || knows.ownPeople.has(address))
    return ask('The mail does not say which customer asks', [])
  const known = customersOf(address, knows.senders)
  const [only] = known
  if (known.length === 1 && only !== undefined) return { customer: { value: only, address }, question: null }
  return ask(
    known.length === 0 ? `${address} is not known as a customer` : `${address} writes for several customers`,
    known,
  )
}

/** Sets the questions of the places that belong to no lane, if they could have belonged to one. */
function looseQuestions(loose: Gathered['loose'], drafts: readonly Draft[]): Question[] {
  const named = new Set(
    drafts.flatMap(({ route }) => route.places.map(({ mention }) => mention.place ?? mention.text)),
  )
  return loose
    .filter(({ mention }) => mention.place !== null && !named.has(mention.place))
    .slice(0, 10)
    .map(({ part, mention }) => ({
      lane: null,
      field: 'lanes',
      detail: `${mention.place} is named, and belongs to no lane that was read`,
      words: wordsOf(part.part, mention),
      options: [],
    }))
}

/** Like `readMailInSteps`, without a pause. */
export function readMail(mail: MailToRead, knows: ReaderKnows): MailRead {
  return finished(readMailInSteps(mail, knows))
}

/**
 * Reads the lanes of a mail. Each value has the words that it was read from; what is not certain is a question and never a value. The
 * same mail always gives the same answer. A mail that asks for something else than a rate changes nothing.
 *
 * @example
 * finished(readMailInSteps({ ...mail, text: "Dallas, TX to Atlanta, GA, van, PU 12/3" }, knows)).lanes[0]?.pickup?.value // '2026-12-03'
 */
export function* readMailInSteps(mail: MailToRead, knows: ReaderKnows): Steps<MailRead> {
  const sent = sentDay(mail, knows.zone)
  const whole = plain(mail.text.slice(0, textReadMax))
  const subjectText = plain(mail.subject)
  const isForwarded = /^\s*(?:(?:re|aw|sv)\s*:\s*)*(?:fw|fwd|wg|rv|tr)\s*:/i.test(subjectText)
  function* hasLane(text: string): Steps<boolean> {
    const { routes } = yield* routesOfSteps(text, yield* foundInBlocks(text, placesIn))
    return routes.some(hasBothEnds) || (yield* tableLanes(text, sent)).lanes.length > 0
  }
  const own = yield* ownText(whole, isForwarded, hasLane)
  const kept = own.text.slice(0, own.signedAt).padEnd(own.text.length, ' ')
  const inText = yield* tableLanes(kept, sent)
  const body = yield* partOf('text', inText.rest, sent)
  const below = own.text.slice(own.signedAt)
  const signedText =
    below.trim() === ''
      ? null
      : yield* partOf('text', own.text.slice(0, own.signedAt).replaceAll(/[^\n]/g, ' ') + below, sent)
  const subject = yield* partOf(
    'subject',
    subjectText.replace(/^\s*(?:(?:re|aw|sv|fw|fwd|wg|rv|tr)\s*:\s*)+/i, (all) => ' '.repeat(all.length)),
    sent,
  )
  const fileTables: { part: Part; table: TableLane }[] = []
  for (const [nth, text] of mail.tables.entries()) {
    const clean = plain(text)
    const part: Part = { ...(yield* partOf('text', '', sent)), part: nth, text: clean }
    const { lanes } = yield* tableLanes(clean, sent)
    fileTables.push(...lanes.map((table) => ({ part, table })))
  }
  const tables: Draft[] = [...inText.lanes.map((table) => ({ part: { ...body }, table })), ...fileTables].map(
    ({ part, table }) => ({ part, table, route: table.route, from: table.at, to: table.end }),
  )
  const { drafts, loose, questions } = yield* gather(subject, body, signedText, tables)
  const wanted = drafts.slice(0, lanesReadMax)
  const areas = areasOf(wanted, body)
  const ofSigned = signedText === null ? areas : areasOf(wanted, signedText)
  const results: Result[] = []
  for (const draft of wanted) {
    const isElsewhere = draft.part === signedText && draft.table === null
    const around = isElsewhere ? ofSigned : areas
    results.push(readLane(draft, pickOf(draft, around, isElsewhere ? draft.part : body, subject)))
    yield
  }
  const { customer, question } = customerOf(mail, own.forwardedFrom, knows)
  const deadline = deadlineOf(body, sent)
  return {
    lanes: results.map(({ lane }) => lane),
    deadline: deadline.found,
    customer,
    questions: [
      ...results.flatMap(({ questions: asked }, lane) => asked.map((one) => ({ lane, ...one }))),
      ...questions,
      ...looseQuestions(loose, wanted),
      ...[question, deadline.question].flatMap((one) => one ?? []),
      ...wholeQuestions(
        body.text.slice(0, own.signedAt),
        drafts.length,
        mail.text.length > textReadMax,
        own.isReply,
      ),
    ],
  }
}

/** The questions about the whole mail. */
function wholeQuestions(text: string, lanes: number, isCut: boolean, isReply: boolean): Question[] {
  const repeated = again.exec(text)
  const about = (detail: string, words: Question['words'] = null): Question => ({
    lane: null,
    field: 'lanes',
    detail,
    words,
    options: [],
  })
  const missing =
    repeated === null ? null : `"${repeated[0]}" refers to something that the mail does not contain`
  return [
    ...(repeated === null || missing === null
      ? []
      : [about(missing, wordsOf('text', { at: repeated.index, text: repeated[0] }))]),
    ...(isReply && lanes === 0
      ? [about('The mail names no lane; an earlier mail below it is not read')]
      : []),
    ...(lanes > lanesReadMax
      ? [about(`The first ${lanesReadMax} lanes were read; the mail has ${lanes}`)]
      : []),
    ...(isCut ? [about(`The first ${textReadMax} characters were read`)] : []),
  ]
}
