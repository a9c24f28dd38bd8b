import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** The first steps that a new brokerage has completed, for its onboarding guide. */
export interface FirstSteps {
  readonly quotes: boolean
  readonly outcomes: boolean
  readonly imports: boolean
  readonly team: boolean
  readonly token: boolean
  readonly secret: boolean
  readonly first_read: boolean
  readonly booking: boolean
}

/** A step is done if the database has a row for it. `userId` is the caller, who does not count as a team member. */
export async function firstSteps(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, now }: { userId: number; now: Date },
): Promise<FirstSteps> {
  const { rows } = await sql<FirstSteps>`
    select
      exists (select from quotes where tenant_id = ${tenant}) as quotes,
      exists (select from quotes where tenant_id = ${tenant} and outcome <> 'pending') as outcomes,
      exists (
        select from imports
        where tenant_id = ${tenant} and not dry_run and status = 'done' and rows_added > 0
      ) as imports,
      exists (select from users where tenant_id = ${tenant} and status <> 'removed' and user_id <> ${userId}) as team,
      exists (select from service_tokens where tenant_id = ${tenant} and revoked_at is null and expires_at > ${now})
        as token,
      exists (
        select from signing_secrets
        where tenant_id = ${tenant} and revoked_at is null and (expires_at is null or expires_at > ${now})
      ) as secret,
      exists (select from service_tokens where tenant_id = ${tenant} and last_used_at is not null) as first_read,
      exists (select from shipment_updates where tenant_id = ${tenant} and updated) as booking
  `.execute(transaction)
  const [row] = rows
  if (row === undefined) throw new Error('A select without from returned no row.')
  return row
}
