import type { Static } from 'typebox'
import type * as contract from '#contract/pricing-rules.ts'
import { confidence } from '#engine/confidence.ts'
import { customerKey } from '#engine/customer-name.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppliedRules,
  checkRate,
  type MinimumTerms,
  type PricingRule,
  ruledRate,
} from '#engine/rules/pricing-rules.ts'
import { conditionsInWords, type QuoteFacts } from '#engine/rules/rule-conditions.ts'
import { customers } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Parts } from './parts.ts'
import { marginAnswer } from './rule-forms.ts'

/** Who a quote is for and from. */
export interface QuoteParties {
  readonly customerKeys: readonly string[]
  readonly tier: string | null
  readonly repId: number | null
  readonly rateType: 'spot' | 'contract' | null
}

/**
 * The customer of a quote, with all names that count for it, as far as the rules ask for them. No rule of most brokerages
 * does, and then nothing is read.
 */
export async function partiesOf(
  rules: readonly PricingRule[],
  {
    customerName,
    repId,
    rateType,
  }: {
    readonly customerName: string | null
    readonly repId: number | null
    readonly rateType?: 'spot' | 'contract' | null
  },
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<QuoteParties> {
  const others = { repId, rateType: rateType ?? null }
  const isAsked = rules.some(
    ({ conditions }) => conditions.customer !== undefined || conditions.tier !== undefined,
  )
  if (customerName === null || !isAsked) return { customerKeys: [], tier: null, ...others }
  return database.inTenant(tenant, async (transaction) => {
    const known = await customers.findCustomer(transaction, tenant, customerName)
    const aliases = known === null ? [] : await customers.aliasesOf(transaction, tenant, [known.customerId])
    const keys = [customerName, ...aliases.map(({ name }) => name)].map(customerKey)
    return {
      customerKeys: known === null ? keys : [known.key, ...keys],
      tier: known?.tier ?? null,
      ...others,
    }
  })
}

/** The facts of a quote from the columns of its lane. `decided`: the lane's decided quotes that count. */
export function factsOf(
  lane: {
    readonly origin_key: string
    readonly destination_key: string
    readonly origin_state: string
    readonly destination_state: string
    readonly origin_market?: string | null
    readonly destination_market?: string | null
    readonly equipment_code: string | null
    readonly miles?: number | null
  },
  parties: QuoteParties,
  decided: number,
): QuoteFacts {
  return {
    customerKeys: parties.customerKeys,
    tier: parties.tier,
    origin: { place: lane.origin_key, market: lane.origin_market ?? null, state: lane.origin_state },
    destination: {
      place: lane.destination_key,
      market: lane.destination_market ?? null,
      state: lane.destination_state,
    },
    equipmentCode: lane.equipment_code,
    miles: lane.miles ?? null,
    rateType: parties.rateType,
    repId: parties.repId,
    confidence: confidence(decided),
  }
}

type Answer = Static<typeof contract.AppliedRules>

const reasonOf = ({ ruleId, conditions }: PricingRule) => ({
  rule_id: ruleId,
  because: conditionsInWords(conditions),
})

/** The rules that apply, in the form of the API. `bestCents`: the rate to quote without them. */
export function rulesAnswer(
  applied: AppliedRules,
  { rateCents, bestCents }: { readonly rateCents: number; readonly bestCents: number | null },
): Answer {
  const limit = (part: AppliedRules['minimum'], terms: MinimumTerms | undefined): Answer['minimum'] =>
    part === null
      ? null
      : {
          rate: dollarsIfKnown(part.rateCents),
          missing: part.missing,
          ...reasonOf(part.rule),
          outside: part.outside,
          terms: marginAnswer(terms ?? {}),
        }
  const { minimum, target, maximum } = applied
  const verdict = checkRate(applied, rateCents)
  const rate = ruledRate(applied, bestCents)
  return {
    minimum: limit(minimum, minimum?.rule.terms.minimum),
    target: limit(target === null ? null : { ...target, outside: 'warn' }, target?.rule.terms.target),
    maximum: limit(maximum, maximum?.rule.terms.maximum),
    round_to: applied.roundTo === null ? null : dollarsFromCents(applied.roundTo.value),
    rounding:
      applied.roundTo === null
        ? null
        : { to: dollarsFromCents(applied.roundTo.value), ...reasonOf(applied.roundTo.rule) },
    valid_days: applied.validDays?.value ?? null,
    validity:
      applied.validDays === null
        ? null
        : { days: applied.validDays.value, ...reasonOf(applied.validDays.rule) },
    rate: rate === null ? null : dollarsFromCents(Math.ceil(rate.rateCents - 1e-6)),
    verdict: verdict.state,
    reasons: verdict.reasons.map(({ detail }) => detail),
    explanation: appliedInWords(applied),
  }
}
