import { finished, type Steps } from '#engine/steps.ts'
import type { PlaceMention } from './place-words.ts'
import { wordLikeCodes } from './place-words.ts'

type Role = 'pick' | 'drop' | 'stop'

interface RoutePlace {
  readonly mention: PlaceMention
  role: Role
}

/** The places of one load, in the order of the text. */
export interface Route {
  readonly places: RoutePlace[]
  /** Why the places cannot be put in order without a question. */
  readonly problems: string[]
  /** Whether pickup and delivery stand in lines of their own: Origin: ..., Destination: ... */
  isLabelled: boolean
  /** Whether it was begun by a place without any word before it. Alone, it is no lane. */
  isTentative: boolean
  /** The first of several lanes from one origin, "to each of these:". What the text says of it is said of all of them. */
  readonly firstOfList: Route | null
}

export interface Routes {
  readonly routes: readonly Route[]
  /** Places that belong to no route. */
  readonly loose: readonly PlaceMention[]
}

const pickWords = `pick(?:ing|s|ed)?[ -]?up(?:s|ing)?|pick(?:s|ing)?|p/u|pu|origin(?:s|ating)?|orig|shippers?|ship(?:s|ping)?(?: from)?|loads? (?:in|at|from)|loading(?: in| at)?|collection|recog(?:er|ida)|origen|salida|d[eé]part|enl[eè]vement|abholung|leaving|load(?= ?[0-9]? ?:)|out of|from|desde|depuis`
const dropWords = `deliver(?:y|ies|ing|ed|s)?(?: to)?|dlvr?y?|del|drop(?:s|ping)?(?:[ -]?offs?)?|dest(?:ination)?s?|consignees?|receivers?|ship(?:ping)? to|unload(?:s|ing)?|final(?: stop)?|going to|headed to|destino|entrega(?:r)?|livraison|arriv[eé]e|zustellung|destinataire|hasta`
const stopWords = `stops?(?:[ -]?offs?)?|extra stops?|via|through|parada|arr[eê]t|intermediate(?: stops?)?`
const pickLetter = '(?<pickLetter>o)(?= ?[:=])'
const dropLetter = '(?<dropLetter>d)(?= ?[:=])'
const numbered = String.raw`(?:[ ]?#?[ ]?(?<number>\d{1,2})(?![\d/,-]|:\d))?`
const letterBefore = String.raw`(?<![\p{L}\d])`
const letterAfter = String.raw`(?![\p{L}])`
const cueSource = `${letterBefore}(?:(?<pick>${pickWords})|(?<drop>${dropWords})|(?<stop>${stopWords})|${pickLetter}|${dropLetter})${letterAfter}${numbered}`
const cue = new RegExp(cueSource, 'giu')
/** "to" before a place: not the "to" of "need to move". */
const toTail =
  /(?<![\p{L}])(?:to|into|for delivery to|a|à|nach|vers|hacia)(?:[ ](?:the|our|my|a|an|their|your|in|at|near|customer|consignee|dc|warehouse|plant|facility|store|yard|port|of|terminal|area|downtown|cold|storage|receiver))*[ ]{0,9}:?[ ]{0,9}$/iu
const joint = /(?:^|[\s),.\d\p{L}])(?:to|into|2|thru|-{1,3}>?|–|—|>{1,2}|=>|→|➔|⇒|a|à|nach|hasta)[ \t]*$/iu
const arrowStart = /^\s*(?:to|-+>|=>|→|➔|⇒|>)[ \t]*$/iu
const weakJoint = /^[ \t]*(?:\/{1,2}|\||;)[ \t]*$|[\t|]/
const listGap = /^[ \t]{0,9}(?:,|and|&|\+|y|et|und|or|, and|, or|;)?[ \t]{0,9}(?:then )?$/i
const turned =
  /(?<![\p{L}])(?:from|out of|ex|originating (?:in|at|from)|pick(?:ing)? up (?:in|at|from)|loading (?:in|at))[ ]*(?:our |the )?$/iu
const labelOfOther =
  /\b(?:date|time|window|appt|appointment|hours|number|no\.|instructions|contact|phone|notes?|ready|by|requirements?)\b/i

interface Cued {
  readonly role: Role
  readonly number: number | null
  readonly isLabel: boolean
  readonly isPlural: boolean
}

