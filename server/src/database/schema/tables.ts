import type { ColumnType, Generated, Kysely, Selectable } from 'kysely'
import type { BookingField, BookingName, BookingUnitOf } from '#engine/booking-fields.ts'
import type { SavedOutcome } from '#engine/history.ts'
import type { SupersededAs } from '#engine/offers.ts'
import type { QuoteField, QuoteName, QuoteUnitOf, QuoteValue, quoteTable } from '#engine/quote-fields.ts'
import type { OutcomeReason, OutcomeRule, OutcomeSource, SavedFacts } from '#engine/quote-outcome.ts'
import type { QuoteStamps } from '#engine/quote-update.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import type { Pool, RateType } from '#engine/rate-type.ts'
import type { RecordedForecast } from '#engine/recorded-forecast.ts'
import type { BookingStamps } from '#engine/shipment-update.ts'
import type {
  CustomerAliasesTable,
  CustomerDistinctionsTable,
  CustomersTable,
  TeamCustomersTable,
  TeamMembersTable,
  TeamsTable,
} from './customer-tables.ts'
import type {
  EventDeliveriesTable,
  EventEndpointsTable,
  EventSecretsTable,
  EventsTable,
  ExpiryNoticesTable,
} from './event-tables.ts'
import type {
  DieselPricesTable,
  ExchangeDaysTable,
  FuelDaysTable,
  FuelPeriodsTable,
  MarketRatesTable,
} from './market-tables.ts'
import type { ApprovalsTable, StoredRule } from './rule-tables.ts'

/** A transaction of one tenant: the first parameter of every query function. */
export type TenantTransaction = Kysely<Tables>

/** The tables as queries see them. The comments in migrations/*.sql explain the columns. */
export interface Tables {
  installation: {
    singleton: Generated<boolean>
    id_key: Buffer
    key_check: Buffer | null
    key_names: Generated<string>
    erasures: Generated<number>
    events: Generated<boolean>
  }
  taken_numbers: { sequence: 'lane_number' | 'request_number'; number: number }
  instances: { instance_id: string; joined_at: Date; seen_at: Date }
  tenants: TenantsTable
  approvals: ApprovalsTable
  tenant_counters: { tenant_id: number; counter: string; last_number: number }
  daily_counts: {
    tenant_id: number
    counter: 'invitation'
    /** A day of UTC, such as 2026-11-25. */
    day: ColumnType<string, string, string>
    used: number
  }
  users: UsersTable
  sign_in_networks: { tenant_id: number; user_id: number; network_hash: Buffer; signed_in_at: Moment }
  sessions: SessionsTable
  quote_list_settings: QuoteListSettingsTable
  diesel_prices: DieselPricesTable
  fuel_periods: FuelPeriodsTable
  fuel_days: FuelDaysTable
  exchange_days: ExchangeDaysTable
  service_tokens: ServiceTokensTable
  signing_secrets: SigningSecretsTable
  imports: ImportsTable
  quote_requests: QuoteRequestsTable
  quotes: QuotesTable
  market_rates: MarketRatesTable
  customers: CustomersTable
  customer_aliases: CustomerAliasesTable
  customer_distinctions: CustomerDistinctionsTable
  teams: TeamsTable
  team_members: TeamMembersTable
  team_customers: TeamCustomersTable
  shipment_updates: ShipmentUpdatesTable
  quote_changes: QuoteChangesTable
  integration_calls: IntegrationCallsTable
  audit_log: AuditLogTable
  event_endpoints: EventEndpointsTable
  event_secrets: EventSecretsTable
  events: EventsTable
  event_deliveries: EventDeliveriesTable
  expiry_notices: ExpiryNoticesTable
  tenant_facts: {
    tenant_id: number
    facts_version: number
    access_version: number
    /** The newest version that advance_versions made. */
    logged_version: Generated<number>
    /** The newest version that something else made. */
    unlogged_version: Generated<number>
  }
  tenant_windows: {
    tenant_id: number
    /** Milliseconds of the database's clock, oldest first. */
    taken: number[]
  }
  quote_versions: {
    tenant_id: number
    lane_id: number
    /** The version of the facts in which the quote was last inserted, updated or deleted. */
    version: number
    changed_at: Moment
    /** The names of a deleted quote, and whether it had a booking. */
    removed_ref: string | null
    removed_external_id: string | null
    removed_shipment: boolean | null
  }
}

