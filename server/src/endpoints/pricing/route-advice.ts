import type { Static } from 'typebox'
import { type FieldError, invalid } from '#contract/errors.ts'
import type { deskLane, RouteAdvice } from '#contract/lanes-advice.ts'
import { pricedLegsMax } from '#contract/limits.ts'
import { stopsOf } from '#engine/load-stops.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { type RouteLeg, routePrices } from '#engine/route-price.ts'
import type { AppraisedOffer, AskedOffer } from '../../book/index.ts'
import type { NewLane } from '../../database/queries/index.ts'
import { lanePlaces, readAskedLane, readLanePlaces } from '../../lanes/index.ts'

type Lane = Static<typeof deskLane>
type Answer = Static<typeof RouteAdvice>
type Leg = Answer['legs'][number]

/** The mode and the stops of a lane on the desk, in the columns of a lane. @throws a 422 for wrong stops */
export function loadOf(
  { origin, destination, stops, mode }: Lane,
  at: (name: string) => { readonly pointer: string },
): Required<Pick<NewLane, 'mode' | 'stops'>> {
  if (stops === undefined || stops.length === 0) return { mode: mode ?? null, stops: null }
  const errors: FieldError[] = []
  const places = readLanePlaces({ origin, destination, stops }, at, errors, true)
  if (places === null) throw invalid(errors)
  return { mode: mode ?? null, stops: places.stops }
}

const modeNames = {
  partial: 'a partial load',
  ltl: 'LTL',
  drayage: 'drayage',
  intermodal: 'intermodal',
} as const

/**
 * Prices of loads with stops, for one call: by the rates that the desk would suggest for each leg as a direct truckload. Beyond the
 * legs of a call, loads are not priced.
 *
 * @param feeOfBrokerage the fee for each stop in cents of US dollars; null if it cannot be converted. Read once, if a load needs it
 */
export function routePricer(
  appraise: (offer: AskedOffer) => Promise<AppraisedOffer>,
  feeOfBrokerage: () => Promise<number | null>,
) {
  let legsLeft = pricedLegsMax
  let usualFee: Promise<number | null> | undefined

  async function legOf(
    lane: Lane,
    [origin, destination]: readonly [string, string],
  ): Promise<Leg & RouteLeg> {
    const asked = readAskedLane({
      origin,
      destination,
      ...(lane.equipment === undefined ? {} : { equipment: lane.equipment }),
    })
    const { appraisal } = await appraise({
      asked,
      pickupDate: lane.pickup_date ?? null,
      enteredCents: null,
      rateType: lane.rate_type ?? null,
    })
    const { toQuote } = appraisal.rates
    const rateCents = toQuote?.rateCents ?? null
    const miles = lanePlaces(asked.places.origin, asked.places.destination, null).miles ?? null
    return { origin, destination, miles, rate: dollarsIfKnown(rateCents), rateCents }
  }

  return async (lane: Lane, { mode, stops }: Pick<NewLane, 'mode' | 'stops'>): Promise<Answer> => {
    const unpriced = (legs: Leg[], because: string): Answer => ({
      legs,
      prices: [],
      sentence: `Stored, not priced: ${because}.`,
    })
    if (mode != null && mode !== 'truckload')
      return unpriced([], `the rates are those of truckloads, and this load is ${modeNames[mode]}`)
    const route = [lane.origin, ...stopsOf(stops), lane.destination]
    legsLeft -= route.length - 1
    if (legsLeft < 0) return unpriced([], `at most ${pricedLegsMax} legs are priced at once`)
    const priced: (Leg & RouteLeg)[] = []
    for (const [nth, destination] of route.slice(1).entries()) {
      priced.push(await legOf(lane, [route[nth] ?? '', destination]))
    }
    const legs = priced.map(({ rateCents: _, ...leg }) => leg)
    usualFee ??= lane.stop_fee === undefined ? feeOfBrokerage() : undefined
    const fee = lane.stop_fee === undefined ? ((await usualFee) ?? null) : centsFromDollars(lane.stop_fee)
    const prices = routePrices(priced, fee)
    const missing = priced.filter(({ rateCents }) => rateCents === null)
    const without = missing.map(({ origin, destination }) => `${origin} to ${destination}`).join(', ')
    if (prices.length === 0) return unpriced(legs, `no rate is known for ${without}`)
    return {
      legs,
      prices: prices.map(({ method, parts, totalCents }) => ({
        method,
        parts: parts.map(({ leg, times, eachCents, cents }) => ({
          leg,
          times,
          each: dollarsFromCents(eachCents),
          amount: dollarsFromCents(cents),
        })),
        total: dollarsFromCents(totalCents),
      })),
      sentence:
        fee === null
          ? 'Priced by the sum of its legs only: your stop fee is in Canadian dollars, and no exchange rate of today is entered.'
          : missing.length === 0
            ? 'Priced by the rates of its legs as direct truckloads. It counts in no statistic of a lane.'
            : `Priced by its longest leg only: no rate is known for ${without}.`,
    }
  }
}
