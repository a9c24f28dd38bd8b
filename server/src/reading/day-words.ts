import { en } from 'chrono-node'

/** A day that a text names. */
export interface DayMention {
  readonly at: number
  readonly end: number
  readonly text: string
  /** 2026-12-03; null if it is a question. */
  readonly day: string | null
  /** 14:00; null if the text says none. */
  readonly time: string | null
  readonly ask: { readonly detail: string; readonly options: readonly string[] } | null
  /** The weekday alone, 0 for Sunday: it may be the one after another day. */
  readonly weekday: number | null
  /** Whether the day is before that of the mail. */
  readonly isPast: boolean
}

/** When a mail was sent. */
export interface SentDay {
  /** The day in the brokerage's zone: 2026-11-27. */
  readonly day: string
  /** The day in the zone of the sender, if the mail says it and it is another. */
  readonly senderDay: string | null
  /** Whether the mail is written in a language that writes the day before the month. */
  readonly isDayFirst: boolean
}

const DAY = 86_400_000
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)
const after = (day: string, days: number) => dayOf(Date.parse(day) + days * DAY)
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const monthName = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\b/i
const weekdayName = /\b(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*)\b/i
const numeric = /(?<!\d)(\d{1,2})([/-])(\d{1,2})(?:[/-](\d{4}|\d{2}))?(?!\d)/
const iso = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/

const question = (detail: string, options: readonly string[] = []) => ({ detail, options })

/** A day by its number and month: the one of this year, or of the next when it has passed. */
function ofYear(month: number, date: number, sent: string): { day: string | null; ask: DayMention['ask'] } {
  const year = Number(sent.slice(0, 4))
  const make = (of: number) => {
    const day = `${of}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`
    return !Number.isNaN(Date.parse(day)) && dayOf(Date.parse(day)) === day ? day : null
  }
  const [now, next] = [make(year), make(year + 1)]
  if (now !== null && now >= sent && Date.parse(now) - Date.parse(sent) <= 300 * DAY)
    return { day: now, ask: null }
  if (now !== null && now < sent && Date.parse(sent) - Date.parse(now) <= 120 * DAY) {
    return { day: null, ask: question('The day has passed', next === null ? [now] : [now, next]) }
  }
  if (next === null) return { day: null, ask: question('The day is not in the calendar') }
  return { day: next, ask: null }
}

function numericDay(
  found: RegExpExecArray,
  sent: SentDay,
): { day: string | null; ask: DayMention['ask'] } | null {
  const [, a = '', , b = '', year] = found
  const [first, second] = [Number(a), Number(b)]
  const full = year === undefined ? null : year.length === 2 ? 2000 + Number(year) : Number(year)
  const make = (month: number, date: number) => {
    if (month < 1 || month > 12 || date < 1 || date > 31) return null
    if (full === null) return ofYear(month, date, sent.day)
    const day = `${full}-${String(month).padStart(2, '0')}-${String(date).padStart(2, '0')}`
    const isDay = !Number.isNaN(Date.parse(day)) && dayOf(Date.parse(day)) === day
    if (!isDay) return { day: null, ask: question('The day is not in the calendar') }
    return day < sent.day ? { day: null, ask: question('The day has passed', [day]) } : { day, ask: null }
  }
  const american = make(first, second)
  const other = make(second, first)
  if (american === null) return other
  if (other === null || first === second || !sent.isDayFirst) return american
  const options = [american, other].flatMap(({ day, ask }) => day ?? ask?.options[0] ?? [])
  return { day: null, ask: question('The day has two readings: month first, or day first', options) }
}

function weekdayDay(
  written: string,
  weekday: number,
  sent: SentDay,
): { day: string | null; ask: DayMention['ask'] } {
  const today = new Date(Date.parse(sent.day)).getUTCDay()
  const ahead = (weekday - today + 7) % 7
  const first = after(sent.day, ahead)
  const options = [first, after(first, 7)]
  if (/\b(?:last|past|previous)\b/i.test(written)) return { day: null, ask: question('The day has passed') }
  if (/\bnext\b/i.test(written)) {
    return { day: null, ask: question('"next" may be the coming one or that of the week after', options) }
  }
  if (ahead === 0) return { day: null, ask: question('The mail was sent on this day of the week', options) }
  if (sent.senderDay !== null)
    return { day: null, ask: question('The mail was sent around midnight', options) }
  return { day: first, ask: null }
}

