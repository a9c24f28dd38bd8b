import Type, { type TEnum, type TProperties, type TSchema } from 'typebox'
import { dollarsMax, labelLengthMax, nameLengthMax } from './limits.ts'

/**
 * The kinds of field that travel over the wire. Each says in `x-expected` what would be right, in words that follow
 * "must be": the one place from which error texts are made.
 */

declare module 'typebox' {
  interface TSchemaOptions {
    'x-expected'?: string
    /**
     * The document's `multipleOf`. The service checks cents by itself: by division 9,999,999.99 is no multiple of 0.01,
     * because neither number is exact in binary.
     */
    'x-multiple-of'?: number
  }
}

/**
 * Control characters, bidirectional overrides, lone surrogates and noncharacters. They hide text from a reader, break
 * logs, or cannot be stored as UTF-8 at all. (Tab, line feed and carriage return are control characters too.)
 */
const unprintable = /[\p{Cc}\u202A-\u202E\u2066-\u2069]|\p{Noncharacter_Code_Point}/u

/** The same as a pattern that other languages read, too; of a whole text, which may be empty. */
export const printable = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$'

/** True when a text can be stored and shown as it is. @example isDisplayText('Café') // true */
export function isDisplayText(text: string): boolean {
  return text.isWellFormed() && !unprintable.test(text)
}

/** A letter, digit or sign that leaves a mark on the screen: a space, a joiner or a zero-width mark leaves none. */
const visible = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u

/** True when a reader sees something of a text. @example isVisible('\u200B') // false */
export function isVisible(text: string): boolean {
  return visible.test(text)
}

/** True when `dollars` is an exact amount of cents from 0 to the largest we keep. -0, NaN and Infinity are not. */
export function isDollars(dollars: number): boolean {
  return (
    Number.isFinite(dollars) &&
    dollars >= 0 &&
    dollars <= dollarsMax &&
    !Object.is(dollars, -0) &&
    Number(dollars.toFixed(2)) === dollars
  )
}

/** Text that people read: 1 to `max` code points, no control characters, at least one character that can be seen. */
export function text(description: string, max: number = nameLengthMax) {
  return Type.Refine(
    Type.String({
      description,
      minLength: 1,
      maxLength: max,
      pattern: printable,
      'x-expected': `text of 1 to ${max} characters without control characters`,
    }),
    (value) => isVisible(value) && isDisplayText(value),
    () => 'text',
  )
}

/** A short label, such as the name of a token. */
export function label(description: string) {
  return text(description, labelLengthMax)
}

/** An amount of dollars from 0, exact to the cent. */
export function dollars(description: string) {
  return Type.Refine(
    Type.Number({
      description,
      minimum: 0,
      maximum: dollarsMax,
      'x-multiple-of': 0.01,
      'x-expected': 'a number of dollars from 0 to 9,999,999.99 with at most two decimals',
    }),
    (value) => isDollars(value),
    () => 'dollars',
  )
}

/** An amount of dollars above 0, exact to the cent. */
export function positiveDollars(description: string) {
  return Type.Refine(
    Type.Number({
      description,
      exclusiveMinimum: 0,
      maximum: dollarsMax,
      'x-multiple-of': 0.01,
      'x-expected': 'a number of dollars greater than 0 and up to 9,999,999.99 with at most two decimals',
    }),
    (value) => isDollars(value) && value > 0,
    () => 'dollars',
  )
}

/** The lane_ref of a lane, in an answer. */
export const laneRef = Type.String({
  description: 'REQUESTID-LANENUM-COUNT, unique, assigned by the service',
  minLength: 1,
  examples: ['48211093754-1-1'],
})

