import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateOffer } from '../estimate/estimate-offer.ts'
import { prepareEstimator, prepareEstimatorInSteps } from '../estimate/estimator.ts'
import { expectedCost, prepareCosts, prepareCostsInSteps } from '../estimate/expected-cost.ts'
import { followChanges } from '../estimate/prepared-models.ts'
import { haulQuotesInSteps, rateByMiles, rateByMilesInSteps } from '../estimate/rate-by-miles.ts'
import { countHistory } from '../history-counts.ts'
import { countMiles } from '../lane-insight.ts'
import { CONTRACT_BIT, emptyPortion, OUTCOMES, type QuoteRow, UNKNOWN_COST } from '../quotes/quote-columns.ts'
import { countRates } from '../rate-counts.ts'
import { isInPool, type Pool, rateTypes } from '../rate-type.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { finished } from '../steps.ts'
import { CachedResults } from './cached-results.ts'
import { areaName, identityOf, type LanePlaces, QuoteBook } from './quote-book.ts'
import {
  countScope,
  countScopeHistory,
  countScopeMiles,
  countScopeRates,
  newestQuotes,
  type Scope,
} from './scope-counts.ts'

/** Two property tests, with some and with many random values. */
const property = (name: string, check: (numRuns: number) => void) => {
  test(name, () => check(12))
  test(`${name}: many`, { tags: 'long' }, () => check(100))
}

const DAY = 86_400_000
const NOW = 20_000 * DAY + DAY / 2

const ends = [
  { key: 'dallas|TX', state: 'TX', market: 'Dallas, TX' },
  { key: 'fort worth|TX', state: 'TX', market: 'Dallas, TX' },
  { key: 'atlanta|GA', state: 'GA', market: 'Atlanta, GA' },
  { key: 'macon|GA', state: 'GA', market: null },
  { key: 'honolulu|HI', state: 'HI', market: 'Honolulu, HI' },
] as const

const places = fc
  .record({
    from: fc.constantFrom(...ends),
    to: fc.constantFrom(...ends),
    equipmentCode: fc.constantFrom('V', 'R'),
  })
  .map(
    ({ from, to, equipmentCode }): LanePlaces => ({
      originKey: from.key,
      destinationKey: to.key,
      originState: from.state,
      destinationState: to.state,
      originMarket: from.market,
      destinationMarket: to.market,
      equipmentCode,
    }),
  )

const quote = fc.record({
  // Few ids, so that quotes are replaced and removed; some above 2^32, as in the service.
  quoteId: fc.oneof(
    fc.nat(40),
    fc.nat(40).map((id) => 70_000_000_000 + id),
  ),
  places,
  rateCents: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 40_000, max: 400_000 }) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  costCents: fc.option(fc.integer({ min: 30_000, max: 300_000 })),
  outcome: fc.constantFrom('won' as const, 'lost' as const, 'pending' as const),
  miles: fc.option(fc.integer({ min: 20, max: 2_500 })),
  quotedAt: fc.integer({ min: -700, max: 1 }).map((day) => NOW + day * DAY),
  contract: fc.boolean(),
})

interface Known {
  readonly quoteId: number
  readonly places: LanePlaces
  readonly rateCents: number
  readonly costCents: number | null
  readonly outcome: 'won' | 'lost' | 'pending'
  readonly miles: number | null
  readonly quotedAt: number
  readonly contract?: boolean
}

const rateTypeOf = ({ contract }: Known) => (contract === true ? 'contract' : 'spot')

const changes = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: quote.map((put): Known | { remove: number } => put) },
    { weight: 1, arbitrary: quote.map(({ quoteId }): Known | { remove: number } => ({ remove: quoteId })) },
  ),
  { maxLength: 150 },
)

const rowOf = (one: Known): QuoteRow => ({
  quoteId: one.quoteId,
  quotedAt: one.quotedAt,
  rateCents: one.rateCents,
  costCents: one.costCents ?? Number.NaN,
  outcome: OUTCOMES.indexOf(one.outcome),
  miles: one.miles ?? Number.NaN,
  ...(one.contract === true ? { contract: true } : {}),
})

function put(book: QuoteBook, one: Known): void {
  book.put(book.lane(one.places), rowOf(one))
}

/** Opens a book with quotes in portions, newest first. Some quotes occur a second time. */
function opened(quotes: readonly Known[]): QuoteBook {
  const book = new QuoteBook()
  const list = [...quotes.toReversed(), ...quotes.filter(({ quoteId }) => quoteId % 5 === 0)]
  for (let from = 0; from < list.length; from += 7) {
    const portion = emptyPortion(9)
    portion.count = 0
    for (const one of list.slice(from, from + 7)) {
      const at = portion.count++
      const { costCents, ...row } = rowOf(one)
      portion.lane[at] = book.lane(one.places)
      portion.costCents[at] = one.costCents ?? UNKNOWN_COST
      portion.traits[at] = row.outcome | (one.contract === true ? CONTRACT_BIT : 0)
      for (const name of ['quoteId', 'quotedAt', 'rateCents', 'miles'] as const) portion[name][at] = row[name]
    }
    book.append(portion)
  }
  finished(book.join())
  return book
}

