export interface CustomersTable {
  tenant_id: number
  customer_id: number
  name: string
  tier: string | null
  payment_days: number | null
  created_at: Date
  updated_at: Date
}

export interface CustomerAliasesTable {
  tenant_id: number
  customer_key: string
  name: string
  own_id: number
  customer_id: number
  main_key: string
  merged_into: number | null
  merged_at: Date | null
  merged_by: number | null
}

export interface CustomerDistinctionsTable {
  tenant_id: number
  one_key: string
  other_key: string
  made_at: Date
  made_by: number | null
}

export interface TeamsTable {
  tenant_id: number
  team_id: number
  name: string
  created_at: Date
}

export interface TeamMembersTable {
  tenant_id: number
  team_id: number
  user_id: number
}

export interface TeamCustomersTable {
  tenant_id: number
  team_id: number
  customer_id: number
}
