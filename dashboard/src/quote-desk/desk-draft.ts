import { unpricedBecause } from '#engine/load-mode.ts'
import { stopsText } from '#engine/load-stops.ts'
import type { QuoteFieldOf, QuoteName } from '#engine/quote-fields.ts'
import type { Body } from '../api/index.ts'
import {
  faultOf,
  fieldReadAs,
  knownFields,
  nothingTyped,
  type PricedQuote,
  type ReadFields,
  readFields,
  type TypedField,
  type TypedQuote,
  typedFieldNames,
  typedFields,
  unreadable,
} from '../shared-ui/index.ts'

/** One quote on the desk, with every field as typed. */
export interface DeskQuote extends TypedQuote {
  /** Identifies the row. Unique within the draft. */
  readonly id: number
}

export interface Draft {
  readonly customer: string
  readonly reference: string
  /** The hours that the rates are valid; absent while nobody chose. */
  readonly validHours?: number
  readonly lanes: readonly DeskQuote[]
}

export const defaultEquipment = 'V'

export function blankQuote(id: number, equipment = defaultEquipment): DeskQuote {
  return { id, ...nothingTyped, equipment }
}

export function blankDraft(): Draft {
  return { customer: '', reference: '', lanes: [blankQuote(1)] }
}

export function nextId(quotes: readonly DeskQuote[]): number {
  return Math.max(0, ...quotes.map(({ id }) => id)) + 1
}

/** True when nothing is typed. Fields with a default do not count. */
export function isBlank({ id: _, equipment: __, basis: ___, currency: ____, ...typed }: DeskQuote): boolean {
  return Object.values(typed).every((text) => text.trim() === '')
}

/** A draft's quotes with more quotes added. Blank quotes are removed. */
export function withQuotes(
  quotes: readonly DeskQuote[],
  added: readonly Omit<DeskQuote, 'id'>[],
): DeskQuote[] {
  const kept = quotes.filter((quote) => !isBlank(quote))
  const from = nextId(quotes)
  return [...kept, ...added.map((quote, index) => ({ ...quote, id: from + index }))]
}

/** The members of a saved value with the types of `blank`; a member that is missing or has another type is blank, others are dropped. */
function readMembers<Blank extends object>(kept: unknown, blank: Blank): Blank {
  const members = new Map<string, unknown>(Object.entries(kept ?? {}))
  const read = Object.entries(blank).map(([name, none]) => {
    const value = members.get(name)
    return [name, typeof value === typeof none ? value : none]
  })
  return Object.fromEntries(read) as Blank
}

/** A saved draft, also of an earlier or later version, whose quotes lack fields or have others; null for another value. */
export function readDraft(kept: unknown): Draft | null {
  const { lanes } = readMembers(kept, { lanes: [] as readonly unknown[] })
  if (!Array.isArray(lanes) || lanes.length === 0) return null
  const { validHours } = readMembers(kept, { validHours: 0 })
  return {
    ...readMembers(kept, { customer: '', reference: '' }),
    ...(validHours > 0 ? { validHours } : {}),
    lanes: lanes.map((quote, index) => ({ ...readMembers(quote, blankQuote(0)), id: index + 1 })),
  }
}

/** True for a city with a comma and a state. The service checks whether the place exists. */
export function hasState(place: string): boolean {
  const parts = place.split(',')
  return parts.some((part, at) => at > 0 && parts[at - 1]?.trim() !== '' && /^\s*\p{L}{2}/u.test(part))
}

/** An error of one field, with suggestions. */
export interface DeskError {
  /** The row of the field; null for a field of the request itself. */
  readonly quoteId: number | null
  readonly field: TypedField | 'customer' | 'reference'
  readonly text: string
  readonly suggestions: readonly string[]
  /** True for an unknown place, which the service accepts with `accept_unknown_places`. */
  readonly unknownPlace: boolean
}

function missing(quoteId: number | null, field: DeskError['field'], text: string): DeskError {
  return { quoteId, field, text, suggestions: [], unknownPlace: false }
}

/** Errors of fields that cannot be read. Shown while typing, because the advice ignores these fields. */
export function unreadableIn(quote: DeskQuote): DeskError[] {
  return errorsIn(quote, unreadable)
}

function errorsIn(quote: DeskQuote, why: typeof unreadable): DeskError[] {
  return typedFieldNames.flatMap((field) => {
    const text = why(field, quote[field])
    return text === null ? [] : [missing(quote.id, field, text)]
  })
}

/** The lane in the address parameters of a link from another page; null if there is none. */
export function quoteFromAddress(
  search: Readonly<Record<string, string | undefined>>,
): Omit<DeskQuote, 'id'> | null {
  const { origin = '', destination = '', equipment = defaultEquipment, rate = '' } = search
  if (origin === '' && destination === '') return null
  const { id: _, ...blank } = blankQuote(0, equipment)
  return { ...blank, origin, destination, rate }
}

