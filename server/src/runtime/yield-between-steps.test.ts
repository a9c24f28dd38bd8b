import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { estimateOffer } from '#engine/estimate/estimate-offer.ts'
import { prepareEstimator, prepareEstimatorInSteps } from '#engine/estimate/estimator.ts'
import { type CostSeen, prepareCosts, prepareCostsInSteps } from '#engine/estimate/expected-cost.ts'
import { freightLane } from '#engine/quotes/lane-identity.ts'
import { type LaneQuote, quotedLanes } from '#engine/quotes/quoted-lanes.ts'
import { finished, type Steps } from '#engine/steps.ts'
import { onBehalfOf, yieldBetweenSteps } from './yield-between-steps.ts'

const DAY_MS = 86_400_000
const NOW = 20_000 * DAY_MS

// The time of a turn is counted in one place, so each test begins in a new turn.
beforeEach(() => new Promise<void>((next) => setImmediate(next)))

/** A clock that advances so fast that the work yields after each step. */
function yieldAfterEachStep(): () => number {
  return () => (fastTime += 1_000)
}
let fastTime = 0

function* count(to: number, done: number[] = []): Steps<number[]> {
  for (let n = 0; n < to; n++) {
    done.push(n)
    yield
  }
  return done
}

test('other events run between the steps of long work, not only at its end', async () => {
  const done: number[] = []
  const seen: number[] = []
  let waiting = true
  const other = (): void => {
    seen.push(done.length)
    if (waiting) setImmediate(other)
  }
  setImmediate(other)
  expect(await yieldBetweenSteps(count(50, done), undefined, yieldAfterEachStep())).toHaveLength(50)
  waiting = false
  // One other event runs between every two steps.
  expect(new Set(seen).size).toBeGreaterThanOrEqual(49)
})

test('short work does not yield, and its error is rethrown', async () => {
  let otherEvents = 0
  const still = () => 0
  const other = setImmediate(() => otherEvents++)
  await yieldBetweenSteps(count(50), undefined, still)
  clearImmediate(other)
  expect(otherEvents).toBe(0)
  const failing = (function* (): Steps<void> {
    yield
    throw new RangeError('no such lane')
  })()
  await expect(yieldBetweenSteps(failing, undefined, still)).rejects.toThrow('no such lane')
})

test('the owners of long work take turns, one slice in each turn of the event loop, and each finishes work by work', async () => {
  const order: string[] = []
  const turnOf: number[] = []
  let turn = 0
  let isOver = false
  const countTurns = (): void => {
    turn++
    if (!isOver) setImmediate(countTurns)
  }
  function* work(name: string): Steps<void> {
    for (let step = 0; step < 3; step++) {
      order.push(name)
      turnOf.push(turn)
      yield
    }
  }
  const start = (owner: string, name: string) =>
    onBehalfOf(owner, () => yieldBetweenSteps(work(name), undefined, yieldAfterEachStep()))
  setImmediate(countTurns)
  await Promise.all([start('busy', 'A'), start('busy', 'B'), start('busy', 'C'), start('quiet', 'q')])
  isOver = true
  // A starts at once; from then on, the owners alternate until the quiet one is done.
  expect(order.join('')).toBe('AAqAqqBBBCCC')
  expect(new Set(turnOf.slice(1)).size).toBe(turnOf.length - 1)
})

