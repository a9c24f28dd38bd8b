/**
 * What is the lowest rate that the pricing rules would have allowed for each past quote? The expected cost plus the minimum margin of the
 * rule that applied. No statistical method: rules are matched once for all lanes, customers and reps that they treat alike.
 */

import type { QuoteBook } from '../book/quote-book.ts'
import type { QuoteColumns } from '../quotes/quote-columns.ts'
import { bySpecificity, type MinimumTerms, type PricingRule } from '../rules/pricing-rules.ts'
import type { RuleConditions, RulePlace } from '../rules/rule-conditions.ts'
import { type CustomerRecords, isSameCustomer } from './customer-records.ts'

/** The lowest rate that the rules would have allowed for a row, in cents; NaN if no cost was expected when it was quoted. */
export type LowestRate = (columns: QuoteColumns, row: number) => number

/** A rule with a minimum, and the part of its conditions that differs from quote to quote of the same lane, customer and rep. */
interface Minimum {
  readonly terms: MinimumTerms
  readonly milesOver: number
  readonly milesTo: number
}

/** Up to this many combinations of lanes, customers and reps are in an array; more are in a map. */
const COMBINATIONS_MAX = 1_000_000

/**
 * The lowest rate of each quote: the expected cost, or the minimum above it of the most specific rule that applies. Rules with a
 * condition on the confidence are left out: the confidence at the time of a quote is not saved.
 *
 * Lanes, customers and reps that meet the same conditions are one class, so that rules are matched once per combination of classes,
 * not per quote.
 */
export function lowestRates(
  { lanes, names, columns }: QuoteBook,
  rules: readonly PricingRule[],
  records: CustomerRecords,
): LowestRate {
  const withMinimum = rules
    .filter(
      ({ conditions, terms }) => terms.minimum !== undefined && conditions.confidenceAtMost === undefined,
    )
    .toSorted(bySpecificity)
  const costOf = (of: QuoteColumns, row: number) => of.quotedCostCents[row]! || Number.NaN
  if (withMinimum.length === 0) return costOf
  const conditions = withMinimum.map((rule) => rule.conditions)
  const ofLanes = classesOf(lanes, ({ places }) => conditions.map((one) => isOnLane(one, places)))
  const ofNames = classesOf(names.customers, ({ quotedKey }) =>
    conditions.map((one) => isForCustomer(one, quotedKey, records)),
  )
  // An array by person is small, because users are numbered from 1 in each brokerage.
  const people = [...new Set(columns.person)]
  const ofPeople = classesOf(people, (person) => conditions.map((one) => isByPerson(one, person, records)))
  const classOfPerson = new Int32Array(people.reduce((most, person) => Math.max(most, person), 0) + 1)
  for (const [nth, person] of people.entries()) classOfPerson[person] = ofPeople.classes[nth] ?? 0
  const [nameCount, peopleCount] = [ofNames.met.length, ofPeople.met.length]
  const minimums = minimumsByKey(2 * ofLanes.met.length * nameCount * peopleCount)
  return (of, row) => {
    const cost = of.quotedCostCents[row]!
    if (cost === 0) return Number.NaN
    const rateType = of.rateTypeOf(row)
    const lane = ofLanes.classes[of.lane[row]!] ?? 0
    const name = ofNames.classes[of.names[row]!] ?? 0
    const person = classOfPerson[of.person[row]!] ?? 0
    const key = 2 * ((lane * nameCount + name) * peopleCount + person) + Number(rateType === 'contract')
    let found = minimums.get(key)
    if (found === undefined) {
      const met = [ofLanes.met[lane], ofNames.met[name], ofPeople.met[person]]
      found = withMinimum.flatMap(({ conditions: asked, terms }, nth): Minimum[] => {
        const isMet = met.every((one) => one?.[nth] === true)
        if (!isMet || (asked.rateType ?? rateType) !== rateType || terms.minimum === undefined) return []
        const { milesOver = Number.NEGATIVE_INFINITY, milesTo = Number.POSITIVE_INFINITY } = asked
        return [{ terms: terms.minimum, milesOver, milesTo }]
      })
      minimums.set(key, found)
    }
    const miles = of.miles[row]!
    for (const { terms, milesOver, milesTo } of found) {
      const isAnywhere = milesOver === Number.NEGATIVE_INFINITY && milesTo === Number.POSITIVE_INFINITY
      if (isAnywhere || (miles > milesOver && miles <= milesTo)) return lowestOf(terms, cost, miles)
    }
    return cost
  }
}

/** Numbers the classes of a list of things: things with the same answers are one class. */
function classesOf<Thing>(things: readonly Thing[], answersOf: (thing: Thing) => readonly boolean[]) {
  const met: (readonly boolean[])[] = []
  const numbers = new Map<string, number>()
  const classes = Int32Array.from(things, (thing) => {
    const answers = answersOf(thing)
    const name = answers.map(Number).join('')
    const known = numbers.get(name)
    if (known !== undefined) return known
    const number = met.push(answers) - 1
    numbers.set(name, number)
    return number
  })
  return { classes, met }
}

function minimumsByKey(keys: number): Pick<Map<number, readonly Minimum[]>, 'get' | 'set'> {
  const byKey = new Map<number, readonly Minimum[]>()
  if (keys > COMBINATIONS_MAX) return byKey
  const numbers = new Int32Array(keys).fill(-1)
  const lists: (readonly Minimum[])[] = []
  return {
    get: (key) => lists[numbers[key]!],
    set(key, list) {
      numbers[key] = lists.push(list) - 1
      return byKey
    },
  }
}

function isOnLane(
  { origin, destination, equipment }: RuleConditions,
  places: QuoteBook['lanes'][number]['places'],
): boolean {
  const at = (wanted: RulePlace | undefined, end: Readonly<Record<RulePlace['kind'], string | null>>) =>
    wanted === undefined || end[wanted.kind] === wanted.key
  return (
    at(origin, { place: places.originKey, market: places.originMarket, state: places.originState }) &&
    at(destination, {
      place: places.destinationKey,
      market: places.destinationMarket,
      state: places.destinationState,
    }) &&
    (equipment === undefined || places.equipmentCode === equipment)
  )
}

function isForCustomer({ customer, tier }: RuleConditions, key: string, records: CustomerRecords): boolean {
  return (
    (customer === undefined || isSameCustomer(records, key, customer.key)) &&
    (tier === undefined || records.names.get(key)?.tier?.toLowerCase() === tier.toLowerCase())
  )
}

function isByPerson(
  { rep, team }: RuleConditions,
  person: number,
  { membersOfTeam }: CustomerRecords,
): boolean {
  return (
    (rep === undefined || rep.userId === person) &&
    (team === undefined || membersOfTeam.get(team.teamId)?.has(person) === true)
  )
}

/** The lowest rate of a minimum over a known cost: at least the cost, in whole cents. Unknown miles count as none. */
function lowestOf(
  { pct, cents, centsPerMile, rateCentsPerMile }: MinimumTerms,
  cost: number,
  miles: number,
): number {
  const distance = Number.isNaN(miles) ? 0 : miles
  return Math.max(
    cost,
    pct === undefined ? 0 : Math.ceil(cost / (1 - pct / 100)),
    cents === undefined ? 0 : cost + cents,
    centsPerMile === undefined ? 0 : Math.ceil(cost + distance * centsPerMile),
    rateCentsPerMile === undefined ? 0 : Math.ceil(distance * rateCentsPerMile),
  )
}
