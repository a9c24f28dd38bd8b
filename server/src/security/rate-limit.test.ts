import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { slidingWindow } from './rate-limit.ts'

/** A simple reference implementation: a call is admitted if fewer than `max` were admitted in the window before it. */
function byDefinition(times: readonly number[], max: number, windowMs: number): boolean[] {
  const admitted: number[] = []
  return times.map((time) => {
    const fits = admitted.filter((earlier) => time - earlier < windowMs).length < max
    if (fits) admitted.push(time)
    return fits
  })
}

const arrivals = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 400 })), { maxLength: 300 })
  .map((gaps) => {
    let at = 0
    return gaps.map((gap) => (at += gap))
  })

describe('ten a second', () => {
  test('a clock that was set back neither opens the limit nor keeps it shut', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (jumpMs) => {
        const limit = slidingWindow(10, 1000)
        for (let i = 0; i < 10; i++) expect(limit.admit('a', jumpMs).admitted).toBe(true)
        expect(limit.remaining('a', 0)).toBe(0)
        expect(limit.admit('a', 0).admitted).toBe(false)
        expect(limit.admit('a', 999).admitted).toBe(false)
        expect(limit.remaining('a', 1000)).toBe(10)
        expect(limit.admit('a', 1000).admitted).toBe(true)
      }),
    )
  })

  test('at most ten calls are admitted in any window, whenever they arrive', () => {
    fc.assert(
      fc.property(arrivals, (times) => {
        const limit = slidingWindow(10, 1000)
        const admitted = times.filter((time) => limit.admit('a', time).admitted)
        for (let i = 10; i < admitted.length; i++) {
          expect((admitted[i] ?? 0) - (admitted[i - 10] ?? 0)).toBeGreaterThanOrEqual(1000)
        }
      }),
    )
  })

  test('no call is refused too early: the reference implementation admits exactly the same calls', () => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 12 }), (times, max) => {
        const limit = slidingWindow(max, 1000)
        expect(times.map((time) => limit.admit('a', time).admitted)).toEqual(byDefinition(times, max, 1000))
      }),
    )
  })

  test('a refused call takes no permit, and reports when the next one is free', () => {
    const limit = slidingWindow(10, 1000)
    for (let i = 0; i < 10; i++) expect(limit.admit('a', i * 10).admitted).toBe(true)
    for (let i = 0; i < 1000; i++) expect(limit.admit('a', 500).admitted).toBe(false)
    expect(limit.admit('a', 900)).toEqual({ admitted: false, remaining: 0, retryAfterMs: 100 })
    expect(limit.admit('a', 1000).admitted).toBe(true)
    expect(limit.admit('a', 1001).admitted).toBe(false)
  })

  test('remaining permits decrease with each call, and return as calls leave the window', () => {
    const limit = slidingWindow(3, 1000)
    expect(limit.remaining('a', 0)).toBe(3)
    expect(limit.admit('a', 0).remaining).toBe(2)
    expect(limit.admit('a', 10).remaining).toBe(1)
    expect(limit.remaining('a', 999)).toBe(1)
    expect(limit.remaining('a', 1000)).toBe(2)
  })

  test('each key has its own limit', () => {
    const limit = slidingWindow(1, 1000)
    expect(limit.admit(1, 0).admitted).toBe(true)
    expect(limit.admit(2, 0).admitted).toBe(true)
    expect(limit.admit(1, 0).admitted).toBe(false)
  })

  test('a flood of invented keys takes no more memory than 100,000 of them: the one admitted longest ago is forgotten', () => {
    const limit = slidingWindow(1, 1000)
    limit.admit('first', 0)
    limit.admit('second', 0)
    for (let key = 0; key < 99_998; key++) limit.admit(key, 0)
    for (const kept of ['first', 'second', 0, 99_997]) expect(limit.remaining(kept, 1)).toBe(0)
    limit.admit('new', 1)
    expect(limit.remaining('first', 1)).toBe(1)
    for (const kept of ['second', 0, 99_997, 'new']) expect(limit.remaining(kept, 1)).toBe(0)
  })
})
