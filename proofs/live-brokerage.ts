import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { secretPlace } from '#server/access/index.ts'
import { type SecretKey, seal, type Tokens } from '#server/security/index.ts'

export interface LiveBrokerage {
  readonly tenant: number
  readonly jti: string
  readonly secret: string
  readonly laneRefs: readonly string[]
}

const dayMs = 86_400_000

/**
 * Writes a brokerage with `lanes` quotes on one lane. Uses SQL, which is fast for many quotes. `now` is in epoch
 * milliseconds.
 */
export async function writeBrokerage(
  owner: pg.Client,
  tenant: number,
  { lanes, key, now }: { lanes: number; key: SecretKey; now: number },
): Promise<LiveBrokerage> {
  const jti = randomUUID()
  const secret = `lwsec_of_${tenant}`
  const at = new Date(now - 200 * dayMs).toISOString()
  await owner.query(`begin; set local app.tenant_id = '${tenant}'`)
  await owner.query(`
    insert into tenants (tenant_id, name, created_at) values (${tenant}, 'Brokerage ${tenant}', '${at}');
    insert into tenant_counters values (${tenant}, 'user', 1), (${tenant}, 'token', 1), (${tenant}, 'secret', 1);
    insert into users (tenant_id, user_id, name, email, role, status, created_at)
    values (${tenant}, 1, 'Olive Quay', 'olive-${tenant}@example.com', 'owner', 'active', '${at}');
    insert into service_tokens (tenant_id, token_id, jti, name, scope, user_id, created_at, expires_at)
    values (${tenant}, 1, '${jti}', 'tms', 'integrations:write', 1, '${at}', '${new Date(now + 90 * dayMs).toISOString()}');
    insert into quote_requests (tenant_id, request_id, customer_name, created_by, created_at)
    values (${tenant}, ${tenant}, 'Harvest Table Foods', 1, '${at}')`)
  await owner.query(
    `insert into signing_secrets (tenant_id, secret_id, name, sealed, created_by, created_at) values ($1, 1, 'tms', $2, 1, $3)`,
    [tenant, seal(key, secretPlace(tenant, 1), secret), at],
  )
  const { rows } = await owner.query<{ lane_ref: string }>(
    `insert into quotes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination, origin_key,
       destination_key, origin_state, destination_state, equipment, equipment_code, quoted_customer_name,
       quoted_rate_cents, miles, outcome, decided_at, customer_rate_cents, created_at, updated_at)
     select $1::integer, $1::bigint * 100000 + nth, $1::integer || '-' || nth || '-1', $1::integer, nth, 1, 'Dallas, TX', 'Atlanta, GA', 'dallas|TX',
       'atlanta|GA', 'TX', 'GA', 'V', 'V', 'Harvest Table Foods', 180000 + nth % 40 * 1000, 780,
       case when nth % 3 = 0 then 'lost' else 'won' end, quoted, case when nth % 3 = 0 then null else 185000 end, quoted,
       quoted
     from generate_series(1, $2::integer) as nth, lateral (select $3::timestamptz + nth % 90 * interval '1 day' as quoted) as day
     returning lane_ref`,
    [tenant, lanes, at],
  )
  await owner.query('insert into tenant_facts (tenant_id, facts_version) values ($1, 1)', [tenant])
  await owner.query('commit')
  return { tenant, jti, secret, laneRefs: rows.map(({ lane_ref }) => lane_ref) }
}

/** Signs the token of the brokerage's integration. `now` is in epoch milliseconds. */
export function tokenOf({ tenant, jti }: LiveBrokerage, tokens: Tokens, now: number): string {
  const iat = Math.floor(now / 1000) - 60
  const exp = Math.floor((now + 90 * dayMs) / 1000)
  const claims = { tenant_id: tenant, user_id: 1, role: 'owner', scope: 'integrations:write' }
  return tokens.sign('service', { ...claims, jti, iat, exp })
}
