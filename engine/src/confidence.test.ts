import { expect, it } from 'vitest'
import { confidence, decidedToNextConfidence } from './confidence.ts'

it.each([
  [0, 'none', 1],
  [1, 'low', 4],
  [4, 'low', 1],
  [5, 'medium', 10],
  [14, 'medium', 1],
  [15, 'high', null],
  [10_000, 'high', null],
])('%d decided quotes: confidence %s, %s more for the next level', (decided, level, more) => {
  expect(confidence(decided)).toBe(level)
  expect(decidedToNextConfidence(decided)).toBe(more)
})
