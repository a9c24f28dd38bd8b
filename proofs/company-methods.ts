import { companySignIns } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'
import { canaryOf } from './seeded-tenants.ts'

const provider = {
  issuer: 'https://login.example.com',
  client_id: 'walk',
  sealed: Buffer.alloc(40),
  is_required: false,
  break_glass_user_id: null,
  makes_accounts: false,
  role_without_group: null,
  group_roles: [],
  set_by_owner: true,
  worked_at: null,
} as const

/** Database functions for company sign-in. See `database-methods.ts`. */
export const companyMethods: Readonly<Record<string, Method>> = {
  'company-sign-ins.findCompanySignIn': returnsCanary(({ transaction, tenant }) =>
    companySignIns.findCompanySignIn(transaction, tenant),
  ),
  'company-sign-ins.putCompanySignIn': changesRows(({ transaction, tenant, now }) =>
    companySignIns.putCompanySignIn(transaction, tenant, { ...provider, set_at: now }),
  ),
  'company-sign-ins.noteCompanyWorked': changesRows(({ transaction, tenant, now }) =>
    companySignIns.noteCompanyWorked(transaction, tenant, now),
  ),
  'company-sign-ins.deleteCompanySignIn': changesRows(({ transaction, tenant }) =>
    companySignIns.deleteCompanySignIn(transaction, tenant),
  ),
  'company-sign-ins.listCompanyDomains': returnsCanary(({ transaction, tenant }) =>
    companySignIns.listCompanyDomains(transaction, tenant),
  ),
  'company-sign-ins.addCompanyDomain': changesRows(({ transaction, tenant, now }) =>
    companySignIns.addCompanyDomain(transaction, tenant, { domain: 'walk.example', challenge: 'walk', now }),
  ),
  'company-sign-ins.noteDomainChecked': changesRows(({ transaction, tenant, ids, now }) =>
    companySignIns.noteDomainChecked(transaction, tenant, {
      domain: `${canaryOf(ids.label)}company_domains-domain`,
      now,
      isProven: true,
    }),
  ),
  'company-sign-ins.removeCompanyDomain': changesRows(({ transaction, tenant, ids }) =>
    companySignIns.removeCompanyDomain(transaction, tenant, `${canaryOf(ids.label)}company_domains-domain`),
  ),
  'company-sign-ins.useCompanyState': changesRows(({ transaction, tenant, now }) =>
    companySignIns.useCompanyState(transaction, tenant, { hash: Buffer.alloc(32, 7), expiresAt: now, now }),
  ),
  'company-sign-ins.personOfIdentity': returnsResult(({ transaction, tenant, ids }) =>
    companySignIns.personOfIdentity(transaction, tenant, {
      issuer: `${canaryOf(ids.label)}company_identities-issuer`,
      subject: `${canaryOf(ids.label)}company_identities-subject`,
    }),
  ),
  'company-sign-ins.linkIdentity': changesRows(({ transaction, tenant, ids, now }) =>
    companySignIns.linkIdentity(transaction, tenant, {
      userId: ids.person,
      issuer: 'walk',
      subject: 'walk',
      groups: ['walk'],
      now,
    }),
  ),
  'company-sign-ins.peopleWithGroups': returnsResult(({ transaction, tenant, ids }) =>
    companySignIns.peopleWithGroups(transaction, tenant, `${canaryOf(ids.label)}company_identities-issuer`),
  ),
  'company-sign-ins.forgetIdentity': changesRows(({ transaction, tenant, ids }) =>
    companySignIns.forgetIdentity(transaction, tenant, ids.owner),
  ),
  'company-sign-ins.endPasswordSessions': changesRows(({ transaction, tenant, now }) =>
    companySignIns.endPasswordSessions(transaction, tenant, {
      except: '00000000-0000-4000-8000-000000000000',
      now,
    }),
  ),
}
