import { sql } from 'kysely'
import {
  approvals,
  auditLog as audit,
  quoteChanges as changes,
  conversions,
  credentials,
  customers,
  endedQuotes,
  eventEndpoints as endpoints,
  events,
  exampleQuotes,
  expiryNotices,
  fuel,
  quoteHistory as history,
  imports,
  instances,
  quoteLists as lists,
  marketRates as market,
  signInNetworks as networks,
  newQuotes,
  packedQuotes as packed,
  people,
  sandboxes,
  sealAnew,
  teams,
  importUndo as undos,
  verifyAuditChain,
} from '#server/database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '#server/database/schema/index.ts'
import type { Database, TenantId } from '#server/database/session/index.ts'
import { customerOf } from './seeded-customers.ts'
import { seededNetwork, type TenantIds } from './seeded-ids.ts'

/** What a call of a database function gets: the caller's transaction and tenant, and the ids of a tenant's records. */
export interface MethodCall {
  readonly database: Database
  readonly transaction: TenantTransaction
  readonly tenant: TenantId
  readonly ids: TenantIds
  readonly lane: QuoteRow
  readonly now: Date
}
type Method = (given: MethodCall) => Promise<unknown>

const noCosts = {
  expected_cost_cents: null,
  expected_cost_low_cents: null,
  expected_cost_high_cents: null,
  expected_basis: null,
}

/** Sets the import of the tenant to this status before the call. */
const during =
  (status: 'running' | 'undoing', call: Method): Method =>
  async (given) => {
    await sql`update imports set status = ${status}, finished_at = null, progress_at = now() - interval '1 second'
              where tenant_id = ${given.tenant}`.execute(given.transaction)
    return call(given)
  }

/**
 * The database functions of a tenant that no request of `route-requests.ts` reaches: background work, commands of operators, and
 * branches that need other rows. `route-walk.test.ts` fails for a function that is missing here.
 */
