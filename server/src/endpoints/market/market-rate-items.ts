import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { type pushMarketRates, sentMarketRate } from '#contract/market-rates.ts'
import { shape } from '#contract/shape.ts'
import { type MarketRateState, marketAmountFaults, marketRateState } from '#engine/market-rate.ts'
import { centsFromDollars } from '#engine/money.ts'
import { fuelUnitFault } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import {
  type MarketRateRow,
  marketRates,
  type NewMarketRate,
  pushedQuotes,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readEquipment, readMarketEnds } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { itemErrors } from '../integration/item-errors.ts'
import { comparableRate, type RateConversions } from '../performance/comparable-rates.ts'

type Sent = Static<typeof sentMarketRate>
export type MarketResult = AnswerOf<typeof pushMarketRates>['results'][number]

const itemShape = shape(sentMarketRate, 'body')
const at = (field: string) => ({ pointer: `/${field}` })

/** Who sent the rates, how, and when. */
export interface SaidBy {
  readonly enteredBy: NewMarketRate['entered_by']
  readonly saidAt: Date
  /** Epoch milliseconds. */
  readonly now: number
  /** The data that converts the rates to the brokerage's basis. A rate that cannot be converted is saved, but not compared. */
  readonly conversions: RateConversions
  /** Names the place of another item of the call, in words that follow "is also". By default, the item's index. */
  readonly nameOf?: (index: number) => string
}

/** A sent rate: its row, or the errors that refuse it. */
export type CheckedRate =
  | { readonly index: number; readonly row: NewMarketRate; readonly state: MarketRateState }
  | { readonly index: number; readonly errors: readonly FieldError[] }

/** Checks each rate: its fields, areas, amounts and times, and that no earlier rate of the call is the same. */
export function checkMarketRates(items: readonly unknown[], by: SaidBy): Promise<CheckedRate[]> {
  return yieldBetweenSteps(checkInSteps(items, by))
}

function* checkInSteps(items: readonly unknown[], by: SaidBy): Steps<CheckedRate[]> {
  const first = new Map<string, number>()
  const checked: CheckedRate[] = []
  for (const [index, sent] of items.entries()) {
    checked.push(checkRate(sent, index, first, by))
    yield
  }
  return checked
}

/** @param first the index of each earlier rate, by its key */
function checkRate(sent: unknown, index: number, first: Map<string, number>, by: SaidBy): CheckedRate {
  const read = readRate(sent, by)
  if ('errors' in read) return { index, errors: read.errors }
  const key = keyOf(read.row)
  const before = first.get(key)
  if (before !== undefined) {
    const detail = `The same rate (scope, areas, equipment, source, basis, kind, currency and as_of) is also ${by.nameOf?.(before) ?? `item ${before} of this call, which counts`}.`
    return { index, errors: [{ pointer: '/as_of', code: 'repeated', detail }] }
  }
  first.set(key, index)
  const rate = comparableRate(read.row, by.conversions, read.miles)
  return {
    index,
    row: read.row,
    state: marketRateState(rate, { at: by.now, basis: by.conversions.basis }),
  }
}

