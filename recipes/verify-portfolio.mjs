#!/usr/bin/env node
// Verifies the rates that Lanewise chose for a bid, and the bound on what any rates could earn, without the service: this one file
// needs Node 20 or later and nothing else. docs/bids-portfolio.md describes the file and the arithmetic.
//
//   node verify-portfolio.mjs certificate.json
//
// Exit status: 0 verified, 1 a check failed, 2 wrong usage. All arithmetic is with whole numbers (BigInt), so nothing is rounded
// except where the description says so.
import { readFileSync } from 'node:fs'

if (process.argv.length !== 3) {
  console.error('node verify-portfolio.mjs CERTIFICATE.json')
  process.exit(2)
}

const fail = (why) => {
  console.error(`NOT VERIFIED: ${why}`)
  process.exit(1)
}
const same = (what, found, stated) =>
  found === stated || fail(`${what} is ${found}, the certificate states ${stated}.`)

const file = JSON.parse(readFileSync(process.argv[2], 'utf8'))
same('The format', file.format, 'lanewise portfolio 1')
const { lanes, limits, chosen, proof } = file

// What is expected of a lane at each rate: probabilities in millionths, loads in thousandths, money in cents.
const scaled = (value, by) => BigInt(Math.round(by * value))
const divided = (amount, by) => {
  const size = amount < 0n ? -amount : amount
  const rounded = (2n * size + by) / (2n * by)
  return amount < 0n ? -rounded : rounded
}
const square = 10n ** 12n
const choicesOf = (lane) => {
  const least = scaled(limits.laneMarginShareMin ?? -1e6, 1000)
  const choices = []
  for (const [place, { rateCents, award }] of lane.menu.entries()) {
    if (!(award >= 0 && award <= 1 && lane.tendered >= 0 && lane.tendered <= 1))
      fail(`${lane.id}: a probability is not from 0 to 1.`)
    const rate = BigInt(rateCents)
    const margin = rate - BigInt(lane.costCents)
    if (limits.laneMarginShareMin !== undefined && 1000n * margin < least * rate) continue
    const week = scaled(award, 1e6) * scaled(lane.tendered, 1e6) * scaled(lane.loadsPerWeek, 1000)
    const term = week * BigInt(lane.lastWeek - lane.firstWeek + 1)
    choices.push({
      place,
      week: divided(week, square),
      term: divided(term, square),
      revenue: divided(term * rate, 1000n * square),
      margin: divided(term * margin, 1000n * square),
    })
  }
  return [...choices, { place: null, week: 0n, term: 0n, revenue: 0n, margin: 0n }]
}
const choices = lanes.map(choicesOf)

// The limits: what a choice of a lane uses of each, and how much may be used.
const share = scaled(limits.marginShareMin ?? 0, 1000)
const runs = (lane, region, week) =>
  lane.regions.includes(region) && lane.firstWeek <= week && week <= lane.lastWeek
const capOf = (region) => {
  const caps = (limits.caps ?? []).filter((cap) => cap.region === region)
  if (caps.length === 0) fail(`There is no cap of ${region}.`)
  return BigInt(Math.floor(1000 * Math.min(...caps.map(({ loadsPerWeek }) => loadsPerWeek))))
}
const kinds = {
  region: ({ region, week }) => ({
    limit: capOf(region),
    use: (lane, one) => (runs(lane, region, week) ? one.week : 0n),
  }),
  loads_max: () => ({ limit: BigInt(Math.floor(1000 * limits.loadsMax)), use: (_, one) => one.term }),
  loads_min: () => ({ limit: -BigInt(Math.ceil(1000 * limits.loadsMin)), use: (_, one) => -one.term }),
  margin_share: () => ({ limit: 0n, use: (_, one) => share * one.revenue - 1000n * one.margin }),
}
const rows = file.rows.map((row) => kinds[row.kind](row))

// 1. The chosen rates keep every limit, in every week, and earn what is stated.
const taken = chosen.map(
  (place, lane) =>
    choices[lane].find((one) => one.place === place) ?? fail(`${lanes[lane].id}: no rate ${place}.`),
)
same('The number of chosen rates', taken.length, lanes.length)
const sum = (use) => taken.reduce((total, one, lane) => total + use(lanes[lane], one), 0n)
const weeks = new Set(lanes.flatMap(({ firstWeek, lastWeek }) => [firstWeek, lastWeek + 1]))
const needed = (limits.caps ?? []).flatMap(({ region }) =>
  [...weeks].map((week) => ['region', { region, week }]),
)
for (const [kind, limit] of [
  ['loads_max', limits.loadsMax],
  ['loads_min', limits.loadsMin],
  ['margin_share', limits.marginShareMin],
])
  if (limit !== undefined) needed.push([kind, {}])
for (const [kind, row] of needed) {
  const { limit, use } = kinds[kind](row)
  if (sum(use) > limit) fail(`The limit ${kind} ${JSON.stringify(row)} is exceeded: ${sum(use)} of ${limit}.`)
}
const margin = sum((_, one) => one.margin)
same('The expected margin in cents', margin, BigInt(file.marginCents))

// 2. The bound. At prices of at least 0, no permitted rates earn more than the limits times their prices, plus for each lane the
// most that a choice earns after paying for what it uses. Two cases are all choices, so the larger bound holds.
const unit = 10n ** 12n
const boundOf = (node, from, to) => {
  if (node.prices === undefined) {
    const { lane, up_to: upTo, at_most: atMost, above } = node
    const one = boundOf(atMost, from, to.with(lane, Math.min(to[lane], upTo)))
    const other = boundOf(above, from.with(lane, Math.max(from[lane], upTo + 1)), to)
    return one > other ? one : other
  }
  const prices = node.prices.map(BigInt)
  if (prices.length !== rows.length || prices.some((price) => price < 0n))
    fail('There must be a price of at least 0 for each limit.')
  let bound = rows.reduce((total, { limit }, row) => total + prices[row] * limit, 0n)
  for (const [lane, options] of choices.entries()) {
    let most = null
    for (const one of options.slice(from[lane], to[lane] + 1)) {
      const net = rows.reduce(
        (total, { use }, row) => total - prices[row] * use(lanes[lane], one),
        unit * one.margin,
      )
      if (most === null || net > most) most = net
    }
    if (most === null) return -(10n ** 30n) // No choice is left: the case is empty.
    bound += most
  }
  return bound
}
const exact = boundOf(
  proof,
  choices.map(() => 0),
  choices.map((options) => options.length - 1),
)
// The margin is whole cents, so the bound is rounded down.
const bound = exact >= 0n ? exact / unit : -((-exact + unit - 1n) / unit)
same('The bound in cents', bound, BigInt(file.boundCents))
if (margin > bound) fail('The expected margin is above the bound.')
const dollars = (cents) => `$${(Number(cents) / 100).toFixed(2)}`
const gap = bound === 0n ? 0 : Number(((bound - margin) * 1_000_000n) / bound) / 10_000
console.log(
  `VERIFIED: expected margin ${dollars(margin)}, no rates within the limits earn more than ${dollars(bound)} (${gap} % away).`,
)
