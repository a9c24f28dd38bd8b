import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { companySignIns } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { companyOnThisMachine, proveDomain, setProvider, TestBrowser } from '#testing/company.ts'
import { type HostileProvider, hostileProvider } from '#testing/hostile-provider.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type NameServer, nameServer } from '#testing/name-server.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const domain = 'blue-mesa.example.org'
const secret = 'client-secret-canary'

let app: TestApp
let names: NameServer
let provider: HostileProvider
let tenant: MadeTenant

beforeAll(async () => {
  names = await nameServer()
  app = await testApp({ config: companyOnThisMachine(names) })
  provider = await hostileProvider(() => app.now)
})
afterAll(async () => {
  await app.close()
  await provider.close()
  names.close()
})
beforeEach(async () => {
  names.texts.clear()
  names.isSilent = false
  tenant = await makeTenant(app)
})

const byOwner = (method: string, path: string, body?: object) =>
  call(app, method, path, { token: tenant.owner, ...(body === undefined ? {} : { body }) })
const shown = async () => (await byOwner('GET', '/api/company-sign-in')).body
const checkDomain = () => byOwner('POST', '/api/company-sign-in/domains/check', { domain })

/** Signs in through the provider once, so that it is known to work, and returns the session's token. */
async function signInOnce(email = `petra@${domain}`): Promise<string> {
  const browser = new TestBrowser()
  const { body } = await browser.start(app, tenant, email)
  return (await browser.finish(app, tenant, provider.answerTo(body.address, { email }))).body.token
}

const everybody = { makes_accounts: true, role_without_group: 'member' }
const required = { ...everybody, required: true, break_glass_user_id: 1 }

describe('domains', () => {
  test('a domain is proven by its own record only, and no more when the record is gone', async () => {
    const { body } = await byOwner('POST', '/api/company-sign-in/domains', {
      domain: 'Blue-Mesa.example.ORG',
    })
    const [{ record, proven_at }] = body.domains
    expect([record.name, proven_at]).toEqual([`_lanewise.${domain}`, null])
    expect((await checkDomain()).body.result).toBe('missing')
    const other = await makeTenant(app)
    await proveDomain(app, other, names, domain)
    // The record of another brokerage proves nothing.
    expect((await checkDomain()).body.result).toBe('missing')
    names.texts.set(record.name, ['something else', record.value])
    const proven = await checkDomain()
    expect(proven.body).toMatchObject({ result: 'proven', settings: { domains: [{ domain }] } })
    expect(proven.body.settings.domains[0].proven_at).not.toBe(null)
    names.texts.clear()
    expect((await checkDomain()).body).toMatchObject({
      result: 'missing',
      settings: { domains: [{ proven_at: null }] },
    })
  })

  test('without a network, the answer says so, and nothing changes', async () => {
    await proveDomain(app, tenant, names, domain)
    names.isSilent = true
    const { body } = await checkDomain()
    expect(body.result).toBe('unknown')
    expect(body.settings.domains[0].proven_at).not.toBe(null)
  }, 15_000)

  test.each(['localhost', 'example', 'a b.com', '-a.com', 'https://example.com', '10.0.0.1'])(
    '%s is no domain',
    async (wrong) => {
      const { status, body } = await byOwner('POST', '/api/company-sign-in/domains', { domain: wrong })
      expect([status, body.errors[0].pointer]).toEqual([422, '/domain'])
    },
  )

  test('two brokerages that proved one domain are both offered by name, and one alone is not named', async () => {
    const find = async () =>
      (await call(app, 'POST', '/api/auth/company', { body: { email: `x@${domain}` } })).body.companies
    await proveDomain(app, tenant, names, domain)
    expect(await find()).toEqual([])
    await setProvider(app, tenant, provider)
    expect(await find()).toEqual([{ brokerage_id: tenant.id, brokerage: null, required: false }])
    const other = await makeTenant(app)
    await proveDomain(app, other, names, domain)
    await setProvider(app, other, provider)
    const both = await find()
    expect(both.map((one: { brokerage: string }) => one.brokerage)).toEqual(['Test Brokers', 'Test Brokers'])
  })
})

