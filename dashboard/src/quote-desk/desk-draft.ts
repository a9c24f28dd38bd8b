import type { Body } from '../api/index.ts'
import {
  noTerms,
  type RateTerms,
  rateTypeAsked,
  readDollars,
  termsBody,
  termsErrors,
} from '../shared-ui/index.ts'

/** One quote on the desk, with every field as typed. */
export interface DeskLane extends RateTerms {
  /** Identifies the row. Unique within the draft. */
  readonly id: number
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly rate: string
  readonly cost: string
  readonly market: string
  readonly pickup: string
  /** spot or contract; empty for the default of the brokerage. */
  readonly rateType: string
}

export type LaneField = Exclude<keyof DeskLane, 'id'>

export interface Draft {
  readonly customer: string
  readonly reference: string
  /** For how many hours the rates are valid; absent while nobody chose. */
  readonly validHours?: number
  readonly lanes: readonly DeskLane[]
}

const defaultEquipment = 'V'

export function blankLane(id: number, equipment = defaultEquipment): DeskLane {
  return {
    id,
    origin: '',
    destination: '',
    equipment,
    rate: '',
    cost: '',
    market: '',
    pickup: '',
    rateType: '',
    ...noTerms,
  }
}

export function blankDraft(): Draft {
  return { customer: '', reference: '', lanes: [blankLane(1)] }
}

export function nextId(lanes: readonly DeskLane[]): number {
  return Math.max(0, ...lanes.map(({ id }) => id)) + 1
}

/** True when nothing is typed. Fields with a default do not count. */
export function isBlank({ id: _, equipment: __, basis: ___, currency: ____, ...typed }: DeskLane): boolean {
  return Object.values(typed).every((text) => text.trim() === '')
}

/** A draft's quotes with more quotes added. Blank quotes are removed. */
export function withLanes(lanes: readonly DeskLane[], added: readonly Omit<DeskLane, 'id'>[]): DeskLane[] {
  const kept = lanes.filter((lane) => !isBlank(lane))
  const from = nextId(lanes)
  return [...kept, ...added.map((lane, index) => ({ ...lane, id: from + index }))]
}

/** True for a saved draft of this version. */
export function isDraft(kept: unknown): kept is Draft {
  if (typeof kept !== 'object' || kept === null) return false
  const { customer, reference, validHours, lanes } = kept as Partial<Record<keyof Draft, unknown>>
  const isLane = (lane: unknown) =>
    typeof lane === 'object' &&
    lane !== null &&
    Object.entries(blankLane(0)).every(
      ([field, text]) => typeof (lane as Record<string, unknown>)[field] === typeof text,
    )
  return (
    typeof customer === 'string' &&
    typeof reference === 'string' &&
    (validHours === undefined || typeof validHours === 'number') &&
    Array.isArray(lanes) &&
    lanes.length > 0 &&
    lanes.every(isLane)
  )
}

/** True for a city with a comma and a state. The service checks whether the place exists. */
export function hasState(place: string): boolean {
  return /[^,\s][^,]*,\s*\p{L}{2}/u.test(place)
}

/** An error of one field, with suggestions. */
export interface DeskError {
  /** Null for a field of the request itself. */
  readonly laneId: number | null
  readonly field: LaneField | 'customer' | 'reference'
  readonly text: string
  readonly suggestions: readonly string[]
  /** True for an unknown place, which the service accepts with `accept_unknown_places`. */
  readonly unknownPlace: boolean
}

function missing(laneId: number | null, field: DeskError['field'], text: string): DeskError {
  return { laneId, field, text, suggestions: [], unknownPlace: false }
}

/** Errors of amounts that cannot be parsed. Shown while typing, because the advice ignores these amounts. */
export function unreadableIn(lane: DeskLane): DeskError[] {
  const unread = (['rate', 'cost', 'market'] as const).filter(
    (field) => /[^$\s]/.test(lane[field]) && readDollars(lane[field]) === null,
  )
  return [
    ...unread.map((field) =>
      missing(lane.id, field, `Enter the ${field === 'rate' ? 'rate' : 'amount'} in dollars, such as 2,150`),
    ),
    ...unreadableTerms(lane),
  ]
}

function unreadableTerms(lane: DeskLane): DeskError[] {
  const errors = termsErrors(lane)
  return (['fuel', 'charges'] as const).flatMap((field) => {
    const text = errors[field]
    return text === undefined ? [] : [missing(lane.id, field, text)]
  })
}

/** The lane in the address parameters of a link from another page; null if there is none. */
export function laneFromAddress(
  search: Readonly<Record<string, string | undefined>>,
): Omit<DeskLane, 'id'> | null {
  const { origin = '', destination = '', equipment = defaultEquipment, rate = '' } = search
  if (origin === '' && destination === '') return null
  const { id: _, ...blank } = blankLane(0, equipment)
  return { ...blank, origin, destination, rate }
}

