import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { dollars, equipment, nullable, oneOf, place, recordId, text, wholeNumber } from './fields.ts'
import { labelLengthMax, milesMax, rulesMax } from './limits.ts'
import { rateTypes } from './rate-types.ts'

const confidences = ['high', 'medium', 'low', 'none'] as const
/** The effects that a rule can have on a rate outside it. */
export const outsides = ['warn', 'approval', 'block'] as const

const percent = (description: string) =>
  Type.Number({
    description,
    minimum: 0,
    maximum: 99,
    'x-expected':
      'a number of percent from 0 to 99: a margin of 100 % or more of the rate would mean that the truck costs nothing',
  })

const margin = (what: string) => ({
  margin_pct: Type.Optional(percent(`${what} margin in percent of the rate`)),
  margin: Type.Optional(dollars(`${what} margin per load in dollars`)),
  margin_per_mile: Type.Optional(dollars(`${what} margin per loaded mile in dollars`)),
})

const endOf = (end: string) =>
  Type.Optional(
    place(`Only quotes ${end} this place: a city as "Dallas, TX", or a state or province as "TX"`),
  )

export const RuleConditions = Type.Object(
  {
    customer: Type.Optional(
      text('Only quotes for this customer, in any spelling of its name', labelLengthMax),
    ),
    origin: endOf('from'),
    destination: endOf('to'),
    area: Type.Optional(
      oneOf('What the cities mean: place (the default) is the city itself, market is the market around it', [
        'place',
        'market',
      ]),
    ),
    tier: Type.Optional(text('Only customers of this tier', 40)),
    rep_id: Type.Optional({ ...recordId, description: 'Only quotes of this person' }),
    team_id: Type.Optional({ ...recordId, description: 'Only quotes of people who are in this team' }),
    equipment: Type.Optional(equipment('Only quotes with this equipment')),
    miles_over: Type.Optional(wholeNumber('Only quotes of more loaded miles than this', 0, milesMax)),
    miles_to: Type.Optional(wholeNumber('Only quotes of at most this many loaded miles', 1, milesMax)),
    rate_type: Type.Optional(
      oneOf('Only spot or only contract quotes. A quote that says neither is a spot quote', rateTypes),
    ),
    confidence_at_most: Type.Optional(
      oneOf(
        'Only quotes on lanes with at most this confidence, by their decided quotes of the last 600 days; low includes none',
        confidences,
      ),
    ),
  },
  { description: 'The rule applies to quotes that meet all conditions; without conditions, to all quotes' },
)

export const RuleTerms = Type.Object(
  {
    minimum: Type.Optional(
      Type.Object(
        {
          ...margin('Minimum'),
          rate_per_mile: Type.Optional(dollars('Minimum rate per loaded mile in dollars')),
        },
        { description: 'The highest of the rates that the members demand' },
      ),
    ),
    target: Type.Optional(Type.Object(margin('Target'), { description: 'The rate to quote' })),
    maximum: Type.Optional(
      Type.Object(margin('Maximum'), { description: 'The lowest of the rates that the members permit' }),
    ),
    round_to: Type.Optional(
      wholeNumber('Rates to quote are rounded up to a multiple of these dollars', 1, 1000),
    ),
    valid_days: Type.Optional(wholeNumber('Days for which a quote is valid', 1, 365)),
    outside: Type.Optional(
      oneOf(
        'What happens to a rate below the minimum or above the maximum. warn (the default): the quote is saved with a warning. approval: it needs the approval of an admin. block: it is refused',
        outsides,
      ),
    ),
  },
  { description: 'Margins are over the truck cost. A part that is absent comes from a less specific rule' },
)

const amount = Type.Optional(Type.Number())
const shownMargin = { margin_pct: amount, margin: amount, margin_per_mile: amount }
export const ShownMargin = Type.Object(shownMargin)

export const ShownMinimum = Type.Object({ ...shownMargin, rate_per_mile: amount })

/** The conditions of a saved rule. Absent members are no condition. */
export const ShownConditions = Type.Object({
  customer: Type.Optional(Type.String()),
  origin: Type.Optional(Type.String()),
  destination: Type.Optional(Type.String()),
  area: Type.Optional(Type.Enum(['place', 'market'])),
  tier: Type.Optional(Type.String()),
  rep_id: Type.Optional(Type.Integer()),
  team_id: Type.Optional(Type.Integer()),
  equipment: Type.Optional(Type.String()),
  miles_over: Type.Optional(Type.Integer()),
  miles_to: Type.Optional(Type.Integer()),
  rate_type: Type.Optional(Type.Enum([...rateTypes])),
  confidence_at_most: Type.Optional(Type.Enum([...confidences])),
})

/** The terms of a saved rule. */
export const ShownTerms = Type.Object({
  minimum: Type.Optional(ShownMinimum),
  target: Type.Optional(ShownMargin),
  maximum: Type.Optional(ShownMargin),
  round_to: amount,
  valid_days: Type.Optional(Type.Integer()),
  outside: Type.Optional(Type.Enum([...outsides])),
})

const because = Type.String({ description: 'The conditions in words' })

export const PricingRule = Type.Object({
  rule_id: Type.Integer(),
  on: Type.Boolean({ description: 'false: the rule is a draft, and applies to nothing' }),
  conditions: ShownConditions,
  terms: ShownTerms,
  because,
  changed_at: Type.String({ format: 'date-time' }),
})

