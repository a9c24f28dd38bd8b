import { sql } from 'kysely'
import {
  auditLog as audit,
  integrationCalls as calls,
  laneChanges as changes,
  credentials,
  endedQuotes,
  exampleLanes,
  forecastLanesAfter,
  laneHistory as history,
  instances,
  lanes,
  laneLists as lists,
  newestAuditRow,
  newLanes,
  offers,
  packedQuotes as packed,
  people,
  performance,
  pushedLanes as pushed,
  laneRecord as record,
  sealAnew,
  firstSteps as steps,
  suggestions,
  tenantQuotes,
  shipmentUpdates as updates,
  verifyAuditChain,
} from '#server/database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '#server/database/schema/index.ts'
import type { TenantId } from '#server/database/session/index.ts'
import { customerMethods } from './customer-methods.ts'
import { eventMethods } from './event-methods.ts'
import { fuelMethods } from './fuel-methods.ts'
import { importMethods } from './import-methods.ts'
import { marketMethods } from './market-methods.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { newLane, noCosts } from './new-lanes.ts'
import { peopleMethods } from './people-methods.ts'
import { ruleMethods } from './rule-methods.ts'

const uuid = '00000009-0000-4000-8000-000000000009'

const dallasToAtlanta = { originKey: 'dallas|TX', destinationKey: 'atlanta|GA' }

/** An update of a bulk call. */
const recordedUpdate = (digest: Buffer, laneId: number) => ({
  digest,
  laneId,
  signedAt: new Date(0),
  receivedAt: new Date(0),
  tokenId: 1,
  carried: {},
  applied: [],
  updated: true,
})

/** Removes the generated identifiers, which differ between two calls of the same function. */
const withoutIdentifiers = (rows: readonly LaneRow[]) =>
  rows.map(({ lane_id: _, lane_ref: __, request_id: ___, search_text: ____, ...row }) => row)

/** A lane as the second offer for its load, superseded by one that does not exist. */
const asSecondOffer = (transaction: TenantTransaction, tenant: TenantId, { lane_id }: LaneRow) =>
  sql`update lanes set quote_count = 2, superseded_by = 'none', superseded_as = 'replaced'
    where tenant_id = ${tenant} and lane_id = ${lane_id}`.execute(transaction)

/**
 * Every database function that works for a tenant, by file and function name, with a call that uses the ids in `MethodCall`.
 * `method-walk.test.ts` calls each function with the ids of another tenant; `distributable.test.ts` checks its statements.
 * Add a row for each new function; functions that work for no tenant belong in `no-tenant-methods.ts`.
 */
