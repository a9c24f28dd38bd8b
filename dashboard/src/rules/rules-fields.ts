import type { Body } from '../api/index.ts'
import type { Rule } from './rules-words.ts'

type Sent = Body<'add-pricing-rule'>

/** The fields of the form: the place of each in a rule, its label, and whether it is a number. */
export const ruleFields = {
  customer: { at: '/conditions/customer', label: 'Customer' },
  origin: { at: '/conditions/origin', label: 'From: a city or a state' },
  destination: { at: '/conditions/destination', label: 'To: a city or a state' },
  tier: { at: '/conditions/tier', label: 'Customer tier' },
  equipment: { at: '/conditions/equipment', label: 'Equipment' },
  miles_over: { at: '/conditions/miles_over', label: 'Over miles', isNumber: true },
  miles_to: { at: '/conditions/miles_to', label: 'Up to miles', isNumber: true },
  rep_id: { at: '/conditions/rep_id', label: 'Quoted by', isNumber: true },
  team_id: { at: '/conditions/team_id', label: 'Quoted by somebody in the team', isNumber: true },
  area: { at: '/conditions/area', label: 'A city means' },
  rate_type: { at: '/conditions/rate_type', label: 'Spot or contract' },
  confidence_at_most: { at: '/conditions/confidence_at_most', label: 'Confidence on the lane' },
  minimum_margin_pct: { at: '/terms/minimum/margin_pct', label: 'Minimum margin, %', isNumber: true },
  minimum_margin: { at: '/terms/minimum/margin', label: 'Minimum margin, $', isNumber: true },
  minimum_margin_per_mile: {
    at: '/terms/minimum/margin_per_mile',
    label: 'Minimum margin, $ per mile',
    isNumber: true,
  },
  minimum_rate_per_mile: {
    at: '/terms/minimum/rate_per_mile',
    label: 'Minimum rate, $ per mile',
    isNumber: true,
  },
  target_margin_pct: { at: '/terms/target/margin_pct', label: 'Target margin, %', isNumber: true },
  target_margin: { at: '/terms/target/margin', label: 'Target margin, $', isNumber: true },
  target_margin_per_mile: {
    at: '/terms/target/margin_per_mile',
    label: 'Target margin, $ per mile',
    isNumber: true,
  },
  maximum_margin_pct: { at: '/terms/maximum/margin_pct', label: 'Maximum margin, %', isNumber: true },
  maximum_margin: { at: '/terms/maximum/margin', label: 'Maximum margin, $', isNumber: true },
  maximum_margin_per_mile: {
    at: '/terms/maximum/margin_per_mile',
    label: 'Maximum margin, $ per mile',
    isNumber: true,
  },
  round_to: { at: '/terms/round_to', label: 'Round up to, $', isNumber: true },
  valid_days: { at: '/terms/valid_days', label: 'Valid for days', isNumber: true },
  outside: { at: '/terms/outside', label: 'A rate outside' },
} as const

export type RuleField = keyof typeof ruleFields
/** The values of the form. All are text, as typed. */
export type RuleFields = Readonly<Record<RuleField, string>>

interface FieldPlace {
  readonly name: RuleField
  /** The names on the way to its value. */
  readonly path: readonly string[]
  readonly isNumber: boolean
}
const places: readonly FieldPlace[] = (Object.keys(ruleFields) as RuleField[]).map((name) => ({
  name,
  path: ruleFields[name].at.split('/').slice(1),
  isNumber: 'isNumber' in ruleFields[name],
}))

/** The values of a rule; those of a new one without a rule. */
export function fieldsOf(rule: Pick<Rule, 'conditions' | 'terms'> | null): RuleFields {
  const texts = places.map(({ name, path }) => {
    const value = path.reduce<unknown>((within, step) => (within as Members | undefined)?.[step], rule)
    return [name, String(value ?? (name === 'area' ? 'place' : ''))]
  })
  return Object.fromEntries(texts) as RuleFields
}

type Members = Readonly<Record<string, unknown>>

/** A number that cannot be read is sent as text, so that the service names the field. */
function numberIn(text: string): number | string {
  const tidy = text.replaceAll(/[$,%\s]/g, '')
  return tidy === '' || Number.isNaN(Number(tidy)) ? text : Number(tidy)
}

/** The rule as it is sent: without the empty fields. */
export function ruleOf(fields: RuleFields): Sent {
  const hasPlace = fields.origin.trim() !== '' || fields.destination.trim() !== ''
  const rule: Record<string, unknown> = { conditions: {}, terms: {} }
  for (const { name, path, isNumber } of places) {
    const text = fields[name].trim()
    if (text === '' || (name === 'area' && !hasPlace)) continue
    const last = path.at(-1) ?? ''
    const within = path.slice(0, -1).reduce<Record<string, unknown>>((outer, step) => {
      outer[step] ??= {}
      return outer[step] as Record<string, unknown>
    }, rule)
    within[last] = isNumber ? numberIn(text) : text
  }
  return rule as Sent
}

/** The field of an error. @example fieldAt('/terms/minimum/margin_pct') // 'minimum_margin_pct' */
export function fieldAt(pointer: string | undefined): RuleField | null {
  const at = pointer?.replace(/^\/rule/, '')
  return places.find(({ path }) => at === `/${path.join('/')}`)?.name ?? null
}
