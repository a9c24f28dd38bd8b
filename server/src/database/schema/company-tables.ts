import type { ColumnType, Generated, Selectable } from 'kysely'

/** What a group of a company's provider means in the brokerage. */
export interface GroupRole {
  readonly group: string
  readonly role: 'viewer' | 'member' | 'admin'
  readonly team_id: number | null
}

export interface CompanySignInsTable {
  tenant_id: number
  secret_id: number
  issuer: string
  client_id: string
  sealed: Buffer
  is_required: boolean
  break_glass_user_id: number | null
  makes_accounts: boolean
  role_without_group: GroupRole['role'] | null
  group_roles: Generated<readonly GroupRole[]>
  set_by_owner: boolean
  set_at: Date
  worked_at: Date | null
}
export type CompanySignInRow = Selectable<CompanySignInsTable>

export interface CompanyDomainsTable {
  tenant_id: number
  domain: string
  challenge: string
  added_at: Date
  checked_at: Date | null
  proven_at: Date | null
}
export type CompanyDomainRow = Selectable<CompanyDomainsTable>

/** The account of a person at a provider. */
export interface CompanyIdentitiesTable {
  tenant_id: number
  user_id: number
  issuer: string
  subject: string
  linked_at: Date
  groups: ColumnType<readonly string[] | null, string | null, string | null>
}

export interface UsedCompanyStatesTable {
  tenant_id: number
  state_hash: Buffer
  expires_at: Date
}

/** What the session of an assistant may be used with. */
export interface AssistantsTable {
  tenant_id: number
  session_id: string
  client_hash: Buffer
  client_name: string
  redirect_uri: string
  code_challenge: string
  code_until: Date
  code_used_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  refresh_number: Generated<number>
}
