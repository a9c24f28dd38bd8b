/**
 * Maps records of McLeod, Turvo and Tai to quotes and bookings of Lanewise. The field names are those of their public
 * documentation, cited in docs/tms-mapping.md. Adapt this file to your installation: its fields, its codes, its rates.
 */
import type { Body } from 'lanewise-client'

export type Quote = Body<'push-quotes'>['quotes'][number]
export type Booking = Body<'push-shipment-updates'>['updates'][number]
export type Tms = 'mcleod' | 'turvo' | 'tai'

/** What a status of a TMS means. A booking is a win, so a booked record needs no outcome. */
export type Stage = 'quoted' | 'lost' | 'expired' | 'booked' | 'cancelled'

/** A record of a TMS, mapped. `booking` is null for a record that is a quote only. */
export interface Mapped {
  readonly quote: Quote
  readonly booking: Booking | null
}

/** A record that cannot be mapped. `field` is the field of the TMS; `id` is null if the record has none. */
export class NotMapped extends Error {
  readonly field: string
  readonly id: string | null

  constructor(field: string, message: string, id: string | null = null) {
    super(message)
    this.field = field
    this.id = id
  }
}

/** The stage of each status, in lower case. RELAY_STATUSES adds those of your installation. */
const stages: Readonly<Record<Tms, Readonly<Record<string, Stage>>>> = {
  mcleod: {
    quote: 'quoted',
    open: 'quoted',
    declined: 'lost',
    expired: 'expired',
    available: 'booked',
    covered: 'booked',
    'in progress': 'booked',
    delivered: 'booked',
    void: 'cancelled',
  },
  turvo: {
    'quote active': 'quoted',
    // A quote that nobody follows up: whether the customer declined it is not known.
    'quote inactive': 'expired',
    tendered: 'booked',
    covered: 'booked',
    dispatched: 'booked',
    'at pickup': 'booked',
    'picked up': 'booked',
    'en route': 'booked',
    'at delivery': 'booked',
    delivered: 'booked',
    'ready for billing': 'booked',
    completed: 'booked',
    canceled: 'cancelled',
  },
  tai: {
    quote: 'quoted',
    quoted: 'quoted',
    committed: 'booked',
    booked: 'booked',
    ready: 'booked',
    sent: 'booked',
    dispatched: 'booked',
    'in transit': 'booked',
    'out for delivery': 'booked',
    delivered: 'booked',
    complete: 'booked',
    canceled: 'cancelled',
  },
}

export type MoreStages = Partial<Record<Tms, Record<string, Stage>>>

/** The records in a webhook or an export of a TMS: one, a list, or a list inside the answer of its API. */
export function recordsOf(tms: Tms, body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  const details = get(body, tms === 'tai' ? 'shipmentDetails' : 'details')
  const shipments = get(details, 'shipments')
  if (Array.isArray(shipments)) return shipments
  return [tms !== 'mcleod' && details !== undefined ? details : body]
}

/** @throws NotMapped if the record has no id, or a status that is not in the table */
export function mapRecord(tms: Tms, record: unknown, more: MoreStages = {}): Mapped {
  if (typeof record !== 'object' || record === null) throw new NotMapped('', 'The record is not an object.')
  const facts = { mcleod: mcleodFacts, turvo: turvoFacts, tai: taiFacts }[tms](record)
  const id = text(facts.id)
  if (id === undefined)
    throw new NotMapped(facts.idField, `${facts.idField} is missing: it becomes the external_id.`)
  const status = text(facts.status) ?? ''
  const stage = more[tms]?.[status.toLowerCase()] ?? stages[tms][status.toLowerCase()]
  if (stage === undefined) {
    throw new NotMapped(
      facts.statusField,
      `${facts.statusField} is "${status}". Add it to RELAY_STATUSES as quoted, lost, expired, booked or cancelled.`,
      id,
    )
  }
  return {
    // The members that are undefined are absent: they change nothing.
    quote: {
      external_id: id,
      origin: facts.origin,
      destination: facts.destination,
      miles: facts.miles,
      equipment: equipmentNames[facts.equipment?.toLowerCase() ?? ''] ?? facts.equipment,
      quoted_rate: facts.rate,
      customer_name: facts.customer,
      rep_name: facts.rep,
      quoted_at: facts.quotedAt,
      valid_until: facts.validUntil,
      pickup_date: facts.pickupAt?.slice(0, 10),
      outcome: stage === 'lost' || stage === 'expired' ? stage : undefined,
    },
    booking: bookingOf(id, stage, facts),
  }
}

