import { expect, test } from 'vitest'
import { seededRandom } from '#server/sample/seeded-random.ts'

// The first number of mulberry32 from seed 1, as in its published implementation.
test('seed 1 draws the known first number', () => {
  expect(seededRandom(1).uniform()).toBe(0.6270739405881613)
})

test('normal, exponential and Poisson draws have the requested mean', () => {
  const random = seededRandom(3)
  const meanOf = (draw: () => number) => {
    let sum = 0
    for (let n = 0; n < 20_000; n++) sum += draw()
    return sum / 20_000
  }
  expect(meanOf(() => random.normal(5, 2))).toBeCloseTo(5, 1)
  expect(meanOf(() => random.exponential(3))).toBeCloseTo(3, 1)
  expect(meanOf(() => random.poisson(4))).toBeCloseTo(4, 1)
})

test('a weight of zero is never drawn', () => {
  const random = seededRandom(4)
  for (let n = 0; n < 500; n++) expect(random.weighted([0, 1, 0])).toBe(1)
})

test('picking from an empty list is an error', () => {
  expect(() => seededRandom(5).pick([])).toThrow(RangeError)
})
