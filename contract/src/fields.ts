import Type, { type TEnum, type TProperties, type TSchema } from 'typebox'
import { dollarsMax, labelLengthMax, milesMax, nameLengthMax } from './limits.ts'
import { timeZoneNamed } from './time-zone.ts'

/**
 * The field types of requests and responses. `x-expected` describes a valid value in words that follow "must be". All
 * validation messages are built from it.
 */

declare module 'typebox' {
  interface TSchemaOptions {
    'x-expected'?: string
    /**
     * The `multipleOf` of the OpenAPI document. The service validates cents itself, because in binary floating point
     * 9,999,999.99 is not an exact multiple of 0.01.
     */
    'x-multiple-of'?: number
  }
}

/**
 * Control characters (including tab, line feed and carriage return), bidirectional overrides and noncharacters. They
 * hide text from readers, break logs, or cannot be stored as UTF-8.
 */
const unprintable = /[\p{Cc}\u202A-\u202E\u2066-\u2069]|\p{Noncharacter_Code_Point}/u

/**
 * A similar rule as a portable regular expression for the OpenAPI document. It matches a whole text, which may be
 * empty.
 */
export const printable = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$'

/** True if a text can be saved and displayed unchanged. @example isDisplayText('Café') // true */
export function isDisplayText(text: string): boolean {
  return text.isWellFormed() && !unprintable.test(text)
}

/** Any character that is visible on screen. Spaces, joiners and zero-width characters are not. */
const visible = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u

/** True if a text has at least one visible character. @example isVisible('\u200B') // false */
export function isVisible(text: string): boolean {
  return visible.test(text)
}

/** True if `dollars` is a whole number of cents from 0 to the maximum. False for -0, NaN and Infinity. */
export function isDollars(dollars: number): boolean {
  return (
    Number.isFinite(dollars) &&
    dollars >= 0 &&
    dollars <= dollarsMax &&
    !Object.is(dollars, -0) &&
    Number(dollars.toFixed(2)) === dollars
  )
}

/** Display text: 1 to `max` code points, no control characters, at least one visible character. */
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

/** The lane_ref of a quote, in a response. */
export const laneRef = Type.String({
  description: 'REQUESTID-LANENUM-COUNT, unique, assigned by the service',
  minLength: 1,
  examples: ['48211093754-1-1'],
})

/** The offsets from UTC that abbreviations of time zones in North America name, in minutes. */
export const zoneMinutes: ReadonlyMap<string, number> = new Map([
  ['Z', 0],
  ['UTC', 0],
  ['GMT', 0],
  ['NST', -210],
  ['NDT', -150],
  ['AST', -240],
  ['ADT', -180],
  ['EST', -300],
  ['EDT', -240],
  ['CST', -360],
  ['CDT', -300],
  ['MST', -420],
  ['MDT', -360],
  ['PST', -480],
  ['PDT', -420],
  ['AKST', -540],
  ['AKDT', -480],
  ['HST', -600],
])

