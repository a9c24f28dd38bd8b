import type { Body } from '../api/index.ts'
import type { Rule } from './rules-words.ts'

type Sent = Body<'add-pricing-rule'>

/** The fields of the form. All are text, as typed. */
export const blankRule = {
  customer: '',
  origin: '',
  destination: '',
  area: 'place',
  tier: '',
  rep_id: '',
  team_id: '',
  equipment: '',
  miles_over: '',
  miles_to: '',
  rate_type: '',
  confidence_at_most: '',
  minimum_margin_pct: '',
  minimum_margin: '',
  minimum_margin_per_mile: '',
  minimum_rate_per_mile: '',
  target_margin_pct: '',
  target_margin: '',
  target_margin_per_mile: '',
  maximum_margin_pct: '',
  maximum_margin: '',
  maximum_margin_per_mile: '',
  round_to: '',
  valid_days: '',
  outside: '',
}
export type RuleFields = typeof blankRule
export type RuleField = keyof RuleFields

export function fieldsOf({ conditions, terms }: Rule): RuleFields {
  const text = (value: string | number | undefined) => (value === undefined ? '' : String(value))
  return {
    ...blankRule,
    customer: text(conditions.customer),
    origin: text(conditions.origin),
    destination: text(conditions.destination),
    area: conditions.area ?? 'place',
    tier: text(conditions.tier),
    rep_id: text(conditions.rep_id),
    team_id: text(conditions.team_id),
    equipment: text(conditions.equipment),
    miles_over: text(conditions.miles_over),
    miles_to: text(conditions.miles_to),
    rate_type: text(conditions.rate_type),
    confidence_at_most: text(conditions.confidence_at_most),
    minimum_margin_pct: text(terms.minimum?.margin_pct),
    minimum_margin: text(terms.minimum?.margin),
    minimum_margin_per_mile: text(terms.minimum?.margin_per_mile),
    minimum_rate_per_mile: text(terms.minimum?.rate_per_mile),
    target_margin_pct: text(terms.target?.margin_pct),
    target_margin: text(terms.target?.margin),
    target_margin_per_mile: text(terms.target?.margin_per_mile),
    maximum_margin_pct: text(terms.maximum?.margin_pct),
    maximum_margin: text(terms.maximum?.margin),
    maximum_margin_per_mile: text(terms.maximum?.margin_per_mile),
    round_to: text(terms.round_to),
    valid_days: text(terms.valid_days),
    outside: terms.outside ?? '',
  }
}

/** A number that cannot be read is sent as text, so that the service names the field. */
function number(text: string): number | undefined {
  const tidy = text.replaceAll(/[$,%\s]/g, '')
  if (tidy === '') return undefined
  const value = Number(tidy)
  return Number.isNaN(value) ? (text as unknown as number) : value
}

const filled = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''))

/** The rule as it is sent. */
export function ruleOf(fields: RuleFields): Sent {
  const hasPlace = fields.origin.trim() !== '' || fields.destination.trim() !== ''
  const conditions = filled({
    customer: fields.customer.trim(),
    origin: fields.origin.trim(),
    destination: fields.destination.trim(),
    area: hasPlace ? fields.area : undefined,
    tier: fields.tier.trim(),
    rep_id: number(fields.rep_id),
    team_id: number(fields.team_id),
    equipment: fields.equipment.trim(),
    miles_over: number(fields.miles_over),
    miles_to: number(fields.miles_to),
    rate_type: fields.rate_type,
    confidence_at_most: fields.confidence_at_most,
  })
  const margin = (name: 'minimum' | 'target' | 'maximum') => {
    const members = filled({
      margin_pct: number(fields[`${name}_margin_pct`]),
      margin: number(fields[`${name}_margin`]),
      margin_per_mile: number(fields[`${name}_margin_per_mile`]),
      rate_per_mile: name === 'minimum' ? number(fields.minimum_rate_per_mile) : undefined,
    })
    return Object.keys(members).length === 0 ? undefined : members
  }
  const terms = filled({
    minimum: margin('minimum'),
    target: margin('target'),
    maximum: margin('maximum'),
    round_to: number(fields.round_to),
    valid_days: number(fields.valid_days),
    outside: fields.outside,
  })
  return { conditions, terms } as Sent
}

/** The field of an error. @example fieldAt('/terms/minimum/margin_pct') // 'minimum_margin_pct' */
export function fieldAt(pointer: string | undefined): RuleField | null {
  const name = (pointer ?? '').replace(/^(\/rule)?\/(conditions|terms)\//, '').replace('/', '_')
  return name in blankRule ? (name as RuleField) : null
}
