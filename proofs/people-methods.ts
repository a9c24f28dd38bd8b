import {
  assistants,
  dailyCounts,
  signInNetworks as networks,
  passkeys,
  people,
  quoteListSettings as quoteList,
  sandboxes,
  scim,
  secondFactors,
  sessions,
} from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { seededDay, seededNetwork, sessionOf, spareSessionOf } from './seeded-ids.ts'

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
  'sandboxes.sandboxOf': noEvidence(({ transaction, tenant }) => sandboxes.sandboxOf(transaction, tenant)),
  'sandboxes.nameSandbox': changesRows(({ transaction, tenant }) =>
    sandboxes.nameSandbox(transaction, tenant, tenantId(1_999_999_999), null),
  ),
  'sandboxes.createSandbox': noEvidence(({ transaction, tenant, now }) =>
    sandboxes.createSandbox(
      transaction,
      tenant,
      { tenant_id: tenant, name: 'new', win_probability_method: 'literal', time_zone: 'UTC' },
      now,
    ),
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
  'people.stopFeeOf': returnsResult(({ transaction, tenant }) => people.stopFeeOf(transaction, tenant)),
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
  'daily-counts.usedToday': returnsResult(({ transaction, tenant }) =>
    dailyCounts.usedToday(transaction, tenant, 'invitation', Date.parse(seededDay)),
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
  'sessions.insertSession': changesRows(({ transaction, tenant, ids, now }) =>
    sessions.insertSession(transaction, tenant, {
      sessionId: uuid,
      userId: ids.owner,
      now,
      expiresAt: now,
      device: 'new',
      network: 'new',
      isNew: { device: true, network: true },
      factorGiven: false,
      byCompany: false,
    }),
  ),
  'second-factors.lockSecondFactor': returnsResult(({ transaction, tenant, ids }) =>
    secondFactors.lockSecondFactor(transaction, tenant, ids.person),
  ),
  'second-factors.offerSecondFactor': changesRows(({ transaction, tenant, ids, now }) =>
    secondFactors.offerSecondFactor(transaction, tenant, {
      userId: ids.invited,
      sealed: Buffer.from('new'),
      now,
    }),
  ),
  'second-factors.useFactorStep': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.useFactorStep(transaction, tenant, { userId: ids.person, step: 7 }),
  ),
  'second-factors.removeSecondFactor': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.removeSecondFactor(transaction, tenant, ids.person),
  ),
  'second-factors.replaceRecoveryCodes': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.replaceRecoveryCodes(transaction, tenant, ids.person, [Buffer.alloc(32, 7)]),
  ),
  'second-factors.useRecoveryCode': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.useRecoveryCode(transaction, tenant, ids.person, seededNetwork(ids.label)),
  ),
  'second-factors.countRecoveryCodes': returnsResult(({ transaction, tenant, ids }) =>
    secondFactors.countRecoveryCodes(transaction, tenant, ids.person),
  ),
  'second-factors.noteFactorGiven': changesRows(({ transaction, tenant, ids, now }) =>
    secondFactors.noteFactorGiven(transaction, tenant, sessionOf(ids.label, ids.owner), now),
  ),
  'second-factors.removeRecoveryCodes': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.removeRecoveryCodes(transaction, tenant, ids.person),
  ),
  'second-factors.removeApp': changesRows(({ transaction, tenant, ids }) =>
    secondFactors.removeApp(transaction, tenant, ids.person),
  ),
  'assistants.insertAssistant': changesRows(({ transaction, tenant, ids, now }) =>
    assistants.insertAssistant(transaction, tenant, {
      session_id: spareSessionOf(ids.label, ids.owner),
      client_hash: Buffer.alloc(32, 9),
      client_name: 'new',
      redirect_uri: 'new',
      code_challenge: 'new',
      code_until: now,
    }),
  ),
  'assistants.lockAssistant': returnsCanary(({ transaction, tenant, ids }) =>
    assistants.lockAssistant(transaction, tenant, sessionOf(ids.label, ids.owner)),
  ),
  'assistants.updateAssistant': changesRows(({ transaction, tenant, ids, now }) =>
    assistants.updateAssistant(transaction, tenant, sessionOf(ids.label, ids.owner), { code_used_at: now }),
  ),
  'sessions.extendSession': changesRows(({ transaction, tenant, ids }) =>
    sessions.extendSession(
      transaction,
      tenant,
      sessionOf(ids.label, ids.owner),
      new Date('2100-01-01T00:00:00Z'),
    ),
  ),
  'passkeys.listPasskeys': returnsCanary(({ transaction, tenant, ids }) =>
    passkeys.listPasskeys(transaction, tenant, ids.person),
  ),
  'passkeys.lockPasskey': returnsCanary(({ transaction, tenant, ids }) =>
    passkeys.lockPasskey(transaction, tenant, {
      userId: ids.person,
      credentialId: seededNetwork(ids.label),
    }),
  ),
  'passkeys.insertPasskey': changesRows(({ transaction, tenant, ids, now }) =>
    passkeys.insertPasskey(transaction, tenant, {
      passkey_id: 9_000,
      user_id: ids.person,
      credential_id: Buffer.from('new'),
      rp_id: 'new',
      public_key: Buffer.from('new'),
      sign_count: 0,
      transports: '',
      synced: false,
      name: 'new',
      added_at: now,
    }),
  ),
  'passkeys.notePasskeyUse': changesRows(({ transaction, tenant, ids, now }) =>
    passkeys.notePasskeyUse(transaction, tenant, {
      passkeyId: ids.person,
      signCount: 7,
      synced: false,
      now,
    }),
  ),
  'passkeys.renamePasskey': changesRows(({ transaction, tenant, ids }) =>
    passkeys.renamePasskey(transaction, tenant, { userId: ids.person, passkeyId: ids.person, name: 'new' }),
  ),
  'passkeys.deletePasskeys': changesRows(({ transaction, tenant, ids }) =>
    passkeys.deletePasskeys(transaction, tenant, ids.person),
  ),
  'passkeys.useChallenge': changesRows(({ transaction, tenant, now }) =>
    passkeys.useChallenge(transaction, tenant, {
      challenge: Buffer.alloc(32, 7),
      expiresAt: now,
      now,
    }),
  ),
  'scim.externalIds': returnsCanary(async ({ transaction, tenant }) => [
    ...(await scim.externalIds(transaction, tenant)).values(),
  ]),
  'scim.setExternalId': changesRows(({ transaction, tenant }) =>
    scim.setExternalId(transaction, tenant, 'user-9000', 'new'),
  ),
  'scim.roleMembers': returnsResult(({ transaction, tenant }) => scim.roleMembers(transaction, tenant)),
  'scim.setRoleMembers': changesRows(({ transaction, tenant, ids }) =>
    scim.setRoleMembers(transaction, tenant, 'admin', [ids.person]),
  ),
  'scim.forgetScimPerson': changesRows(({ transaction, tenant, ids }) =>
    scim.forgetScimPerson(transaction, tenant, ids.person),
  ),
  'scim.hasHadSession': returnsResult(({ transaction, tenant, ids }) =>
    scim.hasHadSession(transaction, tenant, ids.owner),
  ),
  'scim.changeUnclaimedEmail': changesRows(({ transaction, tenant, ids }) =>
    scim.changeUnclaimedEmail(transaction, tenant, ids.person, 'new@example.com'),
  ),
  'sessions.newPlaceOf': returnsResult(({ transaction, tenant, ids }) =>
    sessions.newPlaceOf(transaction, tenant, ids.owner, {
      device: 'new',
      network: 'new',
      since: new Date(0),
    }),
  ),
  'sessions.listLiveSessions': returnsCanary(({ transaction, tenant, ids, now }) =>
    sessions.listLiveSessions(transaction, tenant, ids.owner, now),
  ),
  'sessions.unconfirmedSignIns': returnsCanary(({ transaction, tenant, ids }) =>
    sessions.unconfirmedSignIns(transaction, tenant, {
      userId: ids.owner,
      except: uuid,
      since: new Date(0),
    }),
  ),
  'sessions.forgetSessionNetworks': changesRows(({ transaction, tenant, ids }) =>
    sessions.forgetSessionNetworks(transaction, tenant, ids.owner, new Date('2100-01-01T00:00:00Z')),
  ),
  'sessions.confirmSignIn': changesRows(({ transaction, tenant, ids, now }) =>
    sessions.confirmSignIn(transaction, tenant, {
      userId: ids.owner,
      sessionId: spareSessionOf(ids.label, ids.owner),
      now,
    }),
  ),
  'sessions.noteSessionUse': changesRows(({ transaction, tenant, ids }) =>
    sessions.noteSessionUse(transaction, tenant, {
      sessionId: sessionOf(ids.label, ids.owner),
      now: new Date('2100-01-01T00:00:00Z'),
      network: '203.0.113.9',
    }),
  ),
  'sessions.endSessions': changesRows(({ transaction, tenant, ids, now }) =>
    sessions.endSessions(transaction, tenant, ids.owner, now),
  ),
  'sessions.findSession': returnsResult(({ transaction, tenant, ids, now }) =>
    sessions.findSession(transaction, tenant, sessionOf(ids.label, ids.owner), now),
  ),
}