describe('the provider', () => {
  test('is shown without its secret, which is kept for the same client only', async () => {
    const set = await setProvider(app, tenant, provider, everybody)
    for (const body of [set.body, await shown()]) {
      expect(body.provider).toMatchObject({ issuer: provider.issuer, required: false, worked_at: null })
      expect(JSON.stringify(body)).not.toContain(secret)
    }
    const body = { issuer: provider.issuer, client_id: 'lanewise-client' }
    expect((await byOwner('POST', '/api/company-sign-in', body)).status).toBe(200)
    for (const change of [{ client_id: 'another' }, { issuer: 'https://login.example.com' }]) {
      const refused = await byOwner('POST', '/api/company-sign-in', { ...body, ...change })
      expect(refused.body.errors).toMatchObject([{ pointer: '/client_secret', code: 'required' }])
    }
    const sealed = await app.database.inTenant(tenantId(tenant.id), async (transaction) =>
      companySignIns.findCompanySignIn(transaction, tenantId(tenant.id)),
    )
    expect(sealed?.sealed.toString('latin1')).not.toContain(secret)
  })

  test.each([
    ['http://login.example.com', 'must begin with https://'],
    ['https://10.1.2.3', 'private network'],
    ['https://localhost', 'private network'],
    ['https://login.microsoftonline.com/common/v2.0', 'any company'],
    ['https://login.example.com/.well-known/openid-configuration', 'Leave out'],
  ])('%s is refused', async (issuer, words) => {
    const { status, body } = await setProvider(app, tenant, { issuer })
    expect([status, body.errors[0].pointer]).toEqual([422, '/issuer'])
    expect(body.errors[0].detail).toContain(words)
    expect((await shown()).provider).toBe(null)
  })

  test('groups that are named twice or give a missing team, and accounts without a role are refused', async () => {
    const set = async (more: object) =>
      (await setProvider(app, tenant, provider, more)).body.errors[0].pointer
    const group = { group: 'brokers', role: 'member' }
    expect(await set({ groups: [group, group] })).toBe('/groups/1/group')
    expect(await set({ groups: [{ ...group, team_id: 99 }] })).toBe('/groups/0/team_id')
    expect(await set({ groups: [{ ...group, role: 'owner' }] })).toBe('/groups/0/role')
    expect(await set({ makes_accounts: true })).toBe('/role_without_group')
    expect(await set({ break_glass_user_id: 99 })).toBe('/break_glass_user_id')
  })

  test('only an admin reads and sets it, and an operator can turn it off', async () => {
    const member = await makePerson(app, tenant, 'member')
    const asMember = await setProvider(app, { ...tenant, owner: member.token }, provider)
    expect(asMember.status).toBe(403)
    const off = await appOn(app.testDatabase, {
      secretKeys: [app.secretKey],
      now: app.now,
      config: { company: { isOn: false, allowPrivate: [], nameServers: [] } },
    })
    try {
      const refused = await setProvider(off, tenant, { issuer: 'https://login.example.com' })
      expect([refused.status, refused.body.code]).toEqual([409, 'state-conflict'])
      const found = await call(off, 'POST', '/api/auth/company', { body: { email: `x@${domain}` } })
      expect(found.body).toEqual({ companies: [] })
    } finally {
      await off.close()
    }
  })
})

describe('required', () => {
  beforeEach(async () => {
    await proveDomain(app, tenant, names, domain)
    await setProvider(app, tenant, provider, everybody)
  })
  const withPassword = (person: { email: string; password: string }) =>
    call(app, 'POST', '/api/auth/sign-in', { body: { email: person.email, password: person.password } })

  test('it needs a provider that has worked, and an owner with a password', async () => {
    expect((await setProvider(app, tenant, provider, required)).body.code).toBe('state-conflict')
    await signInOnce()
    const without = await setProvider(app, tenant, provider, { ...required, break_glass_user_id: undefined })
    expect(without.body.errors).toMatchObject([{ pointer: '/break_glass_user_id', code: 'required' }])
    const admin = await makePerson(app, tenant, 'admin')
    const noOwner = await setProvider(app, tenant, provider, { ...required, break_glass_user_id: admin.id })
    expect(noOwner.body.errors).toMatchObject([{ pointer: '/break_glass_user_id', code: 'invalid' }])
    // An admin cannot lock the owners out through a provider of their own.
    const asAdmin = { ...tenant, owner: admin.token }
    await setProvider(app, asAdmin, provider, everybody)
    expect((await setProvider(app, asAdmin, provider, required)).body.code).toBe('state-conflict')
  })

  test('passwords are refused and their sessions end, except those of the owner for emergencies, who is audited each time', async () => {
    const member = await makePerson(app, tenant, 'member')
    const byCompany = await signInOnce()
    expect((await setProvider(app, tenant, provider, required)).status).toBe(200)
    const me = async (token: string) => (await call(app, 'GET', '/api/me', { token })).status
    expect([await me(member.token), await me(byCompany), await me(tenant.owner)]).toEqual([401, 200, 200])
    const refused = await withPassword(member)
    expect([refused.status, refused.body.code]).toEqual([401, 'company-sign-in-required'])
    // A wrong password is told nothing of it.
    expect((await withPassword({ ...member, password: 'wrong password' })).body.code).toBe('sign-in-failed')
    expect((await withPassword(tenant)).status).toBe(200)
    expect((await withPassword(tenant)).status).toBe(200)
    await app.settle()
    const { events } = (await byOwner('GET', '/api/audit')).body
    const kinds = events.map(({ kind }: { kind: string }) => kind)
    expect(kinds.filter((kind: string) => kind === 'break-glass-used')).toHaveLength(2)
    expect(kinds).toContain('company-sign-in-refused')
    const invited = await byOwner('POST', '/api/users', {
      name: 'Sam',
      email: `sam-${tenant.id}@${domain}`,
      role: 'viewer',
    })
    const accepted = await call(app, 'POST', '/api/auth/accept-invitation', {
      body: { invitation: invited.body.invitation, password: 'seven quiet trucks at dawn' },
    })
    expect(accepted.body.code).toBe('company-sign-in-required')
    await byOwner('DELETE', '/api/company-sign-in')
    expect((await withPassword(member)).status).toBe(200)
  })

  test('the owner for emergencies and the last domain stay', async () => {
    await signInOnce()
    const second = await makePerson(app, tenant, 'owner')
    await setProvider(app, tenant, provider, required)
    const token = (await withPassword(tenant)).body.token
    const other = await call(app, 'PATCH', '/api/users/1', { token, body: { role: 'admin' } })
    expect([other.status, other.body.code]).toEqual([409, 'state-conflict'])
    const removed = await byOwner('POST', '/api/company-sign-in/domains/remove', { domain })
    expect([removed.status, removed.body.code]).toEqual([409, 'state-conflict'])
    expect((await shown()).outside).toContainEqual({
      user_id: second.id,
      name: 'A owner',
      email: second.email,
    })
  })
})
