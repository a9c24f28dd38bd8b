/** @module-tag long */
import { expect, test } from 'vitest'
import { simulateExperiments } from './src/experiment-check.ts'

test('the range of an experiment contains the true gain, and no suggestion costs more than 2 % of modeled margin', () => {
  const { coverage, costMax, bias } = simulateExperiments(20, 1)
  expect(coverage).toBeGreaterThanOrEqual(0.85)
  expect(costMax).toBeLessThanOrEqual(0.02)
  expect(Math.abs(bias)).toBeLessThan(6)
})
