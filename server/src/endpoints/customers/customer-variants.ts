import type * as contract from '#contract/customers.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { comparedCustomersMax, nameVariantsMax } from '#contract/limits.ts'
import { nameVariants } from '#engine/customer-name.ts'
import { statisticsOf } from '../../book/index.ts'
import { customers } from '../../database/queries/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { namesOf } from '../performance/performance-rows.ts'

/** Pairs of names that probably mean the same customer. Undecided pairs come first. */
export async function listCustomerVariants(
  { caller: { tenant } }: Call<typeof contract.listCustomerVariants>,
  { books, database }: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.listCustomerVariants>> {
  const statistics = await statisticsOf({ books, database }, tenant)
  const order = { rank: 'quotes', direction: 'desc', cursor: null, limit: comparedCustomersMax } as const
  const { rows } = await statistics.performance('customer', {}, order)
  const { names, apart } = await database.inTenant(tenant, async (transaction) => ({
    names: await namesOf(transaction, tenant, 'customer', rows),
    apart: await customers.customerDistinctions(transaction, tenant),
  }))
  const found = rows.map(({ key, quotes }, at) => ({ key, quotes, name: names[at]?.label ?? key }))
  const pairOf = (one: string, other: string) => [one, other].toSorted().join('\n')
  const different = new Set(apart.map(({ one, other }) => pairOf(one, other)))
  const spelling = (at: number) => ({ name: found[at]?.name ?? '', quotes: found[at]?.quotes ?? 0 })
  const pairs = await yieldBetweenSteps(nameVariants(found.map(({ name }) => name)))
  const variants = pairs.map(({ one, other, because }) => ({
    keep: spelling(one),
    merge: spelling(other),
    because,
    decision: different.has(pairOf(found[one]?.key ?? '', found[other]?.key ?? ''))
      ? ('different' as const)
      : ('open' as const),
  }))
  const isOf = (decision: 'open' | 'different') => variants.filter((variant) => variant.decision === decision)
  return { variants: [...isOf('open'), ...isOf('different')].slice(0, nameVariantsMax) }
}
