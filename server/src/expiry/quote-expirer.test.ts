import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { quoteExpirer } from './quote-expirer.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
const seconds = () => Math.floor(app.now / 1000)

/** Pushes a quote and returns its lane_ref. */
async function pushed(ours: Integration, id: string, over: object, at = seconds()): Promise<string> {
  const { body } = await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush(id, over)] }, at)
  expect(body.failed).toBe(0)
  return body.results[0].lane_ref
}
const quoteOf = async ({ tenant }: Integration, ref: string) =>
  (await call(app, 'GET', `/api/lanes/${ref}`, { token: tenant.owner })).body
const settings = ({ tenant }: Integration, quote_expiry: object) =>
  call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { quote_expiry } })
const everything = 'integrations:write quotes:write'
const mark = ({ tenant }: Integration, ref: string, outcome: string) =>
  call(app, 'POST', `/api/lanes/${ref}/outcome`, { token: tenant.owner, body: { outcome } })

describe('a pending quote', () => {
  test('expires when its valid_until has passed, once, and its history names the rule', async () => {
    const ours = await makeIntegration(app, everything)
    const ended = daysAgo(1)
    const ref = await pushed(ours, 'ended', { quoted_at: daysAgo(3), valid_until: ended })
    const valid = await pushed(ours, 'valid', { valid_until: daysAgo(-1) })
    const open = await pushed(ours, 'open', { quoted_at: daysAgo(300) })
    const won = await pushed(ours, 'won', { quoted_at: daysAgo(3), valid_until: ended, outcome: 'won' })
    expect(await app.expireQuotes()).toBe(1)
    expect(await app.expireQuotes()).toBe(0)
    expect(await quoteOf(ours, ref)).toMatchObject({
      outcome: 'expired',
      outcome_source: 'lanewise',
      decided_at: ended,
    })
    const outcomes = await Promise.all(
      [valid, open, won].map(async (one) => (await quoteOf(ours, one)).outcome),
    )
    expect(outcomes).toEqual(['pending', 'pending', 'won'])
    const { body } = await call(app, 'GET', `/api/lanes/${ref}/changes`, { token: ours.tenant.owner })
    expect(body.changes).toMatchObject([
      { source: 'lanewise', rule: 'validity_ended', changed_by: null, after: { outcome: 'expired' } },
    ])
  })

  test('expires by itself', async () => {
    const ours = await makeIntegration(app, everything)
    const ref = await pushed(ours, 'ended', { quoted_at: daysAgo(3), valid_until: daysAgo(1) })
    const expirer = quoteExpirer({ database: app.database, log: pino({ level: 'silent' }) }, { everyMs: 5 })
    try {
      await expect.poll(async () => (await quoteOf(ours, ref)).outcome).toBe('expired')
    } finally {
      await expirer.drain()
    }
  })

  test("without valid_until expires after the brokerage's default, which is off at first", async () => {
    const ours = await makeIntegration(app, everything)
    const old = await pushed(ours, 'old', { quoted_at: daysAgo(8) })
    const recent = await pushed(ours, 'recent', { quoted_at: daysAgo(6) })
    const longer = await pushed(ours, 'longer', { quoted_at: daysAgo(8), valid_until: daysAgo(-1) })
    expect(await app.expireQuotes()).toBe(0)
    const { body } = await settings(ours, { valid_days: 7 })
    expect(body.quote_expiry).toEqual({ valid_days: 7, counts_as: 'pending' })
    expect(await app.expireQuotes()).toBe(1)
    expect((await quoteOf(ours, old)).outcome).toBe('expired')
    expect((await quoteOf(ours, recent)).outcome).toBe('pending')
    expect((await quoteOf(ours, longer)).outcome).toBe('pending')
    await settings(ours, { valid_days: 0 })
    await pushed(ours, 'later', { quoted_at: daysAgo(20) })
    expect(await app.expireQuotes()).toBe(0)
  })

  test('that a person set to pending, that is void, or that is booked does not expire', async () => {
    const ours = await makeIntegration(app, everything)
    const ended = { quoted_at: daysAgo(3), valid_until: daysAgo(1) }
    const kept = await pushed(ours, 'kept', ended)
    await mark(ours, kept, 'pending')
    const mistake = await pushed(ours, 'mistake', ended)
    await call(app, 'POST', `/api/lanes/${mistake}/void`, {
      token: ours.tenant.owner,
      body: { reason: 'Duplicate' },
    })
    const booked = await pushed(ours, 'booked', ended)
    await pushUpdate(app, ours, { lane_ref: booked, customer_rate: 2_000 })
    await mark(ours, booked, 'pending')
    // Another quote of the brokerage expires, so that the expirer looks at its quotes.
    const other = await pushed(ours, 'other', ended)
    expect(await app.expireQuotes()).toBe(1)
    const outcomes = await Promise.all(
      [kept, mistake, booked, other].map(async (ref) => (await quoteOf(ours, ref)).outcome),
    )
    expect(outcomes).toEqual(['pending', 'pending', 'pending', 'expired'])
  })
})

