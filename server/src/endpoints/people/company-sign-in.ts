import { findCompany, finishCompanySignIn, startCompanySignIn } from '#contract/company-sign-in.ts'
import { type Problem, problem } from '#contract/errors.ts'
import { pagePaths } from '#contract/pages.ts'
import { recordEvent } from '../../audit/index.ts'
import {
  browserOf,
  type CompanyProviders,
  CompanyRefusal,
  companyCookieOf,
  newSignInState,
  openProvider,
  type Provider,
  type Refusal,
  readSignInState,
  refusalWords,
  type SignInState,
} from '../../company/index.ts'
import { companySignIns, people, sandboxes } from '../../database/queries/index.ts'
import type { CompanySignInRow } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { SecretKeys } from '../../security/index.ts'
import { type Call, Reply, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { noteNetwork, tooManyAttempts } from './accounts.ts'
import { admitPerson, domainOfEmail } from './company-person.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { startSession } from './sign-in.ts'

/** The page of the dashboard that the provider opens. Each brokerage has its own, so that an answer for one reaches no other. */
export function returnAddress(origin: string, tenant: TenantId): string {
  return `${origin}${pagePaths.companyReturn.replace('{brokerage}', String(tenant))}`
}

function failed(refusal: Refusal): Problem {
  return problem('company-sign-in-failed', refusalWords[refusal])
}

function noCompany(): Problem {
  return problem('company-sign-in-failed', 'There is no company sign-in for this e-mail address.')
}

function limitStarts({ network }: { readonly network: string }, parts: Parts): void {
  const { admitted, retryAfterMs } = parts.companyStartLimit.admit(network, parts.monotonic())
  if (!admitted) throw tooManyAttempts('sign-ins', retryAfterMs)
}

/** The issuer and the client of a sign-in: if they change meanwhile, it has to start again. */
const nameOf = ({ issuer, clientId }: Provider) => `${clientId} ${issuer}`

/** The provider of an active brokerage. */
async function setOf(
  { database, secretKeys }: { database: Parts['database']; secretKeys: SecretKeys },
  tenant: TenantId,
): Promise<{ set: CompanySignInRow; provider: Provider; brokerage: string } | null> {
  return database.inTenant(tenant, async (transaction) => {
    const row = await people.findTenant(transaction, tenant)
    const set = row?.status === 'active' ? await companySignIns.findCompanySignIn(transaction, tenant) : null
    const provider = set === null ? null : openProvider(secretKeys, set)
    return row === null || set === null || provider === null ? null : { set, provider, brokerage: row.name }
  })
}

/** The brokerages whose provider may speak for an address. */
async function companiesOf(parts: Parts, email: string) {
  const found = await companySignIns.companiesOfDomain(parts.database, domainOfEmail(email))
  const all = []
  for (const tenant of found) {
    const known = await setOf(parts, tenant)
    if (known !== null) all.push({ tenant, ...known })
  }
  return all
}

/** The state and the parameters of an answer that this browser waits for, which no other instance has taken. */
async function takeState(
  { body, cookies, now }: Call<typeof finishCompanySignIn>,
  parts: Parts,
): Promise<{ state: SignInState; answer: URLSearchParams } | null> {
  const answer = new URLSearchParams(body.answer)
  const state = readSignInState(parts.secretKeys, cookies, answer.get('state') ?? '', now)
  if (state === null || state.tenant !== body.brokerage_id) return null
  const used = { hash: state.hash, expiresAt: state.expiresAt, now: new Date(now) }
  const isFirst = await parts.database.inTenant(state.tenant, async (transaction) => {
    const tenant = await people.findTenant(transaction, state.tenant)
    return tenant !== null && companySignIns.useCompanyState(transaction, state.tenant, used)
  })
  return isFirst ? { state, answer } : null
}

const kindOf = { new: 'person-joined', invited: 'invitation-accepted', known: 'signed-in' } as const

/** Asks the provider, admits the person, and starts the session. @throws CompanyRefusal */
async function finish(
  call: Call<typeof finishCompanySignIn>,
  parts: Parts,
  company: CompanyProviders,
  { state, answer }: { readonly state: SignInState; readonly answer: URLSearchParams },
) {
  const { tenant } = state
  const known = await setOf(parts, tenant)
  if (known === null || nameOf(known.provider) !== state.provider)
    throw new CompanyRefusal('settings-changed')
  const person = await company.finish(known.provider, state, answer, call.now)
  const now = new Date(call.now)
  const result = await parts.database.inTenant(tenant, async (transaction) => {
    const row = await people.findTenant(transaction, tenant)
    const set = await companySignIns.findCompanySignIn(transaction, tenant)
    const provider = set === null ? null : openProvider(parts.secretKeys, set)
    const isSame = provider !== null && nameOf(provider) === state.provider
    if (row?.status !== 'active' || set === null || !isSame) throw new CompanyRefusal('settings-changed')
    const admitted = await admitPerson(transaction, tenant, set, { person, now })
    if ('refusal' in admitted) return admitted
    const { user, joined, roleBefore } = admitted
    const caller = { tenant, userId: user.user_id }
    const { reply, about } = await startSession(transaction, tenant, user, parts, {
      ...call,
      byCompany: true,
    })
    await noteNetwork(transaction, caller, call, parts)
    await companySignIns.noteCompanyWorked(transaction, tenant, now)
    const sandbox = roleBefore === null ? null : await sandboxes.sandboxOf(transaction, tenant)
    const doing = { ...call, caller }
    if (roleBefore !== null) {
      const change = { from: roleBefore, to: user.role, by: 'company' }
      await recordEvent(transaction, doing, 'role-changed', { subject: user.user_id, about: change })
    }
    const { email, role } = user
    const said = joined === 'new' ? { email, role } : { ...about, by: 'company' }
    await recordEvent(transaction, doing, kindOf[joined ?? 'known'], { about: said })
    return { reply, left: { tenant, sandbox, email: user.email } }
  })
  if ('reply' in result) await endSandboxSessions(parts, result.left, call.now)
  return result
}

export const companySignInEndpoints: ServedEndpoint[] = [
  serve(findCompany, async (call, parts) => {
    if (parts.company === null) return { companies: [] }
    limitStarts(call, parts)
    const found = await companiesOf(parts, call.body.email)
    return {
      companies: found.map(({ tenant, set, brokerage }) => ({
        brokerage_id: tenant,
        brokerage: found.length > 1 ? brokerage : null,
        required: set.is_required,
      })),
    }
  }),

  serve(startCompanySignIn, async (call, parts) => {
    const { body, now, cookies, address: ownAddress } = call
    const { company } = parts
    if (company === null) throw noCompany()
    limitStarts(call, parts)
    const known = (await companiesOf(parts, body.email)).find(({ tenant }) => tenant === body.brokerage_id)
    if (known === undefined) throw noCompany()
    const { tenant, provider, set } = known
    const redirectTo = returnAddress(ownAddress, tenant)
    if (!URL.canParse(redirectTo)) throw problem('malformed-request', 'The header Host is not a host.')
    const browser = browserOf(cookies)
    const begun = { tenant, redirectTo, provider: nameOf(provider), now }
    const state = newSignInState(parts.secretKeys, browser, begun)
    try {
      const groups = set.group_roles.length > 0
      const address = await company.begin(provider, state, { email: body.email, groups })
      const answer = { address, expires_at: state.expiresAt.toISOString() }
      return new Reply(answer, { 'Set-Cookie': companyCookieOf(browser) })
    } catch (error) {
      if (!(error instanceof CompanyRefusal)) throw error
      parts.refusals.companyRefused(tenant, { userId: null, reason: error.refusal }, call)
      throw failed(error.refusal)
    }
  }),

  serve(finishCompanySignIn, async (call, parts) => {
    const { company } = parts
    if (company === null) throw noCompany()
    // Nothing can be guessed here, so failures delay nobody: an office behind one address would wait for a provider that is down.
    limitStarts(call, parts)
    const taken = await takeState(call, parts)
    if (taken === null) throw failed('not-this-browser')
    const refuse = (refusal: Refusal, userId: number | null): Problem => {
      parts.refusals.companyRefused(taken.state.tenant, { userId, reason: refusal }, call)
      return failed(refusal)
    }
    try {
      const result = await finish(call, parts, company, taken)
      if ('refusal' in result) throw refuse(result.refusal, result.userId)
      return result.reply
    } catch (error) {
      throw error instanceof CompanyRefusal ? refuse(error.refusal, null) : error
    }
  }),
]