/** The missing or unreadable fields, checked before the request is sent. */
export function gapsIn(draft: Draft): DeskError[] {
  const nobody = draft.customer.trim() === '' ? [missing(null, 'customer', 'Who is the quote for?')] : []
  return [...nobody, ...quotesToSave(draft).flatMap((quote) => errorsIn(quote, faultOf))]
}

/** Splits a draft into the quotes with a rate and the quotes without one, with the same customer. Null unless it has both. */
export function splitByRate(draft: Draft): { readonly rated: Draft; readonly unrated: Draft } | null {
  const quotes = quotesToSave(draft)
  const isRated = (quote: DeskQuote) => quote.rate.trim() !== ''
  if (quotes.every(isRated) || !quotes.some(isRated)) return null
  return {
    rated: { ...draft, lanes: quotes.filter(isRated) },
    unrated: { ...draft, lanes: quotes.filter((quote) => !isRated(quote)) },
  }
}

/** The quotes without blank rows. If all rows are blank, the first row. */
export function quotesToSave({ lanes: quotes }: Draft): readonly DeskQuote[] {
  const filled = quotes.filter((quote) => !isBlank(quote))
  return filled.length === 0 ? quotes.slice(0, 1) : filled
}

/** Why a typed load has no price; null for a direct truckload. */
export function unpricedLoad(quote: Pick<DeskQuote, 'mode' | 'stops' | 'equipment'>): string | null {
  const { mode, stops } = readFields(quote, ['mode', 'stops'])
  return unpricedBecause({ mode, stops: stopsText(stops ?? []), equipment_code: quote.equipment })
}

type SentQuote = Body<'create-quote-request'>['lanes'][number]
type RequestName = Exclude<QuoteName<'sent', QuoteFieldOf<'request'>>, 'customer_name'>

/**
 * A quote as typed so far, in the form of the API: null for empty and unreadable fields. The places may be incomplete. A field of quote
 * requests that no typed field is read as does not compile.
 */
export function sentQuote(quote: TypedQuote): PricedQuote &
  ReadFields<TypedField> & {
    readonly [Name in RequestName]: Exclude<SentQuote[Name], undefined> | null
  } {
  return readFields(quote, typedFieldNames)
}

/**
 * The API request of a draft without missing fields.
 *
 * @param usualHours the hours that the brokerage's quotes are valid if nobody chose
 * @param advice that the rates were checked by, by the number of the quote
 */
export function requestOf(
  draft: Draft,
  acceptUnknownPlaces: boolean,
  usualHours: number,
  advice: ReadonlyMap<number, string> = new Map(),
): Body<'create-quote-request'> {
  const reference = draft.reference.trim()
  const valid_hours = draft.validHours ?? usualHours
  return {
    customer_name: draft.customer.trim(),
    ...(reference === '' ? {} : { reference }),
    ...(acceptUnknownPlaces ? { accept_unknown_places: true } : {}),
    lanes: quotesToSave(draft).map((quote) => {
      const seen = advice.get(quote.id)
      return {
        equipment: '',
        quoted_rate: 0,
        ...knownFields(sentQuote(quote)),
        valid_hours,
        ...(seen === undefined ? {} : { advice: seen }),
      }
    }),
  }
}

interface SentError {
  readonly pointer?: string
  readonly code: string
  readonly detail: string
  readonly suggestions?: readonly string[]
}

/** The service's errors, assigned to rows and fields. Errors without a field on the desk are dropped. */
export function errorsAt(errors: readonly SentError[], sent: readonly DeskQuote[]): DeskError[] {
  return errors.flatMap((error): DeskError[] => {
    const { pointer = '', detail, suggestions = [], code } = error
    const of = /^\/lanes\/(\d+)\/(\w+)(?:\/\d+)?$/.exec(pointer)
    const quote = sent[Number(of?.[1])]
    const field = fieldReadAs(of?.[2] ?? '')
    const unknownPlace = code === 'unknown-place'
    if (quote !== undefined && field !== undefined) {
      const text = unknownPlace
        ? `Unknown place: ${quote[field]}. Did you mean`
        : detail.replace(/^lanes\[\d+\]\.\w+/, typedFields[field].label)
      // A suggestion is one place, and the field has all stops.
      if (field === 'stops')
        return [{ quoteId: quote.id, field, text: detail, suggestions: [], unknownPlace }]
      return [{ quoteId: quote.id, field, text, suggestions, unknownPlace }]
    }
    if (pointer === '/customer_name' || pointer === '/reference') {
      const text = detail.replace(/^\w+/, pointer === '/reference' ? 'Reference' : 'Customer')
      return [
        {
          quoteId: null,
          field: pointer === '/reference' ? 'reference' : 'customer',
          text,
          suggestions,
          unknownPlace,
        },
      ]
    }
    return []
  })
}
