import type { Static } from 'typebox'
import type { FieldError } from '#contract/errors.ts'
import type * as contract from '#contract/pricing-rules.ts'
import { customerKey } from '#engine/customer-name.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import { readState } from '#engine/place.ts'
import type { MinimumTerms, RuleTerms } from '#engine/rules/pricing-rules.ts'
import { conditionsInWords, type RuleConditions, type RulePlace } from '#engine/rules/rule-conditions.ts'
import type { StoredRule } from '../../database/schema/index.ts'
import { knownOrFolded, lanePlaces, readEquipment, readPlaceAt } from '../../quotes/index.ts'

type SentConditions = Static<typeof contract.RuleConditions>
type SentTerms = Static<typeof contract.RuleTerms>
type ShownTerms = Static<typeof contract.ShownTerms>
type RuleAnswer = Static<typeof contract.PricingRule>

/** Removes undefined members. A saved rule has no member for an absent value, not null. */
function present<T extends object>(values: { readonly [Key in keyof T]: T[Key] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

const cents = (dollars: number | undefined) =>
  dollars === undefined ? undefined : (centsFromDollars(dollars) ?? undefined)
const dollarsOf = (amount: number | undefined) =>
  amount === undefined ? undefined : dollarsFromCents(amount)

function rulePlace(
  sent: string | undefined,
  area: SentConditions['area'],
  field: string,
  errors: FieldError[],
): RulePlace | undefined {
  if (sent === undefined) return undefined
  const state = readState(sent)
  if (state !== null) return { kind: 'state', key: state, text: state }
  const at = { pointer: `/conditions/${field}` }
  const place = readPlaceAt(sent, at, errors)
  if (place === null) return undefined
  const known = knownOrFolded(place)
  const text = lanePlaces(place, place, null).origin
  if (area !== 'market') return { kind: 'place', key: known.key, text }
  if (known.market !== null) return { kind: 'market', key: known.market, text }
  errors.push({
    ...at,
    code: 'invalid',
    detail: `conditions.${field} is in no known market, so area cannot be market.`,
  })
  return undefined
}

/** The conditions of a rule in the form that is saved, with the named person and team. Adds errors for wrong conditions. */
export function readConditions(
  sent: SentConditions,
  { rep, team }: Pick<RuleConditions, 'rep' | 'team'>,
  errors: FieldError[],
): RuleConditions {
  const wrong = (field: string, detail: string) =>
    errors.push({ pointer: `/conditions/${field}`, code: 'invalid', detail })
  if (sent.area !== undefined && sent.origin === undefined && sent.destination === undefined) {
    wrong('area', 'conditions.area needs an origin or a destination.')
  }
  if (sent.rep_id !== undefined && rep === undefined) {
    wrong('rep_id', `conditions.rep_id: there is no active person ${sent.rep_id} in this brokerage.`)
  }
  if (sent.team_id !== undefined && team === undefined) {
    wrong('team_id', `conditions.team_id: there is no team ${sent.team_id} in this brokerage.`)
  }
  if (sent.miles_over !== undefined && sent.miles_to !== undefined && sent.miles_over >= sent.miles_to) {
    wrong('miles_to', `conditions.miles_to must be above miles_over, which is ${sent.miles_over}.`)
  }
  const equipment =
    sent.equipment === undefined
      ? undefined
      : (readEquipment(sent.equipment, { pointer: '/conditions/equipment' }, errors) ?? undefined)
  return present<RuleConditions>({
    customer:
      sent.customer === undefined
        ? undefined
        : { key: customerKey(sent.customer), text: sent.customer.trim() },
    origin: rulePlace(sent.origin, sent.area, 'origin', errors),
    destination: rulePlace(sent.destination, sent.area, 'destination', errors),
    tier: sent.tier?.trim(),
    rep,
    team,
    equipment,
    milesOver: sent.miles_over,
    milesTo: sent.miles_to,
    rateType: sent.rate_type,
    confidenceAtMost: sent.confidence_at_most,
  })
}

function readMargin(sent: SentTerms['minimum']): MinimumTerms | undefined {
  if (sent === undefined) return undefined
  const terms = present<MinimumTerms>({
    pct: sent.margin_pct,
    cents: cents(sent.margin),
    centsPerMile: cents(sent.margin_per_mile),
    rateCentsPerMile: cents(sent.rate_per_mile),
  })
  return Object.keys(terms).length === 0 ? undefined : terms
}

/** The terms of a rule in the form that is saved. Adds an error if they are empty or exclude every rate. */
export function readTerms(sent: SentTerms, errors: FieldError[]): RuleTerms {
  const terms = present<RuleTerms>({
    minimum: readMargin(sent.minimum),
    target: readMargin(sent.target),
    maximum: readMargin(sent.maximum),
    roundToCents: cents(sent.round_to),
    validDays: sent.valid_days,
    outside: sent.outside,
  })
  if (Object.keys(terms).length === 0) {
    const detail =
      'terms must have at least one of minimum, target, maximum, round_to, valid_days, outside, with a value.'
    errors.push({ pointer: '/terms', code: 'required', detail })
  }
  errors.push(...contradictions(sent))
  return terms
}

const comparable = ['margin_pct', 'margin', 'margin_per_mile'] as const

/** Errors for limits of one kind that exclude every rate, such as a minimum above the maximum. */
function contradictions({ minimum, target, maximum }: SentTerms): FieldError[] {
  const pairs = [
    ['minimum', minimum, 'maximum', maximum],
    ['minimum', minimum, 'target', target],
    ['target', target, 'maximum', maximum],
  ] as const
  return pairs.flatMap(([low, lower, high, higher]) =>
    comparable.flatMap((field) => {
      const [least, most] = [lower?.[field], higher?.[field]]
      if (least === undefined || most === undefined || least <= most) return []
      const detail = `terms.${high}.${field} is ${most}, below terms.${low}.${field}, which is ${least}: no rate would be within both.`
      return [{ pointer: `/terms/${high}/${field}`, code: 'invalid', detail }]
    }),
  )
}

function conditionsAnswer(conditions: RuleConditions): SentConditions {
  const { customer, origin, destination, rep, team } = conditions
  const isMarket = origin?.kind === 'market' || destination?.kind === 'market'
  return present<SentConditions>({
    customer: customer?.text,
    origin: origin?.text,
    destination: destination?.text,
    area: isMarket ? 'market' : undefined,
    tier: conditions.tier,
    rep_id: rep?.userId,
    team_id: team?.teamId,
    equipment: conditions.equipment,
    miles_over: conditions.milesOver,
    miles_to: conditions.milesTo,
    rate_type: conditions.rateType,
    confidence_at_most: conditions.confidenceAtMost,
  })
}

/** A margin of a rule in the form of the API. */
export function marginAnswer(terms: MinimumTerms): Static<typeof contract.ShownMinimum> {
  return present<Static<typeof contract.ShownMinimum>>({
    margin_pct: terms.pct,
    margin: dollarsOf(terms.cents),
    margin_per_mile: dollarsOf(terms.centsPerMile),
    rate_per_mile: dollarsOf(terms.rateCentsPerMile),
  })
}

function termsAnswer({ minimum, target, maximum, roundToCents, validDays, outside }: RuleTerms): ShownTerms {
  return present<ShownTerms>({
    minimum: minimum && marginAnswer(minimum),
    target: target && marginAnswer(target),
    maximum: maximum && marginAnswer(maximum),
    round_to: dollarsOf(roundToCents),
    valid_days: validDays,
    outside,
  })
}

export function ruleAnswer(rule: StoredRule): RuleAnswer {
  return {
    rule_id: rule.ruleId,
    on: rule.isOn,
    conditions: conditionsAnswer(rule.conditions),
    terms: termsAnswer(rule.terms),
    because: conditionsInWords(rule.conditions),
    changed_at: rule.changedAt,
  }
}