/** A time: a Date in TypeScript, timestamptz in the database. */
type Moment = ColumnType<Date, Date, Date>
type MaybeMoment = ColumnType<Date | null, Date | null | undefined, Date | null>
type Json<T> = ColumnType<T, string, string>

interface TenantsTable {
  tenant_id: number
  name: string
  status: Generated<'active' | 'suspended'>
  win_probability_method: Generated<'at_or_below' | 'literal' | 'revealed'>
  time_zone: Generated<string>
  date_order: Generated<'month_first' | 'day_first'>
  pricing_rules: ColumnType<StoredRule[], string | undefined, string>
  quote_valid_days: Generated<number | null>
  expired_counts_as_lost: Generated<boolean>
  default_basis: Generated<RateBasis>
  default_rate_type: Generated<RateType>
  integration_pool: Generated<Pool>
  conversions: Generated<number>
  created_at: Moment
  /** The tenant that a test brokerage belongs to. */
  sandbox_of: ColumnType<number | null, number | undefined, never>
  /** The test brokerage of a tenant. */
  sandbox_id: ColumnType<number | null, never, number>
}

interface UsersTable {
  tenant_id: number
  user_id: number
  name: string
  email: string
  phone: ColumnType<string | null, string | null | undefined, string | null>
  role: 'viewer' | 'member' | 'admin' | 'owner'
  status: 'active' | 'invited' | 'removed'
  password_hash: string | null
  invitation_hash: Buffer | null
  invitation_expires_at: MaybeMoment
  invited_by: ColumnType<number | null, number | null | undefined, number | null>
  created_at: Moment
}

interface SessionsTable {
  tenant_id: number
  session_id: string
  user_id: number
  created_at: Moment
  expires_at: Moment
  ended_at: MaybeMoment
}

/** A person's saved views and columns of the list of quotes. */
export interface StoredQuoteListSettings {
  readonly pending_days: number
  readonly default_view: string
  readonly columns: string[]
  readonly views: { name: string; query: string; columns: string[] }[]
}

interface QuoteListSettingsTable {
  tenant_id: number
  user_id: number
  version: number
  settings: Json<StoredQuoteListSettings>
}

interface ServiceTokensTable {
  tenant_id: number
  token_id: number
  jti: string
  name: string
  scope: string
  user_id: number
  created_at: Moment
  expires_at: Moment
  revoked_at: MaybeMoment
  last_used_at: MaybeMoment
  last_used_from: string | null
  signed_with: string | null
}

interface SigningSecretsTable {
  tenant_id: number
  secret_id: number
  name: string
  sealed: Buffer
  created_by: number
  created_at: Moment
  expires_at: MaybeMoment
  revoked_at: MaybeMoment
  last_used_at: MaybeMoment
}

export interface RowError {
  row: number
  column: string | null
  detail: string
}

/**
 * How a part of a file was read, in a sentence for the person who imports it, with the other readings: each is a pair for the map, such
 * as `dates=day_first`, and what it means. `column` is null when the part is not one column.
 */
export interface ImportNote {
  code: string
  column: string | null
  detail: string
  choices: { map: string; detail: string }[]
}

/** A quote that a row of an imported file changed, or would change. Fields have the names and units of the API. */
export interface RowChange {
  row: number
  lane_ref: string
  fields: { field: string; before: string | number | null; after: string | number | null }[]
  /** The currencies of its amounts after the change. Absent in imports of earlier versions. */
  currencies?: Pick<QuoteRow, 'quoted_currency' | 'customer_currency' | 'truck_currency'>
}

