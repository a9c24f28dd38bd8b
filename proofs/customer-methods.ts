import { customerRecords, customers, teams } from '#server/database/queries/index.ts'
import {
  changesRows,
  type Method,
  type MethodCall,
  noEvidence,
  returnsCanary,
  returnsResult,
} from './method.ts'
import { customerOf, differentCustomerOf, mergedCustomerOf } from './seeded-customers.ts'

const keyOf = (ids: MethodCall['ids']) => customerOf(ids).toLowerCase()

/** The database functions of customers and their aliases. */
export const customerMethods: Readonly<Record<string, Method>> = {
  'customer-records.readCustomerRecords': returnsCanary(async ({ transaction, tenant }) => [
    ...(await customerRecords.readCustomerRecords(transaction, tenant)).names,
  ]),
  'customers.findCustomer': returnsCanary(({ transaction, tenant, ids }) =>
    customers.findCustomer(transaction, tenant, mergedCustomerOf(ids)),
  ),
  'customers.customersOfKeys': returnsCanary(({ transaction, tenant, ids }) =>
    customers.customersOfKeys(transaction, tenant, [keyOf(ids)]),
  ),
  'customers.aliasesOf': returnsCanary(({ transaction, tenant, ids }) =>
    customers.aliasesOf(transaction, tenant, [ids.import]),
  ),
  'customers.ensureCustomer': changesRows(({ transaction, tenant, now }) =>
    customers.ensureCustomer(transaction, tenant, 'Walk', now),
  ),
  'customers.changeCustomer': changesRows(({ transaction, tenant, ids, now }) =>
    customers.changeCustomer(transaction, tenant, ids.import, { tier: 'W', payment_days: 1 }, now),
  ),
  'customers.mergeCustomer': changesRows(({ transaction, tenant, ids, now }) => {
    const record = { name: '', key: 'walk', tier: null, paymentDays: null }
    return customers.mergeCustomer(
      transaction,
      tenant,
      { from: { ...record, customerId: ids.import }, into: { ...record, customerId: ids.import + 2 } },
      { now, userId: null },
    )
  }),
  'customers.separateCustomers': changesRows(({ transaction, tenant, ids }) =>
    customers.separateCustomers(transaction, tenant, [mergedCustomerOf(ids), customerOf(ids)]),
  ),
  'customers.respellCustomer': changesRows(({ transaction, tenant, ids }) =>
    customers.respellCustomer(transaction, tenant, ids.import, 'Walk'),
  ),
  'customers.isCustomerInUse': noEvidence(({ transaction, tenant, ids }) =>
    customers.isCustomerInUse(transaction, tenant, customerOf(ids)),
  ),
  'customers.distinguishCustomers': changesRows(({ transaction, tenant, now }) =>
    customers.distinguishCustomers(transaction, tenant, ['Walk', 'Walk Inc'], { now, userId: null }),
  ),
  'customers.forgetDistinction': changesRows(({ transaction, tenant, ids }) =>
    customers.forgetDistinction(transaction, tenant, [customerOf(ids), differentCustomerOf(ids)]),
  ),
  'customers.customerDistinctions': returnsCanary(({ transaction, tenant }) =>
    customers.customerDistinctions(transaction, tenant),
  ),
  'customers.hashedCustomer': returnsResult(({ transaction, tenant, ids }) =>
    customers.hashedCustomer(transaction, tenant, mergedCustomerOf(ids)),
  ),
  'customers.mergedHashes': returnsResult(({ transaction, tenant }) =>
    customers.mergedHashes(transaction, tenant),
  ),
  'teams.listTeams': returnsCanary(({ transaction, tenant }) => teams.listTeams(transaction, tenant)),
  'teams.teamsOfPerson': returnsResult(({ transaction, tenant, ids }) =>
    teams.teamsOfPerson(transaction, tenant, ids.member),
  ),
  'teams.teamName': returnsResult(({ transaction, tenant, ids }) =>
    teams.teamName(transaction, tenant, ids.import),
  ),
  'teams.insertTeam': changesRows(({ transaction, tenant, now }) =>
    teams.insertTeam(transaction, tenant, 'Walk', now),
  ),
  'teams.renameTeam': changesRows(({ transaction, tenant, ids }) =>
    teams.renameTeam(transaction, tenant, ids.import, 'Walk'),
  ),
  'teams.lockTeam': noEvidence(({ transaction, tenant, ids }) =>
    teams.lockTeam(transaction, tenant, ids.import),
  ),
  'teams.setTeamMembers': changesRows(({ transaction, tenant, ids }) =>
    teams.setTeamMembers(transaction, tenant, ids.import, []),
  ),
  'teams.setTeamCustomers': changesRows(({ transaction, tenant, ids }) =>
    teams.setTeamCustomers(transaction, tenant, ids.import, []),
  ),
  'teams.copyCustomerTeams': changesRows(({ transaction, tenant, ids }) =>
    teams.copyCustomerTeams(transaction, tenant, { from: ids.import, to: ids.import + 2 }),
  ),
  'teams.deleteTeam': changesRows(({ transaction, tenant, ids }) =>
    teams.deleteTeam(transaction, tenant, ids.import),
  ),
  'teams.isHiddenCustomer': noEvidence(({ transaction, tenant, ids }) =>
    teams.isHiddenCustomer(transaction, tenant, customerOf(ids)),
  ),
  'teams.hidesCustomers': noEvidence(({ transaction, tenant }) => teams.hidesCustomers(transaction, tenant)),
}
