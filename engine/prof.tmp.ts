import { QuoteBook } from './src/book/quote-book.ts'
import { prepareEstimatorInSteps } from './src/estimate/estimator.ts'
import { prepareCostsInSteps } from './src/estimate/expected-cost.ts'
import { finished } from './src/steps.ts'

const N = Number(process.argv[2] ?? 5000),
  L = Number(process.argv[3] ?? 300)
let seed = 7
const rnd = () => (seed = (seed * 16807) % 2147483647) / 2147483647
const now = Date.UTC(2026, 5, 1, 15),
  DAY = 86400000
const st = [
  'TX',
  'GA',
  'FL',
  'IL',
  'CA',
  'NY',
  'OH',
  'PA',
  'WA',
  'OR',
  'NV',
  'AZ',
  'UT',
  'CO',
  'KS',
  'MO',
  'IA',
  'MN',
  'WI',
  'MI',
  'IN',
  'TN',
  'AL',
  'MS',
  'LA',
  'SC',
  'NC',
  'VA',
  'MD',
  'NJ',
]
const book = new QuoteBook()
const lanes = Array.from({ length: L }, (_, i) => {
  const a = st[Math.floor(rnd() * 30)]!,
    b = st[Math.floor(rnd() * 30)]!
  return {
    n: book.lane({
      originKey: `city number ${i}|${a}`,
      destinationKey: `town number ${(i * 7) % L}|${b}`,
      originState: a,
      destinationState: b,
      originMarket: 'm' + a,
      destinationMarket: 'm' + b,
      equipmentCode: 'V',
    }),
    miles: 100 + rnd() * 2000,
    base: 1 + rnd() * 0.3,
  }
})
book.reserve(N)
let t0 = process.cpuUsage()
const T = (name: string) => {
  const u = process.cpuUsage(t0)
  console.log(name, Math.round((u.user + u.system) / 1000), 'ms cpu')
  t0 = process.cpuUsage()
}
for (let i = 0; i < N; i++) {
  const l = lanes[Math.floor(rnd() ** 2 * L)]!
  const rate = Math.round(300 + l.miles * 2 * l.base * (0.9 + 0.3 * rnd())) * 100
  const r = rnd()
  book.put(l.n, {
    laneId: 1e10 + ((i * 7919 * 104729) % 89999999999),
    rateCents: rate,
    costCents: rnd() < 0.5 ? Math.round(rate * 0.85) : NaN,
    outcome: r < 0.3 ? 1 : r < 0.8 ? 2 : 0,
    quotedAt: now - Math.floor(rnd() * 600 * DAY),
    miles: l.miles,
  })
}
T('put')
console.log('bytes', book.bytes() / 1e6)

const rows = finished(book.columns.orderedRows())
T('sort')
const p = prepareEstimatorInSteps(book, now, rows)
let worst = 0,
  last = performance.now(),
  steps = 0
let r: any
do {
  r = p.steps.next()
  const n2 = performance.now()
  steps++
  if (n2 - last > worst) worst = n2 - last
  last = performance.now()
} while (!r.done)
T('estimator')
console.log('steps', steps, 'longest', worst)
last = performance.now()
worst = 0
const c = prepareCostsInSteps(book, now, rows)
let rc: any
do {
  rc = c.next()
  const n2 = performance.now()
  if (n2 - last > worst) worst = n2 - last
  last = performance.now()
} while (!rc.done)
T('costs')
console.log('longest', worst, process.memoryUsage())