export const otherMethods: Readonly<Record<string, Method>> = {
  'approvals.expireApprovals': ({ transaction, tenant, now }) =>
    approvals.expireApprovals(transaction, tenant, new Date(now.getTime() + 9e12)),
  'approvals.insertApproval': ({ transaction, tenant, ids, now }) =>
    approvals.insertApproval(transaction, tenant, {
      approval_id: 900_000,
      asked: {},
      reasons: [],
      note: null,
      requested_by: ids.person,
      requested_at: now,
      expires_at: now,
    }),
  'audit-chain.verifyAuditChain': ({ transaction, tenant }) =>
    verifyAuditChain((look) => look(transaction), tenant, []),
  'audit-log.auditRowsAfter': ({ transaction, tenant }) => audit.auditRowsAfter(transaction, tenant, 0, 100),
  'conversions.conversionDays': ({ transaction, tenant }) => conversions.conversionDays(transaction, tenant),
  'conversions.conversionsByDay': ({ transaction, tenant }) =>
    conversions.conversionsByDay(transaction, tenant),
  'conversions.usdPerCadOn': ({ transaction, tenant }) =>
    conversions.usdPerCadOn(transaction, tenant, '2020-03-02'),
  'credentials.handOverTokens': ({ transaction, tenant, ids }) =>
    credentials.handOverTokens(transaction, tenant, ids.owner, ids.admin),
  'credentials.recordSecretUse': ({ database, tenant, ids, now }) =>
    credentials.recordSecretUse(database, tenant, ids.spareSecret, now),
  'credentials.recordTokenUse': ({ database, tenant, ids, now }) =>
    credentials.recordTokenUse(database, tenant, ids.liveToken, now, '192.0.2.9'),
  'credentials.revokeTokensOf': ({ transaction, tenant, ids, now }) =>
    credentials.revokeTokensOf(transaction, tenant, ids.owner, now),
  'credentials.sealedSecrets': ({ transaction, tenant }) =>
    credentials.sealedSecrets(transaction, tenant, 0, 100),
  'credentials.tokensOfOtherKeys': ({ transaction, tenant, now }) =>
    credentials.tokensOfOtherKeys(transaction, tenant, 'a key', now),
  'credentials.wasIssued': ({ transaction, tenant, ids }) =>
    credentials.wasIssued(transaction, tenant, ids.jti),
  'customers.distinguishCustomers': ({ transaction, tenant, ids, now }) =>
    customers.distinguishCustomers(transaction, tenant, [customerOf(ids), 'Walk'], { now, userId: null }),
  'customers.respellCustomer': ({ transaction, tenant, ids }) =>
    customers.respellCustomer(transaction, tenant, ids.import, 'Walk'),
  'ended-quotes.lockEndedQuotes': async ({ transaction, tenant, lane: quote, now }) => {
    const ended = {
      valid_until: new Date(0),
      outcome: 'pending',
      outcome_source: null,
      decided_at: null,
      customer_rate_cents: null,
      truck_cost_cents: null,
    } as const
    await changes.changeQuote(transaction, tenant, quote, ended, { source: 'tms' }, now)
    return endedQuotes.lockEndedQuotes(transaction, tenant, 10)
  },
  'event-endpoints.deleteEventSecret': ({ transaction, tenant }) =>
    endpoints.deleteEventSecret(transaction, tenant, 1),
  'event-endpoints.disableEventEndpoint': ({ transaction, tenant, ids }) =>
    endpoints.disableEventEndpoint(transaction, tenant, ids.eventEndpoint, { reason: 'gone' }),
  'event-endpoints.sealedEventSecrets': ({ transaction, tenant }) =>
    endpoints.sealedEventSecrets(transaction, tenant, 0, 100),
  'events.claimDeliveries': async ({ database, tenant, ids }) => {
    await database.inTenant(tenant, (transaction) =>
      events.replayDeliveries(transaction, tenant, ids.eventEndpoint, { eventId: ids.event, most: 10 }),
    )
    return events.claimDeliveries(database, tenant, ids.eventEndpoint, { most: 1, leaseSeconds: 30 })
  },
  'events.insertEvent': ({ transaction, tenant, ids }) =>
    events.insertEvent(transaction, tenant, { type: 'credential.expiring', about: {} }, [ids.eventEndpoint]),
  'events.pruneEvents': ({ transaction, tenant, now }) =>
    events.pruneEvents(transaction, tenant, new Date(now.getTime() + 1000)),
  'events.settleDelivery': ({ database, tenant, ids }) =>
    events.settleDelivery(
      database,
      tenant,
      ids.eventEndpoint,
      { number: ids.eventNumber, attempt: 0 },
      { state: 'dead', retrySeconds: null, status: 500, text: '', failure: null, ms: 1 },
    ),
  'example-quotes.readExampleLanes': ({ transaction, tenant }) =>
    exampleQuotes.readExampleLanes(transaction, tenant),
  'expiry-notices.announceExpiries': ({ transaction, tenant }) =>
    expiryNotices.announceExpiries(transaction, tenant, 30),
  'fuel.fuelOfDay': ({ transaction, tenant }) => fuel.fuelOfDay(transaction, tenant, null, '2020-03-02'),
  'import-undo.noteUndoFailure': during('undoing', ({ transaction, tenant, ids }) =>
    undos.noteUndoFailure(transaction, tenant, ids.import, 'It does not go on.'),
  ),
  'import-undo.releaseUndo': during('undoing', ({ transaction, tenant, ids }) =>
    undos.releaseUndo(transaction, tenant, ids.import),
  ),
  'import-undo.takeOverUndo': during('undoing', async ({ transaction, tenant, ids }) => {
    await undos.releaseUndo(transaction, tenant, ids.import)
    return undos.takeOverUndo(transaction, tenant, ids.import)
  }),
  'import-undo.undoBatch': during('undoing', ({ transaction, tenant, ids }) =>
    undos.undoBatch(transaction, tenant, ids.import),
  ),
  'imports.requestStop': during('running', ({ transaction, tenant, ids }) =>
    imports.requestStop(transaction, tenant, ids.import),
  ),
  'imports.rowsReadOf': ({ transaction, tenant, ids }) => imports.rowsReadOf(transaction, tenant, ids.import),
  'imports.touchImport': during('running', ({ transaction, tenant, ids }) =>
    imports.touchImport(transaction, tenant, ids.import),
  ),
  'instances.takePermit': ({ database, tenant }) =>
    instances.takePermit(database, tenant, { max: 10, windowMs: 1_000, alreadyAdmitted: false }),
  'quote-history.quotesPendingSince': ({ transaction, tenant, lane: quote }) =>
    history.quotesPendingSince(transaction, tenant, [quote.lane_id], new Date(0)),
  'quote-history.settersOf': ({ transaction, tenant, ids }) =>
    history.settersOf(transaction, tenant, [{ quoteId: ids.lane, column: 'carrier_name' }]),
  'quote-lists.countQuotes': ({ transaction, tenant, ids }) =>
    lists.countQuotes(transaction, tenant, { quotedBy: ids.owner }),
  'quote-lists.idsOfQuotes': ({ transaction, tenant, ids }) =>
    lists.idsOfQuotes(transaction, tenant, { quotedBy: ids.owner }),
  'market-rates.marketRatesSince': ({ transaction, tenant }) =>
    market.marketRatesSince(
      transaction,
      tenant,
      [{ scope: 'lane', originArea: 'Dallas, TX', destinationArea: 'Atlanta, GA' }],
      new Date(0),
    ),
  'new-quotes.insertRequote': ({ database, transaction, tenant, ids, lane: quote, now }) =>
    newQuotes.insertRequote(transaction, tenant, database.identifiers, quote, {
      ...noCosts,
      quoted_rate_cents: 1,
      estimated_cost_cents: null,
      market_rate_cents: null,
      pickup_date: null,
      createdBy: ids.owner,
      createdAt: now,
    }),
  'packed-quotes.readChangedQuotes': ({ transaction, tenant }) =>
    packed.readChangedQuotes(transaction, tenant, 0),
  'packed-quotes.readQuotesOf': ({ transaction, tenant, ids }) =>
    packed.readQuotesOf(transaction, tenant, [ids.lane]),
  'people.setTenantStatus': ({ transaction, tenant }) =>
    people.setTenantStatus(transaction, tenant, 'suspended'),
  'sandboxes.sandboxPerson': ({ transaction, tenant, now }) =>
    sandboxes.sandboxPerson(
      transaction,
      tenant,
      { name: 'new', email: 'new@example.com', role: 'admin' },
      now,
    ),
  'sealed-secrets.sealAnew': ({ transaction, tenant, ids }) =>
    sealAnew(transaction, tenant, 'signing_secrets', {
      secretId: ids.spareSecret,
      sealed: Buffer.from('sealed anew'),
    }),
  'sign-in-networks.deleteOldNetworks': ({ transaction, tenant }) =>
    networks.deleteOldNetworks(transaction, tenant, -36_500),
  'sign-in-networks.isKnownNetwork': ({ transaction, tenant, ids }) =>
    networks.isKnownNetwork(
      transaction,
      tenant,
      { userId: ids.owner, hashes: [seededNetwork(ids.label)] },
      new Date(0),
    ),
  'teams.teamName': ({ transaction, tenant, ids }) => teams.teamName(transaction, tenant, ids.import),
  'teams.teamsOfPerson': ({ transaction, tenant, ids }) =>
    teams.teamsOfPerson(transaction, tenant, ids.member),
}