export const methods: Readonly<Record<string, Method>> = {
  'audit-log.appendAudit': changesRows(({ transaction, tenant, ids, now }) =>
    audit.appendAudit(transaction, tenant, {
      at: now,
      kind: 'signed-in',
      userId: ids.owner,
      jti: ids.jti,
      subjectUserId: null,
      about: {},
      count: 1,
      network: null,
      requestId: null,
    }),
  ),
  'audit-log.auditRowsAfter': returnsCanary(({ transaction, tenant }) =>
    audit.auditRowsAfter(transaction, tenant, 0, 100),
  ),
  'audit-log.newestAuditRow': returnsResult(({ transaction, tenant }) => newestAuditRow(transaction, tenant)),
  'audit-chain.verifyAuditChain': returnsResult(({ transaction, tenant }) =>
    verifyAuditChain((look) => look(transaction), tenant, []),
  ),
  'audit-log.listAudit': returnsCanary(({ transaction, tenant }) =>
    audit.listAudit(transaction, tenant, {}, { before: null, limit: 50 }),
  ),
  'credentials.insertServiceToken': returnsResult(({ transaction, tenant, ids, now }) =>
    credentials.insertServiceToken(transaction, tenant, {
      jti: uuid,
      name: 'new',
      scope: 'integrations:write',
      userId: ids.owner,
      now,
      expiresAt: now,
      signedWith: 'a key',
    }),
  ),
  'credentials.listServiceTokens': returnsCanary(({ transaction, tenant }) =>
    credentials.listServiceTokens(transaction, tenant),
  ),
  'credentials.revokeServiceToken': changesRows(({ transaction, tenant, ids, now }) =>
    credentials.revokeServiceToken(transaction, tenant, ids.spareToken, now),
  ),
  'credentials.liveTokensOf': returnsCanary(({ transaction, tenant, ids, now }) =>
    credentials.liveTokensOf(transaction, tenant, ids.owner, now),
  ),
  'credentials.expiringTokens': returnsCanary(({ transaction, tenant, now }) =>
    credentials.expiringTokens(transaction, tenant, now, new Date(now.getTime() + 366 * 86_400_000)),
  ),
  'credentials.revokeTokensOf': changesRows(({ transaction, tenant, ids, now }) =>
    credentials.revokeTokensOf(transaction, tenant, ids.owner, now),
  ),
  'credentials.sealedSecrets': returnsResult(({ transaction, tenant }) =>
    credentials.sealedSecrets(transaction, tenant, 0, 100),
  ),
  'sealed-secrets.sealAnew': changesRows(({ transaction, tenant, ids }) =>
    sealAnew(transaction, tenant, 'signing_secrets', {
      secretId: ids.spareSecret,
      sealed: Buffer.from('sealed anew'),
    }),
  ),
  'credentials.countTokensOfOtherKeys': returnsResult(({ transaction, tenant, now }) =>
    credentials.countTokensOfOtherKeys(transaction, tenant, 'a key', now),
  ),
  'credentials.handOverTokens': changesRows(({ transaction, tenant, ids }) =>
    credentials.handOverTokens(transaction, tenant, ids.owner, ids.admin),
  ),
  'credentials.findLiveServiceToken': returnsResult(({ transaction, tenant, ids, now }) =>
    credentials.findLiveServiceToken(transaction, tenant, ids.jti, now),
  ),
  'credentials.wasIssued': returnsResult(({ transaction, tenant, ids }) =>
    credentials.wasIssued(transaction, tenant, ids.jti),
  ),
  'credentials.insertSigningSecret': returnsResult(({ transaction, tenant, ids, now }) =>
    credentials.insertSigningSecret(transaction, tenant, {
      name: 'new',
      userId: ids.owner,
      now,
      sealedFor: () => Buffer.from('sealed'),
    }),
  ),
  'credentials.listSigningSecrets': returnsCanary(({ transaction, tenant }) =>
    credentials.listSigningSecrets(transaction, tenant),
  ),
  'credentials.liveSigningSecrets': returnsCanary(({ transaction, tenant, now }) =>
    credentials.liveSigningSecrets(transaction, tenant, now),
  ),
  'credentials.lockLiveSecretsOf': returnsResult(({ transaction, tenant, now }) =>
    credentials.lockLiveSecretsOf(transaction, tenant, 'tms', now),
  ),
  'credentials.expireSigningSecret': changesRows(({ transaction, tenant, ids, now }) =>
    credentials.expireSigningSecret(transaction, tenant, ids.spareSecret, now),
  ),
  'credentials.revokeSigningSecret': changesRows(({ transaction, tenant, ids, now }) =>
    credentials.revokeSigningSecret(transaction, tenant, ids.spareSecret, now),
  ),
  'first-steps.firstSteps': returnsResult(({ transaction, tenant, ids, now }) =>
    steps.firstSteps(transaction, tenant, { userId: ids.owner, now }),
  ),
  'tenant-quotes.readVersions': returnsResult(({ transaction, tenant }) =>
    tenantQuotes.readVersions(transaction, tenant),
  ),
  'packed-quotes.readBookStanding': returnsResult(({ transaction, tenant }) =>
    packed.readBookStanding(transaction, tenant, 0),
  ),
  'packed-quotes.readQuotesBefore': returnsResult(({ transaction, tenant }) =>
    packed.readQuotesBefore(transaction, tenant, { before: packed.beforeAnyQuote, max: 10 }),
  ),
  'packed-quotes.readQuotesOf': returnsResult(({ transaction, tenant, ids }) =>
    packed.readQuotesOf(transaction, tenant, [ids.lane]),
  ),
  'packed-quotes.readChangedLanes': returnsResult(({ transaction, tenant }) =>
    packed.readChangedLanes(transaction, tenant, 0),
  ),
  'tenant-quotes.readTenantQuotes': returnsResult(({ transaction, tenant }) =>
    tenantQuotes.readTenantQuotes(transaction, tenant, null, 100),
  ),
  'instances.takePermit': {
    ...returnsResult(({ database, tenant }) =>
      instances.takePermit(database, tenant, { max: 10, windowMs: 1_000, alreadyAdmitted: false }),
    ),
    commits: true,
  },
  // Functions that commit come after readVersions: seeding both tenants again afterwards changes their versions.
  'credentials.recordTokenUse': {
    ...changesRows(({ database, tenant, ids, now }) =>
      credentials.recordTokenUse(database, tenant, ids.liveToken, now, '192.0.2.9'),
    ),
    commits: true,
  },
  'credentials.recordSecretUse': {
    ...changesRows(({ database, tenant, ids, now }) =>
      credentials.recordSecretUse(database, tenant, ids.spareSecret, now),
    ),
    commits: true,
  },
  ...eventMethods,
  ...customerMethods,
  ...ruleMethods,
  ...fuelMethods,
  ...importMethods,
  ...marketMethods,
  ...peopleMethods,
  'forecasts.forecastLanesAfter': returnsCanary(({ transaction, tenant }) =>
    forecastLanesAfter(
      transaction,
      tenant,
      { since: new Date(0), defaultRateType: 'spot' },
      { after: 0, limit: 10 },
    ),
  ),
  'integration-calls.keepIntegrationCalls': {
    ...returnsResult(async ({ database, tenant, ids, now }) => {
      const call = {
        at: now.getTime(),
        operation: 'markup',
        method: 'GET',
        path: '/',
        query: null,
        status: 200,
        problem: null,
        detail: null,
        requestId: uuid,
        jti: ids.jti,
        durationMs: 1,
        network: '192.0.2.9',
        notKept: 0,
      }
      const last = await calls.keepIntegrationCalls(database, tenant, [call], null)
      const { rows } = await database.inTenant(tenant, (transaction) =>
        sql<{ token_id: number | null }>`
        select token_id from integration_calls where tenant_id = ${tenant} and call_id = ${last}
      `.execute(transaction),
      )
      return rows[0]?.token_id ?? null
    }),
    commits: true,
  },
  'integration-calls.listIntegrationCalls': returnsCanary(({ transaction, tenant }) =>
    calls.listIntegrationCalls(transaction, tenant, { from: new Date(0) }, { before: null, limit: 50 }),
  ),
  'lane-changes.changeLane': changesRows(({ transaction, tenant, ids, lane, now }) =>
    changes.changeLane(
      transaction,
      tenant,
      lane,
      { carrier_name: 'another' },
      { source: 'dashboard', userId: ids.owner },
      now,
    ),
  ),
  'lane-changes.changeLanes': changesRows(({ transaction, tenant, ids, lane, now }) =>
    changes.changeLanes(
      transaction,
      tenant,
      [
        {
          lane,
          next: { quoted_rate_cents: 12_345, import_said: 'a digest of 22 letters' },
          origin: { source: 'import', importId: ids.import, userId: ids.owner },
        },
      ],
      now,
    ),
  ),
  'lane-changes.settleOffers': changesRows(async ({ transaction, tenant, lane, now }) => {
    await asSecondOffer(transaction, tenant, lane)
    return [...(await changes.settleOffers(transaction, tenant, [lane.request_id], now)).keys()]
  }),
  'offers.lockLoads': returnsCanary(async ({ transaction, tenant, lane }) => {
    await asSecondOffer(transaction, tenant, lane)
    return withoutIdentifiers((await offers.lockLoads(transaction, tenant, [lane.request_id])).flat())
  }),
  'ended-quotes.lockEndedQuotes': returnsCanary(async ({ transaction, tenant, lane, now }) => {
    const ended = {
      valid_until: new Date(0),
      outcome: 'pending',
      outcome_source: null,
      decided_at: null,
      customer_rate_cents: null,
      truck_cost_cents: null,
    } as const
    await changes.changeLane(transaction, tenant, lane, ended, { source: 'tms' }, now)
    return endedQuotes.lockEndedQuotes(transaction, tenant, 10)
  }),
  'lane-history.settersOf': returnsResult(async ({ transaction, tenant, ids }) =>
    (await history.settersOf(transaction, tenant, [{ laneId: ids.lane, column: 'carrier_name' }])).filter(
      (setter) => setter !== null,
    ),
  ),
  'lane-history.lanesPendingSince': returnsResult(async ({ transaction, tenant, lane, now }) => {
    const pending = { outcome: 'pending', outcome_source: null, decided_at: null } as const
    const open = await changes.changeLane(transaction, tenant, lane, pending, { source: 'tms' }, now)
    const lost = { outcome: 'lost', outcome_source: 'tms', decided_at: now } as const
    await changes.changeLane(transaction, tenant, open, lost, { source: 'tms' }, now)
    return [...(await history.lanesPendingSince(transaction, tenant, [lane.lane_id], new Date(0)))].length
  }),
  'lane-history.listChanges': returnsCanary(({ transaction, tenant, ids }) =>
    history.listChanges(transaction, tenant, ids.lane),
  ),
  'lane-history.findChange': returnsCanary(({ transaction, tenant, ids }) =>
    history.findChange(transaction, tenant, ids.lane, 1),
  ),
  'pushed-lanes.lockPushes': noEvidence(({ transaction, tenant }) => pushed.lockPushes(transaction, tenant)),
  'pushed-lanes.lockNamedLanes': returnsCanary(({ transaction, tenant, lane }) =>
    pushed.lockNamedLanes(transaction, tenant, { externalIds: [], laneRefs: [lane.lane_ref] }),
  ),
  'pushed-lanes.nameImportedLanes': changesRows(({ transaction, tenant, lane }) =>
    pushed.nameImportedLanes(transaction, tenant, [{ laneId: lane.lane_id, externalId: 'load-of-a-file' }]),
  ),
  'pushed-lanes.lockImportedLanes': noEvidence(({ transaction, tenant, fingerprint }) =>
    pushed.lockImportedLanes(transaction, tenant, [fingerprint]),
  ),
  'pushed-lanes.findReps': returnsResult(async ({ transaction, tenant, ids }) => {
    const owner = await people.findUser(transaction, tenant, ids.owner)
    return [...(await pushed.findReps(transaction, tenant, [owner?.email ?? ''])).keys()].length
  }),
  'pushed-lanes.findRecordedUpdates': returnsResult(async ({ transaction, tenant, lane }) => {
    const digest = Buffer.alloc(32, 7)
    await pushed.insertRecordedUpdates(transaction, tenant, [recordedUpdate(digest, lane.lane_id)])
    return [...(await pushed.findRecordedUpdates(transaction, tenant, [digest]))]
  }),
  'pushed-lanes.insertRecordedUpdates': changesRows(({ transaction, tenant, ids }) =>
    pushed.insertRecordedUpdates(transaction, tenant, [recordedUpdate(Buffer.alloc(32, 8), ids.lane)]),
  ),
  'pushed-lanes.readLaneChanges': returnsCanary(({ transaction, tenant }) =>
    pushed.readLaneChanges(
      transaction,
      tenant,
      { version: -1, laneId: 0 },
      { updatedSince: null, laneRef: null, externalId: null, shipments: true },
      10,
    ),
  ),
  'lane-lists.listLanes': returnsCanary(({ transaction, tenant }) =>
    lists.listLanes(transaction, tenant, {}, { sort: 'newest', cursor: null, limit: 50 }),
  ),
  'lane-lists.countLanes': returnsResult(({ transaction, tenant, ids }) =>
    lists.countLanes(transaction, tenant, { quotedBy: ids.owner }),
  ),
  'lane-lists.quoteOrigins': returnsCanary(async ({ transaction, tenant, lane }) => [
    ...(await lists.quoteOrigins(transaction, tenant, [lane])),
  ]),
  'lane-lists.userNames': returnsCanary(async ({ transaction, tenant, ids }) => [
    ...(await lists.userNames(transaction, tenant, [ids.owner])),
  ]),
  'lane-lists.idsOfLanes': returnsResult(({ transaction, tenant }) =>
    lists.idsOfLanes(transaction, tenant, {}),
  ),
  'lane-record.namesOfLanes': returnsCanary(async ({ transaction, tenant, lane }) => [
    ...(await record.namesOfLanes(transaction, tenant, [lane.lane_id])),
  ]),
  'new-lanes.insertRequests': changesRows(async ({ database, transaction, tenant, ids, now }) => {
    const made = await newLanes.insertRequests(transaction, tenant, database.identifiers, [
      {
        customerName: 'New',
        reference: null,
        createdBy: ids.owner,
        createdAt: now,
        importId: null,
        lanes: [{ ...newLane, external_id: 'pushed by no system' }],
      },
    ])
    // Without the generated identifiers.
    return made.length
  }),
  'new-lanes.insertedLanes': returnsCanary(({ transaction, tenant, ids }) =>
    newLanes.insertedLanes(transaction, tenant, [ids.lane]),
  ),
  'new-lanes.lockRequest': noEvidence(({ transaction, tenant, lane }) =>
    newLanes.lockRequest(transaction, tenant, lane),
  ),
  'example-lanes.readExampleLanes': returnsResult(async ({ database, transaction, tenant, now }) => {
    const shared = { reference: null, createdBy: null, createdAt: now, importId: null }
    // An open quote, which the seeded tenants do not have.
    await newLanes.insertRequests(transaction, tenant, database.identifiers, [
      { customerName: 'New', ...shared, lanes: [newLane] },
    ])
    const { count, busyLane } = (await exampleLanes.readExampleLanes(transaction, tenant)) ?? {}
    return { count, busyLane }
  }),
  'lanes.findLane': returnsCanary(({ transaction, tenant, ids }) =>
    lanes.findLane(transaction, tenant, ids.laneRef),
  ),
  'lanes.lockLane': returnsCanary(({ transaction, tenant, ids }) =>
    lanes.lockLane(transaction, tenant, ids.laneRef),
  ),
  'lanes.findLaneIds': returnsResult(async ({ transaction, tenant, ids }) => [
    ...(await lanes.findLaneIds(transaction, tenant, [ids.laneRef])),
  ]),
  'lanes.readLaneRefs': returnsResult(async ({ transaction, tenant, ids }) => [
    ...(await lanes.readLaneRefs(transaction, tenant, [ids.lane])),
  ]),
  'lanes.lanesById': returnsCanary(({ transaction, tenant, ids }) =>
    lanes.lanesById(transaction, tenant, [ids.lane], { lock: true }),
  ),
  'lanes.lockedWon': returnsResult(({ transaction, tenant, lane }) =>
    lanes.lockedWon(transaction, tenant, lane),
  ),
  'new-lanes.insertRequote': returnsResult(async ({ database, transaction, tenant, ids, lane, now }) =>
    withoutIdentifiers([
      await newLanes.insertRequote(transaction, tenant, database.identifiers, lane, {
        ...noCosts,
        quoted_rate_cents: 1,
        estimated_cost_cents: null,
        market_rate_cents: null,
        pickup_date: null,
        createdBy: ids.owner,
        createdAt: now,
      }),
    ]),
  ),
  'lanes.findQuoteRequest': returnsCanary(({ transaction, tenant, ids }) =>
    lanes.findQuoteRequest(transaction, tenant, ids.request),
  ),
  'lanes.findQuoteRequestByKey': returnsCanary(({ transaction, tenant, ids }) =>
    lanes.findQuoteRequestByKey(transaction, tenant, ids.requestKey),
  ),
  'performance.placesOfLanes': returnsCanary(({ transaction, tenant }) =>
    performance.placesOfLanes(transaction, tenant, [{ ...dallasToAtlanta, equipmentCode: 'V' }]),
  ),
  // Books a request that was processed before, and then a new one.
  'shipment-updates.bookShipment': {
    ...changesRows(async ({ database, tenant, ids, now, requestDigest }) => {
      const booked = (digest: Buffer) =>
        updates.bookShipment(database, tenant, { digest, laneRef: ids.laneRef }, (lane) => ({
          next: { ...lane, carrier_name: 'another' },
          origin: { source: 'tms', tokenId: ids.liveToken },
          signedAt: now,
          tokenId: ids.liveToken,
          carried: {},
          applied: ['carrierName'],
          updated: true,
        }))
      return [await booked(requestDigest), await booked(Buffer.alloc(32, 9))]
    }),
    commits: true,
  },
  'suggestions.placeUses': returnsResult(async ({ transaction, tenant }) => [
    ...(await suggestions.placeUses(transaction, tenant, 100)),
  ]),
  'suggestions.customersCalled': returnsCanary(({ transaction, tenant }) =>
    suggestions.customersCalled(transaction, tenant, '', 50),
  ),
}
