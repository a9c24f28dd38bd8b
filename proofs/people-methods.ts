import {
  dailyCounts,
  signInNetworks as networks,
  people,
  quoteListSettings as quoteList,
  sandboxes,
} from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { seededNetwork, sessionOf } from './seeded-ids.ts'

const uuid = '00000009-0000-4000-8000-000000000009'

/** The database functions of brokerages, their people, sessions and settings of lists, and test brokerages. */
export const peopleMethods: Readonly<Record<string, Method>> = {
  'people.nextTenantNumber': returnsResult(({ transaction, tenant }) =>
    people.nextTenantNumber(transaction, tenant, 'user'),
  ),
  // The tenant exists already, so the call is refused for every caller.
  'people.createTenant': noEvidence(({ transaction, tenant, now }) =>
    people.createTenant(transaction, tenant, {
      company: 'New',
      name: 'New',
      email: 'new-tenant@example.com',
      passwordHash: 'none',
      now,
    }),
  ),
  'people.insertUser': returnsResult(({ transaction, tenant, now }) =>
    people.insertUser(transaction, tenant, {
      name: 'New',
      email: 'new-user@example.com',
      role: 'viewer',
      status: 'active',
      passwordHash: null,
      invitation: null,
      now,
    }),
  ),
  'sandboxes.sandboxPerson': changesRows(({ transaction, tenant, now }) =>
    sandboxes.sandboxPerson(
      transaction,
      tenant,
      { name: 'new', email: 'new@example.com', role: 'admin' },
      now,
    ),
  ),
  'people.findTenant': returnsCanary(({ transaction, tenant }) => people.findTenant(transaction, tenant)),
  'people.tenantOfSession': returnsCanary(({ transaction, tenant }) =>
    people.tenantOfSession(transaction, tenant),
  ),
  'people.defaultsOf': returnsResult(({ transaction, tenant }) => people.defaultsOf(transaction, tenant)),
  'people.defaultBasisOf': returnsResult(({ transaction, tenant }) =>
    people.defaultBasisOf(transaction, tenant),
  ),
  'people.timeZoneOf': returnsResult(({ transaction, tenant }) => people.timeZoneOf(transaction, tenant)),
  'people.isKnownTimeZone': noEvidence(({ transaction }) => people.isKnownTimeZone(transaction, 'UTC')),
  'people.updateTenant': changesRows(({ transaction, tenant }) =>
    people.updateTenant(transaction, tenant, { name: 'another' }),
  ),
  'people.setTenantStatus': changesRows(({ transaction, tenant }) =>
    people.setTenantStatus(transaction, tenant, 'suspended'),
  ),
  'people.findUser': returnsCanary(({ transaction, tenant, ids }) =>
    people.findUser(transaction, tenant, ids.person),
  ),
  'people.lockTenant': noEvidence(({ transaction, tenant }) => people.lockTenant(transaction, tenant)),
  'people.lockUser': returnsCanary(({ transaction, tenant, ids }) =>
    people.lockUser(transaction, tenant, ids.person),
  ),
  'people.lockOwners': returnsResult(({ transaction, tenant }) => people.lockOwners(transaction, tenant)),
  'people.listUsers': returnsCanary(({ transaction, tenant }) => people.listUsers(transaction, tenant)),
  'people.updateUser': changesRows(({ transaction, tenant, ids }) =>
    people.updateUser(transaction, tenant, ids.person, { name: 'another' }),
  ),
  'people.removeUser': changesRows(({ transaction, tenant, user }) =>
    people.removeUser(transaction, tenant, user),
  ),
  'quote-list-settings.findQuoteListSettings': returnsCanary(({ transaction, tenant, ids }) =>
    quoteList.findQuoteListSettings(transaction, tenant, ids.invited),
  ),
  'quote-list-settings.saveQuoteListSettings': changesRows(({ transaction, tenant, ids }) =>
    quoteList.saveQuoteListSettings(transaction, tenant, ids.invited, {
      version: 1,
      settings: { pending_days: 9, default_view: 'All quotes', columns: [], views: [] },
    }),
  ),
  // An address that another brokerage has is refused for every caller, and a free one is outside the rows of tenants.
  'people.claimSignIn': returnsResult(({ transaction, tenant, ids }) =>
    people.claimSignIn(transaction, tenant, ids.person, 'free@example.com'),
  ),
  'daily-counts.countToday': changesRows(({ transaction, tenant, now }) =>
    dailyCounts.countToday(transaction, tenant, { counter: 'invitation', max: 100, now: now.getTime() }),
  ),
  'sign-in-networks.isKnownNetwork': returnsResult(({ transaction, tenant, ids }) =>
    networks.isKnownNetwork(
      transaction,
      tenant,
      { userId: ids.owner, hashes: [seededNetwork(ids.label)] },
      new Date(0),
    ),
  ),
  'sign-in-networks.noteSignInNetwork': changesRows(({ transaction, tenant, ids, now }) =>
    networks.noteSignInNetwork(
      transaction,
      tenant,
      { userId: ids.owner, hash: Buffer.alloc(32, 7), now },
      10,
    ),
  ),
  'sign-in-networks.forgetNetworks': changesRows(({ transaction, tenant, ids }) =>
    networks.forgetNetworks(transaction, tenant, ids.owner),
  ),
  'sign-in-networks.deleteOldNetworks': changesRows(({ transaction, tenant }) =>
    networks.deleteOldNetworks(transaction, tenant, -36_500),
  ),
  'people.insertSession': changesRows(({ transaction, tenant, ids, now }) =>
    people.insertSession(transaction, tenant, {
      sessionId: uuid,
      userId: ids.owner,
      now,
      expiresAt: now,
    }),
  ),
  'people.endSessions': changesRows(({ transaction, tenant, ids, now }) =>
    people.endSessions(transaction, tenant, ids.owner, now),
  ),
  'people.findSession': returnsResult(({ transaction, tenant, ids, now }) =>
    people.findSession(transaction, tenant, sessionOf(ids.label, ids.owner), now),
  ),
}
