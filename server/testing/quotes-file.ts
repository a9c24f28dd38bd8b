import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'

const dayMs = 86_400_000
const lanes = [
  ['Dallas, TX', 'Atlanta, GA', 1900],
  ['Dallas, TX', 'Houston, TX', 900],
  ['Chicago, IL', 'Atlanta, GA', 1700],
  ['Chicago, IL', 'Columbus, OH', 1000],
  ['Memphis, TN', 'Miami, FL', 2300],
  ['Phoenix, AZ', 'Denver, CO', 2100],
] as const

/**
 * Returns a CSV file of past quotes for import, generated from a seed. Six lanes are quoted within 12 % of their market rate,
 * and a lower rate wins more often. A truck costs about 85 % of the market rate. There is one quote every `hours` hours, up to
 * one day before `until` (epoch milliseconds).
 */
export function quotesFile(options: {
  seed: number
  quotes: number
  until: number
  hours: number
  /** Wins are rare at any rate (3 %). */
  unlucky?: boolean
}): string {
  const random = seededNumbers(options.seed)
  const rows = Array.from({ length: options.quotes }, (_, i) => {
    const [origin, destination, going] = lanes[Math.floor(random() * lanes.length)] ?? lanes[0]
    const step = 0.24 * (random() - 0.5)
    const chance = options.unlucky === true ? 0.03 : 1 / (1 + Math.exp(-(0.2 - 20 * step)))
    const won = random() < chance
    const at = new Date(options.until - dayMs - (options.quotes - 1 - i) * options.hours * 3_600_000)
    const cost = going * (0.85 + 0.06 * (random() - 0.5))
    return [
      `"${origin}","${destination}",V`,
      (going * Math.exp(step)).toFixed(2),
      cost.toFixed(2),
      won ? cost.toFixed(2) : '',
      at.toISOString(),
      won ? 'won' : 'lost',
    ].join(',')
  })
  return `origin,destination,equipment,quoted_rate,estimated_cost,truck_cost,quoted_at,outcome\n${rows.join('\n')}\n`
}