/** Changes a book. Returns the book, the quotes that it should contain, and a new book of these quotes. */
function followed(list: readonly (Known | { remove: number })[]) {
  const book = new QuoteBook()
  const left = new Map<number, Known>()
  for (const change of list) {
    if ('remove' in change) {
      book.remove(change.remove)
      left.delete(change.remove)
    } else {
      put(book, change)
      left.set(change.quoteId, change)
    }
  }
  const quotes = [...left.values()].sort((a, b) => a.quotedAt - b.quotedAt || a.quoteId - b.quoteId)
  return { book, anew: opened(quotes), quotes }
}

const listed = (quotes: readonly Known[]) => quotes.map((one) => ({ ...one, lane: identityOf(one.places) }))

const scopesOf = (book: QuoteBook): { scope: Scope; has: (one: LanePlaces) => boolean }[] =>
  (['all', ...rateTypes] as const).flatMap((pool) => scopesIn(book, pool))

const scopesIn = (book: QuoteBook, pool: Pool): { scope: Scope; has: (one: LanePlaces) => boolean }[] =>
  [null, 'V'].flatMap((equipmentCode) => {
    const ofEquipment = (one: LanePlaces) => equipmentCode === null || one.equipmentCode === equipmentCode
    const areas = [
      { area: book.all, has: () => true },
      {
        area: book.corridor('dallas|TX', 'atlanta|GA'),
        has: (one: LanePlaces) => one.originKey === 'dallas|TX' && one.destinationKey === 'atlanta|GA',
      },
      {
        area: book.area(areaName.states('TX', 'GA')),
        has: (one: LanePlaces) => one.originState === 'TX' && one.destinationState === 'GA',
      },
      {
        area: book.area(areaName.markets('Dallas, TX', 'Atlanta, GA') ?? ''),
        has: (one: LanePlaces) =>
          one.originMarket === 'Dallas, TX' && one.destinationMarket === 'Atlanta, GA',
      },
      {
        area: book.area(areaName.regions('TX', 'GA') ?? ''),
        has: (one: LanePlaces) => one.originState === 'TX' && one.destinationState === 'GA',
      },
    ]
    return areas.flatMap(({ area, has }) =>
      area === undefined
        ? []
        : [{ scope: { area, equipmentCode, pool }, has: (one: LanePlaces) => has(one) && ofEquipment(one) }],
    )
  })

const byMiles = (one: { miles: number | null }, other: { miles: number | null }) =>
  (one.miles ?? -1) - (other.miles ?? -1)

describe('a book after any changes', () => {
  property('has the same counts in every scope as a count over its quotes', (numRuns) => {
    fc.assert(
      fc.property(changes, (list) => {
        const { book, quotes } = followed(list)
        expect(book.size).toBe(quotes.length)
        for (const pool of ['all', ...rateTypes] as const) {
          const of = quotes.filter((one) => isInPool(pool, rateTypeOf(one)))
          expect(book.counts(pool)).toEqual(
            ['pending', 'won', 'lost'].map((outcome) => of.filter((one) => one.outcome === outcome).length),
          )
        }
        for (const { scope, has } of scopesOf(book)) {
          const of = quotes.filter((one) => has(one.places) && isInPool(scope.pool, rateTypeOf(one)))
          expect(finished(countScopeRates(book, scope))).toEqual(countRates(of))
          expect(finished(countScopeHistory(book, scope, NOW))).toEqual(countHistory(of, NOW))
          expect(finished(countScopeMiles(book, scope)).sort(byMiles)).toEqual(countMiles(of).sort(byMiles))
          const decided = of.filter(({ outcome }) => outcome !== 'pending')
          expect(countScope(scope)).toEqual({
            quotes: of.length,
            decided: decided.length,
            lanes: new Set(decided.map((one) => `${one.places.originKey}>${one.places.destinationKey}`)).size,
          })
          expect(finished(newestQuotes(book, scope, 5)).map(({ quoteId }) => quoteId)).toEqual(
            of.slice(-5).map(({ quoteId }) => quoteId),
          )
        }
      }),
      { numRuns },
    )
  })

  property(
    'has the same estimates and expected costs as a list of its quotes, to the last digit',
    (numRuns) => {
      fc.assert(
        fc.property(changes, (list) => {
          const { book, anew, quotes } = followed(list)
          const offer = { offerRateCents: 200_000, miles: 780, expectedCostCents: 170_000 }
          const estimates = [book, anew].map((one) => {
            const rows = finished(one.columns.orderedRows())
            const estimator = finished(prepareEstimatorInSteps(one, NOW, rows).steps)
            const costs = finished(prepareCostsInSteps(one, NOW, rows))
            const haulLog = finished(rateByMilesInSteps(finished(haulQuotesInSteps(one, 20_000)), 20_000))
            return { estimator, costs, haulLog }
          })
          const plain = {
            estimator: prepareEstimator({ quotes: listed(quotes), now: NOW }),
            costs: prepareCosts(
              listed(quotes).flatMap(({ quoteId, costCents, miles, quotedAt, lane }) =>
                costCents === null || miles === null
                  ? []
                  : [{ quoteId, costCents, miles, at: quotedAt, costKeys: lane.costKeys }],
              ),
              NOW,
            ),
            haulLog: rateByMiles(quotes, 20_000),
          }
          for (const { places: of } of quotes.slice(0, 4)) {
            const lane = identityOf(of)
            for (const { estimator, costs, haulLog } of estimates) {
              expect(estimateOffer({ ...offer, lane, estimator })).toEqual(
                estimateOffer({ ...offer, lane, estimator: plain.estimator }),
              )
              const load = { costKeys: lane.costKeys, miles: 780 }
              expect(expectedCost(costs, load)).toEqual(expectedCost(plain.costs, load))
              expect(haulLog(780)).toBe(plain.haulLog(780))
            }
          }
        }),
        { numRuns },
      )
    },
  )

  property(
    'has expected costs that are within 1e-9 of newly prepared ones with the same curve, after a day of changes',
    (numRuns) => {
      fc.assert(
        fc.property(changes, changes, (before, after) => {
          const { book } = followed(before)
          const rows = () => finished(book.columns.orderedRows())
          const costs = finished(prepareCostsInSteps(book, NOW, rows()))
          const unlisten = book.listen(
            followChanges(book, () => ({ estimators: [], costs: { spot: costs, contract: costs } })),
          )
          for (const change of after) {
            if ('remove' in change) book.remove(change.remove)
            else put(book, change)
          }
          unlisten()
          const anew = finished(prepareCostsInSteps(book, NOW, rows()))
          expect(costs.loads).toBe(anew.loads)
          // With fewer than 60 loads both use the default curve, so their residuals are comparable.
          if (costs.ownCurve || anew.ownCurve) return
          for (const [key, residual] of anew.residuals) {
            const kept = costs.residuals.get(key)
            expect(kept?.loads).toBe(residual.loads)
            if (residual.loads === 0) continue
            expect(kept?.weight).toBeCloseTo(residual.weight, 9)
            expect(kept?.sum).toBeCloseTo(residual.sum, 9)
          }
        }),
        { numRuns },
      )
    },
  )
})

