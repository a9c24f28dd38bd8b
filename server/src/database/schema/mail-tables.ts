import type { ColumnType, Generated, Selectable } from 'kysely'

type MaybeMoment = ColumnType<Date | null, Date | null | undefined, Date | null>
type Fixed<Value> = ColumnType<Value, Value, never>
type FixedOrAbsent<Value> = ColumnType<Value | null, Value | null | undefined, never>

export interface MailsTable {
  tenant_id: number
  mail_id: Fixed<string>
  user_id: Fixed<number>
  kind: Fixed<string>
  about: Fixed<string>
  subject: Fixed<string>
  body: Fixed<string>
  html: Fixed<string | null>
  picture: Fixed<Buffer | null>
  access_version: Fixed<number | null>
  needs_role: Fixed<string | null>
  customer_name: Fixed<string | null>
  state: 'due' | 'sent' | 'failed' | 'dropped'
  attempts: Generated<number>
  next_at: Date
  created_at: Fixed<Date>
  ends_at: Date
  settled_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  failure: ColumnType<string | null, string | null | undefined, string | null>
  answers_mail_id: FixedOrAbsent<string>
  to_name: FixedOrAbsent<string>
  to_address: FixedOrAbsent<string>
  reply_to: FixedOrAbsent<string[]>
  in_reply_to: FixedOrAbsent<string>
}
export type MailRow = Selectable<MailsTable>

export interface MailServersTable {
  tenant_id: number
  secret_id: number
  host: string
  port: number
  user_name: string | null
  sealed: Buffer
  from_address: string
  set_at: Date
}
export type MailServerRow = Selectable<MailServersTable>

/** A lane, a customer or a market that a person follows. */
export interface WatchesTable {
  tenant_id: number
  watch_id: Fixed<string>
  user_id: Fixed<number>
  kind: Fixed<'lane' | 'customer' | 'market'>
  label: Fixed<string>
  origin: Fixed<string>
  destination: Fixed<string>
  equipment_code: Fixed<string | null>
  followed_at: Fixed<Date>
}
export type WatchRow = Selectable<WatchesTable>

/** A move that was found. Days are numbers since 1970. */
export interface WatchMovesTable {
  tenant_id: number
  watch_id: Fixed<string>
  metric: Fixed<'cost' | 'rate' | 'win_rate'>
  found_on: Fixed<number>
  since: Fixed<number>
  found_at: Fixed<Date>
  before_value: Fixed<number>
  after_value: Fixed<number>
  values_before: Fixed<number>
  values_after: Fixed<number>
  customers: ColumnType<string[], string, never>
}
export type WatchMoveRow = Selectable<WatchMovesTable>

/** What a person did with an item of their inbox. */
export interface InboxMarksTable {
  tenant_id: number
  user_id: number
  item: string
  seen_at: MaybeMoment
  done_at: MaybeMoment
  snoozed_until: MaybeMoment
  marked_at: Date
}

/** The mailbox of a brokerage, and how far it was read. */
export interface MailboxesTable {
  tenant_id: number
  secret_id: number
  mailbox_id: string
  host: string
  port: number
  user_name: string
  sealed: Buffer
  checking_server: string | null
  kept_days: number
  set_at: Date
  uid_validity: number | null
  last_uid: number | null
  trying_uid: number | null
  tries: Generated<number>
  lease_id: string | null
  lease_until: Date | null
  next_at: Date
  failures: Generated<number>
  failing_since: Date | null
  is_refused: Generated<boolean>
  failure: string | null
  read_at: Date | null
}
export type MailboxRow = Selectable<MailboxesTable>

/** The address to which a brokerage forwards mails. */
export interface MailAddressesTable {
  tenant_id: number
  secret: string
  mailbox_id: string
  kept_days: number
  made_at: Date
  last_uid: Generated<number>
  received_at: Date | null
}
export type MailAddressRow = Selectable<MailAddressesTable>

/** An attachment of a mail, and why it was not read; null if it became a table. */
export interface MailAttachment {
  readonly name: string
  readonly bytes: number
  readonly unread: string | null
}

export interface ReceivedMailsTable {
  tenant_id: number
  mail_id: Fixed<string>
  digest: Fixed<string>
  mailbox_id: Fixed<string>
  uid_validity: Fixed<number>
  uid: Fixed<number>
  thread_id: Fixed<string>
  message_id: Fixed<string | null>
  from_name: Fixed<string>
  from_address: Fixed<string>
  subject: Fixed<string>
  sent_at: Fixed<Date>
  sent_offset: Fixed<number | null>
  received_at: Fixed<Date>
  bytes: Fixed<number>
  sender_check: Fixed<'passed' | 'failed' | 'unknown'>
  problem: Fixed<string | null>
  attachments: ColumnType<MailAttachment[], string, never>
  lanes_read: Fixed<number>
  questions_asked: Fixed<number>
  body: string | null
  tables: ColumnType<string[] | null, string | null, string | null>
  received_day: Fixed<number>
  kept_days: number
  customer_name: string | null
  customer_confirmed: boolean
  state: 'open' | 'done' | 'ignored'
  assigned_to: number | null
  request_id: number | null
  settled_at: Date | null
  quoted_at: MaybeMoment
  answered_at: MaybeMoment
  answered_by: ColumnType<number | null, number | null | undefined, number | null>
  draft_unchanged: ColumnType<boolean | null, boolean | null | undefined, boolean | null>
}
export type ReceivedMailRow = Selectable<ReceivedMailsTable>
