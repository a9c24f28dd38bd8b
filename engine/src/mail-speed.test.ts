import { describe, expect, test } from 'vitest'
import { mailSpeed, type QuotedMail, speedEffect } from './mail-speed.ts'
import { differenceInterval, wilsonInterval } from './statistics/wilson.ts'

const mail = (minutes: number, over: Partial<QuotedMail> = {}): QuotedMail => ({
  receivedAt: 0,
  quotedAt: minutes * 60_000,
  answeredAt: null,
  isUnchanged: null,
  isWon: null,
  ...over,
})

describe('intervals of shares', () => {
  test('are those of Wilson and Newcombe', () => {
    // Newcombe 1998, table II, examples (a) and (b): 56/70 against 48/80, and 9/10 against 3/10.
    const a = differenceInterval({ part: 56, whole: 70 }, { part: 48, whole: 80 }, 1.959964)
    expect(a?.low).toBeCloseTo(0.0524, 4)
    expect(a?.high).toBeCloseTo(0.3339, 4)
    const b = differenceInterval({ part: 9, whole: 10 }, { part: 3, whole: 10 }, 1.959964)
    expect(b?.low).toBeCloseTo(0.1705, 4)
    expect(b?.high).toBeCloseTo(0.809, 4)
    expect(wilsonInterval(0, 0, 1.96)).toBeNull()
    expect(differenceInterval({ part: 0, whole: 0 }, { part: 1, whole: 2 }, 1.96)).toBeNull()
  })
})

describe('the speed of mails', () => {
  test('is the median and the ninth tenth of minutes to the first of quote and answer', () => {
    const mails = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((minutes) => mail(minutes))
    expect(mailSpeed(mails)).toEqual({
      quoted: 10,
      medianMinutes: 5.5,
      ninthTenthMinutes: 9,
      answered: 0,
      unchanged: 0,
    })
    const answered = mail(30, { answeredAt: 10 * 60_000, isUnchanged: true })
    expect(mailSpeed([answered])).toMatchObject({ medianMinutes: 10, answered: 1, unchanged: 1 })
    expect(mailSpeed([])).toMatchObject({ medianMinutes: null, ninthTenthMinutes: null })
  })

  test('has an effect if faster ones win more, none if they do not, and nothing is said of few', () => {
    const some = (won: number, lost: number, minutes: number) => [
      ...Array.from({ length: won }, () => mail(minutes, { isWon: true })),
      ...Array.from({ length: lost }, () => mail(minutes, { isWon: false })),
    ]
    const clear = speedEffect([...some(40, 10, 5), ...some(15, 35, 60), mail(1)])
    expect(clear).toMatchObject({ fast: { part: 40, whole: 50 }, slow: { part: 15, whole: 50 } })
    expect(clear?.difference).toBeCloseTo(0.5, 9)
    expect(clear?.interval.low).toBeGreaterThan(0.3)
    const same = speedEffect([...some(20, 30, 5), ...some(21, 29, 60)])
    expect(same?.interval.low).toBeLessThan(0)
    expect(same?.interval.high).toBeGreaterThan(0)
    expect(speedEffect([...some(19, 0, 5), ...some(0, 30, 60)])).toBeNull()
    // All equally fast: there is no slower half.
    expect(speedEffect(some(30, 30, 5))).toBeNull()
  })
})
