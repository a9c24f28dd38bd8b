import type { ColumnType } from 'kysely'

type Moment = ColumnType<Date, Date, Date>
type MaybeMoment = ColumnType<Date | null, Date | null | undefined, Date | null>
type Json<T> = ColumnType<T, string, string>

export interface EventEndpointsTable {
  tenant_id: number
  endpoint_id: number
  url: string
  description: string | null
  event_types: string[]
  state: 'active' | 'paused' | 'disabled' | 'removed'
  disabled_reason: 'gone' | 'failing' | null
  created_by: number
  created_at: Moment
}

export interface EventSecretsTable {
  tenant_id: number
  secret_id: number
  endpoint_id: number
  sealed: Buffer
  created_at: Moment
  expires_at: MaybeMoment
}

export interface EventsTable {
  tenant_id: number
  event_number: number
  event_id: string
  type: string
  lane_id: number | null
  occurred_at: Moment
  about: Json<Record<string, unknown>>
}

export interface EventDeliveriesTable {
  tenant_id: number
  endpoint_id: number
  event_number: number
  lane_id: number | null
  state: 'due' | 'delivered' | 'dead'
  attempts: number
  created_at: Moment
  next_at: Moment
  attempted_at: MaybeMoment
  settled_at: MaybeMoment
  response_status: number | null
  response_text: string | null
  failure: string | null
  duration_ms: number | null
}

export interface ExpiryNoticesTable {
  tenant_id: number
  endpoint_id: number
  credential: 'service_token' | 'signing_secret'
  credential_id: number
}
