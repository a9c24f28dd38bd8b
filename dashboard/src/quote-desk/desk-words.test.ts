import { describe, expect, test } from 'vitest'
import { trustInWords } from './desk-words.ts'

type Estimate = Parameters<typeof trustInWords>[0]

const now = Date.parse('2026-06-01T12:00:00Z')
const estimate = {
  decided: 26,
  won: 17,
  used: { decided: 26, won: 17, newest_quoted_at: '2026-05-20T12:00:00Z' },
  losses: { lost: 9, not_about_price: 0, about_price_share: 0 },
  pool: { rate_type: 'spot', answered_by: 'spot', borrowed: null },
  borrowed_share: 0.2,
  borrowed_from: [{ scope: 'state_pair', decided: 20, won: 9, lanes: 4 }],
} as unknown as Estimate
const words = (changed: object, interval = { low: 0.4, high: 0.62 }) =>
  trustInWords({ ...estimate, ...changed }, interval, now)

describe('the line about trust', () => {
  test('names the quotes that the estimate uses, their age, and what comes from other lanes', () => {
    expect(words({})).toEqual({
      trust: 'good',
      word: 'Good',
      basis:
        'Based on 17 of 26 decided quotes won on this lane, the newest 12 days ago. 20% of the estimate comes from other lanes, nearest 20 decided quotes from lanes between the same two states.',
    })
  })

  test('never names quotes as the basis that are too old to count', () => {
    const { trust, basis } = words(
      {
        decided: 876,
        won: 876,
        used: { decided: 0, won: 0, newest_quoted_at: null },
        borrowed_share: 1,
      },
      { low: 0.06, high: 0.95 },
    )
    expect(trust).toBe('weak')
    expect(basis).toBe(
      'The range of 6–95% is wide. Estimated from your other lanes; the 876 decided quotes on this lane are too old to count. Nearest: 20 decided quotes from lanes between the same two states.',
    )
  })

  test('says how many losses were not about price, and whether their rates agree', () => {
    const some = { lost: 40, not_about_price: 12, about_price_share: 0 }
    expect(words({ losses: some }).basis).toContain('. 12 of 40 losses were not about price. ')
    expect(words({ losses: { ...some, about_price_share: 0.3 } }).basis).toContain(
      '. 12 of 40 losses were not about price, say their reasons; their rates are so high that about 30% of them count as about price. ',
    )
  })

  test('says how many quotes do not count', () => {
    expect(words({ decided: 40, won: 30 }).basis).toContain(
      'Based on 17 of 26 decided quotes won on this lane (14 older or left out)',
    )
  })
})