function bookingOf(id: string, stage: Stage, facts: Facts): Booking | null {
  if (stage === 'cancelled') return { external_id: id, cancelled: true }
  if (stage !== 'booked') return null
  return {
    external_id: id,
    customer_rate: facts.rate,
    truck_cost: facts.cost,
    carrier_name: facts.carrier,
  }
}

/** The values of a record, whatever its TMS. */
interface Facts {
  readonly id: unknown
  readonly idField: string
  readonly status: unknown
  readonly statusField: string
  readonly origin?: string | undefined
  readonly destination?: string | undefined
  readonly miles?: number | undefined
  readonly equipment?: string | undefined
  readonly rate?: number | undefined
  readonly cost?: number | undefined
  readonly customer?: string | undefined
  readonly carrier?: string | undefined
  readonly rep?: string | undefined
  readonly quotedAt?: string | undefined
  readonly validUntil?: string | undefined
  readonly pickupAt?: string | undefined
}

/** Names of equipment that Lanewise does not know. */
const equipmentNames: Readonly<Record<string, string>> = { dryvan: 'V', refrigerated: 'R' }

/** Orders and quote orders of McLeod's LoadMaster and PowerBroker: `RowOrders`, `RowQuoteOrder`. */
function mcleodFacts(order: object): Facts {
  const isQuote = get(order, '__type') === 'quote_order'
  const stops = sorted(live(get(order, 'stops')), 'order_sequence')
  const movements = live(get(order, 'movements'))
  const pays = movements.map((one) => amount(get(one, 'override_pay_amt')))
  // The order of a converted quote can name it, in a field of the installation: then both are one quote.
  const quoteField = process.env.MCLEOD_QUOTE_ID_FIELD ?? ''
  const quoteId = isQuote ? get(order, 'id') : get(order, quoteField)
  return {
    // Orders and quote orders are numbered separately.
    id: text(quoteId) === undefined ? get(order, 'id') : `quote-${text(quoteId)}`,
    idField: 'id',
    status: get(order, '__statusDescr'),
    statusField: '__statusDescr',
    origin: place(stops[0], ['city_name', 'state', 'zip_code']),
    destination: place(stops.at(-1), ['city_name', 'state', 'zip_code']),
    miles: get(order, 'bill_distance_um') === 'KM' ? undefined : amount(get(order, 'bill_distance')),
    equipment: text(get(order, '__equipmentTypeDescr')) ?? text(get(order, 'equipment_type_id')),
    rate: amount(get(order, 'total_charge')),
    cost: pays.some((one) => one !== undefined) ? cents(pays) : undefined,
    customer: text(get(get(order, 'customer'), 'name')) ?? text(get(order, 'customer_name')),
    carrier: movements.map((one) => text(get(one, 'override_payee_id'))).find((one) => one !== undefined),
    rep: text(get(get(order, 'enteredUser'), 'name')) ?? text(get(order, 'entered_user_id')),
    quotedAt: mcleodTime(get(order, 'ordered_date')),
    validUntil: mcleodTime(get(order, 'expiration_date')),
    pickupAt: mcleodTime(get(stops[0], 'sched_arrive_early')),
  }
}

