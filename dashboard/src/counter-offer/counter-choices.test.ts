import { expect, test } from 'vitest'
import { choicesAt } from './counter-choices.ts'

type Advice = Parameters<typeof choicesAt>[0]
const choice = (rate: number, outside_rules: Advice['accept']['outside_rules'] = []) =>
  ({ rate, outside_rules }) as unknown as Advice['accept']
/** The customer named $2,000 instead of $2,400, and the chance falls evenly between them. */
const advice = {
  counter_rate: 2000,
  cost: { amount: 1700, source: 'entered' },
  accept: choice(2000),
  counter: choice(2050),
  curve: [0, 1].map((at) => ({
    rate: 2000 + 400 * at,
    probability: 1 - at,
    interval_80: { low: 1 - at, high: 1 - at },
  })),
} as unknown as Advice

test('each choice has its margin and what it earns on average, also for a rate that was typed', () => {
  const { accept, counter, best } = choicesAt(advice, 2100)
  expect(accept).toMatchObject({ chance: 1, margin: 300, marginPct: 15, worth: 300 })
  expect(counter).toMatchObject({ rate: 2100, chance: 0.75, margin: 400, worth: 300 })
  // Of two equal choices, the certain one.
  expect(best).toBe('accept')
  expect(choicesAt(advice, 2050).best).toBe('counter')
})

test('walking away is best when both lose money, and a choice that a rule blocks is never best', () => {
  const dear = { ...advice, cost: { amount: 2500, source: 'entered' as const } }
  expect(choicesAt(dear, 2100).best).toBe('walk_away')
  const blocked = { ...advice, counter: choice(2050, [{ code: 'blocked', detail: '' }]) }
  expect(choicesAt(blocked, 2050).best).toBe('accept')
})

test('without a cost or a curve, nothing is best', () => {
  expect(choicesAt({ ...advice, cost: null }, 2100)).toMatchObject({ best: null, accept: { margin: null } })
  expect(choicesAt({ ...advice, curve: [] }, 2100)).toMatchObject({ best: null, counter: { chance: null } })
})
