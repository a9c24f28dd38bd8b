import { expect, test } from 'vitest'
import { checkOtherLosses, otherLossesPlans } from './src/other-losses-check.ts'

const found = (name: string) => {
  const plan = otherLossesPlans.find((one) => one.name === name)
  if (plan === undefined) throw new Error(`There is no plan "${name}".`)
  return checkOtherLosses(plan, 6)
}

test('without reasons, nothing changes', () => {
  const { withReasons, without } = found('no reasons')
  expect(withReasons).toEqual(without)
})

test('with reasons that are right, the best rates earn more, and the estimate is as near to the truth', () => {
  const { withReasons, without } = found('reasons that are right')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss + 0.002)
  expect(withReasons.earned).toBeGreaterThan(without.earned + 0.02)
})

test('reasons of which half are wrong do, too', () => {
  const { withReasons, without } = found('half mislabeled')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss + 0.002)
  expect(withReasons.earned).toBeGreaterThan(without.earned + 0.01)
})

test('if every loss says no response, but is about price, the estimate is as good as without reasons', () => {
  const { withReasons, without } = found('all losses are about price, all say no response')
  expect(withReasons.logLoss).toBeLessThan(without.logLoss + 0.002)
  expect(withReasons.earned).toBeGreaterThan(without.earned - 0.01)
})