/** The extended form, also as RFC 3339 and logs write it: a blank or a small t before the time, a blank before the zone, a leap second. */
const isoTime =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d{1,9})?)?|24:00(?::00)?) ?([Zz]|UTC|GMT|(?:AK|[NAECMP])[SD]T|HST|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/

/** The basic form, without separators. */
const basicTime =
  /^(\d{4})(\d{2})(\d{2})(?:T((?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:[.,]\d{1,9})?)?)(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/

/**
 * Parses an ISO 8601 date or time, in the extended or the basic form, to epoch milliseconds. Null if the text is invalid or the date does not exist.
 * Dates and times without a zone are read as UTC.
 *
 * @example readTime('2026-03-01T14:00:00Z') // 1772373600000
 * @example readTime('2026-03-01T14:00') // 1772373600000
 * @example readTime('20260301T140000Z') // 1772373600000
 * @example readTime('2026-03-01 08:00 CST') // 1772373600000
 */
export function readTime(value: string): number | null {
  const match = isoTime.exec(value) ?? basicTime.exec(value)
  if (match === null) return null
  const [, year, month, day, sent = '00:00', zone = 'Z'] = match
  const clock = sent.replace(/^(\d{2})(\d{2})/, '$1:$2').replace(/^(\d{2}:\d{2})(\d{2})/, '$1:$2')
  const named = zoneMinutes.get(zone.toUpperCase())
  const offset = named !== undefined ? 'Z' : zone.length === 3 ? `${zone}:00` : zone
  // A leap second is the beginning of the next minute.
  const isLeap = /^\d{2}:\d{2}:60/.test(clock)
  const read = isLeap ? `${clock.slice(0, 6)}59` : clock.replace(',', '.')
  const milliseconds =
    Date.parse(`${year}-${month}-${day}T${read}${offset}`) - (named ?? 0) * 60_000 + (isLeap ? 1_000 : 0)
  if (Number.isNaN(milliseconds) || !isRealDay(Number(year), Number(month), Number(day))) return null
  return milliseconds
}

function isRealDay(year: number, month: number, day: number): boolean {
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1) return false
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** True for an existing calendar date in the form `YYYY-MM-DD`. */
export function isDay(value: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)
  return match !== null && isRealDay(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** An ISO 8601 time, UTC if it has no zone. (No `format`, because `date-time` requires a zone.) */
export function time(description: string) {
  return Type.Refine(
    Type.String({
      description: `${description}. A time without a zone, or a date, is read as UTC`,
      pattern: `${isoTime.source}|${basicTime.source}`,
      examples: ['2026-03-01T14:00:00Z'],
      'x-expected': 'a time in ISO 8601, such as 2026-03-01T14:00:00Z',
    }),
    (value) => readTime(value) !== null,
    () => 'time',
  )
}

/** A calendar date. */
export function day(description: string) {
  return Type.Refine(
    Type.String({ description, format: 'date', 'x-expected': 'a date as YYYY-MM-DD, such as 2026-03-01' }),
    (value) => isDay(value),
    () => 'day',
  )
}

/** Loaded miles: more than 0, up to `milesMax`. */
export function loadedMiles(description: string) {
  return Type.Number({
    description,
    exclusiveMinimum: 0,
    maximum: milesMax,
    'x-expected': `a number of miles greater than 0 and up to ${milesMax.toLocaleString('en-US')}`,
  })
}

/** The body of a partial update. At least one member is required; absent members do not change. */
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

/** The requested extras of a response, as a comma-separated list. */
export function includeOf(extras: readonly string[], example: string) {
  const extra = `\\s*(${extras.join('|')})\\s*`
  return Type.String({
    description: `Extras as a comma-separated list: ${extras.join(', ')}`,
    pattern: `^${extra}(,${extra})*$`,
    examples: [example],
    'x-expected': `a comma-separated list of ${extras.join(', ')}`,
  })
}

/** The extras that a value of `includeOf` names. @example includedIn('estimate, curve') // Set { 'estimate', 'curve' } */
export function includedIn<Extra extends string>(include: string | undefined): ReadonlySet<Extra> {
  return new Set((include?.split(',') ?? []).map((extra) => extra.trim()) as Extra[])
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

/** A phone number as a person writes it, or empty text. */
export function phone(description: string) {
  return Type.String({
    description,
    maxLength: 40,
    pattern: '^(?:\\+?[0-9(](?:[ ().\\/-]*[0-9]){4,19}[ ).]*(?:(?:ext\\.?|x) ?[0-9]{1,6})?)?$',
    'x-expected':
      'a phone number of 5 to 20 digits, such as (312) 555-0142 or +1 312 555 0142 ext. 7, or empty text',
  })
}

/** The IANA name of a time zone, any case. */
export function timeZone(description: string) {
  return Type.Refine(
    Type.String({
      description,
      maxLength: 64,
      examples: ['America/Chicago'],
      'x-expected': 'the IANA name of a time zone, such as America/Chicago',
    }),
    (value) => timeZoneNamed(value) !== null,
    () => 'timeZone',
  )
}

/** The id of a tenant's record, in a URL. No id exceeds the maximum, so larger values are rejected without a query. */
export const recordId = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: 2_147_483_647,
  'x-expected': 'the id of a record, a whole number from 1 to 2,147,483,647',
})

/**
 * A lane_ref in a request. Only text that can never be saved or displayed is rejected as invalid. Any other text,
 * including an empty one, is looked up and then matches no lane.
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

/** Allows white space, but no other control characters and no direction overrides. */
const placeForm = (() => {
  const hidden = '\\u0000-\\u0008\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
  return `^[^${hidden}]*$`
})()

/**
 * A pickup or delivery place in a request: `City, ST`, or another form that `readAnyPlace` in geography/ parses (a
 * ZIP code, an airport code, a nickname). Any kind of white space is accepted.
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

/**
 * An equipment type in a request: a code, or a name such as `53' dry van` that `equipmentCode` in engine/ maps to a
 * code.
 */
export function equipment(description: string) {
  return Type.String({
    description,
    pattern: `^[A-Za-z0-9_ '’"().-]{1,40}$`,
    examples: ['V'],
    'x-expected': 'an equipment code of 1 to 20 letters, digits, "_" or "-", such as V, R or F',
  })
}

/** A nullable member of a response. Responses use null instead of omitting a member. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** The idempotency key of a new quote request. */
export const requestKey = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description:
    'An idempotency key: a UUID that you generate for this request. Sending the same body again with the same key creates nothing and returns the first quote request. Another body with the same key is rejected with 422 request-key-reused',
  examples: ['6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44'],
  'x-expected': 'a UUID in lower case, such as 6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44',
})
