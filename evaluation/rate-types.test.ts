/** @module-tag long */
import { expect, test } from 'vitest'
import { checkRateTypes, rateTypePlans } from './src/rate-type-check.ts'

const [same, differing, rare] = rateTypePlans

test('with few quotes of a type, borrowing is nearer to the truth than one pool, and than the type alone', () => {
  if (rare === undefined) throw new Error('There is a plan with few contract quotes.')
  const { contract, spot } = checkRateTypes(rare, 6)
  expect(contract.borrowing.logLoss).toBeLessThan(contract.apart.logLoss)
  expect(contract.borrowing.logLoss).toBeLessThan(contract['one pool'].logLoss)
  expect(contract.borrowing.earned).toBeGreaterThan(contract.apart.earned)
  expect(spot.borrowing.logLoss).toBeLessThan(spot['one pool'].logLoss + 0.001)
})

test('with many quotes of both, one pool is far from the truth, and borrowing is not', () => {
  if (differing === undefined) throw new Error('There is a plan with a known difference.')
  const { contract } = checkRateTypes(differing, 4)
  expect(contract.borrowing.logLoss).toBeLessThan(contract['one pool'].logLoss * 0.75)
  expect(contract.borrowing.earned).toBeGreaterThan(contract['one pool'].earned + 0.1)
})

test('without a difference, most is borrowed', () => {
  if (same === undefined) throw new Error('There is a plan without a difference.')
  const { contract } = checkRateTypes(same, 4)
  expect(contract.borrowing.logLoss).toBeLessThan(contract.apart.logLoss)
})
