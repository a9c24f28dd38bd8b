import type { Lane } from '#contract/lane.ts'

type Term = 'basis' | 'fuel' | 'accessorials' | 'charges' | 'currency'
type TermsOf<Of extends 'quoted' | 'customer' | 'truck'> = Pick<Lane, `${Of}_${Term}`>

/** What an amount of a lane includes, and its currency. Null if it was not said. */
export type AmountTerms = { readonly [Name in Term]: Lane[`quoted_${Name}`] }

/** What the quoted rate, AR or AP of a lane includes. An absent member was not said. */
export function amountTerms<Of extends 'quoted' | 'customer' | 'truck'>(
  lane: Partial<TermsOf<Of>>,
  of: Of,
): AmountTerms {
  const said: Partial<TermsOf<'quoted' | 'customer' | 'truck'>> = lane
  return {
    basis: said[`${of}_basis`] ?? null,
    fuel: said[`${of}_fuel`] ?? null,
    accessorials: said[`${of}_accessorials`] ?? null,
    charges: said[`${of}_charges`] ?? null,
    currency: said[`${of}_currency`] ?? null,
  }
}
