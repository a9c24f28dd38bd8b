import { formatDollars } from '../money.ts'
import {
  conditionsInWords,
  isForAll,
  meets,
  type QuoteFacts,
  type RuleConditions,
  specificity,
} from './rule-conditions.ts'

/**
 * A margin over the truck cost. With several members, the highest of the rates is the minimum or the target, and the lowest
 * is the maximum.
 */
export interface MarginTerms {
  /** The margin in percent of the rate, below 100. */
  readonly pct?: number
  readonly cents?: number
  readonly centsPerMile?: number
}

/** A minimum: a margin, or a rate per mile, which needs no cost. */
export type MinimumTerms = MarginTerms & { readonly rateCentsPerMile?: number }

export type Outside = 'warn' | 'approval' | 'block'

export interface RuleTerms {
  readonly minimum?: MinimumTerms
  readonly target?: MarginTerms
  readonly maximum?: MarginTerms
  /** Rates are rounded up to a multiple of this. */
  readonly roundToCents?: number
  readonly validDays?: number
  /** What happens to a rate below the minimum or above the maximum. */
  readonly outside?: Outside
}

/** The number of a rule that is tested before it is saved: it would be the newest one. */
export const UNSAVED_RULE = Number.MAX_SAFE_INTEGER

export interface PricingRule {
  readonly ruleId: number
  readonly conditions: RuleConditions
  readonly terms: RuleTerms
}

/** Orders rules, most specific first; of two equally specific rules, the newer one first. */
export function bySpecificity(one: PricingRule, other: PricingRule): number {
  const [first, second] = [specificity(one.conditions), specificity(other.conditions)]
  const at = first.findIndex((weight, place) => weight !== second[place])
  return at < 0 ? other.ruleId - one.ruleId : (second[at] ?? 0) - (first[at] ?? 0)
}

/** A part of the terms, and the rule that it comes from. */
interface FromRule<Value> {
  readonly value: Value
  readonly rule: PricingRule
}

/** The terms for a quote: each part comes from the most specific rule that has it. */
export interface SelectedTerms {
  readonly minimum: FromRule<NonNullable<RuleTerms['minimum']>> | null
  readonly target: FromRule<MarginTerms> | null
  readonly maximum: FromRule<MarginTerms> | null
  readonly roundTo: FromRule<number> | null
  readonly validDays: FromRule<number> | null
  /**
   * The consequence of a rate below the minimum, and of a rate above the maximum: by the rule of that limit, or else by the most specific
   * rule with a consequence.
   */
  readonly belowMinimum: Outside
  readonly aboveMaximum: Outside
}

/**
 * Selects the terms for a quote.
 *
 * @example termsFor(rules, facts).minimum?.rule.ruleId // that of the most specific rule with a minimum
 */
export function termsFor(rules: readonly PricingRule[], facts: QuoteFacts): SelectedTerms {
  const matching = rules.filter(({ conditions }) => meets(conditions, facts)).sort(bySpecificity)
  const first = <Value>(part: (terms: RuleTerms) => Value | undefined): FromRule<Value> | null => {
    for (const rule of matching) {
      const value = part(rule.terms)
      if (value !== undefined) return { value, rule }
    }
    return null
  }
  const minimum = first(({ minimum: part }) => part)
  const maximum = first(({ maximum: part }) => part)
  const outside = first(({ outside: part }) => part)?.value ?? 'warn'
  return {
    minimum,
    target: first(({ target }) => target),
    maximum,
    roundTo: first(({ roundToCents }) => roundToCents),
    validDays: first(({ validDays }) => validDays),
    belowMinimum: minimum?.rule.terms.outside ?? outside,
    aboveMaximum: maximum?.rule.terms.outside ?? outside,
  }
}

/** The costs and the distance that the terms need. Null if unknown. */
export interface RuleCosts {
  /** The cost that the rep entered, if any. */
  readonly enteredCents: number | null
  /** The cost that the brokerage's own history expects, if any. */
  readonly expectedCents: number | null
  readonly miles: number | null
}

