import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { serviceTokenLifetimeDays } from '#contract/limits.ts'
import { defaultScope } from '#contract/token-scopes.ts'
import { secretPlace } from '#server/access/index.ts'
import { foldedEmail } from '#server/database/queries/index.ts'
import { newSigningSecret, type SecretKeys, seal, tokens } from '#server/security/index.ts'
import type { TenantAccess } from './access-file.ts'
import { type CopyValue, copyIn, copyText, withoutForcedSecurity } from './copy-rows.ts'
import type { PlannedTenant } from './plan.ts'

/** The users of each generated brokerage. They have no passwords; `npm run reset-password` sets one. */
const people = [
  { userId: 1, name: 'Olive Owner', role: 'owner' },
  { userId: 2, name: 'Adam Admin', role: 'admin' },
  { userId: 3, name: 'Mary Member', role: 'member' },
  { userId: 4, name: 'Vera Viewer', role: 'viewer' },
] as const

const [owner] = people

/** The author of the generated quotes. */
export const quotingUserId = 3

const tables = ['tenants', 'tenant_counters', 'users', 'service_tokens', 'signing_secrets'] as const

/**
 * Writes the brokerages of a plan in one transaction: users, a service token and a signing secret each. `keep` saves the
 * credentials before the commit, so that no tenant exists without them.
 */
export async function writeTenants(
  client: pg.Client,
  tenants: readonly PlannedTenant[],
  { secretKeys, now, keep }: { secretKeys: SecretKeys; now: number; keep: (access: TenantAccess[]) => void },
): Promise<void> {
  const { rows, access } = tenantRows(tenants, secretKeys, now)
  await withoutForcedSecurity(client, tables, async () => {
    await copyIn(client, 'tenants', ['tenant_id', 'name', 'created_at'], copyText(rows.tenants))
    await copyIn(client, 'tenant_counters', ['tenant_id', 'counter', 'last_number'], copyText(rows.counters))
    await copyIn(
      client,
      'users',
      ['tenant_id', 'user_id', 'name', 'email', 'role', 'status', 'created_at'],
      copyText(rows.users),
    )
    await copyIn(client, 'sign_in_emails', ['email_folded', 'tenant_id', 'user_id'], copyText(rows.emails))
    await copyIn(
      client,
      'service_tokens',
      ['tenant_id', 'token_id', 'jti', 'name', 'scope', 'user_id', 'created_at', 'expires_at', 'signed_with'],
      copyText(rows.tokens),
    )
    await copyIn(
      client,
      'signing_secrets',
      ['tenant_id', 'secret_id', 'name', 'sealed', 'created_by', 'created_at'],
      copyText(rows.secrets),
    )
    keep(access)
  })
}

/** Generates the rows of the brokerages by table, and their credentials. */
function tenantRows(tenants: readonly PlannedTenant[], secretKeys: SecretKeys, now: number) {
  const signer = tokens(secretKeys)
  const at = new Date(now)
  const issuedAt = Math.floor(now / 1000)
  const exp = issuedAt + serviceTokenLifetimeDays * 86_400
  const rows = {
    tenants: [] as CopyValue[][],
    counters: [] as CopyValue[][],
    users: [] as CopyValue[][],
    emails: [] as CopyValue[][],
    tokens: [] as CopyValue[][],
    secrets: [] as CopyValue[][],
  }
  const access: TenantAccess[] = []
  for (const { tenantId, index } of tenants) {
    rows.tenants.push([tenantId, `Generated Brokerage ${index + 1}`, at])
    rows.counters.push([tenantId, 'user', people.length], [tenantId, 'token', 1], [tenantId, 'secret', 1])
    for (const { userId, name, role } of people) {
      const email = `${role}@brokerage-${tenantId}.example`
      rows.users.push([tenantId, userId, name, email, role, 'active', at])
      rows.emails.push([foldedEmail(email), tenantId, userId])
    }
    const jti = randomUUID()
    const secret = newSigningSecret()
    rows.tokens.push([
      tenantId,
      1,
      jti,
      'generated',
      defaultScope,
      owner.userId,
      at,
      new Date(exp * 1000),
      signer.signsWith,
    ])
    rows.secrets.push([
      tenantId,
      1,
      'generated',
      seal(secretKeys[0], secretPlace(tenantId, 1), secret),
      owner.userId,
      at,
    ])
    const token = signer.sign('service', {
      tenant_id: tenantId,
      user_id: owner.userId,
      role: owner.role,
      scope: defaultScope,
      jti,
      iat: issuedAt,
      exp,
    })
    access.push({ tenantId, token, secret })
  }
  return { rows, access }
}