/** A value of a file that was not applied, because the quote has a newer value or a quoted rate on other terms. */
export interface NotAppliedValue {
  row: number
  lane_ref: string
  column: string
  file_value: string | number
  kept_value: string | number | null
  set_by: { source: OutcomeSource; name: string | null }
  detail: string
}

/**
 * A word of a column of a file that is not known, or whose meaning the map of the import states. `map` is the left side of the pair that
 * states it. `saved_as` is the code of unknown equipment; earlier imports have none.
 */
export interface ImportWord {
  field: string
  column: string
  word: string
  rows: number
  meaning: string | null
  likely: string | null
  saved_as?: string | null
  map: string
}

/** Errors of a file with one cause: the first one, the number of rows, and their first lines. */
export interface ImportCause {
  column: string | null
  detail: string
  rows: number
  lines: number[]
}

interface ImportsTable {
  tenant_id: number
  import_id: number
  file_name: string
  status: 'running' | 'done' | 'stopped' | 'failed' | 'undoing' | 'undone'
  dry_run: boolean
  columns: Json<Record<string, string>>
  ignored_columns: Json<string[]>
  rows_read: Generated<number>
  rows_added: Generated<number>
  rows_updated: Generated<number>
  rows_repeated: Generated<number>
  rows_refused: Generated<number>
  rows_kept: Generated<number>
  rows_won: Generated<number>
  rows_lost: Generated<number>
  rows_pending: Generated<number>
  errors: ColumnType<RowError[], string | undefined, string>
  changes: ColumnType<RowChange[], string | undefined, string>
  kept: ColumnType<NotAppliedValue[], string | undefined, string>
  understood: ColumnType<ImportNote[], string | undefined, string>
  words: ColumnType<ImportWord[], string | undefined, string>
  causes: ColumnType<ImportCause[], string | undefined, string>
  refused_rows: Generated<string>
  refused_rows_saved: Generated<number>
  request_digest: ColumnType<Buffer | null, Buffer | null | undefined, never>
  bytes_read: Generated<number>
  bytes_total: Generated<number>
  created_by: number | null
  created_at: Moment
  progress_at: Moment
  finished_at: MaybeMoment
  stop_requested: Generated<boolean>
  failure: string | null
  undo_started_at: MaybeMoment
  undo_finished_at: MaybeMoment
  undo_by: ColumnType<number | null, number | null | undefined, number | null>
  undo_after: Generated<number>
  undo_rows_done: Generated<number>
  lanes_removed: Generated<number>
  lanes_restored: Generated<number>
  lanes_kept: Generated<number>
}

interface QuoteRequestsTable {
  tenant_id: number
  request_id: number
  customer_name: string
  reference: string | null
  created_by: number | null
  created_at: Moment
  request_key: ColumnType<string | null, string | null | undefined, never>
  request_digest: ColumnType<Buffer | null, Buffer | null | undefined, never>
  import_id: number | null
}

interface UnitColumns {
  cents: number | null
  text: string | null
  time: MaybeMoment
  basis: RateBasis | null
  currency: Currency | null
  charges: string | null
}
/** The columns of a booking, derived from the table of booking fields. */
type BookingColumns = { [F in BookingField as BookingName<'column', F>]: UnitColumns[BookingUnitOf<F>] }

type IsNeeded<F extends QuoteField> = (typeof quoteTable)[F]['needed']
type QuoteColumnType<F extends QuoteField> =
  QuoteUnitOf<F> extends 'time'
    ? IsNeeded<F> extends true
      ? Moment
      : MaybeMoment
    : IsNeeded<F> extends true
      ? QuoteValue<F>
      : QuoteValue<F> | null
/** The columns of a quote, derived from the table of its fields. */
type QuoteColumns = { [F in QuoteField as QuoteName<'column', F>]: QuoteColumnType<F> }