/** Reads what chrono found as a day, strictly; null for numbers that are no days. */
function meaning(
  written: string,
  parsed: { day: string; hasDay: boolean },
  sent: SentDay,
): Pick<DayMention, 'day' | 'ask' | 'weekday'> | null {
  const weekdayText = weekdayName.exec(written)?.[0].toLowerCase() ?? null
  const weekday =
    weekdayText === null ? -1 : weekdays.findIndex((name) => name.startsWith(weekdayText.slice(0, 3)))
  const slashed = numeric.exec(written)
  const isoDay = iso.exec(written)
  const dated =
    isoDay !== null
      ? {
          day: isoDay[0] < sent.day ? null : isoDay[0],
          ask: isoDay[0] < sent.day ? question('The day has passed', [isoDay[0]]) : null,
        }
      : slashed !== null
        ? numericDay(slashed, sent)
        : monthName.test(written.replace(weekdayName, '')) && parsed.hasDay
          ? /\b(?:19|20)\d\d\b/.test(written)
            ? {
                day: parsed.day < sent.day ? null : parsed.day,
                ask: parsed.day < sent.day ? question('The day has passed', [parsed.day]) : null,
              }
            : ofYear(Number(parsed.day.slice(5, 7)), Number(parsed.day.slice(8)), sent.day)
          : undefined
  if (dated === null) return null
  if (dated !== undefined) {
    const isOther =
      weekday >= 0 && dated.day !== null && new Date(Date.parse(dated.day)).getUTCDay() !== weekday
    if (isOther)
      return {
        day: null,
        weekday: null,
        ask: question(`${dated.day} is a ${weekdays[new Date(Date.parse(dated.day ?? '')).getUTCDay()]}`, [
          dated.day ?? '',
        ]),
      }
    return { ...dated, weekday: null }
  }
  const relative = /\b(today|tonight|tomorrow|tmrw|tmw|yesterday)\b/i.exec(written)?.[1]?.toLowerCase()
  if (relative !== undefined) {
    const days =
      relative === 'yesterday'
        ? -1
        : relative.startsWith('to') && relative !== 'today' && relative !== 'tonight'
          ? 1
          : relative.startsWith('tm')
            ? 1
            : 0
    const day = after(sent.day, days)
    if (days < 0) return { day: null, ask: question('The day has passed', [day]), weekday: null }
    if (sent.senderDay !== null)
      return {
        day: null,
        ask: question('The mail was sent around midnight', [day, after(sent.senderDay, days)]),
        weekday: null,
      }
    return { day, ask: null, weekday: null }
  }
  if (weekday >= 0) {
    const isPlain = !/\b(?:next|last|past|previous)\b/i.test(written)
    return { ...weekdayDay(written, weekday, sent), weekday: isPlain ? weekday : null }
  }
  if (/\bin \d+ days?\b|\b\d+ days? from\b/i.test(written))
    return { day: parsed.day, ask: null, weekday: null }
  return null
}

const ordinal = /\bthe (\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|time|load|stop|pick|drop))/gi

/** The day of this month or the next: `the 3rd`. */
function ordinals(text: string, sent: SentDay): DayMention[] {
  return [...text.matchAll(ordinal)].flatMap((one) => {
    const date = Number(one[1])
    if (date < 1 || date > 31) return []
    const month = Number(sent.day.slice(5, 7))
    const now = ofYear(month, date, sent.day)
    const next = ofYear((month % 12) + 1, date, sent.day)
    const isSoon = now.day !== null && now.day >= sent.day
    const chosen = isSoon ? now : next
    const isFar = chosen.day === null || Date.parse(chosen.day) - Date.parse(sent.day) > 21 * DAY
    const ask = isFar ? question('The month is not said', chosen.day === null ? [] : [chosen.day]) : null
    return [
      {
        at: one.index,
        end: one.index + one[0].length,
        text: one[0],
        day: isFar ? null : chosen.day,
        time: null,
        ask,
        weekday: null,
        isPast: false,
      },
    ]
  })
}

/** Two days that are one answer: `12/3 or 12/4`, `Mon-Wed`. */
function ranges(text: string, days: readonly DayMention[]): DayMention[] {
  const joined: DayMention[] = []
  for (const day of days) {
    const before = joined.at(-1)
    const gap = before === undefined ? '' : text.slice(before.end, day.at)
    if (before !== undefined && /^ ?(?:or|-|–|—|\/|to|thru|through|and|&) ?(?:on )?$/i.test(gap)) {
      const options = [
        before.day,
        ...(before.ask?.options ?? []),
        day.day,
        ...(day.ask?.options ?? []),
      ].flatMap((one) => one ?? [])
      joined[joined.length - 1] = {
        ...before,
        end: day.end,
        text: text.slice(before.at, day.end),
        day: null,
        weekday: null,
        ask: question('Several days are named', [...new Set(options)]),
      }
    } else joined.push(day)
  }
  return joined
}

/** Words that say a time without a day that can be stored. */
const vague =
  /\b(?:asap|a\.s\.a\.p\.?|right away|immediately|next week|this week|early (?:next )?week|late (?:next )?week|end of (?:the )?(?:week|month)|(?:ready|available) now|next month|mid[- ]?week|weekend|(?:sun|mon|tues|wednes|thurs|fri|satur)days|daily|weekly|every day)\b/gi

