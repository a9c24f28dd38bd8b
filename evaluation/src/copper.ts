import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Papa from 'papaparse'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'

const PRICE_MIN = 50
const PRICE_MAX = 3000

/**
 * Reads dated business quotes of a metal trader as if they were freight quotes: a lane is product x country, and the scope above it
 * is the country. Undecided quotes count only in the reference rate. Null if the file is missing.
 */
export function readCopper(folder: string): LaneQuote[] | null {
  const path = join(folder, 'copper_quotes.csv.gz')
  if (!existsSync(path)) return null
  const { data } = Papa.parse<Record<string, string>>(gunzipSync(readFileSync(path)).toString('utf8'), {
    header: true,
    skipEmptyLines: true,
  })
  const quotes: LaneQuote[] = []
  for (const [i, row] of data.entries()) {
    const price = Number(row.selling_price)
    const quotedAt = Date.parse(`${row.quoted_on}T12:00:00Z`)
    if (!(price >= PRICE_MIN && price <= PRICE_MAX) || Number.isNaN(quotedAt)) continue
    quotes.push({
      quoteId: i + 1,
      rateCents: Math.round(price * 100),
      costCents: null,
      outcome: row.status === 'Won' ? 'won' : row.status === 'Lost' ? 'lost' : 'pending',
      quotedAt,
      miles: null,
      lane: {
        key: `${row.product_ref} ${row.country}`,
        scopes: [{ name: 'country', key: `${row.country}` }],
        costKeys: [],
      },
    })
  }
  return quotes
}