export interface QuotesTable extends BookingColumns, QuoteColumns {
  tenant_id: number
  lane_id: number
  lane_ref: string
  request_id: number
  lane_number: number
  quote_count: number
  origin_key: string
  destination_key: string
  origin_state: string
  destination_state: string
  origin_market: string | null
  destination_market: string | null
  equipment_code: string
  outcome: Generated<SavedOutcome>
  outcome_reason: OutcomeReason | null
  outcome_source: OutcomeSource | null
  decided_at: MaybeMoment
  truck_cost_source: 'dashboard' | 'tms' | 'import' | null
  signed_at: ColumnType<BookingStamps, string | undefined, string>
  /** Further facts from which the outcome follows: the newest outcome apart from a booking, and when messages were signed. */
  outcome_before_booking: ColumnType<SavedFacts | null, string | null | undefined, string | null>
  created_by: number | null
  updated_at: Moment
  import_id: number | null
  import_fingerprint: Buffer | null
  /** A digest of the last row of a file that was imported for this quote. */
  import_said: ColumnType<string | null, string | null | undefined, string | null>
  external_id: string | null
  quote_signed_at: ColumnType<QuoteStamps, string | undefined, string>
  voided_at: MaybeMoment
  void_reason: ColumnType<string | null, string | null | undefined, string | null>
  /** The lane_ref of the offer for the same load that counts; null if this quote counts or is void. */
  superseded_by: ColumnType<string | null, string | null | undefined, string | null>
  superseded_as: ColumnType<SupersededAs | null, SupersededAs | null | undefined, SupersededAs | null>
  /** The forecast that was made with the quote. */
  forecast: ColumnType<RecordedForecast | null, string | null | undefined, never>
  expected_cost_cents: Generated<number | null>
  expected_cost_low_cents: Generated<number | null>
  expected_cost_high_cents: Generated<number | null>
  /** The basis of the expected cost. */
  expected_basis: ColumnType<RateBasis | null, RateBasis | null | undefined, never>
  /** Generated by the database: the text that the search compares. */
  search_text: ColumnType<string, never, never>
  /** Generated by the database: the key of the customer's name. */
  customer_key: ColumnType<string, never, never>
}

interface ShipmentUpdatesTable {
  tenant_id: number
  request_digest: Buffer
  lane_id: number
  signed_at: Moment
  received_at: Moment
  token_id: number
  carried: Json<unknown>
  applied: Json<string[]>
  updated: boolean
}

interface QuoteChangesTable {
  tenant_id: number
  lane_id: number
  change_number: number
  source: OutcomeSource
  user_id: number | null
  token_id: number | null
  import_id: number | null
  changed_at: Moment
  before: Json<Record<string, string | number | null>>
  after: Json<Record<string, string | number | null>>
  rolled_back_change: number | null
  rule: OutcomeRule | null
}

interface IntegrationCallsTable {
  tenant_id: number
  call_id: number
  called_at: Moment
  operation: string
  method: string
  path: string
  query: string | null
  status: number
  problem: string | null
  detail: string | null
  request_id: string
  token_id: number | null
  duration_ms: number
  network: string
  not_kept: number
}

interface AuditLogTable {
  tenant_id: number
  entry_number: number
  at: Moment
  kind: string
  user_id: number | null
  token_id: number | null
  subject_user_id: number | null
  about: string
  count: number
  network: string | null
  request_id: string | null
  hash: Buffer
}

/** A row in JSON form: each time is text. */
export type JsonRow<Row> = {
  readonly [column in keyof Row]: Date extends Row[column] ? string | Exclude<Row[column], Date> : Row[column]
}

/** Columns of a quote that only the engine, the search and the import use. No response and no event contains them. */
export type UnshownQuoteColumn =
  | 'tenant_id'
  | 'search_text'
  | 'signed_at'
  | 'outcome_before_booking'
  | 'import_fingerprint'
  | 'import_said'
  | 'superseded_as'
  | 'import_id'
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'origin_market'
  | 'destination_market'
  | 'quote_signed_at'

/** A quote that was read from the database. */
export type QuoteRow = Selectable<QuotesTable>
