import { sql } from 'kysely'
import { notSpread, type TenantTransaction } from '../schema/index.ts'
import { roleTimeouts } from './connection.ts'
import type { Database } from './open-database.ts'
import { rowLevelSecurityGaps } from './row-level-security-gaps.ts'

/** A time-out of a session that is longer than this bounds nothing that somebody waits for. Milliseconds. */
const roleTimeoutMsMax = 60_000

/** Settings without which "acknowledged" would not mean "durable". */
const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/**
 * What stands between this database and the promises of the service, in words an operator can act on; empty when the
 * walls are up. Asked once at the start: row-level security does nothing for a superuser, for a role that bypasses it
 * or for an unforced owner, a database without fsync loses what it acknowledged, and without time-outs of the role a
 * call that is one message may run for ever.
 */
export async function databaseSafetyFaults(database: Database): Promise<string[]> {
  return database.outsideTenants(async (transaction) => {
    const { rows: settings } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')
    `.execute(transaction)
    const { rows: roles } = await sql<{
      role: string
      superuser: boolean
      bypasses: boolean
      owner: boolean
    }>`
      select rolname as role, rolsuper as superuser, rolbypassrls as bypasses,
             exists (select 1 from pg_class c where c.relowner = r.oid and c.relname = 'lanes') as owner
      from pg_roles r where rolname = current_user
    `.execute(transaction)
    // To a role that is above the walls everything is open: that alone is said then.
    const isAbove = roles.some(({ superuser, bypasses, owner }) => superuser || bypasses || owner)
    const off = durable.filter((name) => settings.find((setting) => setting.name === name)?.setting === 'off')
    return [
      ...off.map(
        (name) => `PostgreSQL runs with ${name} = off: acknowledged changes could be lost. Set it to on.`,
      ),
      ...roles.flatMap(({ role, superuser, bypasses, owner }) => [
        ...(superuser
          ? [`The role ${role} is a superuser, which no tenant wall stops. Connect as lanewise_service.`]
          : []),
        ...(bypasses
          ? [`The role ${role} has BYPASSRLS. Take it away: alter role ${role} nobypassrls.`]
          : []),
        ...(owner
          ? [`The role ${role} owns the tables. Connect as lanewise_service, and migrate as the owner.`]
          : []),
      ]),
      ...(isAbove ? [] : await missingTimeouts(transaction)),
      ...(isAbove ? [] : await rowLevelSecurityGaps(transaction)),
      ...((await notSpread(transaction)) ?? []).map(
        (table) =>
          `The table ${table} is not spread over the workers as the others are. Run npm run distribute.`,
      ),
    ]
  })
}

/** The time-outs that sessions of this role do not begin with, whatever this transaction has set for itself. */
async function missingTimeouts(transaction: TenantTransaction): Promise<string[]> {
  const { rows } = await sql<{ role: string; name: string; ms: number }>`
    select current_user as role, name, reset_val::bigint as ms from pg_settings
    where name = any (${roleTimeouts.map(({ name }) => name)})
  `.execute(transaction)
  return roleTimeouts.flatMap(({ name, value }) => {
    const { role, ms } = rows.find((row) => row.name === name) ?? { role: 'lanewise_service', ms: 0 }
    if (ms > 0 && ms <= roleTimeoutMsMax) return []
    return [
      `Sessions of the role ${role} have ${ms === 0 ? 'no' : 'too long a'} ${name}. Run as a superuser: alter role ${role} set ${name} = '${value}'; a pooler in front must then open its connections anew.`,
    ]
  })
}