/** Shipments of Turvo's public API. */
function turvoFacts(shipment: object): Facts {
  const [customerOrder] = live(get(shipment, 'customerOrder'))
  const carrierOrders = live(get(shipment, 'carrierOrder'))
  const stops = sorted(live(get(shipment, 'globalRoute')), 'sequence')
  const costs = carrierOrders.map((one) => amount(get(get(one, 'costs'), 'totalAmount')))
  const [equipment] = live(get(shipment, 'equipment'))
  const at = (stop: unknown, end: 'start' | 'end') =>
    place(get(stop, 'address'), ['city', 'state', 'zip']) ?? laneEnd(get(get(shipment, 'lane'), end))
  return {
    id: get(shipment, 'customId'),
    idField: 'customId',
    status: get(get(get(shipment, 'status'), 'code'), 'value'),
    statusField: 'status.code.value',
    origin: at(stops[0], 'start'),
    destination: at(stops.at(-1), 'end'),
    equipment: text(get(get(equipment, 'type'), 'value')),
    rate: amount(get(get(customerOrder, 'costs'), 'totalAmount')),
    cost: costs.some((one) => one !== undefined) ? cents(costs) : undefined,
    customer: text(get(get(customerOrder, 'customer'), 'name')),
    carrier: text(get(get(carrierOrders[0], 'carrier'), 'name')),
    quotedAt: text(get(shipment, 'createdDate')),
    pickupAt: text(get(get(shipment, 'startDate'), 'date')),
  }
}

/** Shipment details of Tai's public API and webhooks. */
function taiFacts(shipment: object): Facts {
  const stops = live(get(shipment, 'stops'))
  const carriers = live(get(shipment, 'carrierList'))
  const stop = (type: string) => stops.find((one) => get(one, 'stopType') === type)
  const pickup = stop('Pickup')
  return {
    id: get(shipment, 'shipmentId'),
    idField: 'shipmentId',
    status: get(shipment, 'status'),
    statusField: 'status',
    origin: place(pickup, ['city', 'state', 'zipCode']),
    destination: place(
      stops.findLast((one) => get(one, 'stopType') === 'Delivery'),
      ['city', 'state', 'zipCode'],
    ),
    miles: amount(get(shipment, 'mileage')),
    equipment: text(get(shipment, 'trailerType')),
    rate: amount(get(shipment, 'totalSell')),
    cost: amount(get(shipment, 'totalBuy')),
    customer: text(get(get(shipment, 'customer'), 'name')),
    carrier: text(get(carriers[0], 'name')),
    pickupAt: text(get(pickup, 'appointmentReadyDateTime')) ?? text(get(pickup, 'estimatedReadyDateTime')),
  }
}

/** A member of a value that may be no object. */
function get(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** The entries of a list without those that the TMS marks as deleted. */
function live(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.filter((one) => get(one, 'deleted') !== true) : []
}

function sorted(list: readonly unknown[], by: string): readonly unknown[] {
  return list.toSorted((a, b) => Number(get(a, by) ?? 0) - Number(get(b, by) ?? 0))
}

function text(value: unknown): string | undefined {
  const found = typeof value === 'number' ? String(value) : value
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : undefined
}

/** A number of dollars or miles. 0 means unknown, as in most systems. */
function amount(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number !== 0 ? number : undefined
}

/** A sum of dollars, exact to the cent. */
const cents = (amounts: readonly (number | undefined)[]) =>
  Math.round(amounts.reduce<number>((sum, one) => sum + (one ?? 0), 0) * 100) / 100

/** @example place({ city: 'Dallas', state: 'TX', zip: '75201' }, ['city', 'state', 'zip']) // 'Dallas, TX 75201' */
function place(stop: unknown, [city, state, zip]: readonly [string, string, string]): string | undefined {
  const named = [text(get(stop, city)), text(get(stop, state))]
    .filter((part) => part !== undefined)
    .join(', ')
  return `${named} ${text(get(stop, zip)) ?? ''}`.trim() || undefined
}

/** @example laneEnd('SANTA MARIA, CA, US') // 'SANTA MARIA, CA' */
const laneEnd = (end: unknown) => text(end)?.replace(/, (US|USA|CA|CAN|MX|MEX)$/, '')

/** A time of McLeod. A day without a time of day stays a day. @example mcleodTime('20260301140000-0600') // '2026-03-01T14:00:00-06:00' */
function mcleodTime(value: unknown): string | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})(?:([+-]\d{2})(\d{2}))?)?$/.exec(
    text(value) ?? '',
  )
  if (match === null) return text(value)
  const [, year, month, day, hour, minute, second, zone, zoneMinutes] = match
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return date
  return `${date}T${hour}:${minute}:${second}${zone === undefined ? '' : `${zone}:${zoneMinutes}`}`
}
