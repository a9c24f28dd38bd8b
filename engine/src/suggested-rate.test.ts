import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { laneHistory, WORKED_EXAMPLE } from '../testing/lane-history.ts'
import { countRates } from './rate-counts.ts'
import { suggestedRate } from './suggested-rate.ts'

describe('suggestedRate', () => {
  it.each([
    ['2000W 2100W 2200W 2110L 2300L', 206780, 'capped_below_lowest_loss', 3, 211000, 0],
    ['2000L 2100L', 196000, 'below_lowest_loss', 0, 200000, 0],
    ['1500W 1600W', 155000, 'average_win', 2, null, 0],
    ['2000W 2100W 2200W 1500L', 210000, 'average_win', 3, null, 1],
    ['2000W 2000L', 196000, 'capped_below_lowest_loss', 1, 200000, 0],
    ['', null, null, 0, null, 0],
    ['2000P 2100P', null, null, 0, null, 0],
    ['0W 0L 2000P', null, null, 0, null, 0],
    ['0W 1500W 0L', 150000, 'average_win', 1, null, 0],
    ['0.01L', 1, 'below_lowest_loss', 0, 1, 0],
  ])('%s', (quotes, rateCents, basis, winsUsed, cappedByCents, lossesIgnored) => {
    expect(suggestedRate(countRates(laneHistory(quotes)))).toEqual({
      rateCents,
      basis,
      winsUsed,
      cappedByCents,
      lossesIgnored,
    })
  })

  it('averages the wins of the worked example: 1910', () => {
    expect(suggestedRate(countRates(WORKED_EXAMPLE))).toEqual({
      rateCents: 191000,
      basis: 'average_win',
      winsUsed: 5,
      cappedByCents: null,
      lossesIgnored: 0,
    })
  })

  it('stays below every loss due to price, and never above the average win', () => {
    const quote = fc.tuple(fc.integer({ min: 100, max: 9999 }), fc.constantFrom('W', 'L', 'P'))
    fc.assert(
      fc.property(fc.array(quote, { minLength: 1, maxLength: 40 }), (pairs) => {
        const history = laneHistory(pairs.map(([rate, letter]) => `${rate}${letter}`).join(' '))
        const { rateCents, winsUsed } = suggestedRate(countRates(history))
        if (rateCents === null) return
        expect(Number.isInteger(rateCents) && rateCents > 0).toBe(true)
        const rates = (outcome: string) =>
          history.filter((q) => q.outcome === outcome).map((q) => q.rateCents)
        const wins = rates('won').sort((a, b) => a - b)
        const typical = wins[Math.ceil(wins.length / 2) - 1] ?? 0
        for (const loss of rates('lost').filter((r) => r >= typical)) expect(rateCents).toBeLessThan(loss)
        if (winsUsed > 0)
          expect(rateCents).toBeLessThanOrEqual(Math.ceil(wins.reduce((a, b) => a + b) / wins.length))
      }),
    )
  })
})