test('a lane whose loads were all removed has no residual left', () => {
  const random = seededNumbers(5)
  const [from, other, to] = ends
  const quotes = Array.from({ length: 400 }, (_, nth): Known => {
    const origin = nth % 2 === 0 ? from : other
    return {
      quoteId: nth,
      places: {
        originKey: origin.key,
        destinationKey: to.key,
        originState: origin.state,
        destinationState: to.state,
        originMarket: origin.market,
        destinationMarket: to.market,
        equipmentCode: 'V',
      },
      rateCents: 200_000,
      costCents: Math.round(150_000 * (1 + 0.1 * (random() - 0.5))),
      outcome: 'won',
      miles: 780,
      quotedAt: NOW - (400 - nth) * (DAY / 4),
    }
  })
  const costsOf = (book: QuoteBook) =>
    finished(prepareCostsInSteps(book, NOW, finished(book.columns.orderedRows())))
  const built = new QuoteBook()
  for (const one of quotes) put(built, one)
  for (const book of [built, opened(quotes)]) {
    const costs = costsOf(book)
    const { costKeys } = identityOf((quotes[0] as Known).places)
    const unlisten = book.listen(
      followChanges(book, () => ({ estimators: [], costs: { spot: costs, contract: costs } })),
    )
    for (const { quoteId } of quotes) if (quoteId % 2 === 0) book.remove(quoteId)
    unlisten()
    const left = costs.residuals.get(costKeys.at(-1) ?? '')
    expect(left?.loads).toBe(0)
    expect(left?.sum).toBeCloseTo(0, 9)
  }
})

test('a result is cached until a quote of its area changes, or it expires', () => {
  const book = new QuoteBook()
  const [from, , to, far] = ends
  const lane = (origin: (typeof ends)[number], destination: (typeof ends)[number]): LanePlaces => ({
    originKey: origin.key,
    destinationKey: destination.key,
    originState: origin.state,
    destinationState: destination.state,
    originMarket: origin.market,
    destinationMarket: destination.market,
    equipmentCode: 'V',
  })
  const one = { rateCents: 200_000, costCents: null, outcome: 'won', miles: null, quotedAt: NOW } as const
  put(book, { ...one, quoteId: 1, places: lane(from, to) })
  const corridor = book.corridor(from.key, to.key) ?? book.all
  const kept = new CachedResults()
  kept.keep('a', { revision: corridor.revision, now: NOW }, { value: 7, until: NOW + DAY })
  expect(kept.get('a', corridor, NOW)).toBe(7)
  expect(kept.get('a', corridor, NOW - 1)).toBeUndefined()
  expect(kept.get('a', corridor, NOW + DAY)).toBeUndefined()
  put(book, { ...one, quoteId: 2, places: lane(far, to) })
  expect(kept.get('a', corridor, NOW)).toBe(7)
  put(book, { ...one, quoteId: 3, places: lane(from, to) })
  expect(kept.get('a', corridor, NOW)).toBeUndefined()
})
