/** Database functions that work for no tenant, each with the reason. */
export const forNoTenant: Readonly<Record<string, string>> = {
  'insert-rows.insertRows': 'is part of the functions that insert many rows of a tenant',
  'hash-chain.hashAfter': 'computes a value without a query',
  'calibration-checks.tenantsToCheck':
    'returns the numbers of tenants whose calibration is due for a check, for the service itself',
  'calibration-checks.brokenCalibrations': 'returns a number over all tenants, for the service itself',
  'pilots.tenantsWithHeadsToAnnounce':
    'returns the numbers of tenants whose pilot is due for an event, for the service itself',
  'pilots.tenantsWithPilotsBehind':
    'returns the numbers of tenants with outcomes that their pilot has not recorded, for the service itself',
  'offers.decidesOffers': 'computes a value without a query',
  'offers.termsOfOffer': 'computes a value without a query',
  'offers.supersedingOf': 'computes values without a query',
  'direct-loads.countedOutcome': 'makes an expression without a query',
  'direct-loads.isOfMode': 'makes an expression without a query',
  'rule-conditions.isOfRateType': 'makes an expression without a query',
  'rule-conditions.rateTypeOf': 'makes an expression without a query',
  'events.dueEndpoints': 'returns the numbers of event endpoints with due deliveries, for the service itself',
  'events.eventQueue':
    'returns counts across all tenants, and the tenants with old deliveries, for the service itself',
  'expiry-notices.unannouncedExpiries':
    'returns the numbers of tenants with credentials that expire soon, for the service itself',
  'approvals.tenantsWithEndedApprovals':
    'returns the numbers of tenants with a request for approval that has ended, for a process of the service',
  'company-sign-ins.companiesOfDomain':
    'runs before the tenant is known, through a function that returns the numbers of the tenants that have proven a domain',
  'mails.mailQueue': 'returns a count and an age across all tenants, for the metrics',
  'mails.tenantsWithDueMail': 'returns the numbers of tenants with mail that is due, for the service itself',
  'mailboxes.tenantsWithDueMailboxes':
    'returns the numbers of tenants whose mailbox nobody reads, for the service itself',
  'received-mails.tenantsWithEndedTexts':
    'returns the numbers of tenants with mails that were kept for long enough, for the service itself',
  'watches.tenantsWithDueWatches':
    'returns the numbers of tenants whose watches are due for a scan, for the service itself',
  'weekly-reports.tenantsWithDueReport':
    'returns the numbers of tenants whose weekly report is due, for the service itself',
  'approvals.tenantsWithWaitingApprovals':
    'returns the numbers of tenants with a request that waits for too long, for the service itself',
  'bids.unpricedBids': 'returns the numbers of bids that nobody prices, for the service itself',
  'ended-quotes.tenantsWithEndedQuotes':
    'returns the numbers of tenants with a quote whose validity has ended, for the service itself',
  'sign-in-networks.tenantsWithOldNetworks':
    'returns the numbers of tenants with networks of sign-ins that are no longer kept, for the service itself',
  'daily-counts.secondsLeftOfDay': 'computes a value without a query',
  'import-undo.silentUndos': 'returns the numbers of interrupted undos, for the service itself',
  'amount-columns.statedTerms': 'converts its arguments',
  'amount-columns.sentAmounts': 'converts its arguments',
  'amount-columns.countedLane': 'converts its arguments',
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
  'lane-changes.outcomeFactsOf': 'converts its arguments',
  'lane-changes.decisionValues': 'converts its arguments',
  'pricing-rules.limitValidity': 'reads its arguments',
  'lane-changes.outcomeValues': 'converts its arguments',
  'lane-changes.auditedForApi': 'converts its arguments',
  'lane-changes.quoteSetByPerson': 'converts its arguments',
  'lane-changes.rollbackValues': 'converts its arguments',
  'compared-basis.isMixed': 'returns part of a query',
  'teams.laneSeenByViewer': 'returns part of a query',
  'teams.mailSeenByViewer': 'returns part of a query',
  'teams.seenByViewer': 'returns part of a query',
  'customers.ofCustomer': 'returns part of a query',
  'lane-lists.matching': 'returns part of a query',
  'lane-lists.sortKeyKind': 'returns part of a query',
  'new-lanes.laneRef': 'computes a value without a query',
  'packed-quotes.int8At': 'computes a value without a query',
  'packed-quotes.unpackedIds': 'converts its arguments',
  'packed-quotes.viewOf': 'computes a value without a query',
  'people.minimumOf': 'converts the values that it receives',
  'pricing-rules.rulesInForce': 'converts the values that it receives',
  'pricing-rules.refuseQuotes': 'converts the values that it receives',
  'people.foldedEmail': 'computes a value without a query',
  'people.newTenantId': 'returns a random number',
  'instances.seeInstance': 'concerns the installation',
  'instances.leaveInstance': 'concerns the installation',
  'sandboxes.eraseSandboxRows':
    'works for a test brokerage only; server/src/endpoints/people/sandbox.test.ts tests that the database refuses every other tenant',
  'people.accountsOf':
    'runs before the tenant is known, through a function that enters each tenant of the address',
  'people.hashOfAddress': 'the same',
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