/** The rates that margin terms demand, in cents. Empty if they cannot be computed. */
function ratesOf(
  { pct, cents, centsPerMile }: MarginTerms,
  costCents: number | null,
  miles: number | null,
): number[] {
  if (costCents === null) return []
  return [
    ...(pct === undefined || pct >= 100 ? [] : [costCents / (1 - pct / 100)]),
    ...(cents === undefined ? [] : [costCents + cents]),
    ...(centsPerMile === undefined || miles === null ? [] : [costCents + centsPerMile * miles]),
  ]
}

const needsCost = ({ pct, cents, centsPerMile }: MarginTerms) =>
  pct !== undefined || cents !== undefined || centsPerMile !== undefined
const needsMiles = ({ centsPerMile, rateCentsPerMile }: MinimumTerms) =>
  centsPerMile !== undefined || rateCentsPerMile !== undefined

/**
 * The lowest rate of a minimum: the highest of the rates that its members demand. Null if none can be computed.
 *
 * @example minimumRateCents({ pct: 15 }, { costCents: 170000, miles: null }) // 200000
 */
export function minimumRateCents(
  terms: MinimumTerms,
  { costCents, miles }: { readonly costCents: number | null; readonly miles: number | null },
): number | null {
  const { rateCentsPerMile: perMile } = terms
  const rates = [
    ...ratesOf(terms, costCents, miles),
    ...(perMile === undefined || miles === null ? [] : [perMile * miles]),
  ].filter((rate) => rate > 0)
  return rates.length === 0 ? null : Math.max(...rates)
}

/** The minimum of the rule for all quotes; empty without one. */
export function minimumOfAll(rules: readonly PricingRule[]): MinimumTerms {
  return rules.find(({ conditions }) => isForAll(conditions))?.terms.minimum ?? {}
}

/** A limit of a quote: the rate in whole cents, and the value that is missing to compute it in full. Null without such terms. */
export interface Limit {
  readonly rateCents: number | null
  readonly missing: 'cost' | 'miles' | null
  readonly rule: PricingRule
  readonly outside: Outside
}

/** The rates that the rules allow and recommend. */
export interface AppliedRules {
  readonly minimum: Limit | null
  readonly target: Omit<Limit, 'outside'> | null
  readonly maximum: Limit | null
  readonly roundTo: FromRule<number> | null
  readonly validDays: FromRule<number> | null
  /** The minimum is above the maximum. The minimum then applies, and no rate is within both. */
  readonly contradicts: boolean
}

/** Limits are whole cents: a minimum of $1,999.991 is met by $2,000 and not by $1,999.99. */
const wholeUp = (cents: number) => Math.ceil(cents - 1e-6)
const wholeDown = (cents: number) => Math.floor(cents + 1e-6)

/**
 * Computes the limits of a quote, in whole cents: a minimum and a target are rounded up, and a maximum down. A rule that only warns
 * uses the cost that the rep entered. For a rule that asks for approval or blocks, an entered cost below the expected one does not
 * lower the minimum, and one above it does not raise the maximum.
 *
 * @example limitsOf(terms, { enteredCents: null, expectedCents: 170000, miles: 781 }).minimum?.rateCents // 200000 for 15 %
 */
