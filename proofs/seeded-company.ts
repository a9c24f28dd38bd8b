import { companySignInPlace } from '#server/access/index.ts'
import { type SecretKey, seal } from '#server/security/index.ts'
import { sessionOf, type TenantIds } from './seeded-ids.ts'

/** Returns rows for a company sign-in that nobody requires. Its provider is on this machine, so it is never asked. */
export function companyRowsOf(
  ids: TenantIds,
  { at, secretKey, canary }: { readonly at: Date; readonly secretKey: SecretKey; readonly canary: string },
) {
  const provider = { issuer: 'https://127.0.0.1', clientId: 'walk', clientSecret: `company_${ids.label}` }
  return {
    company_sign_ins: [
      {
        secret_id: 1,
        sealed: seal(secretKey, companySignInPlace(ids.tenant, 1), JSON.stringify(provider)),
        is_required: false,
        break_glass_user_id: ids.owner,
        makes_accounts: false,
        role_without_group: null,
        group_roles: JSON.stringify([
          { group: `${canary}company_sign_ins-group_roles`, role: 'viewer', team_id: null },
        ]),
        set_by_owner: true,
        set_at: at,
        worked_at: at,
      },
    ],
    company_domains: [{ added_at: at, checked_at: at, proven_at: null }],
    company_identities: [
      { user_id: ids.owner, linked_at: at, groups: null },
      {
        user_id: ids.admin,
        linked_at: at,
        subject: `${canary}company_identities-another`,
        groups: JSON.stringify([`${canary}company_identities-groups`]),
      },
    ],
    assistants: [
      {
        session_id: sessionOf(ids.label, ids.owner),
        client_hash: Buffer.alloc(32, ids.label),
        code_until: at,
      },
    ],
    used_company_states: [{ state_hash: Buffer.alloc(32, ids.label), expires_at: at }],
  }
}
