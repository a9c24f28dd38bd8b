import { beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeServiceToken,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const voidQuote = (token: string, laneRef: string, reason = 'Mistyped rate') =>
  call(app, 'POST', `/api/lanes/${laneRef}/void`, { token, body: { reason } })
const restore = (token: string, laneRef: string) =>
  call(app, 'POST', `/api/lanes/${laneRef}/restore`, { token })

const dallasToAtlanta = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'

/** Every number that counts quotes: the two reads of the interface, the pages, and the estimate. */
async function statistics(tenant: MadeTenant, service: string) {
  const as = (token: string) => async (path: string) => (await call(app, 'GET', path, { token })).body
  const [read, page] = [as(service), as(tenant.owner)]
  const [from, to] = ['2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z']
  return {
    markup: await read(
      `/api/integrations/insights/markup?${dallasToAtlanta}&proposed_rate=2100&include=estimate,evidence`,
    ),
    lane: await read(`/api/integrations/insights/lane?${dallasToAtlanta}`),
    record: await page(`/api/lane-record?${dallasToAtlanta}`),
    performance: await page(`/api/performance?by=customer&from=${from}&to=${to}`),
    list: await page('/api/lanes'),
  }
}

describe('200', () => {
  test('no statistic counts a voided quote, and a restored quote counts as before', async () => {
    const tenant = await makeTenant(app)
    const service = await makeServiceToken(app, tenant.owner)
    for (const outcome of ['won', 'lost', 'won'] as const)
      await makeQuote(app, tenant, { rate: 2_100, outcome })
    const before = await statistics(tenant, service)
    const mistyped = await makeQuote(app, tenant, { rate: 250, outcome: 'won' })
    const wrong = await statistics(tenant, service)
    expect(wrong.markup.rate_band).not.toEqual(before.markup.rate_band)

    const voided = await voidQuote(tenant.owner, mistyped.lane_ref)
    expect(voided).toMatchObject({
      status: 200,
      body: { void_reason: 'Mistyped rate', outcome: 'won', voided_at: new Date(app.now).toISOString() },
    })
    expect(await statistics(tenant, service)).toEqual(before)

    const restored = await restore(tenant.owner, mistyped.lane_ref)
    expect(restored.body).toEqual({ ...mistyped, updated_at: restored.body.updated_at })
    const again = await statistics(tenant, service)
    const withoutQuote = ({ list: _, ...others }: typeof again) => others
    expect(withoutQuote(again)).toEqual(withoutQuote(wrong))
  })

  test('a voided quote stays readable, in the list of voided quotes, with both changes in its history', async () => {
    const tenant = await makeTenant(app)
    const { lane_ref } = await makeQuote(app, tenant)
    const first = await voidQuote(tenant.owner, lane_ref, 'Duplicate')
    app.now += 60_000
    // A new reason does not change the time since which the quote is void.
    const second = await voidQuote(tenant.owner, lane_ref, 'Test')
    expect(second.body.voided_at).toBe(first.body.voided_at)
    const refs = async (query: string) =>
      (await call(app, 'GET', `/api/lanes${query}`, { token: tenant.owner })).body.lanes.map(
        (quote: { lane_ref: string }) => quote.lane_ref,
      )
    expect(await refs('')).toEqual([])
    expect(await refs(`?q=${lane_ref}`)).toEqual([])
    expect(await refs('?outcome=void')).toEqual([lane_ref])
    const { body: shown } = await call(app, 'GET', `/api/lanes/${lane_ref}`, { token: tenant.owner })
    expect(shown).toMatchObject({ void_reason: 'Test' })
    await restore(tenant.owner, lane_ref)
    await restore(tenant.owner, lane_ref)
    const { body } = await call(app, 'GET', `/api/lanes/${lane_ref}/changes`, { token: tenant.owner })
    expect(body.changes.map(({ after }: { after: object }) => after)).toEqual([
      { voided_at: null, void_reason: null },
      { void_reason: 'Test' },
      { voided_at: shown.voided_at, void_reason: 'Duplicate' },
    ])
    expect(body.changes[0].changed_by).toMatchObject({ name: 'Olive Quay' })
  })

  test('a booking takes the void back: it shows that the quote was not a mistake', async () => {
    const ours = await makeIntegration(app)
    const { lane_ref } = await makeQuote(app, ours.tenant)
    await voidQuote(ours.tenant.owner, lane_ref)
    const { body } = await pushUpdate(app, ours, { lane_ref, customer_rate: 2_100 })
    expect(body).toMatchObject({ status: 'ok', updated: true })
    const lane = await call(app, 'GET', `/api/lanes/${lane_ref}`, { token: ours.tenant.owner })
    expect(lane.body).toMatchObject({
      voided_at: null,
      void_reason: null,
      outcome: 'won',
      customer_rate: 2_100,
    })
  })
})

describe('refused', () => {
  test('a booked quote cannot be voided, and a voided quote gets no outcome', async () => {
    const ours = await makeIntegration(app)
    const { lane_ref } = await makeQuote(app, ours.tenant)
    await pushUpdate(app, ours, { lane_ref, customer_rate: 2_100 })
    expect(await voidQuote(ours.tenant.owner, lane_ref)).toMatchObject({
      status: 409,
      body: { code: 'state-conflict', detail: expect.stringContaining('Cancel the booking') },
    })
    const other = await makeQuote(app, ours.tenant)
    await voidQuote(ours.tenant.owner, other.lane_ref)
    const marked = await call(app, 'POST', `/api/lanes/${other.lane_ref}/outcome`, {
      token: ours.tenant.owner,
      body: { outcome: 'lost' },
    })
    expect(marked).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Restore it first') },
    })
  })

  test('a void needs a reason and the role of a member; a quote of another brokerage is not found', async () => {
    const tenant = await makeTenant(app)
    const viewer = await makePerson(app, tenant, 'viewer')
    const { lane_ref } = await makeQuote(app, tenant)
    expect((await voidQuote(viewer.token, lane_ref)).status).toBe(403)
    const blank = await voidQuote(tenant.owner, lane_ref, ' ')
    expect(blank).toMatchObject({ status: 422, body: { errors: [{ pointer: '/reason' }] } })
    const stranger = await makeTenant(app)
    expect((await voidQuote(stranger.owner, lane_ref)).status).toBe(404)
    expect((await restore(stranger.owner, lane_ref)).status).toBe(404)
    const { body } = await call(app, 'GET', `/api/lanes/${lane_ref}`, { token: tenant.owner })
    expect(body.voided_at).toBeNull()
  })
})
