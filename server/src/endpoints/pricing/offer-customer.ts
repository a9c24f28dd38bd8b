import type { Static } from 'typebox'
import type { Estimate } from '#contract/estimate.ts'
import type { PreparedAdvice } from '#engine/book/quote-book.ts'
import type { CustomerEffects } from '#engine/estimate/customer-effect.ts'
import type { OfferEstimate } from '#engine/estimate/estimate-offer.ts'
import type { BrokerageBook } from '../../book/index.ts'
import { customers, teams } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'

/** The customer of an offer, and the effects of all customers. */
export interface OfferCustomer {
  readonly name: string
  /** Null for a customer that nobody knows. */
  readonly hash: number | null
  readonly effects: CustomerEffects
}

/** The customer of an offer. Null if none is named. */
export async function offerCustomer(
  name: string | undefined,
  tenant: TenantId,
  { book, model }: { readonly book: BrokerageBook; readonly model: PreparedAdvice },
  { database }: Pick<Parts, 'database'>,
): Promise<OfferCustomer | null> {
  if (name === undefined) return null
  const { found, isHidden } = await database.inTenant(tenant, async (transaction) => ({
    found: await customers.hashedCustomer(transaction, tenant, name),
    isHidden: await teams.isHiddenCustomer(transaction, tenant, name),
  }))
  return {
    name: isHidden ? name.trim() : (found.name ?? name.trim()),
    // For a person who may not see the customer, it is a customer that nobody knows.
    hash: isHidden ? null : found.hash,
    effects: await book.customerEffects(model, new Map(found.merged)),
  }
}

export function customerAnswer(
  { customer = null }: { readonly customer?: OfferCustomer | null },
  { probabilityOfAll }: OfferEstimate,
): Pick<Static<typeof Estimate>, 'customer'> {
  if (customer === null) return {}
  const effect = customer.hash === null ? undefined : customer.effects.effects.get(customer.hash)
  return {
    customer: {
      name: customer.name,
      decided: effect?.decided ?? 0,
      won: effect?.won ?? 0,
      differ: customer.effects.spread > 0,
      probability_of_all: probabilityOfAll,
    },
  }
}