/** Database functions that read and change no rows of a tenant, and that no request reaches, each with the reason. */
export const withoutTenant: Readonly<Record<string, string>> = {
  'approvals.tenantsWithEndedApprovals': 'finds tenants for background work',
  'daily-counts.secondsLeftOfDay': 'computes a value',
  'ended-quotes.tenantsWithEndedQuotes': 'finds tenants for background work',
  'events.dueEndpoints': 'finds event endpoints for background work',
  'events.eventQueue': 'counts for the service itself, and finds tenants for background work',
  'expiry-notices.unannouncedExpiries': 'finds tenants for background work',
  'import-undo.silentUndos': 'finds interrupted undos for background work',
  'installation.readKeyCheck': 'concerns the installation',
  'installation.readKeyNames': 'concerns the installation',
  'installation.readVerifiedBackup': 'concerns the installation',
  'installation.replaceKeyCheck': 'concerns the installation',
  'installation.writeKeyCheck': 'concerns the installation',
  'installation.writeKeyNames': 'concerns the installation',
  'instances.isServing': 'concerns the installation',
  'instances.leaveInstance': 'concerns the installation',
  'instances.seeInstance': 'concerns the installation',
  'quote-conditions.isOfMode': 'makes a part of a query',
  'quote-conditions.isOfRateType': 'makes a part of a query',
  'quote-lists.sortKeyKind': 'computes a value',
  'offers.supersedingOf': 'computes a value',
  'operators.eraseTenantRows': 'runs as the owner of the tables; the service role may not',
  'operators.listTenants': 'runs as the owner of the tables; the service role sees no tenants',
  'operators.tenantTables': 'reads the catalog',
  'people.isKnownTimeZone': 'reads the catalog',
  'pricing-rules.refuseQuotes': 'computes a value',
  'sandboxes.eraseSandboxRows':
    'works for a test brokerage only; server/src/endpoints/people/sandbox.test.ts tests that the database refuses every other tenant',
  'sign-in-networks.tenantsWithOldNetworks': 'finds tenants for background work',
  'tenant-copy.analyzeTables': 'updates planner statistics, as the owner of the tables',
  'tenant-copy.copyingTenant': 'runs as the owner of the tables, with row-level security set to the tenant',
}