test('short works of one request, one after the other, share the time of a turn', async () => {
  let time = 0
  const turns: number[] = []
  let turn = 0
  let isOver = false
  const countTurns = (): void => {
    turn++
    if (!isOver) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  // Each work has one step of a millisecond, so it never asks for a turn of its own.
  function* work(): Steps<void> {
    time += 1
    turns.push(turn)
    yield* []
  }
  for (let at = 0; at < 30; at++) await yieldBetweenSteps(work(), 'one request', () => time)
  isOver = true
  const inTurn = [...Map.groupBy(turns, (one) => one).values()].map(({ length }) => length)
  expect(Math.max(...inTurn)).toBe(3)
})

test('after work that fails, the next work of its owner starts', async () => {
  const failing = (function* (): Steps<void> {
    yield
    throw new RangeError('no such lane')
  })()
  const [failed, done] = await Promise.allSettled([
    yieldBetweenSteps(failing, 'owner', yieldAfterEachStep()),
    yieldBetweenSteps(count(3), 'owner', yieldAfterEachStep()),
  ])
  expect([failed.status, done.status]).toEqual(['rejected', 'fulfilled'])
})

const lanes = Array.from({ length: 12 }, (_, at) =>
  freightLane({
    origin: { city: `city ${at}`, state: at % 2 === 0 ? 'TX' : 'OK', region: 'SC' },
    destination: { city: 'atlanta', state: at % 3 === 0 ? 'GA' : 'FL', region: 'SE' },
    equipment: 'V',
  }),
)
const anyQuotes = fc
  .array(
    fc.record({
      lane: fc.constantFrom(...lanes),
      rateCents: fc.integer({ min: 0, max: 500_000 }),
      costCents: fc.option(fc.integer({ min: 0, max: 400_000 })),
      outcome: fc.constantFrom('won' as const, 'lost' as const, 'pending' as const),
      miles: fc.option(fc.integer({ min: 20, max: 2_500 })),
      quotedAt: fc.integer({ min: -300, max: 2 }).map((day) => NOW + day * DAY_MS),
    }),
    { maxLength: 200 },
  )
  .map((quotes) => quotes.map((quote, at): LaneQuote => ({ ...quote, quoteId: at + 1 })))

test('a model that is computed in steps equals one that is computed at once, to the last digit', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuotes, async (quotes) => {
      const [atOnce, inSteps] = [
        prepareEstimator({ quotes, now: NOW }),
        await yieldBetweenSteps(
          prepareEstimatorInSteps(quotedLanes(quotes), NOW, rowsOf(quotes)).steps,
          undefined,
          yieldAfterEachStep(),
        ),
      ]
      const offer = { lane: laneAt(0), offerRateCents: 200_000, miles: 700, expectedCostCents: 170_000 }
      expect(estimateOffer({ ...offer, estimator: inSteps })).toEqual(
        estimateOffer({ ...offer, estimator: atOnce }),
      )
      const loads = quotes.flatMap(
        ({ quoteId, costCents, miles, quotedAt, lane: { costKeys } }): CostSeen[] =>
          costCents === null || miles === null ? [] : [{ quoteId, costCents, miles, at: quotedAt, costKeys }],
      )
      expect(
        await yieldBetweenSteps(
          prepareCostsInSteps(quotedLanes(quotes), NOW, rowsOf(quotes)),
          undefined,
          yieldAfterEachStep(),
        ),
      ).toEqual(prepareCosts(loads, NOW))
    }),
    { numRuns: 15 },
  )
})

const rowsOf = (quotes: readonly LaneQuote[]) => finished(quotedLanes(quotes).columns.orderedRows())

function laneAt(at: number) {
  const lane = lanes[at % lanes.length]
  if (lane === undefined) throw new Error('no lane')
  return lane
}

test('a long history is split into many steps, each over a bounded number of quotes, lanes, or scopes', () => {
  const quotes = Array.from(
    { length: 20_000 },
    (_, at): LaneQuote => ({
      quoteId: at + 1,
      lane: laneAt(at),
      rateCents: 150_000 + (at % 977) * 100,
      costCents: 120_000 + (at % 991) * 100,
      outcome: at % 3 === 0 ? 'won' : 'lost',
      miles: 100 + (at % 1_900),
      quotedAt: NOW - (at % 500) * DAY_MS,
    }),
  )
  const stepsOf = (work: Steps<unknown>): number => {
    let steps = 1
    while (work.next().done !== true) steps++
    return steps
  }
  // 18 passes over 2,000 quotes, and 6 passes over 20,000 quotes, a few thousand per step.
  expect(stepsOf(prepareEstimatorInSteps(quotedLanes(quotes), NOW, rowsOf(quotes)).steps)).toBeGreaterThan(
    18 * 2 + 6 * 4,
  )
  // 18 passes over 10,000 loads, and 1 pass over 20,000.
  expect(stepsOf(prepareCostsInSteps(quotedLanes(quotes), NOW, rowsOf(quotes)))).toBeGreaterThan(18 * 10 + 20)
})
