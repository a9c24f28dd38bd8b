import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { refusalWords } from '#server/company/index.ts'
import { companyOnThisMachine, proveDomain, setProvider, TestBrowser } from '#testing/company.ts'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { type NameServer, nameServer } from '#testing/name-server.ts'
import { type RealProvider, realProvider } from '#testing/real-provider.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const domain = 'blue-mesa.example.org'
const petra = `petra@${domain}`

let app: TestApp
let names: NameServer
let real: RealProvider
let tenant: MadeTenant
let browser: TestBrowser

beforeAll(async () => {
  names = await nameServer()
  app = await testApp({ config: companyOnThisMachine(names) })
})
afterAll(async () => {
  await app.close()
  names.close()
})
beforeEach(async () => {
  names.texts.clear()
  tenant = await makeTenant(app)
  browser = new TestBrowser()
  await proveDomain(app, tenant, names, domain)
  real = await realProvider([`${app.url}/sign-in/company/${tenant.id}`])
  return () => real.close()
})

async function auditOf({ owner }: MadeTenant): Promise<{ kind: string; about: Record<string, unknown> }[]> {
  await app.settle()
  return (await call(app, 'GET', '/api/audit', { token: owner })).body.events
}

describe('a real provider', () => {
  test('a person signs in through a real provider, and gets an account, a role, a team and an ordinary session', async () => {
    const team = await call(app, 'POST', '/api/teams', { token: tenant.owner, body: { name: 'East' } })
    const team_id = team.body.teams[0].team_id
    await setProvider(app, tenant, real, {
      makes_accounts: true,
      groups: [
        { group: 'brokers', role: 'member' },
        { group: 'leads', role: 'admin', team_id },
      ],
    })
    const groups = ['brokers', 'leads', ...Array.from({ length: 500 }, (_, number) => `group ${number}`)]
    real.people.set('petra', { email: petra, email_verified: true, name: 'Petra Quinn', groups })
    const { body: found } = await browser.post(app, '/api/auth/company', { email: `Petra@${domain}` })
    expect(found).toEqual({ companies: [{ brokerage_id: tenant.id, brokerage: null, required: false }] })
    const { body: started } = await browser.start(app, tenant, petra)
    expect(new URL(started.address).searchParams.get('login_hint')).toBe(petra)
    const back = await real.signIn(started.address, 'petra')
    const { status, body, headers } = await browser.finish(app, tenant, back.search.slice(1))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.user).toMatchObject({ name: 'Petra Quinn', email: petra, role: 'admin', status: 'active' })
    expect(headers.get('set-cookie')).toMatch(/^__Host-lanewise=.*HttpOnly; Secure; SameSite=Strict/)
    const teams = (await call(app, 'GET', '/api/teams', { token: tenant.owner })).body.teams
    expect(teams[0].members).toEqual([{ id: body.user.id, name: 'Petra Quinn' }])
    const { sessions } = (await call(app, 'GET', '/api/sessions', { token: body.token })).body
    expect(sessions).toMatchObject([{ current: true }])
    // The groups are removed: the next sign-in changes the role and the team, and ends the session with the old role.
    real.people.set('petra', {
      email: petra,
      email_verified: true,
      name: 'Petra Quinn',
      groups: ['brokers'],
    })
    const again = await browser.start(app, tenant, petra)
    const returned = await real.signIn(again.body.address, 'petra')
    const lower = await browser.finish(app, tenant, returned.search.slice(1))
    expect(lower.body.user).toMatchObject({ id: body.user.id, role: 'member' })
    expect((await call(app, 'GET', '/api/me', { token: body.token })).status).toBe(401)
    const left = (await call(app, 'GET', '/api/teams', { token: tenant.owner })).body.teams
    expect(left[0].members).toEqual([])
    const kinds = (await auditOf(tenant)).map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['person-joined', 'signed-in', 'role-changed']))
  })

  test('a code that a real provider redeemed is refused by it when it is sent again under another state', async () => {
    await setProvider(app, tenant, real, { makes_accounts: true, role_without_group: 'member' })
    real.people.set('petra', { email: petra, email_verified: true, name: 'Petra Quinn' })
    const back = await real.signIn((await browser.start(app, tenant, petra)).body.address, 'petra')
    const next = new URL((await browser.start(app, tenant, petra)).body.address)
    const stolen = new URLSearchParams(back.search)
    stolen.set('state', next.searchParams.get('state') ?? '')
    // PKCE: the code belongs to the other sign-in.
    const refused = await browser.finish(app, tenant, stolen.toString())
    expect(refused.body).toMatchObject({ status: 401, detail: refusalWords['code-refused'] })
    const [newest] = await auditOf(tenant)
    expect(newest).toMatchObject({ kind: 'company-sign-in-refused', about: { reason: 'code-refused' } })
  })
})
