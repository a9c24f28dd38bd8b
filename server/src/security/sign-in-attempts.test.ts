import { describe, expect, test } from 'vitest'
import { signInAttempts } from './sign-in-attempts.ts'

const minute = 60_000

/** Attempts one step at a time: an attempt that fails at once, one that succeeds at once, and the wait of the next one. */
function signInBackOff() {
  const { begin } = signInAttempts()
  const attempt = (...of: Parameters<typeof begin>) => {
    const begun = begin(...of)
    begun.end()
    return begun
  }
  return {
    begin: (account: string, network: string, now = 0, isKnown = false) =>
      begin(account, network, now, isKnown).end,
    waitMs: (...of: Parameters<typeof begin>) => attempt(...of).waitMs,
    failed: (account: string, network: string, now: number) => attempt(account, network, now).failed(),
    succeeded: (account: string, network: string, isKnown = false) =>
      attempt(account, network, 0, isKnown).succeeded(),
  }
}

/** Tries the wrong password as fast as the back-off allows, and counts how often it was checked. */
function guesses(untilMs: number, everyMs: number, networkOf: (n: number) => string): number {
  const backOff = signInBackOff()
  let looked = 0
  for (let now = 0; now < untilMs; now += everyMs) {
    const network = networkOf(looked)
    if (backOff.waitMs('ana@example.com', network, now) > 0) continue
    looked++
    backOff.failed('ana@example.com', network, now)
  }
  return looked
}

describe('one account', () => {
  test('five failures cause no wait; each further one doubles the wait, up to 15 minutes', () => {
    const backOff = signInBackOff()
    const waits: number[] = []
    let now = 0
    for (let failure = 1; failure <= 18; failure++) {
      backOff.failed('ana@example.com', `net ${failure}`, now)
      const wait = backOff.waitMs('ana@example.com', 'elsewhere', now)
      waits.push(wait / 1000)
      now += wait
    }
    expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900])
  })

  test('is never locked for good: after 15 minutes the right password is checked', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 500; i++) backOff.failed('ana@example.com', `net ${i}`, 0)
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 15 * minute - 1)).toBeGreaterThan(0)
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 15 * minute)).toBe(0)
  })

  test('a clock that was set back by a day neither causes a wait of a day nor allows a free guess', () => {
    const backOff = signInBackOff()
    const day = 24 * 60 * minute
    for (let i = 0; i < 30; i++) backOff.failed('ana@example.com', 'one', day)
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 0)).toBe(15 * minute)
    expect(backOff.waitMs('bo@example.com', 'one', 0)).toBeGreaterThan(0)
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 15 * minute)).toBe(0)
    expect(backOff.waitMs('bo@example.com', 'one', 15 * minute)).toBe(0)
  })

  test('of a thousand guesses in an hour, from any networks, fewer than 20 are checked', () => {
    expect(guesses(60 * minute, 3600, (n) => `net ${n}`)).toBeLessThan(20)
  })

  test('a success resets the wait, and other accounts are not affected', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 6; i++) backOff.failed('ana@example.com', `net ${i}`, 0)
    expect(backOff.waitMs('sam@example.com', 'elsewhere', 0)).toBe(0)
    backOff.succeeded('ana@example.com', '192.0.2.7')
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 0)).toBe(0)
  })

  test('failures of an hour ago delay no concurrent attempts', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 4; i++) backOff.failed('ana@example.com', `net ${i}`, 0)
    backOff.begin('ana@example.com', 'office')
    expect(backOff.waitMs('ana@example.com', 'office', minute)).toBe(1_000)
    expect(backOff.waitMs('ana@example.com', 'office', 60 * minute)).toBe(0)
  })

  test('concurrent guesses are not all checked before the first has failed', () => {
    const backOff = signInBackOff()
    const ends: (() => void)[] = []
    for (let i = 0; i < 100; i++) {
      if (backOff.waitMs('ana@example.com', `net ${i}`, 0) > 0) continue
      ends.push(backOff.begin('ana@example.com', `net ${i}`))
    }
    expect(ends).toHaveLength(5)
    for (const end of ends) end()
    expect(backOff.waitMs('ana@example.com', 'elsewhere', 0)).toBe(0)
  })
})

describe('one network', () => {
  test('may have 30 failures per 15 minutes over all accounts', () => {
    const backOff = signInBackOff()
    let looked = 0
    for (let i = 0; i < 1000; i++) {
      if (backOff.waitMs(`person ${i}`, '192.0.2.7', i) > 0) continue
      looked++
      backOff.failed(`person ${i}`, '192.0.2.7', i)
    }
    expect(looked).toBe(30)
    expect(backOff.waitMs('somebody', '192.0.2.8', 1000)).toBe(0)
    expect(backOff.waitMs('somebody', '192.0.2.7', 16 * minute)).toBe(0)
  })

  test('is told when its next attempt is checked: after that time it is, and not a millisecond before', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 30; i++) backOff.failed(`person ${i}`, '192.0.2.7', 1_000 * i)
    const waitMs = backOff.waitMs('somebody', '192.0.2.7', 60_000)
    expect(waitMs).toBe(15 * minute - 60_000)
    expect(backOff.waitMs('somebody', '192.0.2.7', 60_000 + waitMs - 1)).toBe(1)
    expect(backOff.waitMs('somebody', '192.0.2.7', 60_000 + waitMs)).toBe(0)
  })

  test('may have 30 concurrent attempts', () => {
    const backOff = signInBackOff()
    let looked = 0
    for (let i = 0; i < 100; i++) {
      if (backOff.waitMs(`person ${i}`, '192.0.2.7', 0) > 0) continue
      looked++
      backOff.begin(`person ${i}`, '192.0.2.7')
    }
    expect(looked).toBe(30)
  })
})

describe('a network that the person signed in from', () => {
  test('waits for no failure from other networks, and its success leaves theirs counted', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 8; i++) backOff.failed('ana@example.com', `net ${i}`, 0)
    expect(backOff.waitMs('ana@example.com', 'office', 0)).toBe(8_000)
    expect(backOff.waitMs('ana@example.com', 'office', 0, true)).toBe(0)
    backOff.succeeded('ana@example.com', 'office', true)
    expect(backOff.waitMs('ana@example.com', 'net 1', 0)).toBe(8_000)
  })

  test('waits for its own failures like any other, concurrent ones included', () => {
    const backOff = signInBackOff()
    for (let i = 0; i < 6; i++) backOff.failed('ana@example.com', 'office', 0)
    expect(backOff.waitMs('ana@example.com', 'office', 0, true)).toBe(2_000)
    backOff.succeeded('ana@example.com', 'office', true)
    const started = Array.from({ length: 100 }, () => {
      if (backOff.waitMs('ana@example.com', 'office', 0, true) > 0) return false
      backOff.begin('ana@example.com', 'office', 0, true)
      return true
    })
    expect(started.filter(Boolean)).toHaveLength(5)
  })
})
