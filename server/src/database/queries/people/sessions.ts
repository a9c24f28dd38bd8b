import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

export type SessionRow = Selectable<Tables['sessions']>

/** How often the last use of a session is written. An idle session may end this much later than its limit. */
export const sessionUseGrainMs = 60_000

export async function insertSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  session: {
    readonly sessionId: string
    readonly userId: number
    readonly now: Date
    readonly expiresAt: Date
    readonly device: string
    readonly network: string | null
    readonly isNew: NewPlace
    /** Whether the second factor was given at the sign-in. */
    readonly factorGiven: boolean
    /** Whether it begins through the company's provider. */
    readonly byCompany: boolean
  },
): Promise<void> {
  await transaction
    .insertInto('sessions')
    .values({
      tenant_id: tenant,
      session_id: session.sessionId,
      user_id: session.userId,
      created_at: session.now,
      expires_at: session.expiresAt,
      device: session.device,
      network: session.network,
      last_used_at: session.now,
      new_device: session.isNew.device,
      new_network: session.isNew.network,
      factor_at: session.factorGiven ? session.now : null,
      by_company: session.byCompany,
    })
    .execute()
}

/** Whether a person signs in from a device or a network that they have not used. */
export interface NewPlace {
  readonly device: boolean
  readonly network: boolean
}

/** Compares a sign-in with the sessions of its person since a time. The first sign-in of a person is from nowhere new. */
export async function newPlaceOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  from: { readonly device: string; readonly network: string; readonly since: Date },
): Promise<NewPlace> {
  const { devices, is_device, networks, is_network } = await transaction
    .selectFrom('sessions')
    .select([
      sql<boolean>`coalesce(bool_or(device <> ''), false)`.as('devices'),
      sql<boolean>`coalesce(bool_or(device = ${from.device}), false)`.as('is_device'),
      sql<boolean>`coalesce(bool_or(network is not null), false)`.as('networks'),
      sql<boolean>`coalesce(bool_or(network = ${from.network}), false)`.as('is_network'),
    ])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('created_at', '>', from.since)
    // The network of an assistant is that of its maker: it says nothing about where the person is.
    .where((session) =>
      session.not(
        session.exists(
          session
            .selectFrom('assistants')
            .select('assistants.session_id')
            .whereRef('assistants.tenant_id', '=', 'sessions.tenant_id')
            .whereRef('assistants.session_id', '=', 'sessions.session_id'),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return { device: devices && !is_device, network: networks && !is_network }
}

/** Erases the networks of a person's sessions that began before a time, because they say where somebody was. */
export async function forgetSessionNetworks(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  before: Date,
): Promise<void> {
  await transaction
    .updateTable('sessions')
    .set({ network: null })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('created_at', '<', before)
    .where('network', 'is not', null)
    .execute()
}

/**
 * Ends one session of a user, all of them, or all but one.
 *
 * @returns the number of sessions that were not over
 */
export async function endSessions(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  now: Date,
  which: { only?: string; except?: string } = {},
): Promise<number> {
  let query = transaction
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .returning('expires_at')
  if (which.only !== undefined) query = query.where('session_id', '=', which.only)
  if (which.except !== undefined) query = query.where('session_id', '<>', which.except)
  const ended = await query.execute()
  return ended.filter(({ expires_at }) => expires_at > now).length
}

/** The sessions that are not over: not ended, not too old, and not unused for too long. */
function liveSessions(transaction: TenantTransaction, tenant: TenantId, now: Date) {
  return transaction
    .selectFrom('sessions')
    .innerJoin('tenants', 'tenants.tenant_id', 'sessions.tenant_id')
    .where('sessions.tenant_id', '=', tenant)
    .where('ended_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .where(sql<boolean>`sessions.created_at + make_interval(hours => session_hours) > ${now}`)
    .where(
      sql<boolean>`(session_idle_minutes is null or coalesce(last_used_at, sessions.created_at)
        + make_interval(mins => session_idle_minutes, secs => ${sessionUseGrainMs / 1000}) > ${now})`,
    )
}

/** A valid session with the current state of its user and tenant; null if there is none. */
export async function findSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  now: Date,
) {
  return (
    (await liveSessions(transaction, tenant, now)
      .innerJoin('users', (join) =>
        join
          .onRef('users.tenant_id', '=', 'sessions.tenant_id')
          .onRef('users.user_id', '=', 'sessions.user_id'),
      )
      .leftJoin('second_factors', (join) =>
        join
          .onRef('second_factors.tenant_id', '=', 'sessions.tenant_id')
          .onRef('second_factors.user_id', '=', 'sessions.user_id'),
      )
      .select([
        'users.user_id',
        'users.role',
        'sessions.last_used_at',
        'sessions.factor_at',
        'sessions.by_company',
        'sessions.created_at',
        // Since when the person has an authenticator app or a passkey, whichever was first.
        sql<Date | null>`least(second_factors.confirmed_at, (select min(added_at) from passkeys
          where passkeys.tenant_id = sessions.tenant_id and passkeys.user_id = sessions.user_id))`.as(
          'factor_since',
        ),
        'tenants.second_factor_from',
        // A limit that was shortened ends older sessions sooner.
        sql<Date>`least(sessions.expires_at, sessions.created_at + make_interval(hours => session_hours))`.as(
          'expires_at',
        ),
      ])
      .where('session_id', '=', sessionId)
      .where('users.status', '=', 'active')
      .where('tenants.status', '=', 'active')
      .executeTakeFirst()) ?? null
  )
}

/** The sessions of a person that are not over, newest first. */
export async function listLiveSessions(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  now: Date,
) {
  return liveSessions(transaction, tenant, now)
    .leftJoin('assistants', (join) =>
      join
        .onRef('assistants.tenant_id', '=', 'sessions.tenant_id')
        .onRef('assistants.session_id', '=', 'sessions.session_id'),
    )
    .selectAll('sessions')
    .select(['assistants.client_name', 'assistants.redirect_uri'])
    .where('user_id', '=', userId)
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.session_id')
    .execute()
}

/**
 * The sign-ins of a person from a new device or network since a time that nobody has confirmed, newest first, also of sessions that are
 * over. Without the session that asks: it tells its person nothing, and cannot hide itself.
 */
export async function unconfirmedSignIns(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, except, since }: { readonly userId: number; readonly except: string; readonly since: Date },
): Promise<SessionRow[]> {
  return transaction
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('session_id', '<>', except)
    .where('created_at', '>', since)
    .where('confirmed_at', 'is', null)
    .where((session) => session.or([session('new_device', '=', true), session('new_network', '=', true)]))
    .orderBy('created_at', 'desc')
    .execute()
}

/** Records that a person confirmed one of their sign-ins. Returns false if they have no such session. */
export async function confirmSignIn(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, sessionId, now }: { readonly userId: number; readonly sessionId: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('sessions')
    .set({ confirmed_at: now })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Lets a session that has not ended go on until a later time. */
export async function extendSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  expiresAt: Date,
): Promise<void> {
  await transaction
    .updateTable('sessions')
    .set({ expires_at: expiresAt })
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute()
}

/** Records when and from which network a session was last used. */
export async function noteSessionUse(
  transaction: TenantTransaction,
  tenant: TenantId,
  { sessionId, now, network }: { readonly sessionId: string; readonly now: Date; readonly network: string },
): Promise<void> {
  await transaction
    .updateTable('sessions')
    .set({ last_used_at: now, network })
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .where((session) => session.or([session('last_used_at', 'is', null), session('last_used_at', '<=', now)]))
    .execute()
}
