import { sql } from 'kysely'
import {
  auditLog as audit,
  integrationCalls as calls,
  laneChanges as changes,
  credentials,
  instances,
  lanes,
  laneLists as lists,
  packedQuotes as packed,
  people,
  performance,
  laneRecord as record,
  firstSteps as steps,
  suggestions,
  tenantQuotes,
  shipmentUpdates as updates,
} from '#server/database/queries/index.ts'
import type { LaneRow } from '#server/database/schema/index.ts'
import { eventMethods } from './event-methods.ts'
import { importMethods } from './import-methods.ts'
import { alters, finds, type Method, shows } from './method.ts'
import { newLane, noCosts } from './new-lanes.ts'
import { sessionOf } from './seeded-tenants.ts'

const nothing = (call: Method['call']): Method => ({ call, does: 'nothing' })

const uuid = '00000009-0000-4000-8000-000000000009'
const dallasToAtlanta = { originKey: 'dallas|TX', destinationKey: 'atlanta|GA' }

/** Numbers of the installation's own sequences, which go on from call to call. */
const withoutNumbers = (rows: readonly LaneRow[]) =>
  rows.map(({ lane_id: _, lane_ref: __, request_id: ___, search_text: ____, ...row }) => row)

/** A row for every function of the database that works for a tenant, under its file and name. */
export const methods: Readonly<Record<string, Method>> = {
  'audit-log.appendAudit': alters(({ transaction, tenant, of, now }) =>
    audit.appendAudit(transaction, tenant, {
      at: now,
      kind: 'signed-in',
      userId: of.owner,
      jti: of.jti,
      subjectUserId: null,
      about: {},
      count: 1,
      network: null,
      requestId: null,
    }),
  ),
  'audit-log.listAudit': shows(({ transaction, tenant }) =>
    audit.listAudit(transaction, tenant, {}, { before: null, limit: 50 }),
  ),
  'audit-log.newestAudit': finds(({ transaction, tenant }) => audit.newestAudit(transaction, tenant)),
  'audit-log.verifyAudit': finds(({ transaction, tenant }) =>
    audit.verifyAudit((look) => look(transaction), tenant, []),
  ),
  'credentials.insertServiceToken': finds(({ transaction, tenant, of, now }) =>
    credentials.insertServiceToken(transaction, tenant, {
      jti: uuid,
      name: 'new',
      scope: 'integrations:write',
      userId: of.owner,
      now,
      expiresAt: now,
      signedWith: 'a key',
    }),
  ),
  'credentials.listServiceTokens': shows(({ transaction, tenant }) =>
    credentials.listServiceTokens(transaction, tenant),
  ),
  'credentials.revokeServiceToken': alters(({ transaction, tenant, of, now }) =>
    credentials.revokeServiceToken(transaction, tenant, of.spareToken, now),
  ),
  'credentials.liveTokensOf': shows(({ transaction, tenant, of, now }) =>
    credentials.liveTokensOf(transaction, tenant, of.owner, now),
  ),
  'credentials.expiringTokens': shows(({ transaction, tenant, now }) =>
    credentials.expiringTokens(transaction, tenant, now, new Date(now.getTime() + 366 * 86_400_000)),
  ),
  'credentials.revokeTokensOf': alters(({ transaction, tenant, of, now }) =>
    credentials.revokeTokensOf(transaction, tenant, of.owner, now),
  ),
  'credentials.sealedSecrets': finds(({ transaction, tenant }) =>
    credentials.sealedSecrets(transaction, tenant, 0, 100),
  ),
  'credentials.sealAnew': alters(({ transaction, tenant, of }) =>
    credentials.sealAnew(transaction, tenant, of.spareSecret, Buffer.from('sealed anew')),
  ),
  'credentials.countTokensOfOtherKeys': finds(({ transaction, tenant, now }) =>
    credentials.countTokensOfOtherKeys(transaction, tenant, 'a key', now),
  ),
  'credentials.handOverTokens': alters(({ transaction, tenant, of }) =>
    credentials.handOverTokens(transaction, tenant, of.owner, of.admin),
  ),
  'credentials.findLiveServiceToken': finds(({ transaction, tenant, of, now }) =>
    credentials.findLiveServiceToken(transaction, tenant, of.jti, now),
  ),
  'credentials.wasIssued': finds(({ transaction, tenant, of }) =>
    credentials.wasIssued(transaction, tenant, of.jti),
  ),
  'credentials.insertSigningSecret': finds(({ transaction, tenant, of, now }) =>
    credentials.insertSigningSecret(transaction, tenant, {
      name: 'new',
      userId: of.owner,
      now,
      sealedFor: () => Buffer.from('sealed'),
    }),
  ),
  'credentials.listSigningSecrets': shows(({ transaction, tenant }) =>
    credentials.listSigningSecrets(transaction, tenant),
  ),
  'credentials.liveSigningSecrets': shows(({ transaction, tenant, now }) =>
    credentials.liveSigningSecrets(transaction, tenant, now),
  ),
  'credentials.lockLiveSecretsOf': finds(({ transaction, tenant, now }) =>
    credentials.lockLiveSecretsOf(transaction, tenant, 'tms', now),
  ),
  'credentials.expireSigningSecret': alters(({ transaction, tenant, of, now }) =>
    credentials.expireSigningSecret(transaction, tenant, of.spareSecret, now),
  ),
  'credentials.revokeSigningSecret': alters(({ transaction, tenant, of, now }) =>
    credentials.revokeSigningSecret(transaction, tenant, of.spareSecret, now),
  ),
  'first-steps.firstSteps': finds(({ transaction, tenant, of, now }) =>
    steps.firstSteps(transaction, tenant, { userId: of.owner, now }),
  ),
  'tenant-quotes.readVersions': finds(({ transaction, tenant }) =>
    tenantQuotes.readVersions(transaction, tenant),
  ),
  'packed-quotes.countQuotes': finds(({ transaction, tenant }) => packed.countQuotes(transaction, tenant)),
  'packed-quotes.readBookStanding': finds(({ transaction, tenant }) =>
    packed.readBookStanding(transaction, tenant, 0),
  ),
  'packed-quotes.readQuotesBefore': finds(({ transaction, tenant }) =>
    packed.readQuotesBefore(transaction, tenant, packed.beforeAnyQuote, 10),
  ),
  'packed-quotes.readQuotesOf': finds(({ transaction, tenant, of }) =>
    packed.readQuotesOf(transaction, tenant, [of.lane]),
  ),
  'packed-quotes.readChangedLanes': finds(({ transaction, tenant }) =>
    packed.readChangedLanes(transaction, tenant, 0, 1),
  ),
  'tenant-quotes.readTenantQuotes': finds(({ transaction, tenant }) =>
    tenantQuotes.readTenantQuotes(transaction, tenant, null, 100),
  ),
  'instances.takePermit': {
    ...finds(({ database, tenant }) =>
      instances.takePermit(database, tenant, { max: 10, windowMs: 1_000, alreadyAdmitted: false }),
    ),
    commits: true,
  },
  // After what tells a tenant's versions: where these were, both tenants are seeded anew.
  'credentials.recordTokenUse': {
    ...alters(({ database, tenant, of, now }) =>
      credentials.recordTokenUse(database, tenant, of.liveToken, now, '192.0.2.9'),
    ),
    commits: true,
  },
  'credentials.recordSecretUse': {
    ...alters(({ database, tenant, of, now }) =>
      credentials.recordSecretUse(database, tenant, of.spareSecret, now),
    ),
    commits: true,
  },
  ...eventMethods,
  ...importMethods,
  'integration-calls.keepIntegrationCalls': {
    ...finds(async ({ database, tenant, of, now }) => {
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
        jti: of.jti,
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
  'integration-calls.listIntegrationCalls': shows(({ transaction, tenant }) =>
    calls.listIntegrationCalls(transaction, tenant, { from: new Date(0) }, { before: null, limit: 50 }),
  ),
  'lane-changes.changeLane': alters(({ transaction, tenant, of, lane, now }) =>
    changes.changeLane(
      transaction,
      tenant,
      lane,
      { carrier_name: 'another' },
      { source: 'dashboard', userId: of.owner },
      now,
    ),
  ),
  'lane-changes.changeLanes': alters(({ transaction, tenant, of, lane, now }) =>
    changes.changeLanes(
      transaction,
      tenant,
      [
        {
          lane,
          next: { quoted_rate_cents: 12_345, import_said: 'a digest of 22 letters' },
          origin: { source: 'import', importId: of.import, userId: of.owner },
        },
      ],
      now,
    ),
  ),
  'lane-changes.settersOf': finds(async ({ transaction, tenant, of }) =>
    (await changes.settersOf(transaction, tenant, [{ laneId: of.lane, column: 'carrier_name' }])).filter(
      (setter) => setter !== null,
    ),
  ),
  'lane-changes.listChanges': shows(({ transaction, tenant, of }) =>
    changes.listChanges(transaction, tenant, of.lane),
  ),
  'lane-changes.findChange': shows(({ transaction, tenant, of }) =>
    changes.findChange(transaction, tenant, of.lane, 1),
  ),
  'lane-lists.listLanes': shows(({ transaction, tenant }) =>
    lists.listLanes(transaction, tenant, {}, { sort: 'newest', cursor: null, limit: 50 }),
  ),
  'lane-lists.countLanes': finds(({ transaction, tenant, of }) =>
    lists.countLanes(transaction, tenant, { quotedBy: of.owner }),
  ),
  'lane-lists.quoteOrigins': shows(async ({ transaction, tenant, lane }) => [
    ...(await lists.quoteOrigins(transaction, tenant, [lane])),
  ]),
  'lane-lists.userNames': shows(async ({ transaction, tenant, of }) => [
    ...(await lists.userNames(transaction, tenant, [of.owner])),
  ]),
  'lane-lists.shipmentTotals': finds(({ transaction, tenant }) =>
    lists.shipmentTotals(transaction, tenant, {}),
  ),
  'lane-record.monthsOfCorridor': finds(({ transaction, tenant }) =>
    record.monthsOfCorridor(transaction, tenant, dallasToAtlanta),
  ),
  'lane-record.pointsOfCorridor': shows(({ transaction, tenant }) =>
    record.pointsOfCorridor(transaction, tenant, { ...dallasToAtlanta, equipmentCode: null }, 100),
  ),
  'lanes.insertQuoteRequests': finds(async ({ database, transaction, tenant, of, now }) =>
    withoutNumbers(
      await lanes.insertQuoteRequests(transaction, tenant, database.identifiers, [
        {
          customerName: 'New',
          reference: null,
          createdBy: of.owner,
          createdAt: now,
          importId: of.import,
          lanes: [newLane],
        },
      ]),
    ),
  ),
  'lanes.findLane': shows(({ transaction, tenant, of }) => lanes.findLane(transaction, tenant, of.laneRef)),
  'lanes.lockLane': shows(({ transaction, tenant, of }) => lanes.lockLane(transaction, tenant, of.laneRef)),
  'lanes.findLaneIds': finds(async ({ transaction, tenant, of }) => [
    ...(await lanes.findLaneIds(transaction, tenant, [of.laneRef])),
  ]),
  'lanes.readLaneRefs': finds(async ({ transaction, tenant, of }) => [
    ...(await lanes.readLaneRefs(transaction, tenant, [of.lane])),
  ]),
  'lanes.lanesById': shows(({ transaction, tenant, of }) =>
    lanes.lanesById(transaction, tenant, [of.lane], { lock: true }),
  ),
  'lanes.insertRequote': finds(async ({ database, transaction, tenant, of, lane, now }) =>
    withoutNumbers([
      await lanes.insertRequote(transaction, tenant, database.identifiers, lane, {
        ...noCosts,
        quoted_rate_cents: 1,
        estimated_cost_cents: null,
        market_rate_cents: null,
        pickup_date: null,
        createdBy: of.owner,
        createdAt: now,
      }),
    ]),
  ),
  'lanes.findQuoteRequest': shows(({ transaction, tenant, of }) =>
    lanes.findQuoteRequest(transaction, tenant, of.request),
  ),
  'lanes.findQuoteRequestByKey': shows(({ transaction, tenant, of }) =>
    lanes.findQuoteRequestByKey(transaction, tenant, of.requestKey),
  ),
  'people.nextTenantNumber': finds(({ transaction, tenant }) =>
    people.nextTenantNumber(transaction, tenant, 'user'),
  ),
  // The tenant is there already, whoever asks.
  'people.createTenant': nothing(({ transaction, tenant, now }) =>
    people.createTenant(transaction, tenant, {
      company: 'New',
      name: 'New',
      email: 'new-tenant@example.com',
      passwordHash: 'none',
      now,
    }),
  ),
  'people.insertUser': finds(({ transaction, tenant, now }) =>
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
  'people.findTenant': shows(({ transaction, tenant }) => people.findTenant(transaction, tenant)),
  'people.updateTenant': alters(({ transaction, tenant }) =>
    people.updateTenant(transaction, tenant, { name: 'another' }),
  ),
  'people.setTenantStatus': alters(({ transaction, tenant }) =>
    people.setTenantStatus(transaction, tenant, 'suspended'),
  ),
  'people.findUser': shows(({ transaction, tenant, of }) => people.findUser(transaction, tenant, of.person)),
  'people.lockUser': shows(({ transaction, tenant, of }) => people.lockUser(transaction, tenant, of.person)),
  'people.lockOwners': finds(({ transaction, tenant }) => people.lockOwners(transaction, tenant)),
  'people.listUsers': shows(({ transaction, tenant }) => people.listUsers(transaction, tenant)),
  'people.updateUser': alters(({ transaction, tenant, of }) =>
    people.updateUser(transaction, tenant, of.person, { name: 'another' }),
  ),
  'people.removeUser': alters(({ transaction, tenant, user }) =>
    people.removeUser(transaction, tenant, user),
  ),
  'people.insertSession': alters(({ transaction, tenant, of, now }) =>
    people.insertSession(transaction, tenant, {
      sessionId: uuid,
      userId: of.owner,
      now,
      expiresAt: now,
    }),
  ),
  'people.endSessions': alters(({ transaction, tenant, of, now }) =>
    people.endSessions(transaction, tenant, of.owner, now),
  ),
  'people.findSession': finds(({ transaction, tenant, of, now }) =>
    people.findSession(transaction, tenant, sessionOf(of.label, of.owner), now),
  ),
  'performance.performanceBy': shows(({ transaction, tenant }) =>
    performance.performanceBy(
      transaction,
      tenant,
      'customer',
      {},
      { rank: 'quotes', direction: 'desc', cursor: null, limit: 50 },
    ),
  ),
  'performance.placesOfLanes': shows(({ transaction, tenant }) =>
    performance.placesOfLanes(transaction, tenant, [{ ...dallasToAtlanta, equipmentCode: 'V' }]),
  ),
  'performance.listMarginGaps': shows(({ transaction, tenant }) =>
    performance.listMarginGaps(transaction, tenant, {}, { cursor: null, limit: 50 }),
  ),
  'performance.marginGapTotals': finds(({ transaction, tenant }) =>
    performance.marginGapTotals(transaction, tenant, {}),
  ),
  // A request that was answered before, and a new one.
  'shipment-updates.bookShipment': {
    ...alters(async ({ database, tenant, of, now, requestDigest }) => {
      const booked = (digest: Buffer) =>
        updates.bookShipment(database, tenant, { digest, laneRef: of.laneRef }, (lane) => ({
          next: { ...lane, carrier_name: 'another' },
          origin: { source: 'tms', tokenId: of.liveToken },
          signedAt: now,
          tokenId: of.liveToken,
          carried: {},
          applied: ['carrierName'],
          updated: true,
        }))
      return [await booked(requestDigest), await booked(Buffer.alloc(32, 9))]
    }),
    commits: true,
  },
  'suggestions.placeUses': finds(async ({ transaction, tenant }) => [
    ...(await suggestions.placeUses(transaction, tenant, 100)),
  ]),
  'suggestions.customersCalled': shows(({ transaction, tenant }) =>
    suggestions.customersCalled(transaction, tenant, '', 50),
  ),
}
