/** @module-tag long */
import { expect, test } from 'vitest'
import { checkOtherLosses, differenceOf, otherLossesPlans } from './src/other-losses-check.ts'

const found = (name: string) => {
  const plan = otherLossesPlans.find((one) => one.name === name)
  if (plan === undefined) throw new Error(`There is no plan "${name}".`)
  const compared = checkOtherLosses(plan, 12)
  return {
    compared,
    logLoss: differenceOf(compared, 'logLoss').mean,
    earned: differenceOf(compared, 'earned').mean,
  }
}

test('without reasons, no digit changes', () => {
  for (const { withReasons, without } of found('no reasons').compared) expect(withReasons).toEqual(without)
})

test('with reasons that are right, the best rates earn more, and the estimate is nearer to the truth', () => {
  const { logLoss, earned } = found('right')
  expect(logLoss).toBeLessThan(0)
  expect(earned).toBeGreaterThan(0.02)
})

test('with a third of the reasons wrong, too', () => {
  const { logLoss, earned } = found('a third wrong')
  expect(logLoss).toBeLessThan(0)
  expect(earned).toBeGreaterThan(0.01)
})

test('if every loss is about price, but says no response, the estimate is as good as without reasons', () => {
  const { logLoss, earned } = found('all about price, all say no response')
  expect(logLoss).toBeLessThan(0.002)
  expect(earned).toBeGreaterThan(0)
})