export function limitsOf(terms: SelectedTerms, costs: RuleCosts): AppliedRules {
  const { miles, enteredCents: entered, expectedCents: expected } = costs
  const believed = entered ?? expected
  const strict = (outside: Outside, choose: (one: number, other: number) => number) =>
    outside === 'warn' || entered === null || expected === null ? believed : choose(entered, expected)
  const missing = (terms: MinimumTerms, costCents: number | null) =>
    needsCost(terms) && costCents === null
      ? ('cost' as const)
      : needsMiles(terms) && miles === null
        ? ('miles' as const)
        : null
  const low = ({ value, rule }: FromRule<MinimumTerms>, costCents: number | null) => {
    const rateCents = minimumRateCents(value, { costCents, miles })
    return {
      rateCents: rateCents === null ? null : wholeUp(rateCents),
      missing: missing(value, costCents),
      rule,
    }
  }
  const high = ({ value, rule }: FromRule<MarginTerms>, costCents: number | null) => {
    const rates = ratesOf(value, costCents, miles)
    return {
      rateCents: rates.length === 0 ? null : wholeDown(Math.min(...rates)),
      missing: missing(value, costCents),
      rule,
    }
  }
  const minimum =
    terms.minimum === null
      ? null
      : {
          ...low(terms.minimum, strict(terms.belowMinimum, Math.max)),
          outside: terms.belowMinimum,
        }
  const maximum =
    terms.maximum === null
      ? null
      : {
          ...high(terms.maximum, strict(terms.aboveMaximum, Math.min)),
          outside: terms.aboveMaximum,
        }
  return {
    minimum,
    target: terms.target === null ? null : low(terms.target, believed),
    maximum,
    roundTo: terms.roundTo,
    validDays: terms.validDays,
    contradicts: (minimum?.rateCents ?? 0) > (maximum?.rateCents ?? Number.POSITIVE_INFINITY),
  }
}

/** The limits of a quote: see `termsFor` and `limitsOf`. */
export function applyRules(rules: readonly PricingRule[], facts: QuoteFacts, costs: RuleCosts): AppliedRules {
  return limitsOf(termsFor(rules, facts), costs)
}

/** A rate to quote, and where it comes from. */
export interface RuledRate {
  readonly rateCents: number
  readonly from: 'best' | 'target' | 'minimum' | 'maximum'
  /** Whether the rounding of the rules changed the rate. Rounding to whole dollars does not count. */
  readonly isRounded: boolean
}

/**
 * The rate to quote: the target, or else the best rate, at least the minimum and at most the maximum. It is rounded up to the multiple of
 * the rules (down where rounding up would exceed the maximum), or else to the nearest whole dollar, as people quote. Between two limits
 * that are so close that no such rate is between them, it has cents. Null if no target, best rate or minimum is known.
 *
 * @example ruledRate(applied, 191234)?.rateCents // 200000 with a minimum of $2,000
 */
export function ruledRate(applied: AppliedRules, bestCents: number | null): RuledRate | null {
  const { target } = applied
  const wanted = target?.rateCents ?? bestCents
  const { low, high } = limitsIn(applied)
  if (wanted === null) return low > 0 ? rounded(low, 'minimum', applied) : null
  const from =
    wanted < low ? 'minimum' : wanted > high ? 'maximum' : target?.rateCents == null ? 'best' : 'target'
  return rounded(Math.min(Math.max(wanted, low), high), from, applied)
}

/** The lowest and the highest rate that the rules allow; 0 and infinity without such a limit. */
function limitsIn({ minimum, maximum, contradicts }: AppliedRules): { low: number; high: number } {
  return {
    low: minimum?.rateCents ?? 0,
    high: contradicts ? Number.POSITIVE_INFINITY : (maximum?.rateCents ?? Number.POSITIVE_INFINITY),
  }
}

/**
 * The allowed rate nearest to a rate: the rate itself if the rules allow it, else the limit that it breaks, as it would be quoted.
 *
 * @example nearestAllowed(applied, 190000) // 200000 with a minimum of $1,999.40
 */
export function nearestAllowed(applied: AppliedRules, rateCents: number): number {
  const { low, high } = limitsIn(applied)
  if (rateCents >= low && rateCents <= high) return rateCents
  const isLow = rateCents < low
  return rounded(isLow ? low : high, isLow ? 'minimum' : 'maximum', applied).rateCents
}

const DOLLAR = 100

/** A rate within the limits, rounded as it is quoted. */
function rounded(exact: number, from: RuledRate['from'], applied: AppliedRules): RuledRate {
  const { low, high } = limitsIn(applied)
  const multiple = applied.roundTo?.value ?? 0
  const unit = multiple > 0 ? multiple : DOLLAR
  const up = Math.ceil(exact / unit - 1e-9) * unit
  const down = Math.floor(exact / unit + 1e-9) * unit
  const isNearDown = multiple <= 0 && exact - down < up - exact
  const rateCents = (isNearDown ? [down, up] : [up, down]).find(
    (rate) => rate >= low && rate <= high && rate > 0,
  )
  return {
    rateCents: rateCents ?? wholeUp(exact),
    from,
    isRounded: multiple > 0 && rateCents !== undefined && rateCents !== exact,
  }
}