function readRate(
  sent: unknown,
  { enteredBy, saidAt, now }: SaidBy,
):
  | { readonly row: NewMarketRate; readonly miles: number | null }
  | { readonly errors: readonly FieldError[] } {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return { errors: [{ pointer: '', code: 'invalid', detail: 'A market rate must be a JSON object.' }] }
  }
  const wrong = itemShape.errors(sent)
  if (wrong.length > 0) return { errors: wrong }
  const item = sent as Sent
  const errors: FieldError[] = []
  const scope = item.scope ?? 'lane'
  const ends = readMarketEnds(scope, item, at, errors)
  const code = readEquipment(item.equipment, at('equipment'), errors)
  const cents = (dollars: number | undefined) => (dollars === undefined ? null : centsFromDollars(dollars))
  const [low, mid, high] = [cents(item.low), cents(item.mid) ?? 0, cents(item.high)]
  const fuel = cents(item.fuel)
  const unitFault = fuelUnitFault(fuel, item.basis === 'linehaul' && mid > 0 ? mid : null)
  if (unitFault !== null) errors.push({ ...at('fuel'), code: 'invalid', detail: `fuel ${unitFault}.` })
  else if (fuel !== null && fuel >= mid && item.basis === 'all_in') {
    const detail = `fuel must be less than mid, which contains it if it is all_in; it is ${item.fuel}, and mid is ${item.mid}.`
    errors.push({ ...at('fuel'), code: 'invalid', detail })
  }
  const faults = marketAmountFaults({
    low,
    mid,
    high,
    miles: ends?.miles ?? null,
    inPesos: item.currency === 'MXN',
  })
  errors.push(...faults.map(({ field, detail }) => ({ ...at(field), code: 'invalid', detail })))
  const asOf = readTime(item.as_of) ?? 0
  const until = item.valid_until === undefined ? null : readTime(item.valid_until)
  if (asOf > now + dayMs) {
    errors.push({
      ...at('as_of'),
      code: 'invalid',
      detail: `as_of must not be in the future; it is ${item.as_of}.`,
    })
  }
  if (until !== null && until <= asOf) {
    errors.push({
      ...at('valid_until'),
      code: 'invalid',
      detail: `valid_until must be after as_of, which is ${item.as_of}; it is ${item.valid_until}.`,
    })
  }
  if (ends === null || code === null || errors.length > 0) return { errors }
  return {
    miles: ends.miles,
    row: {
      scope,
      origin_area: ends.origin.area,
      destination_area: ends.destination.area,
      equipment_code: code,
      source: item.source.trim(),
      basis: item.basis,
      kind: item.kind ?? 'buy',
      currency: item.currency ?? 'USD',
      as_of: new Date(asOf),
      low_cents: low,
      mid_cents: mid,
      high_cents: high,
      fuel_cents: fuel,
      sample: item.sample ?? null,
      valid_until: until === null ? null : new Date(until),
      origin: ends.origin.name,
      destination: ends.destination.name,
      entered_by: enteredBy,
      said_at: saidAt,
    },
  }
}

const dayMs = 86_400_000

const keyOf = (row: NewMarketRate | MarketRateRow) =>
  JSON.stringify([
    row.scope,
    row.origin_area,
    row.destination_area,
    row.equipment_code,
    row.source,
    row.basis,
    row.kind,
    row.currency,
    row.as_of.getTime(),
  ])

/** Saves the valid rates, in one transaction that waits for the other pushes of the brokerage. */
export async function storeMarketRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  checked: readonly CheckedRate[],
): Promise<MarketResult[]> {
  const rows = checked.flatMap((one) => ('row' in one ? one.row : []))
  await pushedQuotes.lockPushes(transaction, tenant)
  const stored = new Map(
    (await marketRates.lockSameMarketRates(transaction, tenant, rows)).map((row) => [keyOf(row), row]),
  )
  const changed: NewMarketRate[] = []
  const results = checked.map((one): MarketResult => {
    if ('errors' in one) return refusedRate(one.index, one.errors)
    const { index, row, state } = one
    const before = stored.get(keyOf(row))
    const result = before === undefined ? 'created' : replaces(row, before) ? 'updated' : 'unchanged'
    // An equal rate with a newer signature is saved for its time, so that a delivery signed between the two does not replace it.
    if (result !== 'unchanged' || (before !== undefined && row.said_at > before.said_at)) changed.push(row)
    const { scope, origin, destination } = row
    return { index, status: 200, result, scope, origin, destination, state }
  })
  await marketRates.saveMarketRates(transaction, tenant, changed)
  return results
}

/** Whether a rate differs from the saved one and was not sent earlier. */
function replaces(row: NewMarketRate, before: MarketRateRow): boolean {
  if (row.said_at < before.said_at) return false
  return (
    row.low_cents !== before.low_cents ||
    row.mid_cents !== before.mid_cents ||
    row.high_cents !== before.high_cents ||
    row.fuel_cents !== before.fuel_cents ||
    row.sample !== before.sample ||
    row.valid_until?.getTime() !== before.valid_until?.getTime()
  )
}

export function refusedRate(index: number, errors: readonly FieldError[]): MarketResult {
  return { index, ...itemErrors(errors) }
}