function lastCue(text: string, isLabel: boolean): Cued | null {
  let last: Cued | null = null
  for (const one of text.matchAll(cue)) {
    const { pick, drop, stop, pickLetter, dropLetter, number } = one.groups ?? {}
    const role =
      (pick ?? pickLetter) !== undefined ? 'pick' : (drop ?? dropLetter) !== undefined ? 'drop' : 'stop'
    const word = (pick ?? drop ?? stop ?? '').toLowerCase()
    const after = text.slice(one.index + one[0].length)
    // "drop trailer", "pickup date 12/3", "load from stock": the words are about something else.
    if (/^[ ]?(?:trailers?|deck|date|time|window|number|appt|hook|and hook|watch|charges?|by)\b/i.test(after))
      continue
    if (role === 'stop' && /^through$/.test(word) && !/^[ ]*$/.test(after)) continue
    last = {
      role,
      number: number === undefined ? null : Number(number),
      isLabel: isLabel || /^[ ]{0,9}(?:#?\d{1,9})?[ ]{0,9}(?:\([^)]{0,20}\))?[ ]{0,9}[:=\t]/.test(after),
      isPlural:
        /(?:ups|picks|drops|stops|offs|deliveries|shippers|consignees)$/.test(word) &&
        !/^(?:stops|drops|picks) (?:in|at)/.test(`${word}${after}`),
    }
  }
  return last
}

/** The words that say what a place is, from the end of the place before. */
function cueOf(text: string, from: number, at: number): Cued | null {
  const lineAt = Math.max(from, text.lastIndexOf('\n', at - 1) + 1)
  const line = text.slice(lineAt, at)
  const sentence = line.slice(
    Math.max(
      0,
      ...[...line.matchAll(/[.!?][ ]+(?=[\p{Lu}\d])|[ ]{2}|;/gu)].map((one) =>
        /(?:\bst|\bft|\bmt|\bave|\brd|\bp\.?u|\bdel|\bdest|\borig)$/i.test(line.slice(0, one.index))
          ? 0
          : one.index + one[0].length,
      ),
    ),
  )
  const isAtStart = lineAt > from || from === 0
  const own = lastCue(sentence, false)
  if (toTail.test(sentence) && !/(?:ship(?:ping)?|deliver\w*|going|headed) to[ :]*$/i.test(sentence)) {
    return {
      role: 'drop',
      number: null,
      isLabel: /^\s*(?:[-*•]\s*)?to\s*[:=\t]/i.test(sentence) && isAtStart,
      isPlural: false,
    }
  }
  if (own !== null) return own
  if (lineAt <= from && from > 0) return null
  // The line before may be a label: "Pickup:", then a name, a street and the city.
  const above = text.slice(from, lineAt).split('\n').slice(0, -1).reverse()
  let steps = 0
  for (const one of above) {
    if (one.trim() === '') {
      if (steps > 0) return null
      continue
    }
    steps++
    if (steps > 5) return null
    const start = /^[\s*_•>#\d.)-]{0,20}(.{0,60})/u.exec(one)?.[1] ?? ''
    const begun = new RegExp(cueSource, 'iu').exec(start)
    if (begun !== null && begun.index === 0 && !labelOfOther.test(start.slice(0, 40))) {
      const isPure =
        /^[ ]{0,9}(?:#?\d{1,9})?[ ]{0,9}(?:location|address|city|point|info(?:rmation)?|details|facility|party|warehouse)?[ ]{0,9}\*{0,2}(?:[:=\t-]|$)/i.test(
          start.slice(begun[0].length),
        )
      if (isPure) return lastCue(begun[0], true)
    }
    if (/^\s{0,9}to\s{0,9}[:]?\s{0,9}$/i.test(one))
      return { role: 'drop', number: null, isLabel: true, isPlural: false }
  }
  return null
}

const heading =
  /^[\s*_#]{0,9}(?:lane|load|shipment|option|quote|rfq|order|route)[ ]{0,9}#?[ ]{0,9}\d{1,3}\b|^\s{0,9}#?\d{1,3}[.):]\s/im

/** The routes of a text, by its places in order. */
class Reading {
  readonly routes: Route[] = []
  readonly loose: PlaceMention[] = []
  #open: Route | null = null

  get last(): RoutePlace | null {
    return this.#open?.places.at(-1) ?? null
  }
  get open(): Route | null {
    return this.#open
  }

  /** Whether only an origin is known. */
  get isFromOne(): boolean {
    return this.#open?.places.length === 1 && this.#open.places[0]?.role === 'pick'
  }

  has(role: Role): boolean {
    return this.#open?.places.some((one) => one.role === role) ?? false
  }

  start(mention: PlaceMention, role: Role, isTentative: boolean, isLabelled = false): void {
    this.close()
    this.#open = { places: [{ mention, role }], problems: [], isLabelled, isTentative, firstOfList: null }
  }

  /** One more lane from the origin of the open one. */
  startNext(drop: PlaceMention): void {
    const first = this.#open?.firstOfList ?? this.#open
    const origin = first?.places[0]
    if (first === null || origin === undefined) return
    this.close()
    const places = [origin, { mention: drop, role: 'drop' as const }]
    this.#open = { places, problems: [], isLabelled: false, isTentative: false, firstOfList: first }
  }

  add(mention: PlaceMention, role: Role): void {
    if (this.#open === null) this.start(mention, role, false)
    else this.#open.places.push({ mention, role })
  }

  close(): void {
    const route = this.#open
    this.#open = null
    if (route === null) return
    if (route.isTentative) this.loose.push(...route.places.map(({ mention }) => mention))
    else this.routes.push(route)
  }
}

type Link = 'next' | 'weak' | 'list' | 'turned' | null

function linkOf(text: string, before: PlaceMention | null, mention: PlaceMention): Link {
  if (before === null) return null
  if (mention.at - before.end > gapLengthMax) return null
  const gap = text.slice(before.end, mention.at)
  if (gap.includes('\n'))
    return arrowStart.test(gap) || (/\n[ \t]*(?:to|-+>|→|=>)[ \t]+$/i.test(gap) && gap.length < 60)
      ? 'next'
      : null
  if (turned.test(gap)) return 'turned'
  if (joint.test(gap) && !/[.!?][ ]+\p{Lu}/u.test(gap)) return 'next'
  if (listGap.test(gap) && gap.trim() !== '') return 'list'
  if (weakJoint.test(gap) || /^ {2,}$/.test(gap)) return 'weak'
  return /^[ ]*$/.test(gap) ? 'list' : null
}

function onPick(reading: Reading, mention: PlaceMention, said: Cued, isNew: boolean): void {
  const isMore = (said.number ?? 0) > 1 && reading.open !== null && !isNew
  if (isMore) reading.add(mention, reading.has('drop') ? 'stop' : 'pick')
  else if (
    reading.open === null ||
    reading.open.isTentative ||
    reading.has('drop') ||
    isNew ||
    !reading.has('pick')
  ) {
    const isFirst =
      reading.open !== null &&
      !reading.has('pick') &&
      !isNew &&
      !reading.open.isTentative &&
      reading.open.places.length > 0
    // "to Atlanta, GA, pickup in Dallas, TX": the delivery was named first.
    if (isFirst) reading.add(mention, 'pick')
    else reading.start(mention, 'pick', false, said.isLabel)
  } else {
    reading.add(mention, 'pick')
    if (said.number === null && !said.isPlural)
      reading.open.problems.push('Two pickups are named: one load with a stop, or two lanes')
  }
}

function onDrop(reading: Reading, mention: PlaceMention, said: Cued, isNew: boolean, isNear: boolean): void {
  if (reading.open === null || isNew || (reading.open.isTentative && !isNear)) {
    reading.start(mention, 'drop', false, said.isLabel)
    return
  }
  reading.open.isTentative = false
  if (reading.has('drop') && said.number === null && !said.isPlural) {
    reading.open.problems.push('Several deliveries are named: one load with stops, or several lanes')
  }
  reading.add(mention, 'drop')
}

function isLinkedOn(text: string, mention: PlaceMention, next: PlaceMention | undefined): boolean {
  return next !== undefined && linkOf(text, mention, next) === 'next'
}

/** Whether a word names a place only where a route is certain. */
function isDoubtful(mention: PlaceMention, link: Link, isLinked: boolean): boolean {
  if (mention.isFirm) return false
  const isCode = /^[A-Z]{2,4}$/.test(mention.text)
  return link !== 'next' && link !== 'weak' && !isLinked && (wordLikeCodes.has(mention.text) || isCode)
}

/** Words that begin a list of destinations, each in its own line: "to each of these:". */
const listStart =
  /(?<![\p{L}])(?:to|into)[ ](?:(?:each|all|both|either|these|those|the|of|following|places|cities|destinations|locations|stops|below)[ ]{0,2}){1,6}[:\-–]?\s*$/iu
const onlyPlace = /^[ \t]{0,9}(?:[-*•]|\d{1,2}[.)])?[ \t]{0,9}$/

/** Whether a line contains a place and nothing else. */
function isAloneInLine(text: string, { at, end }: PlaceMention): boolean {
  const before = text.slice(Math.max(0, at - 30), at)
  const after = text.slice(end, end + 30)
  return onlyPlace.test(before.slice(before.lastIndexOf('\n') + 1)) && /^[ \t.,;]{0,9}(?:\n|$)/.test(after)
}

/** How far before a place the words that say what it is may stand. */
const gapLengthMax = 1_000
const PLACES_PER_STEP = 20

/** Like `routesOfSteps`, without a pause. */
export function routesOf(text: string, places: readonly PlaceMention[]): Routes {
  return finished(routesOfSteps(text, places))
}

/**
 * Puts the places of a text in routes, by the words before them: from, to, an arrow, Pickup:, stop in.
 *
 * @param places those of `placesIn`
 */
export function* routesOfSteps(text: string, places: readonly PlaceMention[]): Steps<Routes> {
  const reading = new Reading()
  let before: PlaceMention | null = null
  let lastSaid: Cued | null = null
  let isList = false
  for (const [nth, mention] of places.entries()) {
    if (nth % PLACES_PER_STEP === 0) yield
    const from = Math.max(before?.end ?? 0, mention.at - gapLengthMax)
    const gap = text.slice(from, mention.at)
    const link = linkOf(text, before, mention)
    const linked = isLinkedOn(text, mention, places[nth + 1])
    const said = cueOf(text, from, mention.at)
    if (!mention.isFirm && said === null && link === null && !linked) continue
    if (
      isDoubtful(mention, link, linked) &&
      said?.isLabel !== true &&
      !(said !== null && !wordLikeCodes.has(mention.text))
    )
      continue
    const isNext = isAloneInLine(text, mention) && reading.last?.mention === before
    const above = gap.replace(/(?:[-*•]|\d{1,2}[.)])?[ \t]{0,9}$/, '')
    const isFirst = isNext && reading.isFromOne && listStart.test(above)
    isList = isFirst || (isList && isNext && /^[.,;]?\s{0,9}$/.test(above))
    if (isList) {
      if (isFirst) reading.add(mention, 'drop')
      else reading.startNext(mention)
      before = mention
      continue
    }
    const isNew = before !== null && heading.test(gap)
    place(reading, { mention, before, link, linked, said, lastSaid, isNew })
    before = mention
    if (said !== null || link !== 'list') lastSaid = said
  }
  reading.close()
  return { routes: reading.routes, loose: reading.loose }
}

interface Step {
  readonly mention: PlaceMention
  readonly before: PlaceMention | null
  readonly link: Link
  readonly linked: boolean
  readonly said: Cued | null
  readonly lastSaid: Cued | null
  readonly isNew: boolean
}

function place(reading: Reading, { mention, before, link, linked, said, lastSaid, isNew }: Step): void {
  const last = reading.last
  const follows = last !== null && last.mention === before
  if (link === 'turned' && follows && last.role !== 'pick') {
    reading.add(mention, 'pick')
    return
  }
  if (link === 'turned' && follows && reading.open?.isTentative) {
    last.role = 'drop'
    reading.open.isTentative = false
    reading.add(mention, 'pick')
    return
  }
  if (said?.role === 'stop' && reading.open !== null && !isNew) {
    reading.add(mention, 'stop')
    return
  }
  if (link === 'next' && follows && !isNew && !(said?.isLabel === true && said.role === 'pick')) {
    if (reading.open !== null) reading.open.isTentative = false
    // A to B to C: B is a stop. After a delivery of its own line, it is not certain.
    if (last.role === 'drop') last.role = 'stop'
    reading.add(mention, 'drop')
    return
  }
  if (link === 'weak' && follows && said === null && !isNew && last.role === 'pick' && !linked) {
    if (reading.open !== null) reading.open.isTentative = false
    reading.add(mention, 'drop')
    return
  }
  if (link === 'list' && follows && !isNew && said === null) {
    if (last.role === 'stop' || lastSaid?.isPlural === true) {
      reading.add(mention, last.role)
      return
    }
    if (linked || last.role === 'drop') {
      if (linked && reading.has('drop')) reading.start(mention, 'pick', true)
      else {
        reading.add(mention, last.role)
        reading.open?.problems.push(
          'Several places are named side by side: one load with stops, or several lanes',
        )
      }
      return
    }
    reading.add(mention, last.role)
    reading.open?.problems.push(
      'Several places are named side by side: one load with stops, or several lanes',
    )
    return
  }
  if (said?.role === 'pick') onPick(reading, mention, said, isNew)
  else if (said?.role === 'drop')
    onDrop(reading, mention, said, isNew, link === 'next' || (follows && link !== null))
  else if (said?.role === 'stop') reading.start(mention, 'stop', false, said.isLabel)
  else reading.start(mention, 'pick', true)
}