/**
 * The days that a text names, in order. Days are read as Americans write them, relative to the day on which the mail was sent.
 *
 * @example daysIn('PU 12/3', { day: '2026-11-27', senderDay: null, isDayFirst: false })[0]?.day // '2026-12-03'
 */
export function daysIn(text: string, sent: SentDay): DayMention[] {
  const found: DayMention[] = ordinals(text, sent)
  const reference = { instant: new Date(`${sent.day}T12:00:00Z`), timezone: 0 }
  let lineAt = 0
  for (const line of text.replaceAll(otherNumbers, (number) => 'x'.repeat(number.length)).split('\n')) {
    for (const piece of pieces(line)) {
      for (const one of en.casual.parse(piece.text, reference, { forwardDate: true })) {
        const spans = one.end === null || one.end === undefined ? [one.text] : splitRange(one.text)
        let from = 0
        for (const span of spans) {
          const written = span.replace(/,$/, '')
          const inside = one.text.indexOf(written, from)
          from = inside + written.length
          const at = lineAt + piece.at + one.index + inside
          const again =
            spans.length === 1 ? one : en.casual.parse(written, reference, { forwardDate: true })[0]
          if (again === undefined) continue
          const start = again.start
          const day = `${start.get('year')}-${String(start.get('month')).padStart(2, '0')}-${String(start.get('day')).padStart(2, '0')}`
          const read = isNumber(text, at, written)
            ? null
            : meaning(written, { day, hasDay: start.isCertain('day') }, sent)
          if (read === null || found.some((other) => other.at < at + written.length && other.end > at))
            continue
          const time = start.isCertain('hour')
            ? `${String(start.get('hour')).padStart(2, '0')}:${String(start.get('minute') ?? 0).padStart(2, '0')}`
            : null
          const isPast = read.day === null && (read.ask?.detail.includes('passed') ?? false)
          found.push({ at, end: at + written.length, text: written, time, isPast, ...read })
        }
      }
    }
    lineAt += line.length + 1
  }
  for (const one of text.matchAll(vague)) {
    const end = one.index + one[0].length
    if (found.some((other) => other.at < end && other.end > one.index)) continue
    const ask = question(
      `"${one[0]}" is not a day`,
      /asap|now|away|immediately/i.test(one[0]) ? [sent.day] : [],
    )
    found.push({ at: one.index, end, text: one[0], day: null, time: null, ask, weekday: null, isPast: false })
  }
  return ranges(
    text,
    found.sort((a, b) => a.at - b.at),
  )
}

/** Chrono reads a line in pieces: it would join the words of two cells, or of both ends of a lane. */
function pieces(line: string): { at: number; text: string }[] {
  return [...line.slice(0, 2_000).matchAll(/[^\t|;()[\]]+/g)].map((one) => ({ at: one.index, text: one[0] }))
}

function splitRange(written: string): string[] {
  const parts = written
    .split(/\s{0,9}(?:–|—|\bto\b|\bthrough\b|\bthru\b|\buntil\b|(?<=[a-z\d]) ?- ?(?=[a-z\d]))\s{0,9}/i)
    .filter((part) => part !== '')
  return parts.length === 2 &&
    parts.every((part) => numeric.test(part) || monthName.test(part) || weekdayName.test(part))
    ? parts
    : [written]
}

/** Weights, amounts, postal codes, phone numbers: chrono would take some for hours. */
const otherNumbers =
  /\$ ?\d[\d,.]*|\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\d/-])\d{5,}(?![\d/-])|\b\d{3}[-. )]+\d{3}[-. ]\d{4}\b|(?<![\d/:-])\d+(?:\.\d+)?(?= ?(?:lbs?\b|pounds|#|k\b|kgs?\b|pallets|plts|skids|miles|mi\b|%|°|F\b|C\b|['’"]|ft\b))/gi

/** Whether digits are a part of another number: a weight, an amount, a phone number, a fraction. */
function isNumber(text: string, at: number, written: string): boolean {
  const before = text.slice(Math.max(0, at - 2), at)
  const next = text.slice(at + written.length, at + written.length + 8)
  if (/[$#\d.]$/.test(before) && /^\d/.test(written)) return true
  return (
    /^(?: ?(?:lbs?|pounds|#|pallets|plts|skids|miles|mi|%|°|["”])|[.,]?\d|-\d{4})/i.test(next) &&
    /\d$/.test(written)
  )
}

/** The first such weekday on or after a day. @example weekdayFrom('2026-11-30', 5) // '2026-12-04' */
export function weekdayFrom(day: string, weekday: number): string {
  return after(day, (weekday - new Date(Date.parse(day)).getUTCDay() + 7) % 7)
}
