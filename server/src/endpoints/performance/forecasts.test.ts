import Papa from 'papaparse'
import { beforeAll, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  pushSigned,
  quoteToPush,
  requireStatus,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

/** A brokerage with a won and a lost quote, from which it can forecast. */
async function brokerage(): Promise<Integration> {
  const made = await makeIntegration(app, 'quotes:write')
  for (const outcome of ['won', 'lost'] as const) await makeQuote(app, made.tenant, { outcome })
  return made
}

const get = async ({ tenant }: Integration, path: string) =>
  requireStatus(path, await call(app, 'GET', path, { token: tenant.owner }), 200)
const post = (made: Integration, path: string, body: object) =>
  call(app, 'POST', path, { token: made.tenant.owner, body })
const quoteOf = (made: Integration, ref: string) => get(made, `/api/lanes/${ref}`)
const pushed = async (made: Integration, quote: object, second = 0) =>
  (await pushSigned(app, made, pushQuotes, { quotes: [quote] }, Math.floor(app.now / 1000) + second)).body
    .results[0]

describe('the forecast of a quote', () => {
  test('has the numbers that advice shows, and stays when the quote is decided', async () => {
    const made = await brokerage()
    const asked = 'origin=Dallas,TX&destination=Atlanta,GA&equipment=V&proposed_rate=2050&estimated_cost=1500'
    const { estimate } = await get(made, `/api/advice/markup?${asked}&include=estimate`)
    const places = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
    const saved = await post(made, '/api/quote-requests', {
      customer_name: 'Harvest Table Foods',
      lanes: [{ ...places, quoted_rate: 2050, estimated_cost: 1500 }],
    })
    const [quote] = requireStatus('a quote', saved, 201).lanes
    const near = (value: number) => expect.closeTo(value, 2)
    expect(quote.forecast).toMatchObject({
      made_at: new Date(app.now).toISOString(),
      win_probability: near(estimate.probability),
      low: near(estimate.interval_80.low),
      high: near(estimate.interval_80.high),
      cost: 1500,
      cost_from: 'entered',
      going_rate: estimate.reference_rate,
      // One won of two, with two pseudo-quotes at a half.
      lane_win_rate: 0.5,
      quoted_as: '2050',
      model: expect.stringMatching(/^\d+\.\d+\.\d+ [0-9a-f]{12}$/),
    })
    await post(made, `/api/lanes/${quote.lane_ref}/outcome`, { outcome: 'lost' })
    await makeQuote(app, made.tenant, { outcome: 'lost' })
    expect((await quoteOf(made, quote.lane_ref)).forecast).toEqual(quote.forecast)
  })

  test('is made for requotes and pushed quotes, too, and not again when the rate changes', async () => {
    const made = await brokerage()
    const first = await makeQuote(app, made.tenant, { rate: 2100 })
    const requote = await post(made, `/api/lanes/${first.lane_ref}/requote`, { quoted_rate: 2020 })
    expect(requote.body.forecast.quoted_as).toBe('2020')
    const { lane_ref: ref } = await pushed(made, quoteToPush('F-1', { quoted_rate: 2150 }))
    const { forecast } = await quoteOf(made, ref)
    expect(forecast).toMatchObject({ quoted_as: '2150', win_probability: expect.any(Number) })
    await pushed(made, quoteToPush('F-1', { quoted_rate: 2090 }), 1)
    expect((await quoteOf(made, ref)).forecast).toEqual(forecast)
  })

  test.each([
    ['pushed with its outcome', () => ({ outcome: 'won' })],
    [
      'pushed days after it was quoted',
      () => ({ quoted_at: new Date(app.now - 3 * 86_400_000).toISOString() }),
    ],
  ])('is not made for a quote that is %s', async (_, over) => {
    const made = await brokerage()
    const { lane_ref: ref } = await pushed(made, quoteToPush('L-1', over()))
    expect((await quoteOf(made, ref)).forecast).toBeNull()
  })

  test('is made for each of 50 quotes in one push, and for none of 51', async () => {
    const made = await brokerage()
    for (const [nth, quotes] of [50, 51].entries()) {
      const sent = Array.from({ length: quotes }, (_, item) => quoteToPush(`P-${quotes}-${item}`))
      const { body } = await pushSigned(
        app,
        made,
        pushQuotes,
        { quotes: sent },
        Math.floor(app.now / 1000) + nth,
      )
      expect(body.created).toBe(quotes)
    }
    expect((await get(made, '/api/forecasts')).forecasts).toBe(50)
  })

  test('is not made without anything to forecast from, or for a counter-offer that is accepted', async () => {
    const made = await makeIntegration(app)
    const quote = await makeQuote(app, made.tenant)
    expect(quote.forecast).toBeNull()
    const other = await brokerage()
    const { lane_ref: ref } = await makeQuote(app, other.tenant, { rate: 2100 })
    const accepted = await post(other, `/api/lanes/${ref}/requote`, { quoted_rate: 2000, counter_rate: 2000 })
    expect(requireStatus('accepting', accepted, 201)).toMatchObject({ outcome: 'won', forecast: null })
  })
})

describe('the report and the file', () => {
  test('score each quote once, by its outcome at the rate that was forecast', async () => {
    const made = await brokerage()
    const ids = ['won', 'lost', 'open', 'repriced', 'void']
    const refs: string[] = []
    for (const id of ids) refs.push((await pushed(made, quoteToPush(id, { rate_type: 'contract' }))).lane_ref)
    const outcomes = ['won', 'lost', 'repriced'].map((id) => ({
      external_id: id,
      outcome: id === 'lost' ? 'lost' : 'won',
    }))
    await pushed(made, quoteToPush('repriced', { quoted_rate: 1999 }), 1)
    const at = Math.floor(app.now / 1000) + 2
    expect((await pushSigned(app, made, pushOutcomes, { outcomes }, at)).body.failed).toBe(0)
    requireStatus('a void', await post(made, `/api/lanes/${refs[4]}/void`, { reason: 'Typo' }), 200)

    const report = await get(made, '/api/forecasts?rate_type=contract')
    expect(report).toMatchObject({
      forecasts: 5,
      scored: 2,
      won: 1,
      lanes: 1,
      unscored: { undecided: 1, void: 1, rate_changed: 1 },
      standing: 'unknown',
      lane_rate: { quotes: 2, better: { range_95: null } },
      months: [{ rate_type: 'contract', scored: 2, won: 1 }],
    })
    const dayFrom = (days: number) => new Date(app.now + days * 86_400_000).toISOString().slice(0, 10)
    for (const [days, forecasts] of [
      [-1, 5],
      [1, 0],
    ] as const) {
      expect((await get(made, `/api/forecasts?from=${dayFrom(days)}`)).forecasts).toBe(forecasts)
      expect((await get(made, `/api/forecasts?to=${dayFrom(days)}`)).forecasts).toBe(5 - forecasts)
    }
    // The earlier quotes of the desk have none: before them, nothing was lost.
    expect((await get(made, '/api/forecasts')).forecasts).toBe(5)

    const { data } = Papa.parse<Record<string, string>>(
      (await get(made, '/api/forecasts/export?rate_type=contract')).replace('\uFEFF', ''),
      { header: true, skipEmptyLines: true },
    )
    const byRef = new Map(data.map((row) => [row['Lane ref'], row]))
    const told = refs.map((ref) => [byRef.get(ref)?.['Scored as'], byRef.get(ref)?.['Not scored because']])
    expect(told).toEqual([
      ['won', ''],
      ['lost', ''],
      ['', 'undecided'],
      ['', 'rate_changed'],
      ['', 'void'],
    ])
    // The report can be computed again from the file alone.
    const scored = data.filter((row) => row['Scored as'] !== '')
    const brier =
      scored.reduce(
        (sum, row) => sum + (Number(row['Win probability']) - (row['Scored as'] === 'won' ? 1 : 0)) ** 2,
        0,
      ) / scored.length
    expect(report.brier).toBeCloseTo(brier, 9)
  })

  test('are for every person of the brokerage', async () => {
    const { tenant } = await brokerage()
    const { token } = await makePerson(app, tenant, 'viewer')
    for (const path of ['/api/forecasts', '/api/forecasts/export'])
      expect((await call(app, 'GET', path, { token })).status).toBe(200)
    for (const wrong of ['rate_type=both', 'from=yesterday', 'to=13/2026'])
      expect((await call(app, 'GET', `/api/forecasts?${wrong}`, { token })).status).toBe(422)
  })
})
