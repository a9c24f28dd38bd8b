import type { Confidence } from '../confidence.ts'
import type { RateType } from '../rate-type.ts'

/** A place in a rule's conditions: a city, the market around a city, or a state, with the key that lanes are matched by. */
export interface RulePlace {
  readonly kind: 'place' | 'market' | 'state'
  readonly key: string
  /** As it is shown. @example 'Dallas, TX' */
  readonly text: string
}

export const confidenceOrder = ['none', 'low', 'medium', 'high'] as const satisfies readonly Confidence[]

/** The quotes that a rule applies to: those that meet all its conditions. Without conditions, all quotes. */
export interface RuleConditions {
  readonly customer?: { readonly key: string; readonly text: string }
  readonly origin?: RulePlace
  readonly destination?: RulePlace
  readonly tier?: string
  readonly rep?: { readonly userId: number; readonly text: string }
  /** Quotes of the people who are in this team. */
  readonly team?: { readonly teamId: number; readonly text: string }
  readonly equipment?: string
  /** The loaded miles are over `milesOver`, and at most `milesTo`. */
  readonly milesOver?: number
  readonly milesTo?: number
  readonly rateType?: RateType
  /** The lane has at most this confidence: `low` includes `none`. */
  readonly confidenceAtMost?: Confidence
}

/** The facts of a quote that decide which rules apply. An unknown fact meets no condition about it. */
export interface QuoteFacts {
  /** The keys of all names that count for the customer; empty if it is unknown. */
  readonly customerKeys: readonly string[]
  readonly tier: string | null
  readonly origin: { readonly place: string; readonly market: string | null; readonly state: string }
  readonly destination: { readonly place: string; readonly market: string | null; readonly state: string }
  readonly equipmentCode: string | null
  readonly miles: number | null
  readonly rateType: RateType
  readonly repId: number | null
  /** The teams that the rep is in. */
  readonly teamIds: readonly number[]
  readonly confidence: Confidence
}

const placeWeight = { place: 3, market: 2, state: 1 } as const

/**
 * How specific conditions are, most important first: customer, corridor (a city before its market before its state), tier, rep,
 * team, equipment, distance, spot or contract, confidence. The first difference decides between two rules.
 */
export function specificity(conditions: RuleConditions): readonly number[] {
  const { origin, destination } = conditions
  const has = (value: unknown) => (value === undefined ? 0 : 1)
  return [
    has(conditions.customer),
    (origin === undefined ? 0 : placeWeight[origin.kind]) +
      (destination === undefined ? 0 : placeWeight[destination.kind]),
    has(conditions.tier),
    has(conditions.rep),
    has(conditions.team),
    has(conditions.equipment),
    Math.max(has(conditions.milesOver), has(conditions.milesTo)),
    has(conditions.rateType),
    has(conditions.confidenceAtMost),
    // A narrower range of miles is more specific.
    -((conditions.milesTo ?? 100_000) - (conditions.milesOver ?? 0)),
  ]
}

export function meets(conditions: RuleConditions, facts: QuoteFacts): boolean {
  const { customer, origin, destination, tier, rep, team, equipment, milesOver, milesTo } = conditions
  const { rateType, confidenceAtMost } = conditions
  const at = (wanted: RulePlace | undefined, end: QuoteFacts['origin']) =>
    wanted === undefined || end[wanted.kind] === wanted.key
  const sameTier = (one: string | null) => one !== null && one.toLowerCase() === tier?.toLowerCase()
  return (
    (customer === undefined || facts.customerKeys.includes(customer.key)) &&
    at(origin, facts.origin) &&
    at(destination, facts.destination) &&
    (tier === undefined || sameTier(facts.tier)) &&
    (rep === undefined || facts.repId === rep.userId) &&
    (team === undefined || facts.teamIds.includes(team.teamId)) &&
    (equipment === undefined || facts.equipmentCode === equipment) &&
    (milesOver === undefined || (facts.miles !== null && facts.miles > milesOver)) &&
    (milesTo === undefined || (facts.miles !== null && facts.miles <= milesTo)) &&
    (rateType === undefined || facts.rateType === rateType) &&
    (confidenceAtMost === undefined ||
      confidenceOrder.indexOf(facts.confidence) <= confidenceOrder.indexOf(confidenceAtMost))
  )
}

/**
 * @example conditionsInWords({ customer: { key: 'harvest', text: 'Harvest' }, milesOver: 1000 })
 * // 'customer Harvest, over 1,000 miles'
 */
export function conditionsInWords(conditions: RuleConditions): string {
  const { customer, origin, destination, tier, rep, team, equipment, milesOver, milesTo } = conditions
  const { rateType, confidenceAtMost } = conditions
  const place = ({ kind, text }: RulePlace) => (kind === 'market' ? `the market of ${text}` : text)
  const miles = (count: number) => count.toLocaleString('en-US')
  const words = [
    customer && `customer ${customer.text}`,
    origin && destination ? `${place(origin)} to ${place(destination)}` : undefined,
    origin && !destination ? `from ${place(origin)}` : undefined,
    destination && !origin ? `to ${place(destination)}` : undefined,
    tier && `tier ${tier}`,
    rep && `rep ${rep.text}`,
    team && `team ${team.text}`,
    equipment && `equipment ${equipment}`,
    milesOver !== undefined && milesTo !== undefined
      ? `over ${miles(milesOver)} and up to ${miles(milesTo)} miles`
      : undefined,
    milesOver !== undefined && milesTo === undefined ? `over ${miles(milesOver)} miles` : undefined,
    milesTo !== undefined && milesOver === undefined ? `up to ${miles(milesTo)} miles` : undefined,
    rateType && `${rateType} quotes`,
    confidenceAtMost &&
      (confidenceAtMost === 'none'
        ? 'lanes without decided quotes'
        : `at most ${confidenceAtMost} confidence`),
  ].filter((one): one is string => typeof one === 'string')
  return words.length === 0 ? 'all quotes' : words.join(', ')
}

export function isForAll(conditions: RuleConditions): boolean {
  return Object.keys(conditions).length === 0
}

/** Whether two rules apply to exactly the same quotes because they have the same conditions. */
export function sameConditions(one: RuleConditions, other: RuleConditions): boolean {
  const keyOf = (conditions: RuleConditions) => {
    const { customer, origin, destination, rep, team, tier, ...others } = conditions
    const place = (end: RulePlace | undefined) => end && [end.kind, end.key]
    return JSON.stringify([
      customer?.key,
      place(origin),
      place(destination),
      rep?.userId,
      team?.teamId,
      tier?.toLowerCase(),
      Object.entries(others).sort(),
    ])
  }
  return keyOf(one) === keyOf(other)
}
