import * as contract from '#contract/company-sign-in.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, type Problem, problem } from '#contract/errors.ts'
import { companyDomainsMax } from '#contract/limits.ts'
import { recordEvent } from '../../audit/index.ts'
import {
  checkDomain,
  newChallenge,
  openProvider,
  type Provider,
  recordName,
  sealProvider,
} from '../../company/index.ts'
import { companySignIns, people, sandboxes, teams } from '../../database/queries/index.ts'
import type { CompanyDomainRow, CompanySignInRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { allowedPrivate, outboundTarget } from '../../security/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { tooManyAttempts } from './accounts.ts'
import { domainOfEmail, takeAwayByGroups } from './company-person.ts'
import { returnAddress } from './company-sign-in.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'

type Set = Call<typeof contract.setCompanySignIn>

function domainAnswer({ domain, challenge, proven_at: proven, checked_at: checked }: CompanyDomainRow) {
  return {
    domain,
    record: { name: recordName(domain), value: challenge },
    proven_at: proven?.toISOString() ?? null,
    checked_at: checked?.toISOString() ?? null,
  }
}

async function settingsAnswer(
  transaction: TenantTransaction,
  {
    caller: { tenant },
    address,
  }: { readonly caller: { readonly tenant: TenantId }; readonly address: string },
  { config }: Pick<Parts, 'config'>,
): Promise<AnswerOf<typeof contract.getCompanySignIn>> {
  const set = await companySignIns.findCompanySignIn(transaction, tenant)
  const domains = await companySignIns.listCompanyDomains(transaction, tenant)
  const users = await people.listUsers(transaction, tenant)
  const proven = new Set(domains.flatMap(({ domain, proven_at: at }) => (at === null ? [] : domain)))
  const breakGlass = users.find(({ user_id: id }) => id === set?.break_glass_user_id)
  return {
    may_set: config.company.isOn,
    return_address: returnAddress(address, tenant),
    provider:
      set === null
        ? null
        : {
            issuer: set.issuer,
            client_id: set.client_id,
            required: set.is_required,
            makes_accounts: set.makes_accounts,
            role_without_group: set.role_without_group ?? 'nobody',
            groups: set.group_roles.map(({ group, role, team_id: team }) => ({ group, role, team })),
            break_glass:
              breakGlass === undefined ? null : { user_id: breakGlass.user_id, name: breakGlass.name },
            set_at: set.set_at.toISOString(),
            worked_at: set.worked_at?.toISOString() ?? null,
          },
    domains: domains.map(domainAnswer),
    outside: users
      .filter(({ status, email }) => status === 'active' && !proven.has(domainOfEmail(email)))
      .map(({ user_id, name, email }) => ({ user_id, name, email })),
  }
}

/** @throws Problem state-conflict */
async function refuseOff(
  transaction: TenantTransaction,
  tenant: TenantId,
  { config }: Pick<Parts, 'config'>,
): Promise<void> {
  if (!config.company.isOn) {
    throw problem(
      'state-conflict',
      'The operator of the service has not turned company sign-in on. Ask them to set COMPANY_SIGN_IN=on.',
    )
  }
  const { sandbox_of: of } = await people.tenantOfSession(transaction, tenant)
  if (of !== null) {
    throw problem(
      'state-conflict',
      'A test brokerage has no company sign-in: its people sign in to the brokerage.',
    )
  }
}

const wrong = (field: string, detail: string, code = 'invalid') =>
  invalid([{ pointer: `/${field}`, code, detail: `${field}: ${detail}` }])

/** @throws a 422 if tokens of this issuer could be for people of any company, or it may not be connected to */
function refuseIssuer(issuer: string, { config }: Pick<Parts, 'config'>): void {
  const target = outboundTarget(issuer, allowedPrivate(config.company.allowPrivate))
  if (typeof target === 'string') throw wrong('issuer', `The address ${target}.`)
  if (target.url.search !== '' || issuer.includes('/.well-known/')) {
    throw wrong(
      'issuer',
      'Leave out what follows the issuer: it ends before /.well-known/ and has no question mark.',
    )
  }
  if (/^\/(common|organizations|consumers)(\/|$)/.test(target.url.pathname)) {
    throw wrong(
      'issuer',
      'This address of Entra ID is for people of any company. Use the one with the id of your directory, https://login.microsoftonline.com/<directory id>/v2.0.',
    )
  }
}

/** The provider of a body, with the stored secret if the body has none. */
function providerOf({ body }: Set, stored: CompanySignInRow | null, { secretKeys }: Parts): Provider {
  const { issuer, client_id: clientId, client_secret: clientSecret } = body
  if (clientSecret !== undefined) return { issuer, clientId, clientSecret }
  const kept = stored === null ? null : openProvider(secretKeys, stored)
  if (kept === null || kept.issuer !== issuer || kept.clientId !== clientId) {
    throw wrong(
      'client_secret',
      'is missing. It is entered again when the issuer or the client id changes.',
      'required',
    )
  }
  return kept
}

/** @throws a 422 for groups that are named twice, or give a team that does not exist, and for accounts without a role */
async function refuseGroups(transaction: TenantTransaction, { caller, body }: Set): Promise<void> {
  const { groups = [], role_without_group: otherwise = 'nobody' } = body
  const known = new Set((await teams.listTeams(transaction, caller.tenant)).map(({ teamId }) => teamId))
  const seen = new Set<string>()
  for (const [index, { group, team_id: team }] of groups.entries()) {
    if (seen.has(group)) throw wrong(`groups/${index}/group`, `${group} is in the list twice.`)
    seen.add(group)
    if (team !== undefined && !known.has(team)) {
      throw wrong(`groups/${index}/team_id`, `There is no team ${team} in this brokerage.`)
    }
  }
  if (body.makes_accounts === true && groups.length === 0 && otherwise === 'nobody') {
    throw wrong('role_without_group', 'Say which role new accounts have, or which groups give roles.')
  }
}

/** @throws a Problem if passwords are to be refused, and somebody could then be locked out who must not be */
async function refuseRequired(
  transaction: TenantTransaction,
  { caller, body }: Set,
  { worksSince, isSetByOwner }: { readonly worksSince: Date | null; readonly isSetByOwner: boolean },
): Promise<void> {
  const { break_glass_user_id: id } = body
  const owner = id === undefined ? null : await people.findUser(transaction, caller.tenant, id)
  const isOwner = owner?.role === 'owner' && owner.status === 'active' && owner.password_hash !== null
  if (id !== undefined && !isOwner) {
    throw wrong('break_glass_user_id', 'Choose an active owner who has a password.')
  }
  if (body.required !== true) return
  if (id === undefined) {
    throw wrong(
      'break_glass_user_id',
      'Choose the owner who may still use the password if the provider fails.',
      'required',
    )
  }
  if (worksSince === null) {
    throw problem(
      'state-conflict',
      'Nobody has signed in through this provider yet. Do that once, so that it is known to work, and then require it.',
    )
  }
  if (!isSetByOwner) {
    throw problem(
      'state-conflict',
      'An admin set this provider, and owners do not sign in through it until an owner has set it. An owner has to enter the secret again, and then require it.',
    )
  }
}

/** What the audit log says of a provider. */
function aboutSet({ issuer, client_id, required = false, makes_accounts = false, groups = [] }: Set['body']) {
  return { issuer, client_id, required, makes_accounts, groups: groups.length }
}

/** Takes away what groups do not give any more, notes whose role changed, and returns the addresses of all whose sessions ended. */
async function noteLowered(
  transaction: TenantTransaction,
  call: Set,
  {
    set,
    before,
  }: { readonly set: Parameters<typeof takeAwayByGroups>[2]; readonly before: CompanySignInRow },
): Promise<string[]> {
  const { tenant } = call.caller
  const changed = { before, now: new Date(call.now) }
  const lowered = await takeAwayByGroups(transaction, tenant, set, changed)
  for (const { userId, from, to } of lowered) {
    if (to === null) continue
    await recordEvent(transaction, call, 'role-changed', {
      subject: userId,
      about: { from, to, by: 'company' },
    })
  }
  return lowered.map(({ email }) => email)
}

async function setProvider(call: Set, parts: Parts) {
  const { caller, body, now } = call
  const { tenant } = caller
  refuseIssuer(body.issuer, parts)
  const result = await parts.database.inTenant(tenant, async (transaction) => {
    await refuseOff(transaction, tenant, parts)
    await people.lockTenant(transaction, tenant)
    const stored = await companySignIns.findCompanySignIn(transaction, tenant)
    const provider = providerOf(call, stored, parts)
    const isSame = stored?.issuer === provider.issuer && stored.client_id === provider.clientId
    const isSecretNew = body.client_secret !== undefined
    // An admin who enters another secret could have made another provider of the same name.
    const isOwnersStill = !isSecretNew && stored?.set_by_owner === true
    const isSetByOwner = isOwnersStill || (isSecretNew && caller.role === 'owner')
    const worksSince = isSame ? (stored?.worked_at ?? null) : null
    await refuseGroups(transaction, call)
    await refuseRequired(transaction, call, { worksSince, isSetByOwner })
    const { required = false, role_without_group: otherwise = 'nobody' } = body
    const meanings = {
      role_without_group: otherwise === 'nobody' ? null : otherwise,
      group_roles: (body.groups ?? []).map(({ team_id: team, ...group }) => ({
        ...group,
        team_id: team ?? null,
      })),
    }
    await companySignIns.putCompanySignIn(transaction, tenant, {
      ...meanings,
      issuer: provider.issuer,
      client_id: provider.clientId,
      sealed: sealProvider(parts.secretKeys, tenant, provider),
      is_required: required,
      break_glass_user_id: body.break_glass_user_id ?? null,
      makes_accounts: body.makes_accounts ?? false,
      set_by_owner: isSetByOwner,
      set_at: new Date(now),
      worked_at: worksSince,
    })
    const isNewlyRequired = required && stored?.is_required !== true
    const ended = isNewlyRequired
      ? await companySignIns.endPasswordSessions(transaction, tenant, {
          except: caller.sessionId,
          now: new Date(now),
        })
      : 0
    const set = { ...meanings, issuer: provider.issuer }
    const left =
      stored !== null && isSame ? await noteLowered(transaction, call, { set, before: stored }) : []
    const about = { ...aboutSet(body), ...(ended > 0 ? { sessions_ended: ended } : {}) }
    await recordEvent(transaction, call, 'company-sign-in-set', { about })
    const sandbox = left.length === 0 ? null : await sandboxes.sandboxOf(transaction, tenant)
    return { answer: await settingsAnswer(transaction, call, parts), left, sandbox }
  })
  for (const email of result.left)
    await endSandboxSessions(parts, { tenant, sandbox: result.sandbox, email }, now)
  return result.answer
}

function noDomain(domain: string): Problem {
  return problem('not-found', `The brokerage has no domain ${domain}.`)
}

async function findDomain(transaction: TenantTransaction, tenant: TenantId, domain: string) {
  const domains = await companySignIns.listCompanyDomains(transaction, tenant)
  const found = domains.find((one) => one.domain === domain)
  if (found === undefined) throw noDomain(domain)
  return { found, others: domains.filter((one) => one !== found && one.proven_at !== null).length }
}

function limitChecks(tenant: TenantId, { eventTestLimit, monotonic }: Parts): void {
  const { admitted, retryAfterMs } = eventTestLimit.admit(tenant, monotonic())
  if (!admitted) throw tooManyAttempts('checks', retryAfterMs)
}

async function checkOneDomain(call: Call<typeof contract.checkCompanyDomain>, parts: Parts) {
  const { caller, now } = call
  const { tenant } = caller
  const domain = call.body.domain.toLowerCase()
  limitChecks(tenant, parts)
  const { found } = await parts.database.inTenant(tenant, (transaction) =>
    findDomain(transaction, tenant, domain),
  )
  const result = await checkDomain(found, parts.config.company.nameServers)
  return parts.database.inTenant(tenant, async (transaction) => {
    const isProven = result === 'unknown' ? null : result === 'proven'
    await companySignIns.noteDomainChecked(transaction, tenant, { domain, now: new Date(now), isProven })
    await recordEvent(transaction, call, 'company-domain-checked', { about: { domain, result } })
    return { result, settings: await settingsAnswer(transaction, call, parts) }
  })
}

export const companySettingsEndpoints: ServedEndpoint[] = [
  serve(contract.getCompanySignIn, (call, parts) =>
    parts.database.inTenant(call.caller.tenant, (transaction) => settingsAnswer(transaction, call, parts)),
  ),

  serve(contract.setCompanySignIn, setProvider),

  serve(contract.removeCompanySignIn, (call, parts) => {
    const { tenant } = call.caller
    return parts.database.inTenant(tenant, async (transaction) => {
      if (await companySignIns.deleteCompanySignIn(transaction, tenant)) {
        await recordEvent(transaction, call, 'company-sign-in-removed', {})
      }
      return settingsAnswer(transaction, call, parts)
    })
  }),

  serve(contract.checkCompanyProvider, async ({ caller: { tenant } }, parts) => {
    limitChecks(tenant, parts)
    const set = await parts.database.inTenant(tenant, (transaction) =>
      companySignIns.findCompanySignIn(transaction, tenant),
    )
    const provider = set === null ? null : openProvider(parts.secretKeys, set)
    if (provider === null || parts.company === null) {
      throw problem('state-conflict', 'There is no provider. Set one first.')
    }
    return { problem: await parts.company.check(provider) }
  }),

  serve(contract.addCompanyDomain, (call, parts) => {
    const { caller, body, now } = call
    const { tenant } = caller
    const domain = body.domain.toLowerCase()
    return parts.database.inTenant(tenant, async (transaction) => {
      await refuseOff(transaction, tenant, parts)
      await people.lockTenant(transaction, tenant)
      const domains = await companySignIns.listCompanyDomains(transaction, tenant)
      const isNew = !domains.some((one) => one.domain === domain)
      if (isNew && domains.length >= companyDomainsMax) {
        throw problem(
          'state-conflict',
          `A brokerage has at most ${companyDomainsMax} domains. Remove one first.`,
        )
      }
      const added = { domain, challenge: newChallenge(), now: new Date(now) }
      if (await companySignIns.addCompanyDomain(transaction, tenant, added)) {
        await recordEvent(transaction, call, 'company-domain-added', { about: { domain } })
      }
      return settingsAnswer(transaction, call, parts)
    })
  }),

  serve(contract.checkCompanyDomain, checkOneDomain),

  serve(contract.removeCompanyDomain, (call, parts) => {
    const { tenant } = call.caller
    const domain = call.body.domain.toLowerCase()
    return parts.database.inTenant(tenant, async (transaction) => {
      await people.lockTenant(transaction, tenant)
      const { others } = await findDomain(transaction, tenant, domain)
      const set = await companySignIns.findCompanySignIn(transaction, tenant)
      if (set?.is_required === true && others === 0) {
        throw problem(
          'state-conflict',
          'Company sign-in is required, and this is the last proven domain: nobody could sign in. Permit passwords first.',
        )
      }
      await companySignIns.removeCompanyDomain(transaction, tenant, domain)
      await recordEvent(transaction, call, 'company-domain-removed', { about: { domain } })
      return settingsAnswer(transaction, call, parts)
    })
  }),
]
