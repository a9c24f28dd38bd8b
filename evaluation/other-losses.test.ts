/** @module-tag long */
import { expect, test } from 'vitest'
import { checkOtherLosses, otherLossesPlans } from './src/other-losses-check.ts'

const found = (name: string) => {
  const plan = otherLossesPlans.find((one) => one.name === name)
  if (plan === undefined) throw new Error(`There is no plan "${name}".`)
  return checkOtherLosses(plan, 12)
}

test('without reasons, no digit changes', () => {
  const { withReasons, without } = found('no reasons')
  expect(withReasons).toEqual(without)
})

test('with reasons that are right, the best rates earn more, and the estimate is nearer to the truth', () => {
  const { withReasons, without } = found('right')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss)
  expect(withReasons.earned).toBeGreaterThan(without.earned + 0.02)
})

test('with a third of the reasons wrong, too', () => {
  const { withReasons, without } = found('a third wrong')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss)
  expect(withReasons.earned).toBeGreaterThan(without.earned + 0.01)
})

test('if every loss is about price, but says no response, the estimate is as good as without reasons', () => {
  const { withReasons, without } = found('all about price, all say no response')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss + 0.002)
  expect(withReasons.earned).toBeGreaterThan(without.earned)
})
