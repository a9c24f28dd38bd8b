import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import type { CostSeen } from '#engine/estimate/expected-cost.ts'
import { freightLane } from '#engine/quotes/lane-identity.ts'

const ENDS: Record<string, { state: string; region: string }> = {
  ATLANTA: { state: 'GA', region: 'SE' },
  BALTIMORE: { state: 'MD', region: 'SE' },
  BOSTON: { state: 'MA', region: 'NE' },
  CHICAGO: { state: 'IL', region: 'MW' },
  DALLAS: { state: 'TX', region: 'SC' },
  MIAMI: { state: 'FL', region: 'SE' },
  'NEW YORK': { state: 'NY', region: 'NE' },
  PHILADELPHIA: { state: 'PA', region: 'NE' },
  SEATTLE: { state: 'WA', region: 'PC' },
}

/**
 * The weekly truck rates from Southern California that the USDA published from 2015 to 2018, as truck costs: one load per lane and
 * week, at the middle of the range. Null if the file is missing.
 */
export function readUsdaCosts(folder: string): CostSeen[] | null {
  const path = join(folder, 'usda_reefer_rates_weekly_2015_2018.csv')
  if (!existsSync(path)) return null
  const { data } = Papa.parse<Record<string, string>>(readFileSync(path, 'utf8'), {
    header: true,
    skipEmptyLines: true,
  })
  const rates: CostSeen[] = []
  for (const [i, row] of data.entries()) {
    const city = row.Destination ?? ''
    const end = ENDS[city]
    const [cost, miles, at] = [Number(row.Midpoint), Number(row.Distance), Date.parse(row.Date ?? '')]
    if (end === undefined || !(cost > 0 && miles > 0) || Number.isNaN(at)) continue
    const { costKeys } = freightLane({
      origin: { city: 'southern california', state: 'CA', region: 'PC' },
      destination: { city, ...end },
      equipment: 'R',
    })
    rates.push({ quoteId: i + 1, costCents: Math.round(cost * 100), miles, at, costKeys })
  }
  return rates.sort((one, other) => one.at - other.at || one.quoteId - other.quoteId)
}
