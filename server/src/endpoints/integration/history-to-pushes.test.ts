import { beforeAll, expect, test } from 'vitest'
import { checkQuotes, pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { call, type Integration, makeIntegration, pushSigned, quoteToPush } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

// The file and the push of docs/history-to-live-pushes.md.
const history = [
  'Load ID,Ship From,Ship To,Equip,Quote Price,Sell Rate,Truck Cost,Quote Date,Status,Customer',
  'TMS-1,"Dallas, TX","Atlanta, GA",Van,2150,2150,1800,3/1/2026,Won,Harvest Table Foods',
  'TMS-2,"Dallas, TX","Atlanta, GA",Van,2300,,,3/2/2026,Lost,Harvest Table Foods',
  '',
].join('\n')
const pushed = { external_id: 'TMS-2', quoted_rate: 2300, outcome: 'lost', outcome_reason: 'price' }

async function importFile({ tenant }: Integration, csv: string) {
  const answer = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: csv,
  })
  const { import_id } = (await answer.json()) as { import_id: number }
  const path = `/api/imports/${import_id}`
  await expect
    .poll(async () => (await call(app, 'GET', path, { token: tenant.owner })).body.status)
    .toBe('done')
  return (await call(app, 'GET', path, { token: tenant.owner })).body
}

async function quotesOf({ tenant }: Integration) {
  const { body } = await call(app, 'GET', '/api/lanes?limit=50', { token: tenant.owner })
  return body.lanes as { lane_ref: string; external_id: string | null; [field: string]: unknown }[]
}

const quoteWith = async (ours: Integration, id: string) =>
  (await quotesOf(ours)).filter(({ external_id }) => external_id === id)

test('a load that was imported and is pushed later is one quote, and keeps its lane_ref', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  await importFile(ours, history)
  const before = await quotesOf(ours)
  const checked = await pushSigned(app, ours, checkQuotes, { quotes: [pushed] })
  expect(checked.body).toMatchObject({ created: 0, failed: 0 })
  expect(await quoteWith(ours, 'TMS-2')).toEqual([])
  const { body } = await pushSigned(app, ours, pushQuotes, { quotes: [pushed, quoteToPush('TMS-1')] })
  expect(body).toMatchObject({ created: 0, failed: 0 })
  const after = await quotesOf(ours)
  expect(after.map(({ lane_ref }) => lane_ref).toSorted()).toEqual(
    before.map(({ lane_ref }) => lane_ref).toSorted(),
  )
  expect(await quoteWith(ours, 'TMS-2')).toMatchObject([{ outcome: 'lost', outcome_reason: 'price' }])
  const again = await pushSigned(app, ours, pushQuotes, { quotes: [pushed] })
  expect(again.body).toMatchObject({ created: 0, unchanged: 1 })
})

test('a booking finds an imported load by its id', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  await importFile(ours, history)
  const updates = [{ external_id: 'TMS-2', customer_rate: 2_280, booked_at: '2026-03-04T10:00:00Z' }]
  const { body } = await pushSigned(app, ours, pushShipmentUpdates, { updates })
  expect(body).toMatchObject({ applied: 1, failed: 0 })
  expect(await quoteWith(ours, 'TMS-2')).toMatchObject([
    { outcome: 'won', decided_at: '2026-03-04T10:00:00.000Z', customer_rate: 2_280 },
  ])
})

test('a load that was pushed and comes in a file later is one quote, and keeps the pushed values', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  const quotes = [quoteToPush('TMS-1', { quoted_rate: 2_000 }), quoteToPush('TMS-2', { outcome: 'won' })]
  await pushSigned(app, ours, pushQuotes, { quotes })
  const imported = await importFile(ours, history)
  expect(imported).toMatchObject({ rows_added: 0, rows_refused: 0 })
  const saved = await quotesOf(ours)
  expect(saved).toHaveLength(2)
  expect(await quoteWith(ours, 'TMS-1')).toMatchObject([
    { quoted_rate: 2_000, outcome: 'won', truck_cost: 1_800 },
  ])
  expect(await quoteWith(ours, 'TMS-2')).toMatchObject([{ outcome: 'won', outcome_source: 'tms' }])
})

test('the id of a file between other cities is another quote', async () => {
  const ours = await makeIntegration(app, 'integrations:write quotes:write')
  await importFile(ours, history)
  const quotes = [quoteToPush('TMS-1', { destination: 'Miami, FL' })]
  expect((await pushSigned(app, ours, pushQuotes, { quotes })).body).toMatchObject({ created: 1 })
  expect(await quotesOf(ours)).toHaveLength(3)
})