const isoTime =
  /^(\d{4})-(\d{2})-(\d{2})(?:T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/

/**
 * Reads an ISO 8601 day or time, to epoch milliseconds; null when it is not one or names no real day. Systems write
 * times without a zone as well: those, and days, are read as UTC.
 *
 * @example readTime('2026-03-01T14:00:00Z') // 1772373600000
 * @example readTime('2026-03-01T14:00') // 1772373600000
 */
export function readTime(value: string): number | null {
  const match = isoTime.exec(value)
  if (match === null) return null
  const [, year, month, day, clock = '00:00', zone = 'Z'] = match
  const hoursAndMinutes = zone.length === 3 ? `${zone}:00` : zone
  const milliseconds = Date.parse(`${year}-${month}-${day}T${clock.replace(',', '.')}${hoursAndMinutes}`)
  if (Number.isNaN(milliseconds) || !isRealDay(Number(year), Number(month), Number(day))) return null
  return milliseconds
}

function isRealDay(year: number, month: number, day: number): boolean {
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1) return false
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** True for a calendar day as `YYYY-MM-DD` that exists. */
export function isDay(value: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)
  return match !== null && isRealDay(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** A moment: ISO 8601, UTC unless it says otherwise. (No `format`: date-time is narrower, and needs a zone.) */
export function time(description: string) {
  return Type.Refine(
    Type.String({
      description: `${description}. A time without a zone, or a day, is read as UTC`,
      pattern: isoTime.source,
      examples: ['2026-03-01T14:00:00Z'],
      'x-expected': 'a time in ISO 8601, such as 2026-03-01T14:00:00Z',
    }),
    (value) => readTime(value) !== null,
    () => 'time',
  )
}

/** A calendar day. */
export function day(description: string) {
  return Type.Refine(
    Type.String({ description, format: 'date', 'x-expected': 'a day as YYYY-MM-DD, such as 2026-03-01' }),
    (value) => isDay(value),
    () => 'day',
  )
}

/** The body of a partial change: what is given is changed, and something must be given. */
export function changeOf<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, {
    minProperties: 1,
    'x-expected': `a JSON object with at least one of ${Object.keys(properties).join(', ')}`,
  })
}

export function wholeNumber(description: string, minimum: number, maximum: number) {
  return Type.Integer({
    description,
    minimum,
    maximum,
    'x-expected': `a whole number from ${minimum.toLocaleString('en-US')} to ${maximum.toLocaleString('en-US')}`,
  })
}

export function oneOf<const Values extends string[]>(
  description: string,
  values: readonly [...Values],
): TEnum<Values> {
  return Type.Enum<Values>(values, { description, 'x-expected': `one of ${values.join(', ')}` })
}

/** The extras of an answer that are asked for, as a comma list. */
export function includeOf(extras: readonly string[], example: string) {
  const extra = `\\s*(${extras.join('|')})\\s*`
  return Type.String({
    description: `Extras as a comma list: ${extras.join(', ')}`,
    pattern: `^${extra}(,${extra})*$`,
    examples: [example],
    'x-expected': `a comma list of ${extras.join(', ')}`,
  })
}

const emailForm = /^[^\s@<>()[\]\\,;:"]+@[^\s@.<>()[\]\\,;:"]+(\.[^\s@.<>()[\]\\,;:"]+)+$/

export function email(description: string) {
  return Type.Refine(
    Type.String({
      description,
      maxLength: 254,
      pattern: emailForm.source,
      'x-expected': 'an e-mail address of at most 254 characters, such as ana@example.com',
    }),
    (value) => isDisplayText(value),
    () => 'email',
  )
}

/** The id of a record of the tenant's own, in an address. No id is larger, so a larger one is never looked for. */
export const recordId = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: 2_147_483_647,
  'x-expected': 'the id of a record, a whole number from 1 to 2,147,483,647',
})

/**
 * A lane_ref as somebody sends it. Only what could never be kept or shown is refused by its form; any other text,
 * an empty one included, is looked for and is then no lane.
 */
export function sentLaneRef(description: string) {
  return Type.Refine(
    Type.String({
      description,
      maxLength: nameLengthMax,
      pattern: printable,
      examples: ['48211093754-1-1'],
      'x-expected': `text of at most ${nameLengthMax} characters without control characters`,
    }),
    (value) => isDisplayText(value),
    () => 'text',
  )
}

/** No control characters but white space, and none that reverse the direction of text. */
const placeForm = (() => {
  const hidden = '\\u0000-\\u0008\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
  return `^[^${hidden}]*$`
})()

/**
 * A pickup or delivery place as it travels: `City, ST`, or another form that the server reads (`readAnyPlace` of the
 * geography: a ZIP code, an airport code, a nickname). White space of any kind does not matter.
 */
export function place(description: string) {
  return Type.Refine(
    Type.String({
      description,
      maxLength: 100,
      pattern: placeForm,
      examples: ['Dallas, TX'],
      'x-expected': 'a city and state such as "Dallas, TX", of at most 100 characters',
    }),
    (value) => isDisplayText(value.replaceAll(/\s/g, ' ')),
    () => 'place',
  )
}

/** An equipment as it travels: a code, or a name such as `53' dry van`. `equipmentCode` of the engine knows the names. */
export function equipment(description: string) {
  return Type.String({
    description,
    pattern: `^[A-Za-z0-9_ '’"().-]{1,40}$`,
    examples: ['V'],
    'x-expected': 'an equipment code of 1 to 20 letters, digits, "_" or "-", such as V, R or F',
  })
}

/** Nullable in answers: absent is null there. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}
