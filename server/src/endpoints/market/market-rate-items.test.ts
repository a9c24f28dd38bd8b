import { expect, test } from 'vitest'
import { checkMarketRates } from './market-rate-items.ts'

test('the largest file is checked in slices: other requests get their turns meanwhile', async () => {
  const items = Array.from({ length: 5_000 }, (_, at) => ({
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    equipment: 'V',
    basis: 'all_in',
    mid: 1_500 + at,
    source: 'DAT',
    as_of: new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString(),
  }))
  let turns = 0
  let ended = false
  const turn = () => {
    turns++
    if (!ended) setImmediate(turn)
  }
  setImmediate(turn)
  const checked = await checkMarketRates(items, {
    enteredBy: 'file',
    saidAt: new Date(),
    now: Date.UTC(2026, 5, 1),
    conversions: { basis: 'all_in', days: new Map() },
  })
  ended = true
  expect(checked.filter((one) => 'row' in one && one.state === 'usable')).toHaveLength(5_000)
  expect(turns).toBeGreaterThan(3)
})