export const PricingRules = Type.Object({ rules: Type.Array(PricingRule) })

export const exampleRule = {
  rule_id: 3,
  on: true,
  conditions: { customer: 'Harvest Table Foods', miles_over: 1000 },
  terms: { minimum: { margin_pct: 12 }, round_to: 25, outside: 'approval' as const },
  because: 'customer Harvest Table Foods, over 1,000 miles',
  changed_at: '2026-03-01T14:00:00.000Z',
}

const admin = { kind: 'dashboard', role: 'admin' } as const
const ruleParams = Type.Object({ rule_id: recordId })
const ruleBody = {
  conditions: RuleConditions,
  terms: RuleTerms,
  on: Type.Optional(Type.Boolean({ description: 'Whether the rule applies; default true' })),
}
const order =
  'Of the rules that apply to a quote, each part of the terms comes from the most specific rule that has it. More specific is, in this order: a customer, a corridor (a city before its market before its state, both ends before one), a tier, a person, a team, an equipment type, a distance (the narrower), spot or contract, a confidence; then the newer rule'

export const listPricingRules = endpoint({
  name: 'list-pricing-rules',
  method: 'GET',
  path: '/api/pricing-rules',
  summary: 'List the pricing rules',
  description: `${order}. If a minimum is above the maximum of another rule, the minimum applies.`,
  tag: 'Rules',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: PricingRules,
  examples: { answer: { rules: [exampleRule] } },
})

export const addPricingRule = endpoint({
  name: 'add-pricing-rule',
  method: 'POST',
  path: '/api/pricing-rules',
  summary: 'Add a pricing rule',
  description: `A brokerage has at most ${rulesMax} rules, and no two with the same conditions. get-backtest shows in advance what a rule would have changed. ${order}.`,
  tag: 'Rules',
  who: admin,
  body: Type.Object(ruleBody),
  status: 201,
  answer: PricingRule,
  problems: ['state-conflict'],
  examples: {
    body: { conditions: exampleRule.conditions, terms: exampleRule.terms },
    answer: exampleRule,
  },
})

export const changePricingRule = endpoint({
  name: 'change-pricing-rule',
  method: 'PATCH',
  path: '/api/pricing-rules/{rule_id}',
  summary: 'Change a pricing rule',
  description:
    'Replaces the conditions, the terms, and whether the rule is on. Quotes that exist do not change.',
  tag: 'Rules',
  who: admin,
  params: ruleParams,
  body: Type.Object(ruleBody),
  status: 200,
  answer: PricingRule,
  problems: ['not-found', 'state-conflict'],
  examples: {
    body: { conditions: exampleRule.conditions, terms: exampleRule.terms, on: false },
    answer: { ...exampleRule, on: false },
  },
})

export const removePricingRule = endpoint({
  name: 'remove-pricing-rule',
  method: 'DELETE',
  path: '/api/pricing-rules/{rule_id}',
  summary: 'Remove a pricing rule',
  description: 'Quotes that exist do not change. Returns the remaining rules.',
  tag: 'Rules',
  who: admin,
  params: ruleParams,
  status: 200,
  answer: PricingRules,
  problems: ['not-found'],
  examples: { answer: { rules: [] } },
})

const money = nullable(Type.Number())

export const RuleLimit = Type.Object({
  rate: money,
  missing: {
    ...nullable(Type.Enum(['cost', 'miles'])),
    description: 'What is unknown, so that the limit cannot be computed in full',
  },
  rule_id: Type.Integer(),
  because,
  outside: Type.Enum([...outsides]),
  terms: ShownMinimum,
})
const limit = nullable(RuleLimit)

/** The rules that apply to a quote, with `include=rules`. */
export const AppliedRules = Type.Object({
  minimum: limit,
  target: limit,
  maximum: limit,
  rounding: {
    ...nullable(Type.Object({ to: Type.Number(), rule_id: Type.Integer(), because })),
    description: 'The multiple that rates are rounded up to, and the rule that sets it',
  },
  validity: {
    ...nullable(Type.Object({ days: Type.Integer(), rule_id: Type.Integer(), because })),
    description: 'For how many days a quote is valid, and the rule that sets it',
  },
  rate: {
    ...money,
    description:
      'The rate to quote by the rules: the target, or else the rate with the best expected margin, or else the going rate, within the limits and rounded. null: none of them is known',
  },
  verdict: Type.Enum(['within', ...outsides], {
    description: 'What happens to proposed_rate: within the rules, or the strictest consequence',
  }),
  reasons: Type.Array(Type.String(), {
    description: 'Why proposed_rate is outside, one sentence for each limit',
  }),
  explanation: Type.Array(Type.String(), {
    description: 'Each limit in words, with the rule that it comes from and why that rule applies',
  }),
})

/** Why a rate cannot be quoted without approval, or at all. */
export const OutsideRule = Type.Object({
  code: Type.Enum(['needs-approval', 'blocked']),
  detail: Type.String({ description: 'The limit that the rate is outside, with its rule' }),
})
export const OutsideRules = Type.Array(OutsideRule, {
  description: 'The rules that the rate is outside of and that do more than warn; empty if it can be quoted',
})
