import {
  inbox,
  mailAddresses,
  mailboxes,
  mails,
  receivedMails,
  watches,
  weeklyReports,
} from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { mailOf, receivedMailOf, sentMailOf, watchOf } from './seeded-mail.ts'
import { canaryOf } from './seeded-tenants.ts'

/** Database functions for mail. See `database-methods.ts`. */
export const mailMethods: Readonly<Record<string, Method>> = {
  'inbox.inboxMarks': returnsCanary(({ transaction, tenant, ids }) =>
    inbox.inboxMarks(transaction, tenant, ids.owner),
  ),
  'inbox.markInbox': changesRows(({ transaction, tenant, ids, now }) =>
    inbox.markInbox(transaction, tenant, ids.owner, { items: ['walk 1'], mark: { seen_at: now }, now }),
  ),
  'inbox.followedPeople': returnsResult(({ transaction, tenant, ids }) =>
    inbox.followedPeople(transaction, tenant, { userId: ids.owner, isAdmin: true }),
  ),
  'inbox.giveQuotes': changesRows(({ transaction, tenant, ids }) =>
    inbox.giveQuotes(transaction, tenant, ids.person, ids.owner),
  ),
  'inbox.pendingQuotesOf': noEvidence(({ transaction, tenant, ids, now }) =>
    inbox.pendingQuotesOf(transaction, tenant, [ids.owner], { now, validDays: null }),
  ),
  'inbox.endedImports': returnsCanary(({ transaction, tenant, ids }) =>
    inbox.endedImports(transaction, tenant, ids.owner, new Date(0)),
  ),
  'watches.claimScan': changesRows(({ transaction, tenant, now }) =>
    watches.claimScan(transaction, tenant, { now, leaseEnd: now }),
  ),
  'watches.setNextScan': changesRows(({ transaction, tenant, now }) =>
    watches.setNextScan(transaction, tenant, now),
  ),
  'watches.listWatches': returnsCanary(({ transaction, tenant }) => watches.listWatches(transaction, tenant)),
  'watches.insertWatch': changesRows(({ transaction, tenant, ids, now }) =>
    watches.insertWatch(transaction, tenant, {
      user_id: ids.owner,
      kind: 'customer',
      label: 'Walk Foods',
      origin: '',
      destination: '',
      equipment_code: null,
      followed_at: now,
    }),
  ),
  'watches.deleteWatch': changesRows(({ transaction, tenant, ids }) =>
    watches.deleteWatch(transaction, tenant, { userId: ids.owner, watchId: watchOf(ids) }),
  ),
  'watches.listMoves': returnsResult(({ transaction, tenant }) =>
    watches.listMoves(transaction, tenant, { since: new Date(0) }),
  ),
  'watches.insertMoves': changesRows(({ transaction, tenant, ids, now }) =>
    watches.insertMoves(transaction, tenant, [
      {
        watch_id: watchOf(ids),
        metric: 'cost',
        found_on: 20_001,
        since: 20_000,
        found_at: now,
        before_value: 7,
        after_value: 7.1,
        values_before: 50,
        values_after: 12,
        customers: [],
      },
    ]),
  ),
  'weekly-reports.claimReport': changesRows(({ transaction, tenant, now }) =>
    weeklyReports.claimReport(transaction, tenant, { now, leaseEnd: now }),
  ),
  'weekly-reports.advanceReport': changesRows(({ transaction, tenant, ids, now }) =>
    weeklyReports.advanceReport(
      transaction,
      tenant,
      { dueAt: null, timeZone: ids.label === 'A' ? 'America/Chicago' : 'UTC' },
      now,
    ),
  ),
  'weekly-reports.reportChoice': returnsResult(({ transaction, tenant, ids }) =>
    weeklyReports.reportChoice(transaction, tenant, ids.owner),
  ),
  'weekly-reports.chooseReport': changesRows(({ transaction, tenant, ids }) =>
    weeklyReports.chooseReport(transaction, tenant, ids.owner, false),
  ),
  'mails.insertMails': changesRows(({ transaction, tenant, user, now }) =>
    mails.insertMails(
      transaction,
      tenant,
      [{ userId: user.user_id, kind: 'walk', about: 'walk', subject: 'Walk', body: 'Walk', endsAt: now }],
      now,
    ),
  ),
  'mails.claimMail': returnsCanary(({ transaction, tenant }) => mails.claimMail(transaction, tenant, 10)),
  'mails.settleMail': changesRows(({ transaction, tenant, ids }) =>
    mails.settleMail(transaction, tenant, { mail_id: mailOf(ids), attempts: 0 }, { state: 'sent' }),
  ),
  'mails.endMails': changesRows(({ transaction, tenant, ids, now }) =>
    mails.endMails(transaction, tenant, `${canaryOf(ids.label)}mails-about`, now),
  ),
  'mails.listMails': returnsCanary(({ transaction, tenant }) => mails.listMails(transaction, tenant)),
  'mails.countAnswers': returnsResult(({ transaction, tenant, ids }) =>
    mails.countAnswers(transaction, tenant, receivedMailOf(ids)),
  ),
  'mails.noteReturned': changesRows(({ transaction, tenant, ids }) =>
    mails.noteReturned(transaction, tenant, {
      mailIds: [sentMailOf(ids)],
      recipients: [`canary-${ids.label.toLowerCase()}-mails-to_address`],
      reason: 'walk',
    }),
  ),
  'mails.failedAnswers': returnsResult(({ transaction, tenant, ids }) =>
    mails.failedAnswers(transaction, tenant, { userId: ids.owner, since: new Date(0), limit: 5 }),
  ),
  'mails.listAnswers': returnsCanary(({ transaction, tenant, ids }) =>
    mails.listAnswers(transaction, tenant, receivedMailOf(ids), 10),
  ),
  'mails.countMails': returnsResult(({ transaction, tenant }) => mails.countMails(transaction, tenant)),
  'mails.retryMails': changesRows(({ transaction, tenant }) => mails.retryMails(transaction, tenant)),
  'mails.findMailServer': returnsCanary(({ transaction, tenant }) =>
    mails.findMailServer(transaction, tenant),
  ),
  'mails.putMailServer': changesRows(({ transaction, tenant, now }) =>
    mails.putMailServer(transaction, tenant, {
      host: 'mail.example.com',
      port: 587,
      user_name: null,
      sealed: Buffer.alloc(40),
      from_address: 'walk@example.com',
      set_at: now,
    }),
  ),
  'mails.deleteMailServer': changesRows(({ transaction, tenant }) =>
    mails.deleteMailServer(transaction, tenant),
  ),
  'mail-addresses.findMailAddress': returnsCanary(({ transaction, tenant }) =>
    mailAddresses.findMailAddress(transaction, tenant),
  ),
  'mail-addresses.putMailAddress': changesRows(({ transaction, tenant, now }) =>
    mailAddresses.putMailAddress(transaction, tenant, { secret: 'walk', kept_days: 30, made_at: now }),
  ),
  'mail-addresses.keepMailTexts': changesRows(({ transaction, tenant }) =>
    mailAddresses.keepMailTexts(transaction, tenant, 12),
  ),
  'mail-addresses.deleteMailAddress': changesRows(({ transaction, tenant }) =>
    mailAddresses.deleteMailAddress(transaction, tenant),
  ),
  'mail-addresses.numberMail': changesRows(({ transaction, tenant, ids, now }) =>
    mailAddresses.numberMail(transaction, tenant, {
      secret: `${canaryOf(ids.label)}mail_addresses-secret`,
      now,
    }),
  ),
  'mailboxes.findMailbox': returnsCanary(({ transaction, tenant }) =>
    mailboxes.findMailbox(transaction, tenant),
  ),
  'mailboxes.putMailbox': changesRows(({ transaction, tenant, now }) =>
    mailboxes.putMailbox(transaction, tenant, {
      host: 'imap.example.com',
      port: 993,
      user_name: 'walk',
      sealed: Buffer.alloc(40),
      checking_server: null,
      kept_days: 30,
      set_at: now,
    }),
  ),
  'mailboxes.deleteMailbox': changesRows(({ transaction, tenant }) =>
    mailboxes.deleteMailbox(transaction, tenant),
  ),
  'mailboxes.claimMailbox': noEvidence(({ transaction, tenant }) =>
    mailboxes.claimMailbox(transaction, tenant, 10),
  ),
  'mailboxes.holdMailbox': noEvidence(({ transaction, tenant, ids }) =>
    mailboxes.holdMailbox(transaction, tenant, {
      lease: receivedMailOf(ids),
      leaseSeconds: 10,
      progress: {},
    }),
  ),
  'mailboxes.leaveMailbox': noEvidence(({ transaction, tenant, ids }) =>
    mailboxes.leaveMailbox(transaction, tenant, {
      lease: receivedMailOf(ids),
      pauseSeconds: 10,
      progress: {},
    }),
  ),
  'received-mails.insertReceivedMail': changesRows(({ transaction, tenant, ids, now }) =>
    receivedMails.insertReceivedMail(transaction, tenant, {
      digest: 'walk',
      mailbox_id: receivedMailOf(ids),
      uid_validity: 1,
      uid: 1,
      references: [`${canaryOf(ids.label)}received_mails-message_id`],
      message_id: 'walk',
      from_name: 'Walk',
      from_address: 'walk@example.com',
      subject: 'Walk',
      sent_at: now,
      sent_offset: null,
      received_at: now,
      bytes: 7,
      sender_check: 'unknown',
      problem: null,
      attachments: [],
      lanes_read: 0,
      questions_asked: 0,
      body: 'Walk',
      tables: null,
      kept_days: 30,
      customer_name: null,
    }),
  ),
  'received-mails.confirmedSenders': noEvidence(({ transaction, tenant, ids }) =>
    receivedMails.confirmedSenders(transaction, tenant, [
      `${canaryOf(ids.label)}received_mails-from_address`,
    ]),
  ),
  'received-mails.measuredMails': returnsCanary(({ transaction, tenant }) =>
    receivedMails.measuredMails(transaction, tenant, { since: new Date(0), limit: 10 }),
  ),
  'received-mails.listReceivedMails': returnsCanary(({ transaction, tenant }) =>
    receivedMails.listReceivedMails(transaction, tenant, { state: null, before: null, limit: 10 }),
  ),
  'received-mails.findReceivedMail': returnsCanary(({ transaction, tenant, ids }) =>
    receivedMails.findReceivedMail(transaction, tenant, receivedMailOf(ids)),
  ),
  'received-mails.listThread': returnsCanary(({ transaction, tenant, ids }) =>
    receivedMails.listThread(transaction, tenant, receivedMailOf(ids), 10),
  ),
  'received-mails.updateReceivedMail': changesRows(({ transaction, tenant, ids }) =>
    receivedMails.updateReceivedMail(transaction, tenant, receivedMailOf(ids), { state: 'done' }),
  ),
  'received-mails.countOpenMails': returnsResult(({ transaction, tenant }) =>
    receivedMails.countOpenMails(transaction, tenant, 10),
  ),
  'received-mails.deleteEndedTexts': changesRows(({ transaction, tenant }) =>
    receivedMails.deleteEndedTexts(transaction, tenant, {
      now: new Date('2300-01-01'),
      oldest: new Date('2000-01-01'),
      limit: 10,
    }),
  ),
}