/** The missing or unreadable fields, checked before the request is sent. */
export function gapsIn(draft: Draft): DeskError[] {
  const gaps: DeskError[] = []
  if (draft.customer.trim() === '') gaps.push(missing(null, 'customer', 'Who is the quote for?'))
  for (const lane of lanesToSave(draft)) {
    if (lane.origin.trim() === '') gaps.push(missing(lane.id, 'origin', 'Where is the pickup?'))
    if (lane.destination.trim() === '') gaps.push(missing(lane.id, 'destination', 'Where is the delivery?'))
    if (lane.equipment.trim() === '') gaps.push(missing(lane.id, 'equipment', 'Which equipment?'))
    if (readDollars(lane.rate) === null) {
      gaps.push(
        missing(
          lane.id,
          'rate',
          lane.rate.trim() === '' ? 'What is the rate?' : 'Enter the rate in dollars, such as 2,150',
        ),
      )
    }
    for (const field of ['cost', 'market'] as const) {
      if (lane[field].trim() !== '' && readDollars(lane[field]) === null) {
        gaps.push(missing(lane.id, field, 'Enter the amount in dollars, such as 1,800'))
      }
    }
    gaps.push(...unreadableTerms(lane))
  }
  return gaps
}

/**
 * A draft in two: the quotes with a rate, and those that still need one, with the same customer. Null unless there are both.
 */
export function splitByRate(draft: Draft): { readonly rated: Draft; readonly unrated: Draft } | null {
  const lanes = lanesToSave(draft)
  const isRated = (lane: DeskLane) => lane.rate.trim() !== ''
  if (lanes.every(isRated) || !lanes.some(isRated)) return null
  return {
    rated: { ...draft, lanes: lanes.filter(isRated) },
    unrated: { ...draft, lanes: lanes.filter((lane) => !isRated(lane)) },
  }
}

/** The quotes without blank rows. If all rows are blank, the first row. */
export function lanesToSave({ lanes }: Draft): readonly DeskLane[] {
  const filled = lanes.filter((lane) => !isBlank(lane))
  return filled.length === 0 ? lanes.slice(0, 1) : filled
}

/** A quote as typed so far, in the form of the API. What is empty or cannot be read is left out, and the places may be incomplete. */
export function sentLane(lane: DeskLane) {
  const { origin, destination, equipment, pickup } = lane
  const [code, rate, cost, market] = [
    equipment.trim(),
    readDollars(lane.rate),
    readDollars(lane.cost),
    readDollars(lane.market),
  ]
  return {
    origin: origin.trim(),
    destination: destination.trim(),
    ...(code === '' ? {} : { equipment: code }),
    ...(rate === null ? {} : { quoted_rate: rate }),
    ...(cost === null ? {} : { estimated_cost: cost }),
    ...(market === null ? {} : { market_rate: market }),
    ...(pickup === '' ? {} : { pickup_date: pickup }),
    ...rateTypeAsked({ rate_type: lane.rateType }),
    ...termsBody(lane),
  }
}

/**
 * The API request of a draft without missing fields.
 *
 * @param usualHours for how long quotes of the brokerage are valid if nobody chose
 */
export function requestOf(
  draft: Draft,
  acceptUnknownPlaces: boolean,
  usualHours: number,
): Body<'create-quote-request'> {
  const reference = draft.reference.trim()
  const valid_hours = draft.validHours ?? usualHours
  return {
    customer_name: draft.customer.trim(),
    ...(reference === '' ? {} : { reference }),
    ...(acceptUnknownPlaces ? { accept_unknown_places: true } : {}),
    lanes: lanesToSave(draft).map((lane) => ({
      equipment: '',
      quoted_rate: 0,
      ...sentLane(lane),
      valid_hours,
    })),
  }
}

const laneFields: Readonly<Record<string, readonly [field: LaneField, label: string]>> = {
  origin: ['origin', 'Origin'],
  destination: ['destination', 'Destination'],
  equipment: ['equipment', 'Equipment'],
  quoted_rate: ['rate', 'Rate'],
  estimated_cost: ['cost', 'Estimated cost'],
  market_rate: ['market', 'Market rate'],
  pickup_date: ['pickup', 'Pickup date'],
  rate_type: ['rateType', 'Rate type'],
  quoted_basis: ['basis', 'The basis'],
  quoted_fuel: ['fuel', 'Fuel charge'],
  quoted_accessorials: ['charges', 'Accessorials'],
  quoted_charges: ['charges', 'Accessorials'],
  quoted_currency: ['currency', 'Currency'],
}

interface SentError {
  readonly pointer?: string
  readonly code: string
  readonly detail: string
  readonly suggestions?: readonly string[]
}

/** The service's errors, assigned to rows and fields. Errors without a field on the desk are dropped. */
export function errorsAt(errors: readonly SentError[], sent: readonly DeskLane[]): DeskError[] {
  return errors.flatMap((error): DeskError[] => {
    const { pointer = '', detail, suggestions = [], code } = error
    const of = /^\/lanes\/(\d+)\/(\w+)$/.exec(pointer)
    const lane = sent[Number(of?.[1])]
    const [field, label] = laneFields[of?.[2] ?? ''] ?? []
    const unknownPlace = code === 'unknown-place'
    if (lane !== undefined && field !== undefined) {
      const text = unknownPlace
        ? `Unknown place: ${lane[field]}. Did you mean`
        : detail.replace(/^lanes\[\d+\]\.\w+/, label ?? '')
      return [{ laneId: lane.id, field, text, suggestions, unknownPlace }]
    }
    if (pointer === '/customer_name' || pointer === '/reference') {
      const text = detail.replace(/^\w+/, pointer === '/reference' ? 'Reference' : 'Customer')
      return [
        {
          laneId: null,
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
