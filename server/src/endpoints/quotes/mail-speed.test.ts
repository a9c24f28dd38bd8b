import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { storeMail } from '#testing/stored-mail.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** When `storeMail` says that mails arrive. */
const arrived = Date.UTC(2026, 10, 20, 12)
const minuteMs = 60_000

let app: TestApp
let tenant: MadeTenant
let rep: { id: number; token: string }

const speed = async (token = tenant.owner) => (await call(app, 'GET', '/api/mail-speed', { token })).body

let count = 0

/** A mail that a person quotes some minutes after it arrived. */
async function quoted(
  minutes: number,
  { customer, outcome, by }: { customer: string; outcome?: 'won' | 'lost'; by: string },
): Promise<string> {
  const id = await storeMail(app, tenant, { subject: `Rate ${++count} needed`, customer })
  const lane = await makeLane(app, tenant, { customer, ...(outcome === undefined ? {} : { outcome }) })
  app.now = arrived + minutes * minuteMs
  const changed = await call(app, 'PATCH', `/api/received-mails/${id}`, {
    token: by,
    body: { lane_ref: lane.lane_ref },
  })
  expect(changed.status).toBe(200)
  return id
}

beforeAll(async () => {
  app = await testApp({ now: arrived })
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
})
afterAll(() => app.close())

test('the speed is by person and customer, from the first quote, and of seen customers only', async () => {
  expect(await speed()).toEqual({
    all: { quoted: 0, median_minutes: null, ninth_tenth_minutes: null, answered: 0, unchanged: 0 },
    people: [],
    customers: [],
    effect: null,
  })
  const first = await quoted(5, { customer: 'Harvest Table Foods', outcome: 'won', by: rep.token })
  await quoted(20, { customer: 'Harvest Table Foods', outcome: 'lost', by: rep.token })
  await quoted(60, { customer: 'Copper Line Supply', by: tenant.owner })
  // A second quote does not change when the first one was made.
  const again = await makeLane(app, tenant)
  await call(app, 'PATCH', `/api/received-mails/${first}`, {
    token: rep.token,
    body: { lane_ref: again.lane_ref },
  })
  // Without quotes.
  await storeMail(app, tenant, { subject: 'Spam', customer: 'Harvest Table Foods' })
  const all = await speed()
  expect(all).toMatchObject({
    all: { quoted: 3, median_minutes: 20, ninth_tenth_minutes: 60 },
    people: [
      { user: { user_id: rep.id, name: 'A member' }, speed: { quoted: 2, median_minutes: 12.5 } },
      { user: { name: 'Olive Quay' }, speed: { quoted: 1, median_minutes: 60 } },
    ],
    customers: [
      { customer: 'Harvest Table Foods', speed: { quoted: 2, median_minutes: 12.5 } },
      { customer: 'Copper Line Supply', speed: { quoted: 1 } },
    ],
    effect: null,
  })

  const other = await makePerson(app, tenant, 'member')
  const team = await call(app, 'POST', '/api/teams', {
    token: tenant.owner,
    body: { name: 'Copper', members: [other.id], customers: ['Copper Line Supply'] },
  })
  expect(team.status).toBe(201)
  const seen = await speed(rep.token)
  expect(seen.all.quoted).toBe(2)
  expect(JSON.stringify(seen)).not.toContain('Copper')
})

test('faster mails that win more are evidence, with its range; a brokerage of another name sees none', async () => {
  app.now = arrived
  tenant = await makeTenant(app)
  for (let at = 0; at < 25; at++) {
    await quoted(5, { customer: 'Harvest Table Foods', outcome: at < 20 ? 'won' : 'lost', by: tenant.owner })
    await quoted(90, { customer: 'Harvest Table Foods', outcome: at < 5 ? 'won' : 'lost', by: tenant.owner })
  }
  const { effect } = await speed()
  expect(effect).toMatchObject({
    within_minutes: 47.5,
    fast: { won: 20, decided: 25 },
    slow: { won: 5, decided: 25 },
    difference: 0.6,
    evidence: 'fast-wins-more',
  })
  expect(effect.low).toBeCloseTo(0.333, 2)
  expect(effect.high).toBeCloseTo(0.763, 1)
  const stranger = await makeTenant(app)
  expect((await speed(stranger.owner)).all.quoted).toBe(0)
  // After 90 days, none counts.
  app.now = arrived + 91 * 86_400_000
  const { email, password } = tenant
  const { body } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  expect((await speed(body.token)).all.quoted).toBe(0)
})