/** @example ruleInWords({ ruleId: 3, conditions: {}, terms: {} }) // 'rule 3, because: all quotes' */
function ruleInWords({ ruleId, conditions }: PricingRule): string {
  return `${ruleId === UNSAVED_RULE ? 'this rule' : `rule ${ruleId}`}, because: ${conditionsInWords(conditions)}`
}

/** Whether a rate is within the rules: the strictest consequence, and a sentence for each limit that it breaks. */
export interface RuleVerdict {
  readonly state: 'within' | Outside
  readonly reasons: readonly { readonly ruleId: number; readonly outside: Outside; readonly detail: string }[]
}

const severity: readonly RuleVerdict['state'][] = ['within', 'warn', 'approval', 'block']

/**
 * Whether a rate is within the rules. A limit that cannot be computed in full is broken if its rule asks for approval or blocks:
 * otherwise leaving out the cost or the miles would be a way around it.
 *
 * @param leastCents the rate to compare with a minimum of such a rule: the rate with the scheduled fuel surcharge, if that is lower
 * @example checkRate(applied, 190000).state // 'approval', below a minimum that asks for approval
 */
export function checkRate(
  { minimum, maximum, contradicts }: AppliedRules,
  rateCents: number,
  { leastCents = rateCents }: { readonly leastCents?: number } = {},
): RuleVerdict {
  const reasons: { ruleId: number; outside: Outside; detail: string }[] = []
  const add = ({ rule, outside }: Limit, detail: string) =>
    reasons.push({
      ruleId: rule.ruleId,
      outside,
      detail: `${detail} (${ruleInWords(rule)}).`,
    })
  for (const [limit, name] of [
    [minimum, 'minimum'],
    [maximum, 'maximum'],
  ] as const) {
    if (limit === null || limit.missing === null || limit.outside === 'warn') continue
    const needed =
      limit.missing === 'cost'
        ? 'no truck cost is known: enter the expected cost'
        : 'the miles of the lane are unknown: enter them'
    add(limit, `The ${name} margin cannot be checked, because ${needed}`)
  }
  const lowCents = minimum?.outside === 'warn' ? rateCents : leastCents
  if (minimum?.rateCents != null && lowCents < minimum.rateCents) {
    const scheduled = lowCents === rateCents ? '' : ', with the fuel charge of the schedule,'
    add(
      minimum,
      `${formatDollars(lowCents)}${scheduled} is below the minimum of ${formatDollars(minimum.rateCents)}`,
    )
  }
  if (maximum?.rateCents != null && !contradicts && rateCents > maximum.rateCents) {
    add(maximum, `${formatDollars(rateCents)} is above the maximum of ${formatDollars(maximum.rateCents)}`)
  }
  return { state: strictest(reasons), reasons }
}

/** The verdict on a rate that cannot be compared with the limits, because its charges or its currency cannot be converted. */
export function checkUnknownRate({ minimum, maximum }: AppliedRules): RuleVerdict {
  const reasons = [minimum, maximum]
    .filter((limit) => limit !== null)
    .filter(({ outside }) => outside !== 'warn')
    .map(({ rule, outside }) => ({
      ruleId: rule.ruleId,
      outside,
      detail: `The margin cannot be checked, because the rate cannot be converted: enter its fuel charge, or the exchange rate of today (${ruleInWords(rule)}).`,
    }))
  return { state: strictest(reasons), reasons }
}

function strictest(reasons: RuleVerdict['reasons']): RuleVerdict['state'] {
  return reasons.reduce<RuleVerdict['state']>(
    (worst, { outside }) => (severity.indexOf(outside) > severity.indexOf(worst) ? outside : worst),
    'within',
  )
}
