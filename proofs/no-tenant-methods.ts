/** Database functions that work for no tenant, each with the reason. */
export const forNoTenant: Readonly<Record<string, string>> = {
  'hash-chain.hashAfter': 'computes a value without a query',
  'calibration-checks.tenantsToCheck':
    'returns the numbers of tenants whose calibration is due for a check, for the service itself',
  'calibration-checks.brokenCalibrations': 'returns a number over all tenants, for the service itself',
  'pilots.tenantsWithHeadsToAnnounce':
    'returns the numbers of tenants whose pilot is due for an event, for the service itself',
  'pilots.tenantsWithPilotsBehind':
    'returns the numbers of tenants with outcomes that their pilot has not recorded, for the service itself',
  'landed-margin.tooLowCents': 'makes an expression without a query',
  'events.dueEndpoints': 'returns the numbers of event endpoints with due deliveries, for the service itself',
  'events.eventQueue':
    'returns counts across all tenants, and the tenants with old deliveries, for the service itself',
  'expiry-notices.unannouncedExpiries':
    'returns the numbers of tenants with credentials that expire soon, for the service itself',
  'approvals.tenantsWithEndedApprovals':
    'returns the numbers of tenants with a request for approval that has ended, for a process of the service',
  'ended-quotes.tenantsWithEndedQuotes':
    'returns the numbers of tenants with a quote whose validity has ended, for the service itself',
  'import-undo.silentUndos': 'returns the numbers of interrupted undos, for the service itself',
  'booking-columns.bookedColumns': 'converts its arguments',
  'booking-columns.bookingOf': 'converts its arguments',
  'booking-columns.columnValue': 'converts its arguments',
  'booking-columns.columnsOf': 'converts its arguments',
  'booking-columns.laneOfJson': 'converts its arguments',
  'lane-changes.differencesForApi': 'converts its arguments',
  'lane-changes.valuesBefore': 'converts its arguments',
  'lane-changes.laneChange': 'converts its arguments',
  'lane-changes.databaseNow': 'reads the clock of the database',
  'lane-changes.outcomeOf': 'converts its arguments',
  'lane-changes.outcomeBeforeBooking': 'converts its arguments',
  'lane-changes.outcomeValues': 'converts its arguments',
  'lane-changes.auditedForApi': 'converts its arguments',
  'lane-changes.quoteSetByPerson': 'converts its arguments',
  'lane-changes.rollbackValues': 'converts its arguments',
  'compared-basis.isMixed': 'returns part of a query',
  'teams.laneSeenByViewer': 'returns part of a query',
  'teams.seenByViewer': 'returns part of a query',
  'customers.ofCustomer': 'returns part of a query',
  'lane-lists.matching': 'returns part of a query',
  'lane-lists.sortKeyKind': 'returns part of a query',
  'lanes.laneRef': 'computes a value without a query',
  'packed-quotes.int8At': 'computes a value without a query',
  'packed-quotes.viewOf': 'computes a value without a query',
  'people.minimumOf': 'converts the values that it receives',
  'pricing-rules.rulesInForce': 'converts the values that it receives',
  'pricing-rules.refuseQuotes': 'converts the values that it receives',
  'people.foldedEmail': 'computes a value without a query',
  'people.newTenantId': 'returns a random number',
  'instances.seeInstance': 'concerns the installation',
  'instances.leaveInstance': 'concerns the installation',
  'sandboxes.eraseSandboxRows':
    'works for a test brokerage only; server/src/endpoints/sandbox.test.ts tests that the database refuses every other tenant',
  'people.signInOf':
    'runs before the tenant is known, through a function that returns the numbers of tenant and user',
  'operators.eraseTenantRows': 'runs as the owner of the tables; the service role may not',
  'operators.tenantTables': 'reads the catalog, which contains no rows of tenants',
  'tenant-copy.copyingTenant':
    'runs as the owner of the tables, with row-level security set to the copied tenant',
  'tenant-copy.analyzeTables': 'updates planner statistics, as the owner of the tables',
  'operators.listTenants': 'runs as the owner of the tables; the service role sees no tenants',
  'installation.readKeyCheck': 'concerns the installation',
  'installation.writeKeyCheck': 'concerns the installation',
  'installation.replaceKeyCheck': 'concerns the installation',
  'installation.readKeyNames': 'concerns the installation',
  'installation.writeKeyNames': 'concerns the installation',
  'installation.writeEventsOn': 'concerns the installation',
}
