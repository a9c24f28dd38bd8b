import type { TenantIds } from './seeded-ids.ts'

/** The names of the seeded customer and of the customer that was merged into it. Errors about unknown customers repeat them. */
export const customerOf = ({ import: id }: Pick<TenantIds, 'import'>) => `Customer ${id}`
export const mergedCustomerOf = ({ import: id }: Pick<TenantIds, 'import'>) => `Customer ${id}, Inc.`
/** A similar name that, by the decision of a person, is another customer. */
export const differentCustomerOf = ({ import: id }: Pick<TenantIds, 'import'>) => `Customer ${id}, Ltd.`

interface Seeding {
  readonly at: Date
  readonly canary: string
  readonly isA: boolean
}

/** Returns rows for customers, one of them merged into another, and for a team. */
export function customerRowsOf(ids: TenantIds, { at, canary, isA }: Seeding) {
  return {
    customers: [0, 1, 2].map((nth) => ({
      customer_id: ids.import + nth,
      ...(nth === 0 ? { name: customerOf(ids) } : {}),
      tier: `${canary}customers-tier`.slice(0, 40),
      payment_days: isA ? 31 : 32,
      created_at: at,
      updated_at: at,
    })),
    customer_aliases: [
      {
        customer_key: customerOf(ids).toLowerCase(),
        main_key: customerOf(ids).toLowerCase(),
        own_id: ids.import,
        customer_id: ids.import,
        merged_into: null,
        merged_at: null,
        merged_by: null,
      },
      {
        customer_key: mergedCustomerOf(ids).toLowerCase(),
        main_key: customerOf(ids).toLowerCase(),
        own_id: ids.import + 1,
        customer_id: ids.import,
        merged_into: ids.import,
        merged_at: at,
        merged_by: ids.owner,
      },
      {
        own_id: ids.import + 2,
        customer_id: ids.import + 2,
        merged_into: null,
        merged_at: null,
        merged_by: null,
      },
    ],
    customer_distinctions: [
      {
        one_key: customerOf(ids).toLowerCase(),
        other_key: differentCustomerOf(ids).toLowerCase(),
        made_at: at,
        made_by: ids.owner,
      },
      { made_at: at, made_by: null },
    ],
    teams: [{ team_id: ids.import, created_at: at }],
    team_members: [ids.removed, ids.member, ids.viewer, ids.person].map((user_id) => ({
      team_id: ids.import,
      user_id,
    })),
    team_customers: [{ team_id: ids.import, customer_id: ids.import }],
  }
}