describe('where pricing rules say how long quotes are valid', () => {
  test('a pending quote expires also if a person marks it pending, one by one or several at once', async () => {
    const ours = await makeIntegration(app, everything)
    const ended = { quoted_at: daysAgo(3), valid_until: daysAgo(1) }
    const kept = await pushed(ours, 'kept', ended)
    await mark(ours, kept, 'pending')
    const rule = { conditions: {}, terms: { valid_days: 7 } }
    const { owner: token } = ours.tenant
    expect((await call(app, 'POST', '/api/pricing-rules', { token, body: rule })).status).toBe(201)
    const one = await pushed(ours, 'one', ended)
    expect((await mark(ours, one, 'pending')).body).toMatchObject({
      outcome: 'pending',
      outcome_source: null,
    })
    const several = await pushed(ours, 'several', ended)
    const quotes = [{ lane_ref: several, outcome: 'pending' }]
    const marked = await call(app, 'POST', '/api/lane-outcomes', { token, body: { lanes: quotes } })
    expect(marked.body).toMatchObject({ marked: 1, results: [{ lane: { outcome_source: null } }] })
    expect(await app.expireQuotes()).toBe(2)
    // A person's decision from before the rule existed is not changed.
    expect((await quoteOf(ours, kept)).outcome).toBe('pending')
  })

  test('a member takes no quote out of its validity by closing and reopening it, and an admin can', async () => {
    const ours = await makeIntegration(app, everything)
    const { owner } = ours.tenant
    const rule = { conditions: {}, terms: { valid_days: 7 } }
    await call(app, 'POST', '/api/pricing-rules', { token: owner, body: rule })
    const { token } = await makePerson(app, ours.tenant, 'member')
    const markAs = (as: string, ref: string, outcome: string) =>
      call(app, 'POST', `/api/lanes/${ref}/outcome`, { token: as, body: { outcome } })

    const open = await pushed(ours, 'open', { valid_until: daysAgo(-1) })
    await markAs(token, open, 'lost')
    expect((await markAs(token, open, 'pending')).body).toMatchObject({
      outcome: 'pending',
      outcome_source: null,
    })
    const over = await pushed(ours, 'over', { quoted_at: daysAgo(3), valid_until: daysAgo(1) })
    await markAs(token, over, 'lost')
    const refused = await markAs(token, over, 'pending')
    expect([refused.status, refused.body.type]).toEqual([422, '/problems/outside-rules'])
    expect(refused.body.errors).toMatchObject([{ pointer: '/outcome', code: 'blocked' }])
    const lanes = [{ lane_ref: over, outcome: 'pending' }]
    const several = await call(app, 'POST', '/api/lane-outcomes', { token, body: { lanes } })
    expect(several.body).toMatchObject({ marked: 0, results: [{ status: 409, lane: { outcome: 'lost' } }] })

    const kept = await pushed(ours, 'kept by an admin', { valid_until: daysAgo(-1) })
    await markAs(token, kept, 'lost')
    expect((await markAs(owner, kept, 'pending')).body.outcome_source).toBe('dashboard')
  })
})

