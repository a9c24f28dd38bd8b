import { mailboxPlace, mailServerPlace } from '#server/access/index.ts'
import { type SecretKey, seal } from '#server/security/index.ts'
import { type TenantIds, uuidOf } from './seeded-ids.ts'

/** The id of the seeded mail. */
export const mailOf = ({ label }: Pick<TenantIds, 'label'>) => uuidOf(label, 84)

/** The id of the seeded mail that was sent. */
export const sentMailOf = ({ label }: Pick<TenantIds, 'label'>) => uuidOf(label, 105)

/** The id of the seeded watch, of the owner. */
export const watchOf = ({ label }: Pick<TenantIds, 'label'>) => uuidOf(label, 98)

/** The id of the seeded received mail. */
export const receivedMailOf = ({ label }: Pick<TenantIds, 'label'>) => uuidOf(label, 100)

/** Returns rows for a mail that waits after a failed attempt, for a mail server, for a mailbox with a mail, and for an address. */
export function mailRowsOf(
  ids: TenantIds,
  { at, secretKey }: { readonly at: Date; readonly secretKey: SecretKey },
) {
  const access = {
    host: 'mail.example.com',
    port: 587,
    user: 'walk',
    password: `mail_of_brokerage_${ids.label}`,
  }
  return {
    mails: [
      {
        mail_id: mailOf(ids),
        user_id: ids.owner,
        needs_role: null,
        state: 'due',
        attempts: 0,
        next_at: at,
        created_at: at,
        ends_at: at,
        settled_at: null,
        answers_mail_id: receivedMailOf(ids),
        reply_to: `{CANARY-${ids.label}-mails-reply_to}`,
      },
      ...(['sent', 'failed'] as const).map((state, nth) => ({
        mail_id: nth === 0 ? sentMailOf(ids) : uuidOf(ids.label, 106),
        user_id: ids.owner,
        needs_role: null,
        state,
        about: `CANARY-${ids.label}-mails-about ${state}`,
        attempts: 1,
        next_at: at,
        created_at: at,
        ends_at: at,
        settled_at: at,
        answers_mail_id: receivedMailOf(ids),
        reply_to: `{CANARY-${ids.label}-mails-reply_to}`,
      })),
    ],
    inbox_marks: [{ user_id: ids.owner, seen_at: at, done_at: null, snoozed_until: null, marked_at: at }],
    watches: [
      {
        watch_id: watchOf(ids),
        user_id: ids.owner,
        kind: 'customer',
        followed_at: at,
      },
    ],
    watch_moves: [
      {
        watch_id: watchOf(ids),
        metric: 'rate',
        found_on: 20_000,
        since: 19_990,
        found_at: at,
        before_value: 7,
        after_value: 7.1,
        values_before: 50,
        values_after: 12,
        customers: JSON.stringify([`CANARY-${ids.label}-watch_moves-customers`]),
      },
    ],
    mailboxes: [
      {
        secret_id: 1,
        mailbox_id: uuidOf(ids.label, 101),
        port: 993,
        sealed: seal(secretKey, mailboxPlace(ids.tenant, 1), JSON.stringify(access)),
        kept_days: 30,
        set_at: at,
        uid_validity: 7,
        last_uid: 12,
        trying_uid: null,
        tries: 0,
        lease_id: null,
        lease_until: null,
        // Never opened: the host does not exist.
        next_at: new Date('2100-01-01'),
        failures: 0,
        failing_since: null,
        is_refused: false,
        read_at: at,
      },
    ],
    mail_addresses: [
      {
        mailbox_id: uuidOf(ids.label, 104),
        kept_days: 30,
        made_at: at,
        last_uid: 3,
        received_at: at,
      },
    ],
    received_mails: [
      {
        mail_id: receivedMailOf(ids),
        mailbox_id: uuidOf(ids.label, 101),
        uid_validity: 7,
        uid: 12,
        thread_id: receivedMailOf(ids),
        sent_at: at,
        sent_offset: null,
        received_at: at,
        bytes: 2_000,
        sender_check: 'unknown',
        problem: null,
        attachments: JSON.stringify([
          { name: `CANARY-${ids.label}-received_mails-attachments`, bytes: 7, unread: null },
        ]),
        lanes_read: 1,
        questions_asked: 1,
        tables: JSON.stringify([`CANARY-${ids.label}-received_mails-tables`]),
        received_day: 60_000,
        kept_days: 30,
        customer_confirmed: false,
        state: 'open',
        assigned_to: null,
        request_id: null,
        settled_at: null,
        quoted_at: at,
        answered_at: at,
        answered_by: ids.owner,
        draft_unchanged: true,
      },
    ],
    mail_servers: [
      {
        secret_id: 1,
        port: 587,
        sealed: seal(secretKey, mailServerPlace(ids.tenant, 1), JSON.stringify(access)),
        set_at: at,
      },
    ],
  }
}
