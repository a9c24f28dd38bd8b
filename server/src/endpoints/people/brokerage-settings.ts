import type { Static } from 'typebox'
import * as contract from '#contract/brokerage-settings.ts'
import { invalid } from '#contract/errors.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { changeFloors, floorsAnswer } from '../pricing/floors.ts'

/** A brokerage and its settings in the form of the API. */
export function tenantAnswer(tenant: people.TenantRow): Static<typeof contract.Tenant> {
  return {
    id: tenant.tenant_id,
    name: tenant.name,
    test: tenant.sandbox_of !== null,
    win_probability_method: tenant.win_probability_method,
    floors: floorsAnswer(people.minimumOf(tenant)),
    time_zone: tenant.time_zone,
    date_order: tenant.date_order,
    quote_expiry: {
      valid_days: tenant.quote_valid_days,
      counts_as: tenant.expired_counts_as_lost ? 'lost' : 'pending',
    },
    default_basis: tenant.default_basis,
    default_rate_type: tenant.default_rate_type,
    integration_pool: tenant.integration_pool,
    created_at: tenant.created_at.toISOString(),
  }
}

/**
 * A time zone in the form that is saved. A zone unknown to the database is an error, because the database could not compute months in
 * it.
 */
export async function timeZoneToStore(
  transaction: TenantTransaction,
  name: string | undefined,
): Promise<string | undefined> {
  const zone = name === undefined ? null : timeZoneNamed(name)
  if (zone === null || (await people.isKnownTimeZone(transaction, zone))) return zone ?? undefined
  throw invalid([
    {
      pointer: '/time_zone',
      code: 'unknown',
      detail: `time_zone: this installation does not know ${zone}; send another zone with the same time.`,
    },
  ])
}

/** Changes the sent settings of a brokerage, and records their old values. @throws Problem that names the wrong member */
async function changeSettings(
  call: Call<typeof contract.updateTenant>,
  { database }: Pick<Parts, 'database'>,
): Promise<Static<typeof contract.Tenant>> {
  const { caller, body } = call
  // 0 removes the default validity of quotes.
  const validDays = body.quote_expiry?.valid_days
  const values = {
    name: body.name,
    win_probability_method: body.win_probability_method,
    date_order: body.date_order,
    quote_valid_days: validDays === 0 ? null : validDays,
    default_basis: body.default_basis,
    default_rate_type: body.default_rate_type,
    integration_pool: body.integration_pool,
    expired_counts_as_lost:
      body.quote_expiry?.counts_as === undefined ? undefined : body.quote_expiry.counts_as === 'lost',
  }
  return database.inTenant(caller.tenant, async (transaction) => {
    const zone = await timeZoneToStore(transaction, body.time_zone)
    const floors = await changeFloors(transaction, caller.tenant, body.floors, {
      userId: caller.userId,
      now: call.now,
    })
    const given = Object.fromEntries(
      Object.entries({ ...values, time_zone: zone }).filter(([, value]) => value !== undefined),
    )
    const before: Record<string, unknown> = {
      ...(await people.tenantOfSession(transaction, caller.tenant)),
    }
    const updated = await people.updateTenant(transaction, caller.tenant, given)
    const changed = [
      ...Object.entries(given).map(([name, value]) => ({ name, from: before[name], to: value })),
      ...floors,
    ].filter(({ from, to }) => from !== to)
    if (changed.length > 0) {
      await recordEvent(transaction, call, 'settings-changed', {
        about: {
          before: Object.fromEntries(changed.map(({ name, from }) => [name, from])),
          after: Object.fromEntries(changed.map(({ name, to }) => [name, to])),
        },
      })
    }
    return tenantAnswer(updated)
  })
}

export const settingsEndpoints: ServedEndpoint[] = [serve(contract.updateTenant, changeSettings)]