describe('an expired quote', () => {
  async function expired(ours: Integration, id: string): Promise<string> {
    const ref = await pushed(ours, id, { quoted_at: daysAgo(3), valid_until: daysAgo(1) }, seconds() - 10)
    expect(await app.expireQuotes()).toBe(1)
    return ref
  }

  test('is won by a later booking, and expired again when the booking is cancelled', async () => {
    const ours = await makeIntegration(app, everything)
    const ref = await expired(ours, 'a')
    await pushUpdate(app, ours, { lane_ref: ref, customer_rate: 2_000 })
    expect(await quoteOf(ours, ref)).toMatchObject({ outcome: 'won', outcome_source: 'tms' })
    await pushUpdate(app, ours, { lane_ref: ref, cancelled: true, cancel_reason: null }, seconds() + 1)
    expect(await quoteOf(ours, ref)).toMatchObject({ outcome: 'expired', outcome_source: 'lanewise' })
  })

  test('gets a pushed outcome, and is pending again when a later valid_until is pushed', async () => {
    const ours = await makeIntegration(app, everything)
    const decided = await expired(ours, 'decided')
    const outcomes = [{ external_id: 'decided', outcome: 'lost', outcome_reason: 'price' }]
    await pushSigned(app, ours, pushOutcomes, { outcomes }, seconds())
    expect(await quoteOf(ours, decided)).toMatchObject({ outcome: 'lost', outcome_source: 'tms' })
    const extended = await expired(ours, 'extended')
    await pushed(ours, 'extended', { valid_until: daysAgo(-2) })
    expect(await quoteOf(ours, extended)).toMatchObject({
      outcome: 'pending',
      outcome_source: null,
      decided_at: null,
    })
    const { body } = await call(app, 'GET', `/api/lanes/${extended}/changes`, { token: ours.tenant.owner })
    expect(body.changes[0]).toMatchObject({ source: 'tms', rule: 'validity_extended' })
    expect(await app.expireQuotes()).toBe(0)
  })

  test('stays pending after a rollback of its expiry', async () => {
    const ours = await makeIntegration(app, everything)
    const ref = await expired(ours, 'rolled-back')
    await call(app, 'POST', `/api/lanes/${ref}/rollback`, {
      token: ours.tenant.owner,
      body: { change_id: 1 },
    })
    expect(await quoteOf(ours, ref)).toMatchObject({ outcome: 'pending', decided_at: null })
    expect(await app.expireQuotes()).toBe(0)
  })

  test('is neither won nor lost in the counts, unless the brokerage counts it as lost', async () => {
    const ours = await makeIntegration(app, everything)
    const { tenant } = ours
    await makeQuote(app, tenant, { rate: 2_150, outcome: 'won' })
    const query = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
    const counts = async () => {
      const read = async (path: string, token: string) => (await call(app, 'GET', path, { token })).body
      const markup = await read(
        `/api/integrations/insights/markup?${query}&proposed_rate=2100&include=evidence`,
        ours.token,
      )
      const record = await read(`/api/lane-record?${query}`, tenant.owner)
      const period = 'from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z'
      const performance = await read(`/api/performance?by=customer&${period}`, tenant.owner)
      return {
        win: markup.win_probability,
        months: record.months.map(({ won, lost, pending }: Record<string, number>) => [won, lost, pending]),
        lost: performance.totals.lost,
      }
    }
    const before = await counts()
    await expired(ours, 'uncounted')
    const asPending = await counts()
    expect(asPending).toMatchObject({ win: before.win, lost: 0 })
    await settings(ours, { counts_as: 'lost' })
    const asLost = await counts()
    expect(asLost.win).toBeLessThan(before.win)
    expect(asLost.lost).toBe(1)
    await settings(ours, { counts_as: 'pending' })
    expect(await counts()).toEqual(asPending)
  })
})
